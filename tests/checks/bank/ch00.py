"""Chapter 00: answers written from the blank notebook."""

from . import Answer, edit

SHAPES = """
prediction_of_shapes = {
    "x[0]": (5, 8),
    "x.mean(dim=1)": (2, 8),
    "layer(x)": (2, 5, 3),
    "x @ x.mT": (2, 5, 5),                                   # .mT swaps the last two axes
}
"""

SPLIT = """
def split_word(word, vocabulary):
    pieces, start = [], 0
    while start < len(word):
        mark = "##" if start > 0 else ""
        for end in range(len(word), start, -1):
            piece = mark + word[start:end]
            if piece in vocabulary:
                pieces.append(piece)
                start = end
                break
        else:
            return ["[UNK]"]
    return pieces
"""

LOOKUP = """
class Lookup(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))

    def forward(self, ids):
        return self.weight[ids]
"""

ONE_HOT = """
class Lookup(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.vocab_size = vocab_size
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model).normal_())

    def forward(self, ids):
        hot = nn.functional.one_hot(ids.long(), self.vocab_size).to(self.weight.dtype)
        return hot @ self.weight
"""

SCORES = """
def all_scores(query, key):
    return query @ key.transpose(1, 2)
"""

MEAN = """
def sentence_vector(x):
    return x.mean(dim=1)
"""

VISIBLE = """
def visibility(n, rule):
    mask = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        for j in range(n):
            mask[i, j] = rule(i, j)
    return mask
"""

LABELS = """
labels_of_boxes = {
    "A": "source",
    "B": "target",
    "C": "encoder",
    "D": "decoder",
    "E": "last encoder layer",
    "F": "self-attention",
    "G": "add & norm",
    "H": "feed-forward",
    "I": "masked self-attention",
    "J": "attention to the encoder",
    "L": "values",
}
"""


def swapped(*letters):
    """The labels with the names of each pair of letters exchanged."""
    text = LABELS
    for one, other in letters:
        left, right = (next(line for line in LABELS.splitlines() if f'"{letter}"' in line).split(": ")[1] for letter in (one, other))
        text = edit(edit(text, f'"{one}": {left}', f'"{one}": {right}'), f'"{other}": {right}', f'"{other}": {left}')
    return text


