"""Chapter 05: answers written from the blank notebook."""

from . import Answer, edit

# ---------------------------------------------------------------- 05.1

TABLE = """
def sinusoidal(n, d_model, base=10000.0):
    if d_model % 2 != 0:
        raise ValueError(f"d_model must be even, not {d_model}")
    position = torch.arange(n, dtype=torch.float64)[:, None]
    pair = torch.arange(d_model // 2, dtype=torch.float64)
    angle = position / base ** (2 * pair / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1).float()
"""
REFUSE = """    if d_model % 2 != 0:
        raise ValueError(f"d_model must be even, not {d_model}")
"""

# ---------------------------------------------------------------- 05.2

REPAIRED = """
def positional_encoding(n, d_model):
    table = torch.zeros(n, d_model)
    for position in range(n):
        for column in range(d_model):
            angle = position / 10000 ** (2 * (column // 2) / d_model)
            table[position, column] = math.sin(angle) if column % 2 == 0 else math.cos(angle)
    return table
"""

# ---------------------------------------------------------------- 05.3

SHIFT = """
def shift_matrix(k, d_model, base=10000.0):
    matrix = torch.zeros(d_model, d_model)
    for j in range(d_model // 2):
        angle = k * base ** (-2 * j / d_model)
        matrix[2 * j, 2 * j] = math.cos(angle)
        matrix[2 * j, 2 * j + 1] = math.sin(angle)
        matrix[2 * j + 1, 2 * j] = -math.sin(angle)
        matrix[2 * j + 1, 2 * j + 1] = math.cos(angle)
    return matrix
"""
BLOCK = """        matrix[2 * j, 2 * j] = math.cos(angle)
        matrix[2 * j, 2 * j + 1] = math.sin(angle)
        matrix[2 * j + 1, 2 * j] = -math.sin(angle)
        matrix[2 * j + 1, 2 * j + 1] = math.cos(angle)
"""

# ---------------------------------------------------------------- 05.4

LENGTHS = """
prediction_of_lengths = {
    "row of nn.Embedding(1000, 512)": 22.63,
    "row with entries of std 1/√512": 1.0,
    "that row times √512": 22.63,
    "sinusoidal row, d_model = 512": 16,
    "nn.Embedding row times √512, in sinusoidal rows": 32,
}
"""
FIRST, SECOND, THIRD = '(1000, 512)": 22.63', '1/√512": 1.0', '"that row times √512": 22.63'
FOURTH, FIFTH = 'd_model = 512": 16', 'in sinusoidal rows": 32'

# ---------------------------------------------------------------- 05.5

PLACES = """
class Embeddings(nn.Module):
    def __init__(self, vocab_size, d_model, max_len):
        super().__init__()
        self.max_len = max_len
        self.token = nn.Embedding(vocab_size, d_model)
        self.position = nn.Embedding(max_len, d_model)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)

    def forward(self, ids, first=0):
        needed = first + ids.shape[1]
        if needed > self.max_len:
            raise ValueError(f"{needed} positions needed, max_len is {self.max_len}")
        places = torch.arange(first, needed, device=ids.device)
        return self.norm(self.token(ids) + self.position(places))
"""

# ---------------------------------------------------------------- 05.6

BIASES = """
prediction_of_biases = {
    "i": "nothing",
    "j": "keys",
    "j - i": "keys",
    "-|i - j|": "offset",
    "-|i - j|, causal mask": "keys",
    "number by offset, causal mask": "offset",
}
"""

# ---------------------------------------------------------------- 05.8

HALVES = """
def to_halves(weight, num_heads):
    rows, d_model = weight.shape
    if rows % num_heads != 0 or (rows // num_heads) % 2 != 0:
        raise ValueError(f"{rows} rows do not give {num_heads} heads of even width")
    width = rows // num_heads
    heads = weight.view(num_heads, width // 2, 2, d_model)
    return heads.transpose(1, 2).reshape(rows, d_model)
"""
CUT = """    heads = weight.view(num_heads, width // 2, 2, d_model)
    return heads.transpose(1, 2).reshape(rows, d_model)
"""
NO_WIDTH = """    if rows % num_heads != 0 or (rows // num_heads) % 2 != 0:
        raise ValueError(f"{rows} rows do not give {num_heads} heads of even width")
"""

# ---------------------------------------------------------------- 05.7

ROTATE = """
def rotate(x, positions, base=10000.0):
    head_dim = x.shape[-1]
    if head_dim % 2 != 0:
        raise ValueError(f"head_dim must be even, not {head_dim}")
    pair = torch.arange(head_dim // 2, device=x.device)
    angle = positions[:, None] * base ** (-2.0 * pair / head_dim)
    cos, sin = angle.cos(), angle.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
"""
TURN = "torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)"