BANK = (
    # 00.1
    Answer("00.1", "the four shapes as plain tuples", SHAPES, right=True),
    Answer("00.1", "the shapes taken from a run", """
x, layer = torch.zeros(2, 5, 8), nn.Linear(8, 3)
prediction_of_shapes = {
    "x[0]": tuple(x[0].shape),
    "x.mean(dim=1)": tuple(x.mean(dim=1).shape),
    "layer(x)": tuple(layer(x).shape),
    "x @ x.mT": tuple((x @ x.mT).shape),
}
""", right=True),
    Answer("00.1", "built from names of the sizes", """
batch, tokens, features = 2, 5, 8
prediction_of_shapes = dict(zip(
    ["x[0]", "x.mean(dim=1)", "layer(x)", "x @ x.mT"],
    [(tokens, features), (batch, features), (batch, tokens, 3), (batch, tokens, tokens)],
))
""", right=True),
    Answer("00.1", "entries filled in one by one, as torch.Size, which is a tuple", """
prediction_of_shapes = {}
prediction_of_shapes["x[0]"] = torch.Size([5, 8])
prediction_of_shapes["x.mean(dim=1)"] = torch.Size([2, 8])
prediction_of_shapes["layer(x)"] = torch.Size([2, 5, 3])
prediction_of_shapes["x @ x.mT"] = torch.Size([2, 5, 5])
""", right=True),
    Answer("00.1", "thinks that x[0] keeps an axis of length 1", edit(SHAPES, "(5, 8)", "(1, 5, 8)")),
    Answer("00.1", "takes the last axis away when indexing, not the first", edit(SHAPES, "(5, 8)", "(2, 5)")),
    Answer("00.1", "counts axes from 1, so dim=1 is the batch", edit(SHAPES, "(2, 8)", "(5, 8)")),
    Answer("00.1", "averages over the features instead of the tokens", edit(SHAPES, "(2, 8)", "(2, 5)")),
    Answer("00.1", "thinks that the mean keeps its axis with length 1", edit(SHAPES, "(2, 8)", "(2, 1, 8)")),
    Answer("00.1", "thinks that a linear layer flattens the sentence", edit(SHAPES, "(2, 5, 3)", "(2, 3)")),
    Answer("00.1", "gives the shape of the layer's matrix instead of its output", edit(SHAPES, "(2, 5, 3)", "(3, 8)")),
    Answer("00.1", "thinks that a linear layer adds an axis", edit(SHAPES, "(2, 5, 3)", "(2, 5, 8, 3)")),
    Answer("00.1", "sums over the tokens in the product", edit(SHAPES, "(2, 5, 5)", "(2, 8, 8)")),
    Answer("00.1", "takes @ for the product entry by entry", edit(SHAPES, "(2, 5, 5)", "(2, 5, 8)")),
    Answer("00.1", "forgets the batch in the product", edit(SHAPES, "(2, 5, 5)", "(5, 5)")),
    Answer("00.1", "thinks that the product pairs all sentences with all sentences", edit(SHAPES, "(2, 5, 5)", "(2, 2, 5, 5)")),
    Answer("00.1", "leaves the last entry unfilled", edit(SHAPES, "(2, 5, 5)", "None")),
    Answer("00.1", "gives the number of entries instead of the shape", """
prediction_of_shapes = {
    "x[0]": 40,
    "x.mean(dim=1)": 16,
    "layer(x)": 30,
    "x @ x.mT": 50,
}
"""),

    # 00.2
    Answer("00.2", "position and end, from the longest piece down", SPLIT, right=True),
    Answer("00.2", "two sets, heads and tails, and a bound on the size of a piece", """
def split_word(word, vocabulary):
    heads = {entry for entry in vocabulary if not entry.startswith("##")}
    tails = {entry[2:] for entry in vocabulary if entry.startswith("##")}
    longest = max((len(entry) for entry in vocabulary), default=0)
    found, position = [], 0
    while position < len(word):
        known = tails if found else heads
        for size in range(min(longest, len(word) - position), 0, -1):
            part = word[position:position + size]
            if part in known:
                found.append(part if position == 0 else "##" + part)
                position += size
                break
        else:
            return ["[UNK]"]
    return found
""", right=True),
    Answer("00.2", "collects the entries that fit and takes the longest", """
def split_word(word, vocabulary):
    rest, pieces = word, []
    while rest:
        mark = "##" if pieces else ""
        fitting = [e for e in vocabulary
                   if len(e) > len(mark) and e.startswith(mark) and rest.startswith(e[len(mark):])]
        if not fitting:
            return ["[UNK]"]
        best = max(fitting, key=len)
        pieces.append(best)
        rest = rest[len(best) - len(mark):]
    return pieces
""", right=True),
    Answer("00.2", "a helper that finds one piece, and next()", """
def first_piece(text, mark, entries):
    return next((mark + text[:k] for k in range(len(text), 0, -1) if mark + text[:k] in entries), None)

def split_word(word, vocabulary):
    entries = frozenset(vocabulary)
    pieces = []
    done = 0
    while done != len(word):
        piece = first_piece(word[done:], "##" * (done > 0), entries)
        if piece is None:
            return ["[UNK]"]
        pieces += [piece]
        done = done + len(piece) - (2 if len(pieces) > 1 else 0)
    return pieces
""", right=True),
    Answer("00.2", "keeps the pieces found so far when the rest does not fit, and adds [UNK] to them",
           edit(SPLIT, 'return ["[UNK]"]', 'return pieces + ["[UNK]"]')),
    Answer("00.2", "looks up the later pieces without ##", edit(SPLIT, '"##" if start > 0 else ""', '""')),
    Answer("00.2", "wants ## in front of the first piece too", edit(SPLIT, '"##" if start > 0 else ""', '"##"')),
    Answer("00.2", "takes the shortest piece that fits", edit(SPLIT, "range(len(word), start, -1)", "range(start + 1, len(word) + 1)")),
    Answer("00.2", "returns the later pieces without their ##, so they are not entries of the vocabulary",
           edit(SPLIT, "pieces.append(piece)", "pieces.append(word[start:end])")),
    Answer("00.2", "returns the string [UNK], not a list", edit(SPLIT, 'return ["[UNK]"]', 'return "[UNK]"')),
    Answer("00.2", "stops one letter early, so a piece of a single letter never fits",
           edit(SPLIT, "range(len(word), start, -1)", "range(len(word), start + 1, -1)")),
    Answer("00.2", "makes the word small first, though a capital is another letter",
           edit(SPLIT, "    pieces, start = [], 0", "    word = word.lower()\n    pieces, start = [], 0")),
    Answer("00.2", "gives up on words of more than 100 letters",
           edit(SPLIT, "    pieces, start = [], 0",
                '    if len(word) > 100:\n        return ["[UNK]"]\n    pieces, start = [], 0')),
    Answer("00.2", "tries pieces of at most six letters",
           edit(SPLIT, "range(len(word), start, -1)", "range(min(len(word), start + 6), start, -1)")),
    Answer("00.2", "goes back to try a shorter piece when the rest does not fit", """
def split_word(word, vocabulary, start=0):
    if start == len(word):
        return []
    mark = "##" if start else ""
    for end in range(len(word), start, -1):
        piece = mark + word[start:end]
        if piece in vocabulary:
            rest = split_word(word, vocabulary, end)
            if rest != ["[UNK]"]:
                return [piece] + rest
    return ["[UNK]"]
"""),
    Answer("00.2", "lets the first piece be an entry with ## when there is none without",
           edit(SPLIT, "            if piece in vocabulary:",
                '            if start == 0 and piece not in vocabulary:\n                piece = "##" + piece\n'
                "            if piece in vocabulary:")),
    Answer("00.2", "skips letters that do not fit instead of giving up on the word",
           edit(SPLIT, 'return ["[UNK]"]', "start += 1")),
    Answer("00.2", "ignores the vocabulary handed in and uses the small one of the notebook",
           edit(SPLIT, "piece in vocabulary", "piece in wordpiece.TINY")),
    Answer("00.2", "sorts the vocabulary in place, which changes the caller's list",
           edit(SPLIT, "    pieces, start = [], 0", "    vocabulary.sort(key=len, reverse=True)\n    pieces, start = [], 0")),
    Answer("00.2", "takes each piece out of the vocabulary, so a piece cannot come twice",
           edit(SPLIT, "pieces.append(piece)", "pieces.append(piece)\n                vocabulary.remove(piece)")),
    Answer("00.2", "knows only whole words", """
def split_word(word, vocabulary):
    if word in vocabulary:
        return [word]
    return ["[UNK]"]
"""),
    Answer("00.2", "prints the pieces and returns nothing", edit(SPLIT, "    return pieces", "    print(pieces)")),

    # 00.3
    Answer("00.3", "indexes the matrix with the ids", LOOKUP, right=True),
    Answer("00.3", "the product with one-hot vectors", ONE_HOT, right=True),
    Answer("00.3", "compares the ids with all numbers of the vocabulary, then einsum", """
class Lookup(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(0.02 * torch.randn(vocab_size, d_model))

    def forward(self, ids):
        everyone = torch.arange(self.weight.shape[0], device=ids.device)
        hit = (ids.unsqueeze(-1) == everyone).type_as(self.weight)
        return torch.einsum("bnv,vd->bnd", hit, self.weight)
""", right=True),
    Answer("00.3", "index_select on the flattened ids", """
class Lookup(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        start = torch.rand(vocab_size, d_model) * 2 - 1
        self.register_parameter("weight", nn.Parameter(start))

    def forward(self, ids):
        batch, n = ids.shape
        rows = torch.index_select(self.weight, 0, ids.reshape(batch * n))
        return rows.reshape(batch, n, self.weight.shape[1])
""", right=True),
    Answer("00.3", "a plain tensor, not a parameter: nobody will train it",
           edit(LOOKUP, "nn.Parameter(torch.randn(vocab_size, d_model))", "torch.randn(vocab_size, d_model)")),
    Answer("00.3", "a buffer, not a parameter",
           edit(LOOKUP, "self.weight = nn.Parameter(torch.randn(vocab_size, d_model))",
                'self.register_buffer("weight", torch.randn(vocab_size, d_model))')),
    Answer("00.3", "a parameter that asks for no gradient",
           edit(LOOKUP, "torch.randn(vocab_size, d_model))", "torch.randn(vocab_size, d_model), requires_grad=False)")),
    Answer("00.3", "the matrix is transposed, (d_model, vocab_size)", """
class Lookup(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(d_model, vocab_size))

    def forward(self, ids):
        return self.weight.T[ids]
"""),
    Answer("00.3", "starts at zero, not at random", edit(LOOKUP, "torch.randn", "torch.zeros")),
    Answer("00.3", "uses another name for the parameter", """
class Lookup(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.table = nn.Parameter(torch.randn(vocab_size, d_model))

    def forward(self, ids):
        return self.table[ids]
"""),
    Answer("00.3", "weight is a linear layer, so the parameter is called weight.weight and is transposed", """
class Lookup(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.vocab_size = vocab_size
        self.weight = nn.Linear(vocab_size, d_model, bias=False)

    def forward(self, ids):
        return self.weight(nn.functional.one_hot(ids, self.vocab_size).float())
"""),
    Answer("00.3", "adds a bias, a second parameter", """
class Lookup(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, ids):
        return self.weight[ids] + self.bias
"""),
    Answer("00.3", "detaches the matrix, so no gradient reaches it", edit(LOOKUP, "self.weight[ids]", "self.weight.detach()[ids]")),
    Answer("00.3", "lets one_hot guess the size of the vocabulary from the largest id",
           edit(ONE_HOT, "one_hot(ids.long(), self.vocab_size)", "one_hot(ids.long())")),
    Answer("00.3", "multiplies whole numbers with a matrix of floats",
           edit(ONE_HOT, ".to(self.weight.dtype)", "")),
    Answer("00.3", "turns the matrix into whole numbers to make the product run", """
class Lookup(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.vocab_size = vocab_size
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))

    def forward(self, ids):
        return (nn.functional.one_hot(ids, self.vocab_size) @ self.weight.long()).float()
"""),
    Answer("00.3", "squeezes the result, which loses the batch axis of a single sentence",
           edit(LOOKUP, "self.weight[ids]", "self.weight[ids].squeeze()")),
    Answer("00.3", "looks up the first sentence only", edit(LOOKUP, "self.weight[ids]", "self.weight[ids[0]].unsqueeze(0)")),
    Answer("00.3", "sums the vectors of a sentence", edit(LOOKUP, "self.weight[ids]", "self.weight[ids].sum(dim=1)")),
    Answer("00.3", "counts the ids from 1", edit(LOOKUP, "self.weight[ids]", "self.weight[ids - 1]")),
    Answer("00.3", "scales every vector to length 1",
           edit(LOOKUP, "self.weight[ids]", "nn.functional.normalize(self.weight[ids], dim=-1)")),
    Answer("00.3", "takes nn.Embedding, which is out of bounds", """
class Lookup(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        table = nn.Embedding(vocab_size, d_model)
        self.weight = table.weight
        self.look_up = lambda ids: nn.functional.embedding(ids, self.weight)

    def forward(self, ids):
        return self.look_up(ids)
"""),
    Answer("00.3", "hard-codes the 26 words and 4 features of the notebook",
           edit(LOOKUP, "torch.randn(vocab_size, d_model)", "torch.randn(26, 4)")),
    Answer("00.3", "draws a new matrix in every forward pass", """
class Lookup(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.size = (vocab_size, d_model)

    def forward(self, ids):
        self.weight = nn.Parameter(torch.randn(*self.size))
        return self.weight[ids]
"""),

    # 00.4
    Answer("00.4", "transposes the last two axes of the keys", SCORES, right=True),
    Answer("00.4", "einsum", """
def all_scores(query, key):
    return torch.einsum("bnd,bmd->bnm", query, key)
""", right=True),
    Answer("00.4", "products of all pairs by broadcasting, summed over the features", """
def all_scores(query, key):
    pairs = query.unsqueeze(2) * key.unsqueeze(1)            # (batch, n, m, d)
    return pairs.sum(-1)
""", right=True),
    Answer("00.4", "the keys first, and the result transposed", """
def all_scores(query, key):
    return torch.bmm(key, query.permute(0, 2, 1)).permute(0, 2, 1)
""", right=True),
    Answer("00.4", "one product for each sentence, stacked", """
def all_scores(query, key):
    tables = []
    for sentence in range(query.shape[0]):
        tables.append(query[sentence] @ key[sentence].t())
    return torch.stack(tables, dim=0)
""", right=True),
    Answer("00.4", "a view where a transpose is needed",
           edit(SCORES, "key.transpose(1, 2)", "key.contiguous().view(key.shape[0], key.shape[2], key.shape[1])")),
    Answer("00.4", "rows are keys and columns are queries", edit(SCORES, "query @ key.transpose(1, 2)", "key @ query.transpose(1, 2)")),
    Answer("00.4", ".T turns all three axes round, the batch too", edit(SCORES, "key.transpose(1, 2)", "key.T")),
    Answer("00.4", "transposes batch and tokens", edit(SCORES, "key.transpose(1, 2)", "key.transpose(0, 1)")),
    Answer("00.4", "divides by the root of d, which nobody asked for",
           edit(SCORES, "query @ key.transpose(1, 2)", "query @ key.transpose(1, 2) / query.shape[-1] ** 0.5")),
    Answer("00.4", "adds a softmax", edit(SCORES, "query @ key.transpose(1, 2)", "torch.softmax(query @ key.transpose(1, 2), dim=-1)")),
    Answer("00.4", "cosines instead of dot products", """
def all_scores(query, key):
    query = nn.functional.normalize(query, dim=-1)
    key = nn.functional.normalize(key, dim=-1)
    return query @ key.transpose(1, 2)
"""),
    Answer("00.4", "compares every sentence with the keys of the first", edit(SCORES, "key.transpose(1, 2)", "key[0].T")),
    Answer("00.4", "sums the keys of all sentences, since the batch has two letters", """
def all_scores(query, key):
    return torch.einsum("bid,cjd->bij", query, key)
"""),
    Answer("00.4", "ignores the keys and compares the queries with themselves", edit(SCORES, "key.transpose", "query.transpose")),
    Answer("00.4", "compares query i with key i only", edit(SCORES, "query @ key.transpose(1, 2)", "(query * key).sum(dim=-1)")),
    Answer("00.4", "squeezes axes of length 1 away",
           edit(SCORES, "query @ key.transpose(1, 2)", "(query @ key.transpose(1, 2)).squeeze()")),
    Answer("00.4", "takes for granted that there are as many keys as queries", """
def all_scores(query, key):
    batch, n, d = query.shape
    scores = torch.zeros(batch, n, n)
    for b in range(batch):
        for i in range(n):
            for j in range(n):
                scores[b, i, j] = (query[b, i] * key[b, j]).sum()
    return scores
"""),
    Answer("00.4", "takes the numbers out with .item(), so no gradient comes back", """
def all_scores(query, key):
    return torch.tensor([[[(a * b).sum().item() for b in k] for a in q] for q, k in zip(query, key)])
"""),
    Answer("00.4", "transposes the caller's keys in place", """
def all_scores(query, key):
    key.transpose_(1, 2)
    return query @ key
"""),
    Answer("00.4", "cuts the dot products to whole numbers",
           edit(SCORES, "query @ key.transpose(1, 2)", "(query @ key.transpose(1, 2)).long()")),
    Answer("00.4", "prints the table instead of returning it", edit(SCORES, "return query @ key.transpose(1, 2)",
                                                                    "print(query @ key.transpose(1, 2))")),

    # 00.5
    Answer("00.5", "averages over the tokens", MEAN, right=True),
    Answer("00.5", "sum divided by the number of tokens", """
def sentence_vector(x):
    batch, n, d = x.shape
    return x.sum(dim=-2) / n
""", right=True),
    Answer("00.5", "a product with equal weights", """
def sentence_vector(x):
    equal = torch.full((x.shape[1],), 1 / x.shape[1], dtype=x.dtype, device=x.device)
    return torch.einsum("n,bnd->bd", equal, x)
""", right=True),
    Answer("00.5", "one mean for each sentence, stacked", """
def sentence_vector(x):
    return torch.stack([sentence.mean(0) for sentence in x])
""", right=True),
    Answer("00.5", "left as it was: averages over the batch", edit(MEAN, "dim=1", "dim=0")),
    Answer("00.5", "averages over the features", edit(MEAN, "dim=1", "dim=2")),
    Answer("00.5", "averages over batch and tokens: one vector for all sentences", edit(MEAN, "dim=1", "dim=(0, 1)")),
    Answer("00.5", "averages over everything", edit(MEAN, "dim=1", "")),
    Answer("00.5", "keeps the averaged axis", edit(MEAN, "dim=1", "dim=1, keepdim=True")),
    Answer("00.5", "the sum, not the mean", edit(MEAN, "mean", "sum")),
    Answer("00.5", "squeezes the result, so a batch of one loses its batch axis", edit(MEAN, "x.mean(dim=1)", "x.mean(dim=1).squeeze()")),
    Answer("00.5", "treats a batch of one separately, with the batch as the axis", edit(
        MEAN, "return x.mean(dim=1)", "return x.mean(dim=1) if len(x) > 1 else x.mean(dim=0)")),
    Answer("00.5", "divides by the five tokens of the example", edit(MEAN, "x.mean(dim=1)", "x.sum(dim=1) / 5")),
    Answer("00.5", "divides by n - 1", edit(MEAN, "x.mean(dim=1)", "x.sum(dim=1) / (x.shape[1] - 1)")),
    Answer("00.5", "takes the first token", edit(MEAN, "x.mean(dim=1)", "x[:, 0]")),
    Answer("00.5", "the largest value of each feature instead of the mean", edit(MEAN, "x.mean(dim=1)", "x.max(dim=1).values")),
    Answer("00.5", "halves at each token, so the last tokens count most", """
def sentence_vector(x):
    mean = x[:, 0]
    for t in range(1, x.shape[1]):
        mean = (mean + x[:, t]) / 2
    return mean
"""),
    Answer("00.5", "transposes back and still averages over the batch", edit(MEAN, "x.mean(dim=1)", "x.transpose(1, 2).mean(dim=0)")),
    Answer("00.5", "divides the caller's tensor in place", edit(
        MEAN, "    return x.mean(dim=1)", "    x /= x.shape[1]\n    return x.sum(dim=1)")),
    Answer("00.5", "leaves the last token out", edit(MEAN, "x.mean(dim=1)", "x[:, :-1].mean(dim=1)")),

    # 00.6
    Answer("00.6", "two loops over a boolean mask", VISIBLE, right=True),
    Answer("00.6", "a list of lists", """
def visibility(n, rule):
    rows = [[bool(rule(query, key)) for key in range(n)] for query in range(n)]
    return torch.tensor(rows, dtype=torch.bool).reshape(n, n)
""", right=True),
    Answer("00.6", "one long list of pairs, brought into shape", """
import itertools

def visibility(n, rule):
    pairs = itertools.product(range(n), repeat=2)
    return torch.tensor([rule(*pair) for pair in pairs], dtype=torch.bool).view(n, n)
""", right=True),
    Answer("00.6", "starts with everything visible and takes away", """
def visibility(n, rule):
    mask = torch.ones(n, n).bool()
    for cell in range(n * n):
        query, key = divmod(cell, n)
        if not rule(query, key):
            mask[query, key] = False
    return mask
""", right=True),
    Answer("00.6", "calls the rule with the column first", edit(VISIBLE, "rule(i, j)", "rule(j, i)")),
    Answer("00.6", "a mask of floats", edit(VISIBLE, "torch.zeros(n, n, dtype=torch.bool)", "torch.zeros(n, n)")),
    Answer("00.6", "a mask of whole numbers", edit(VISIBLE, "dtype=torch.bool", "dtype=torch.int64")),
    Answer("00.6", "counts the positions from 1", edit(VISIBLE, "rule(i, j)", "rule(i + 1, j + 1)")),
    Answer("00.6", "True where a token may not see", edit(VISIBLE, "= rule(i, j)", "= not rule(i, j)")),
    Answer("00.6", "hands whole tensors to a rule made for two numbers", """
def visibility(n, rule):
    positions = torch.arange(n)
    return rule(positions[:, None], positions[None, :])
"""),
    Answer("00.6", "ignores the rule: always the decoder's triangle", """
def visibility(n, rule):
    return torch.tril(torch.ones(n, n, dtype=torch.bool))
"""),
    Answer("00.6", "asks the rule only for keys up to the query", edit(VISIBLE, "for j in range(n)", "for j in range(i + 1)")),
    Answer("00.6", "asks only below the diagonal and mirrors", """
def visibility(n, rule):
    mask = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        for j in range(i + 1):
            mask[i, j] = mask[j, i] = rule(i, j)
    return mask
"""),
    Answer("00.6", "the last token is left out", edit(VISIBLE, "for i in range(n)", "for i in range(n - 1)")),
    Answer("00.6", "lets every token see itself, whatever the rule says", edit(VISIBLE, "rule(i, j)", "i == j or rule(i, j)")),
    Answer("00.6", "hard-codes the six tokens of the example", """
def visibility(n, rule):
    return torch.tensor([[rule(i, j) for j in range(6)] for i in range(6)])
"""),
    Answer("00.6", "returns a list of lists, not a tensor", """
def visibility(n, rule):
    return [[rule(i, j) for j in range(n)] for i in range(n)]
"""),
    Answer("00.6", "remembers the mask of the first rule it saw for this n", """
known = {}

def visibility(n, rule):
    if n not in known:
        known[n] = torch.tensor([[rule(i, j) for j in range(n)] for i in range(n)])
    return known[n]
"""),
    Answer("00.6", "returns after the first row", edit(VISIBLE, "    return mask", "        return mask")),
    Answer("00.6", "minus infinity and zero, to be added to scores, instead of booleans", """
def visibility(n, rule):
    return torch.tensor([[0.0 if rule(i, j) else float("-inf") for j in range(n)] for i in range(n)])
"""),

    # 00.7
    Answer("00.7", "the eleven names", LABELS, right=True),
    Answer("00.7", "in capitals, with spaces around",
           LABELS.replace('"encoder"', '" Encoder "').replace('"source"', '"SOURCE"'), right=True),
    Answer("00.7", "filled in one by one",
           LABELS + 'labels_of_boxes["L"] = "values"\nlabels_of_boxes = dict(sorted(labels_of_boxes.items()))\n',
           right=True),
    Answer("00.7", "takes the writing stack for the encoder", swapped("CD")),
    Answer("00.7", "masks the reader", swapped("FI")),
    Answer("00.7", "masks the reader, and calls it the decoder", swapped("CD", "FI")),
    Answer("00.7", "lets the lowest part read the other stack", swapped("IJ")),
    Answer("00.7", "lets the reading stack look at the encoder", swapped("FJ")),
    Answer("00.7", "takes the grey boxes for the feed-forward part", swapped("GH")),
    Answer("00.7", "takes the violet box for attention", swapped("FH")),
    Answer("00.7", "answers with the question", swapped("AB")),
    Answer("00.7", "names the whole stack, not its last layer", edit(LABELS, '"last encoder layer"', '"encoder"')),
    Answer("00.7", "thinks that attention mixes the source", edit(LABELS, '"L": "values"', '"L": "source"')),
    Answer("00.7", "a name that is not in the list", edit(LABELS, '"add & norm"', '"layer norm"')),
    Answer("00.7", "one left open", edit(LABELS, '"L": "values"', '"L": None')),
)