BANK = (
    # ------------------------------------------------------------ 05.1
    Answer("05.1", "angles by broadcasting, stacked and flattened", TABLE, right=True),
    Answer("05.1", "two loops in plain Python", """
def sinusoidal(n, d_model, base=10000.0):
    if d_model % 2 == 1:
        raise ValueError(f"{d_model} columns cannot be paired")
    rows = []
    for i in range(n):
        row = []
        for j in range(d_model // 2):
            hand = i / base ** (2 * j / d_model)
            row += [math.sin(hand), math.cos(hand)]
        rows.append(row)
    return torch.tensor(rows)
""", right=True),
    Answer("05.1", "frequencies by exp and log, slices of an empty table, float32 throughout", """
def sinusoidal(n, d_model, base=10000.0):
    if d_model % 2:
        raise ValueError("odd d_model: %d" % d_model)
    table = torch.zeros(n, d_model)
    position = torch.arange(n).float().unsqueeze(1)
    frequency = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(base) / d_model))
    table[:, 0::2] = torch.sin(position * frequency)
    table[:, 1::2] = torch.cos(position * frequency)
    return table
""", right=True),
    Answer("05.1", "one column at a time, a cosine as a sine a quarter turn ahead", """
def sinusoidal(n, d_model, base=10000.0):
    if d_model // 2 * 2 != d_model:
        raise ValueError(f"need an even number of columns, got {d_model}")
    place = torch.arange(n, dtype=torch.double)
    columns = []
    for column in range(d_model):
        pair, is_cosine = divmod(column, 2)
        columns.append(torch.sin(place * base ** (-2 * pair / d_model) + is_cosine * math.pi / 2))
    return torch.stack(columns, dim=1)
""", right=True),
    Answer("05.1", "The letter in the exponent counts pairs, and you put the number of the column there.", """
def sinusoidal(n, d_model, base=10000.0):
    if d_model % 2 != 0:
        raise ValueError(f"d_model must be even, not {d_model}")
    table = torch.zeros(n, d_model)
    for i in range(n):
        for column in range(d_model):
            angle = i / base ** (2 * column / d_model)
            table[i, column] = math.sin(angle) if column % 2 == 0 else math.cos(angle)
    return table
"""),
    Answer("05.1", "The exponent is j/d instead of 2j/d, so the wavelengths end at the root of what they should.",
           edit(TABLE, "(2 * pair / d_model)", "(pair / d_model)")),
    Answer("05.1", "Sines stand in the front half and cosines in the back half.",
           edit(TABLE, "torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)", "torch.cat([angle.sin(), angle.cos()], dim=1)")),
    Answer("05.1", "Sines and cosines are exchanged.", edit(TABLE, "[angle.sin(), angle.cos()]", "[angle.cos(), angle.sin()]")),
    Answer("05.1", "The argument base is ignored.", edit(TABLE, "position / base **", "position / 10000.0 **")),
    Answer("05.1", "Positions are counted from 1.", edit(TABLE, "torch.arange(n, dtype", "torch.arange(1, n + 1, dtype")),
    Answer("05.1", "An odd d_model is not refused.", edit(TABLE, REFUSE, "")),
    Answer("05.1", "The message does not name the number.",
           edit(TABLE, 'f"d_model must be even, not {d_model}"', '"d_model must be even"')),
    Answer("05.1", "assert raises AssertionError, not ValueError.",
           edit(TABLE, REFUSE, '    assert d_model % 2 == 0, f"{d_model} is odd"\n')),
    Answer("05.1", "It is n that is tested for being even, not d_model.", edit(TABLE, "if d_model % 2", "if n % 2")),
    Answer("05.1", "Dividing by the last pair instead of by d: the slowest wavelength becomes 2π times base, and d_model = 2 fails.", """
def sinusoidal(n, d_model, base=10000.0):
    if d_model % 2 != 0:
        raise ValueError(f"d_model must be even, not {d_model}")
    step = math.log(base) / (d_model // 2 - 1)
    frequency = torch.exp(-step * torch.arange(d_model // 2))
    angle = torch.arange(n)[:, None] * frequency
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
"""),
    Answer("05.1", "Integer division makes every exponent 0.", edit(TABLE, "(2 * pair / d_model)", "(2 * pair // d_model)")),
    Answer("05.1", "The frequencies grow instead of falling: multiplied by the power, not divided.",
           edit(TABLE, "position / base", "position * base")),
    Answer("05.1", "Angles in radians were taken for degrees.", edit(TABLE, "angle = position", "angle = math.pi / 180 * position")),
    Answer("05.1", "The table lies on its side.", edit(TABLE, ".flatten(1).float()", ".flatten(1).float().T")),
    Answer("05.1", "squeeze takes the axis of positions away when n = 1.",
           edit(TABLE, ".flatten(1).float()", ".flatten(1).float().squeeze()")),
    Answer("05.1", "Every second column is left empty: the cosines are missing.", """
def sinusoidal(n, d_model, base=10000.0):
    if d_model % 2 != 0:
        raise ValueError(f"d_model must be even, not {d_model}")
    table = torch.zeros(n, d_model)
    for i in range(n):
        for j in range(d_model // 2):
            table[i, 2 * j] = math.sin(i / base ** (2 * j / d_model))
    return table
"""),
    Answer("05.1", "Position 0 is skipped: its cosines are 1, not 0.", """
def sinusoidal(n, d_model, base=10000.0):
    if d_model % 2 != 0:
        raise ValueError(f"d_model must be even, not {d_model}")
    table = torch.zeros(n, d_model)
    for i in range(1, n):
        for j in range(d_model // 2):
            angle = i / base ** (2 * j / d_model)
            table[i, 2 * j], table[i, 2 * j + 1] = math.sin(angle), math.cos(angle)
    return table
"""),

    # ------------------------------------------------------------ 05.2
    Answer("05.2", "integer division", REPAIRED, right=True),
    Answer("05.2", "loops over pairs", """
def positional_encoding(n, d_model):
    table = torch.zeros(n, d_model)
    for pair in range(d_model // 2):
        wavelength = 10000 ** (2 * pair / d_model)
        for position in range(n):
            table[position, 2 * pair] = math.sin(position / wavelength)
            table[position, 2 * pair + 1] = math.cos(position / wavelength)
    return table
""", right=True),
    Answer("05.2", "the even neighbour's column number",
           edit(REPAIRED, "2 * (column // 2) / d_model", "(column - column % 2) / d_model"), right=True),
    Answer("05.2", "without loops", """
def positional_encoding(n, d_model):
    column = torch.arange(d_model)
    angle = torch.arange(n).double()[:, None] / 10000 ** (2 * (column // 2).double() / d_model)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())
""", right=True),
    Answer("05.2", "Nothing is repaired.", edit(REPAIRED, "(column // 2)", "column")),
    Answer("05.2", "Without brackets 2 * column // 2 is the column again: the partners still have different wavelengths.",
           edit(REPAIRED, "2 * (column // 2)", "2 * column // 2")),
    Answer("05.2", "The exponent is halved, but the two columns of a pair still differ.", edit(REPAIRED, "2 * (column // 2)", "column")),
    Answer("05.2", "The pair is right, but the factor 2 is lost.", edit(REPAIRED, "2 * (column // 2)", "(column // 2)")),
    Answer("05.2", "Rounding up: a cosine is paired with the sine that follows.", edit(REPAIRED, "(column // 2)", "((column + 1) // 2)")),
    Answer("05.2", "The remainder is not the number of the pair.", edit(REPAIRED, "(column // 2)", "(column % 2)")),
    Answer("05.2", "The whole exponent is divided without remainder and is 0.",
           edit(REPAIRED, "(column // 2) / d_model", "(column // 2) // d_model")),
    Answer("05.2", "The exponents run twice as far: d_model was halved as well.", edit(REPAIRED, "/ d_model)", "/ (d_model // 2))")),
    Answer("05.2", "Only the odd columns are mended, the sines keep the old exponent.",
           edit(REPAIRED, "2 * (column // 2)", "2 * (column if column % 2 == 0 else column // 2)")),
    Answer("05.2", "Sines and cosines are exchanged.", edit(REPAIRED, "column % 2 == 0", "column % 2 == 1")),
    Answer("05.2", "Sines stand in the front half, cosines in the back half.", """
def positional_encoding(n, d_model):
    table = torch.zeros(n, d_model)
    for position in range(n):
        for pair in range(d_model // 2):
            angle = position / 10000 ** (2 * pair / d_model)
            table[position, pair] = math.sin(angle)
            table[position, d_model // 2 + pair] = math.cos(angle)
    return table
"""),
    Answer("05.2", "return stands inside the loop, so only the first row is filled.",
           edit(REPAIRED, "    return table", "        return table")),
    Answer("05.2", "Positions are counted from 1.", edit(REPAIRED, "angle = position /", "angle = (position + 1) /")),
    Answer("05.2", "The loop runs over the pairs and fills only the first half of the columns.",
           edit(REPAIRED, "range(d_model)", "range(d_model // 2)")),
    Answer("05.2", "A table of integers cuts the sines down to 0.",
           edit(REPAIRED, "torch.zeros(n, d_model)", "torch.zeros(n, d_model, dtype=torch.long)")),

    # ------------------------------------------------------------ 05.3
    Answer("05.3", "one block for each pair", SHIFT, right=True),
    Answer("05.3", "block_diag with the frequencies of the package", """
def shift_matrix(k, d_model, base=10000.0):
    blocks = []
    for omega in positions.frequencies(d_model, base).tolist():
        c, s = math.cos(k * omega), math.sin(k * omega)
        blocks.append(torch.tensor([[c, s], [-s, c]], dtype=torch.float64))
    return torch.block_diag(*blocks)
""", right=True),
    Answer("05.3", "diagonals without a loop", """
def shift_matrix(k, d_model, base=10000.0):
    turn = k * base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    diagonal = turn.cos().repeat_interleave(2)
    beside = torch.stack([turn.sin(), torch.zeros_like(turn)], dim=1).flatten()[:-1]
    return torch.diag(diagonal) + torch.diag(beside, 1) - torch.diag(beside, -1)
""", right=True),
    Answer("05.3", "the exponential of k times the generator of the rotation", """
def shift_matrix(k, d_model, base=10000.0):
    generator = torch.zeros(d_model, d_model, dtype=torch.float64)
    for column in range(0, d_model, 2):
        omega = base ** (-column / d_model)
        generator[column, column + 1] = omega
        generator[column + 1, column] = -omega
    return torch.matrix_exp(k * generator)
""", right=True),
    Answer("05.3", "The matrix turns the wrong way: it goes k positions back.",
           edit(edit(SHIFT, "+ 1] = math.sin(angle)", "+ 1] = -math.sin(angle)"), "2 * j] = -math.sin(angle)", "2 * j] = math.sin(angle)")),
    Answer("05.3", "Every pair turns by k, but each has its own frequency.", edit(SHIFT, "k * base ** (-2 * j / d_model)", "k")),
    Answer("05.3", "The frequencies are those of the copied table, 4j/d instead of 2j/d.",
           edit(SHIFT, "-2 * j / d_model", "-4 * j / d_model")),
    Answer("05.3", "The exponent lacks its factor 2.", edit(SHIFT, "-2 * j / d_model", "-j / d_model")),
    Answer("05.3", "The argument base is ignored.", edit(SHIFT, "k * base **", "k * 10000.0 **")),
    Answer("05.3", "A negative k is treated like a positive one.", edit(SHIFT, "angle = k *", "angle = abs(k) *")),
    Answer("05.3", "A negative k is refused, but the task allows it.", edit(SHIFT, "    matrix = torch.zeros", """    if k < 0:
        raise ValueError(f"k = {k} is negative")
    matrix = torch.zeros""")),
    Answer("05.3", "k = 0 gives a matrix of zeros; nothing moves with the identity.", edit(SHIFT, "    for j in range", """    if k == 0:
        return matrix
    for j in range""")),
    Answer("05.3", "The blocks join columns j and j + d/2, as if sines and cosines stood in two halves.", edit(SHIFT, BLOCK, """
        half = d_model // 2
        matrix[j, j] = matrix[j + half, j + half] = math.cos(angle)
        matrix[j, j + half] = math.sin(angle)
        matrix[j + half, j] = -math.sin(angle)
""")),
    Answer("05.3", "Sine and cosine are exchanged in the block.", edit(SHIFT, BLOCK, """
        matrix[2 * j, 2 * j] = math.sin(angle)
        matrix[2 * j, 2 * j + 1] = math.cos(angle)
        matrix[2 * j + 1, 2 * j] = -math.cos(angle)
        matrix[2 * j + 1, 2 * j + 1] = math.sin(angle)
""")),
    Answer("05.3", "The minus sign is missing.", edit(SHIFT, "= -math.sin(angle)", "= math.sin(angle)")),
    Answer("05.3", "The minus stands at a cosine: a reflection, no rotation.",
           edit(edit(SHIFT, "= -math.sin(angle)", "= math.sin(angle)"),
                "2 * j + 1, 2 * j + 1] = math.cos(angle)", "2 * j + 1, 2 * j + 1] = -math.cos(angle)")),
    Answer("05.3", "The blocks are added to an identity instead of replacing it.",
           edit(edit(edit(SHIFT, "torch.zeros(d_model, d_model)", "torch.eye(d_model)"),
                     "matrix[2 * j, 2 * j] =", "matrix[2 * j, 2 * j] +="),
                "2 * j + 1, 2 * j + 1] =", "2 * j + 1, 2 * j + 1] +=")),
    Answer("05.3", "A rolled identity moves columns, not positions.", """
def shift_matrix(k, d_model, base=10000.0):
    return torch.eye(d_model).roll(k, dims=0)
"""),
    Answer("05.3", "The blocks are returned as a stack; they were to stand along the diagonal of one matrix.", """
def shift_matrix(k, d_model, base=10000.0):
    angle = k * base ** (-2.0 * torch.arange(d_model // 2) / d_model)
    c, s = angle.cos(), angle.sin()
    return torch.stack([torch.stack([c, s], -1), torch.stack([-s, c], -1)], dim=1)
"""),
    Answer("05.3", "return stands inside the loop: only the first pair has a block.",
           edit(SHIFT, "    return matrix", "        return matrix")),
    Answer("05.3", "Exponents rounded down: all pairs but the first turn by k / base.",
           edit(SHIFT, "-2 * j / d_model", "-2 * j // d_model")),

    # ------------------------------------------------------------ 05.4
    Answer("05.4", "the five numbers", LENGTHS, right=True),
    Answer("05.4", "expressions", """
d = 512
prediction_of_lengths = {
    "row of nn.Embedding(1000, 512)": math.sqrt(d * 1.0**2),
    "row with entries of std 1/√512": math.sqrt(d * (1 / d)),
    "that row times √512": math.sqrt(d) * 1,
    "sinusoidal row, d_model = 512": math.sqrt(d / 2),
    "nn.Embedding row times √512, in sinusoidal rows": math.sqrt(d) * math.sqrt(d) / math.sqrt(d / 2),
}
""", right=True),
    Answer("05.4", "whole numbers, rounded", """
values = [23, 1, 23, 16, 32]
rows = ["row of nn.Embedding(1000, 512)", "row with entries of std 1/√512", "that row times √512",
        "sinusoidal row, d_model = 512", "nn.Embedding row times √512, in sinusoidal rows"]
prediction_of_lengths = {row: value for row, value in zip(rows, values)}
""", right=True),
    Answer("05.4", "512 is the squared length; the root is missing.", edit(LENGTHS, FIRST, '(1000, 512)": 512')),
    Answer("05.4", "This is the L1 norm, not the length.", edit(LENGTHS, FIRST, '(1000, 512)": 409')),
    Answer("05.4", "The std of one entry was taken for the length of the row.", edit(LENGTHS, FIRST, '(1000, 512)": 1.0')),
    Answer("05.4", "The length was made from the 1000 words, not from the 512 columns.", edit(LENGTHS, FIRST, '(1000, 512)": 31.6')),
    Answer("05.4", "The std of one entry was taken for the length of the row.", edit(LENGTHS, SECOND, '1/√512": 1 / math.sqrt(512)')),
    Answer("05.4", "With entries of std 1/√512 the row is 1 long, whatever the number of columns.",
           edit(LENGTHS, SECOND, '1/√512": 22.63')),
    Answer("05.4", "The factor √512 was applied twice.", edit(LENGTHS, THIRD, '"that row times √512": 512')),
    Answer("05.4", "The factor undoes the std of the entries, not the length.", edit(LENGTHS, THIRD, '"that row times √512": 1.0')),
    Answer("05.4", "Each pair adds 1, not each column.", edit(LENGTHS, FOURTH, 'd_model = 512": 22.63')),
    Answer("05.4", "256 is the squared length; the root is missing.", edit(LENGTHS, FOURTH, 'd_model = 512": 256')),
    Answer("05.4", "Each pair has length 1, the row of 256 pairs has not.", edit(LENGTHS, FOURTH, 'd_model = 512": 1')),
    Answer("05.4", "The ratio is asked for, not the length.", edit(LENGTHS, FIFTH, 'in sinusoidal rows": 512')),
    Answer("05.4", "The factor √512 was forgotten in the ratio.", edit(LENGTHS, FIFTH, 'in sinusoidal rows": 1.414')),
    Answer("05.4", "The factor alone was given; a row of nn.Embedding is longer than a sinusoidal one to begin with.",
           edit(LENGTHS, FIFTH, 'in sinusoidal rows": 22.63')),
    Answer("05.4", "The ratio is upside down.", edit(LENGTHS, FIFTH, 'in sinusoidal rows": 1 / 32')),
    Answer("05.4", "The last two rows are not filled in.",
           edit(edit(LENGTHS, FOURTH, 'd_model = 512": None'), FIFTH, 'in sinusoidal rows": None')),

    # ------------------------------------------------------------ 05.5
    Answer("05.5", "two look-ups, a sum, a norm", PLACES, right=True),
    Answer("05.5", "a slice of the position table, the limit read off the table itself", """
class Embeddings(nn.Module):
    def __init__(self, vocab_size, d_model, max_len):
        super().__init__()
        self.norm = nn.LayerNorm(d_model, 1e-12)
        self.position = nn.Embedding(num_embeddings=max_len, embedding_dim=d_model)
        self.token = nn.Embedding(num_embeddings=vocab_size, embedding_dim=d_model)

    def forward(self, ids, first=0):
        last = first + ids.size(-1)
        if self.position.num_embeddings < last:
            raise ValueError("the table has %d rows, but %d are needed" % (self.position.num_embeddings, last))
        return self.norm(self.position.weight[first:last] + self.token.weight[ids])
""", right=True),
    Answer("05.5", "a grid of position numbers, one row a sentence", """
class Embeddings(nn.Module):
    def __init__(self, vocab_size, d_model, max_len):
        super().__init__()
        self.token, self.position = nn.Embedding(vocab_size, d_model), nn.Embedding(max_len, d_model)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)

    @staticmethod
    def numbers(ids, first):
        return torch.ones_like(ids).cumsum(dim=1) - 1 + first

    def forward(self, ids, first=0):
        have, need = len(self.position.weight), ids.shape[1] + first
        if need <= have:
            return self.norm(self.token(ids) + self.position(self.numbers(ids, first)))
        raise ValueError(f"max_len = {have} < {need} = first + n")
""", right=True),
    Answer("05.5", "column by column", """
class Embeddings(nn.Module):
    def __init__(self, vocab_size, d_model, max_len):
        super().__init__()
        self.token = nn.Embedding(vocab_size, d_model)
        self.position = nn.Embedding(max_len, d_model)
        self.norm = nn.LayerNorm(d_model)
        self.norm.eps = 1e-12
        self.limit = int(max_len)

    def forward(self, ids, first=0):
        n = ids.shape[1]
        if not first + n <= self.limit:
            raise ValueError(f"positions needed: {first + n}, max_len: {self.limit}")
        vectors = []
        for t in range(n):
            vectors.append(self.norm(F.embedding(ids[:, t], self.token.weight) + self.position.weight[first + t]))
        return torch.stack(vectors, dim=1)
""", right=True),
    Answer("05.5", "The epsilon of the norm is PyTorch's 1e-5, not 1e-12.", edit(PLACES, ", eps=1e-12", "")),
    Answer("05.5", "The norm is missing.", edit(edit(PLACES, "        self.norm = nn.LayerNorm(d_model, eps=1e-12)\n", ""),
           "self.norm(self.token(ids) + self.position(places))", "self.token(ids) + self.position(places)")),
    Answer("05.5", "padding_idx=0 keeps row 0 of the words from being trained.",
           edit(PLACES, "nn.Embedding(vocab_size, d_model)", "nn.Embedding(vocab_size, d_model, padding_idx=0)")),
    Answer("05.5", "padding_idx=0 keeps row 0 of the positions from being trained.",
           edit(PLACES, "nn.Embedding(max_len, d_model)", "nn.Embedding(max_len, d_model, padding_idx=0)")),
    Answer("05.5", "first is ignored: every sentence starts at position 0.",
           edit(PLACES, "torch.arange(first, needed, device=ids.device)", "torch.arange(ids.shape[1], device=ids.device)")),
    Answer("05.5", "first is added to the word numbers, not to the positions.",
           edit(edit(PLACES, "self.token(ids)", "self.token(ids + first)"),
           "torch.arange(first, needed, device=ids.device)", "torch.arange(ids.shape[1], device=ids.device)")),
    Answer("05.5", "A sentence that just fits is refused.", edit(PLACES, "needed > self.max_len", "needed >= self.max_len")),
    Answer("05.5", "One position too many passes the test.", edit(PLACES, "needed > self.max_len", "needed > self.max_len + 1")),
    Answer("05.5", "The test looks at the length only and forgets first.",
           edit(PLACES, "needed > self.max_len", "ids.shape[1] > self.max_len")),
    Answer("05.5", "The length is not tested: the error is PyTorch's, not a ValueError.", edit(PLACES, """        if needed > self.max_len:
            raise ValueError(f"{needed} positions needed, max_len is {self.max_len}")
""", "")),
    Answer("05.5", "Sentences that are too long are cut off without a word.", edit(PLACES, """        if needed > self.max_len:
            raise ValueError(f"{needed} positions needed, max_len is {self.max_len}")
""", """        ids = ids[:, :self.max_len - first]
        needed = first + ids.shape[1]
""")),
    Answer("05.5", "The message says neither number.",
           edit(PLACES, 'f"{needed} positions needed, max_len is {self.max_len}"', '"the sentence is too long"')),
    Answer("05.5", "The message names the length of the sentence, not the number of positions needed.",
           edit(PLACES, 'f"{needed} positions needed,', 'f"{ids.shape[1]} positions needed,')),
    Answer("05.5", "Positions run over the sentences of the batch, not over the columns.",
           edit(PLACES, "torch.arange(first, needed, device=ids.device)", "first + torch.arange(len(ids))[:, None].expand_as(ids)")),
    Answer("05.5", "The norm is applied to the words before the positions are added.",
           edit(PLACES, "self.norm(self.token(ids) + self.position(places))", "self.norm(self.token(ids)) + self.position(places)")),
    Answer("05.5", "The position table is a bare parameter, not an nn.Embedding, and a checkpoint does not find it.",
           edit(edit(PLACES, "nn.Embedding(max_len, d_model)", "nn.Parameter(torch.randn(max_len, d_model))"),
                "self.position(places)", "self.position[places]")),
    Answer("05.5", "Positions are sinusoids here; learned ones were asked for.",
           edit(edit(PLACES, "self.position = nn.Embedding(max_len, d_model)",
                     'self.register_buffer("position", positions.sinusoidal(max_len, d_model))'),
                "self.position(places)", "self.position[places]")),
    Answer("05.5", "Words are multiplied by √d, which nobody asked for.",
           edit(PLACES, "self.token(ids) +", "self.token(ids) * math.sqrt(self.norm.normalized_shape[0]) +")),
    Answer("05.5", "A third table is added; there should be no other parameters.",
           edit(edit(PLACES, "        self.norm =", "        self.segment = nn.Embedding(2, d_model)\n        self.norm ="),
                "self.token(ids) + self", "self.token(ids) + self.segment(torch.zeros_like(ids)) + self")),
    Answer("05.5", "The layer remembers where the last call ended; first = 0 should start at 0 each time.",
           edit(edit(PLACES, "        needed =", "        first = first + self.seen\n        needed ="), "        places =",
                "        self.seen = needed\n        places =").replace("        self.max_len = max_len\n",
                                   "        self.max_len, self.seen = max_len, 0\n")),
    Answer("05.5", "Dropout is on, in evaluation too.", edit(PLACES, "return self.norm(self.token(ids) + self.position(places))",
           "return F.dropout(self.norm(self.token(ids) + self.position(places)), 0.1)")),
    Answer("05.5", "The position vectors are detached and never trained.",
           edit(PLACES, "self.position(places))", "self.position(places).detach())")),
    Answer("05.5", "Two tables, but the positions are never added.",
           edit(PLACES, "self.token(ids) + self.position(places)", "self.token(ids)")),

    # ------------------------------------------------------------ 05.6
    Answer("05.6", "the six words", BIASES, right=True),
    Answer("05.6", "sorted by answer", """
says = {"nothing": ["i"], "keys": ["j", "j - i", "-|i - j|, causal mask"], "offset": ["-|i - j|", "number by offset, causal mask"]}
prediction_of_biases = {formula: word for word, formulas in says.items() for formula in formulas}
""", right=True),
    Answer("05.6", "worked out: is the bias a number by query plus a number by key wherever it is seen?", """
free = [0.0, -3.0, 1.0, 7.0, 2.0, -5.0]
formulas = {
    "i": (lambda i, j: i, False),
    "j": (lambda i, j: j, False),
    "j - i": (lambda i, j: j - i, False),
    "-|i - j|": (lambda i, j: -abs(i - j), False),
    "-|i - j|, causal mask": (lambda i, j: -abs(i - j), True),
    "number by offset, causal mask": (lambda i, j: free[abs(i - j)], True),
}
prediction_of_biases = {}
for name, (b, causal) in formulas.items():
    seen = lambda i: [j for j in range(6) if j <= i or not causal]
    # the last query sees every key: what it says of a key, relative to key 0, must hold for all the others
    steps = [[b(i, j) - b(i, 0) for j in seen(i)] for i in range(6)]
    by_key = all(row == steps[5][:len(row)] for row in steps)
    flat = all(step == 0 for row in steps for step in row)
    prediction_of_biases[name] = "nothing" if flat else "keys" if by_key else "offset"
""", right=True),
    Answer("05.6", "A number for each query is constant along its row, and the softmax does not see it.",
           edit(BIASES, '"i": "nothing"', '"i": "keys"')),
    Answer("05.6", "A number for each query is no offset.", edit(BIASES, '"i": "nothing"', '"i": "offset"')),
    Answer("05.6", "A number for each key changes the weights within a row.", edit(BIASES, '"j": "keys"', '"j": "nothing"')),
    Answer("05.6", "The part of the query vanishes, and numbers on keys are left.", edit(BIASES, '"j - i": "keys"', '"j - i": "offset"')),
    Answer("05.6", "The part of the key does not vanish.", edit(BIASES, '"j - i": "keys"', '"j - i": "nothing"')),
    Answer("05.6", "Without a mask the absolute value has a bend at each query's own place.",
           edit(BIASES, '"-|i - j|": "offset"', '"-|i - j|": "keys"')),
    Answer("05.6", "Behind a causal mask the absolute value is i - j, and numbers on keys say the same.",
           edit(BIASES, '"-|i - j|, causal mask": "keys"', '"-|i - j|, causal mask": "offset"')),
    Answer("05.6", "Numbers that are free for each offset are not linear in it, mask or not.",
           edit(BIASES, 'number by offset, causal mask": "offset"', 'number by offset, causal mask": "keys"')),
    Answer("05.6", "The two rows with the absolute value are exchanged.",
           edit(edit(BIASES, '"-|i - j|": "offset"', '"-|i - j|": "keys"'),
                '"-|i - j|, causal mask": "keys"', '"-|i - j|, causal mask": "offset"')),
    Answer("05.6", "Queries and keys are confused: rows belong to i.",
           edit(edit(BIASES, '"i": "nothing"', '"i": "keys"'), '"j": "keys"', '"j": "nothing"')),
    Answer("05.6", "The last row is not filled in.",
           edit(BIASES, 'number by offset, causal mask": "offset"', 'number by offset, causal mask": None')),

    # ------------------------------------------------------------ 05.7
    Answer("05.7", "the two formulas, stacked and flattened", ROTATE, right=True),
    Answer("05.7", "complex numbers", """
def rotate(x, positions, base=10000.0):
    *front, n, d = x.shape
    if d % 2:
        raise ValueError(f"cannot pair {d} columns")
    angle = torch.outer(positions.double(), base ** (-torch.arange(0, d, 2).double() / d))
    points = torch.view_as_complex(x.double().reshape(*front, n, d // 2, 2).contiguous())
    turned = points * torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(turned).flatten(-2).to(x.dtype)
""", right=True),
    Answer("05.7", "cosine times x plus sine times x turned by a quarter", """
def rotate(x, positions, base=10000.0):
    d = x.size(-1)
    if d & 1:
        raise ValueError("head_dim is %d, an odd number" % d)
    column = torch.arange(d)
    angle = positions.unsqueeze(-1) * torch.pow(float(base), -(column - column % 2) / d)
    quarter = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).reshape(x.shape)
    return x * torch.cos(angle) + quarter * torch.sin(angle)
""", right=True),
    Answer("05.7", "one matrix a token", """
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2 != 0:
        raise ValueError(f"{d} is odd")
    matrices = torch.zeros(len(positions), d, d, dtype=x.dtype)
    for t, place in enumerate(positions.tolist()):
        for c in range(0, d, 2):
            angle = place * base ** (-c / d)
            matrices[t, c, c] = matrices[t, c + 1, c + 1] = math.cos(angle)
            matrices[t, c, c + 1] = -math.sin(angle)
            matrices[t, c + 1, c] = math.sin(angle)
    return torch.einsum("tij,...tj->...ti", matrices, x)
""", right=True),
    Answer("05.7", "The points turn the other way, from b towards a.",
           edit(ROTATE, "a * cos - b * sin, a * sin + b * cos", "a * cos + b * sin, b * cos - a * sin")),
    Answer("05.7", "A sign is missing: both coordinates are added up.", edit(ROTATE, "a * cos - b * sin", "a * cos + b * sin")),
    Answer("05.7", "Halves are paired, columns j and j + d/2; here it is neighbours.",
           edit(edit(ROTATE, "x[..., 0::2], x[..., 1::2]", "x.chunk(2, dim=-1)"),
                TURN, "torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)")),
    Answer("05.7", "The partners do not stand side by side at the end.",
           edit(ROTATE, TURN, "torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)")),
    Answer("05.7", "The new second coordinate is made from the new first one, not from the old.",
           edit(ROTATE, "    return torch.stack([a * cos - b * sin, a * sin + b * cos]", """    a = a * cos - b * sin
    b = a * sin + b * cos
    return torch.stack([a, b]""")),
    Answer("05.7", "The positions given are ignored: 0, 1, 2 … are used.",
           edit(ROTATE, "positions[:, None]", "torch.arange(x.shape[-2])[:, None]")),
    Answer("05.7", "Positions are counted from the first one given: scores stay the same, vectors do not.",
           edit(ROTATE, "positions[:, None]", "(positions - positions[0])[:, None]")),
    Answer("05.7", "The argument base is ignored.", edit(ROTATE, "* base **", "* 10000.0 **")),
    Answer("05.7", "The exponent lacks its factor 2.", edit(ROTATE, "-2.0 * pair", "-1.0 * pair")),
    Answer("05.7", "The exponent is divided by the number of pairs, so frequencies fall twice as fast.",
           edit(ROTATE, "-2.0 * pair / head_dim", "-2.0 * pair / (head_dim // 2)")),
    Answer("05.7", "The minus in the exponent is missing.", edit(ROTATE, "-2.0 * pair", "2.0 * pair")),
    Answer("05.7", "An odd head_dim gives PyTorch's error, not a ValueError.", edit(ROTATE, """    if head_dim % 2 != 0:
        raise ValueError(f"head_dim must be even, not {head_dim}")
""", "")),
    Answer("05.7", "The message does not say the number.",
           edit(ROTATE, 'f"head_dim must be even, not {head_dim}"', '"head_dim must be even"')),
    Answer("05.7", "The tensor of the caller is overwritten.",
           edit(ROTATE, "    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)",
           "    x[..., 0::2], x[..., 1::2] = a * cos - b * sin, a * sin + b * cos\n    return x")),
    Answer("05.7", "Sines and cosines are added to x; rotary positions turn it.",
           edit(ROTATE, TURN, "x + torch.stack([sin, cos], dim=-1).flatten(-2)")),
    Answer("05.7", "Axis 1 is taken for the tokens: with heads and a batch the angles meet the wrong axis.", edit(ROTATE,
           "cos, sin = angle.cos(), angle.sin()", "angle = angle.reshape(1, len(positions), *[1] * (x.dim() - 3), head_dim // 2)\n"
           "    cos, sin = angle.cos(), angle.sin()")),
    Answer("05.7", "Only input of three axes works.", edit(ROTATE, "    head_dim = x.shape[-1]", "    batch, n, head_dim = x.shape")),
    Answer("05.7", "The pairs are not joined again: the result has one axis too many.", edit(ROTATE, ".flatten(-2)", "")),
    Answer("05.7", "All pairs turn at the same speed.", edit(ROTATE, "positions[:, None] * base ** (-2.0 * pair / head_dim)",
           "positions[:, None] * torch.ones(head_dim // 2)")),
    Answer("05.7", "Exponents rounded down: all pairs but the first get the same frequency.",
           edit(ROTATE, "-2.0 * pair / head_dim", "-2.0 * pair // head_dim")),
    Answer("05.7", "The angle goes into a column each instead of a pair each: partners turn by different angles.", """
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2 != 0:
        raise ValueError(f"head_dim {d} is odd")
    angle = positions[:, None] * base ** (-torch.arange(d) / d)
    quarter = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
    return x * angle.cos() + quarter * angle.sin()
"""),
    # ------------------------------------------------------------ 05.8
    Answer("05.8", "axes: head, pair, partner", HALVES, right=True),
    Answer("05.8", "every second row of each head, then the rest", edit(HALVES, CUT, """    new = []
    for h in range(num_heads):
        head = weight[h * width:(h + 1) * width]
        new.append(head[0::2])
        new.append(head[1::2])
    return torch.cat(new)
"""), right=True),
    Answer("05.8", "an empty result that is filled row by row", edit(HALVES, CUT, """    result = torch.empty_like(weight)
    for row in range(rows):
        h, c = divmod(row, width)
        result[h * width + c // 2 + (c % 2) * (width // 2)] = weight[row]
    return result
"""), right=True),
    Answer("05.8", "All rows are reordered at once, as if there were one head.",
           edit(HALVES, "weight.view(num_heads, width // 2, 2, d_model)", "weight.view(1, rows // 2, 2, d_model)")),
    Answer("05.8", "The way back: two halves are interleaved.",
           edit(HALVES, "weight.view(num_heads, width // 2, 2, d_model)", "weight.view(num_heads, 2, width // 2, d_model)")),
    Answer("05.8", "Nothing is exchanged: the rows stay where they were.", edit(HALVES, "heads.transpose(1, 2).reshape", "heads.reshape")),
    Answer("05.8", "The columns are reordered, not the rows.",
           edit(HALVES, CUT, """    return torch.cat([weight[:, 0::2], weight[:, 1::2]], dim=1)
""")),
    Answer("05.8", "The heads are taken to alternate from row to row.",
           edit(HALVES, CUT, """    heads = weight.view(width // 2, 2, num_heads, d_model)
    return heads.permute(2, 1, 0, 3).reshape(rows, d_model)
""")),
    Answer("05.8", "The odd rows come first, so each pair turns the other way.",
           edit(HALVES, CUT, """    heads = weight.view(num_heads, width, d_model)
    return torch.cat([heads[:, 1::2], heads[:, 0::2]], dim=1).reshape(rows, d_model)
""")),
    Answer("05.8", "The two halves of all heads are gathered: first every head's even rows, then every head's odd ones.",
           edit(HALVES, "heads.transpose(1, 2).reshape(rows, d_model)", "torch.cat([heads[:, :, 0].reshape(-1, d_model), "
                        "heads[:, :, 1].reshape(-1, d_model)])")),
    Answer("05.8", "An odd width is not refused.", edit(HALVES, NO_WIDTH, "")),
    Answer("05.8", "Rows that do not fit the heads are refused, an odd width is not.",
           edit(HALVES, "rows % num_heads != 0 or (rows // num_heads) % 2 != 0", "rows % num_heads != 0")),
    Answer("05.8", "The message does not say the numbers.",
           edit(HALVES, 'f"{rows} rows do not give {num_heads} heads of even width"', '"heads of even width are needed"')),
    Answer("05.8", "The result keeps the axis of the heads.", 
           edit(HALVES, ".reshape(rows, d_model)", ".reshape(num_heads, width, d_model)")),
)
