"""Chapter 05."""

from . import Listed

TABLE = """
def sinusoidal(n, d_model, base=10000.0):
    if d_model % 2:
        raise ValueError(f"d_model={d_model} is odd")
    angle = torch.arange(n)[:, None] * base ** (-torch.arange(0, d_model, 2).double() / d_model)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1).float()
"""

EMBEDDINGS = """
class Embeddings(nn.Module):
    def __init__(self, vocab_size, d_model, max_len):
        super().__init__()
        self.token = nn.Embedding(vocab_size, d_model)
        self.position = nn.Embedding(max_len, d_model)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)

    def forward(self, ids, first=0):
        n, max_len = ids.shape[1], self.position.num_embeddings
        if first + n > max_len:
            raise ValueError(f"{first + n} positions, table of {max_len}")
        return self.norm(self.token(ids) + self.position(torch.arange(first, first + n)))
"""

ROTATE = """
def rotate(x, positions, base=10000.0):
    width = x.shape[-1]
    if width % 2:
        raise ValueError(f"head_dim={width} is odd")
    angle = positions[:, None] * base ** (-torch.arange(0, width, 2) / width)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1).flatten(-2)
"""

LISTED = (
    Listed("05.1", "a table of 64 rows", TABLE.replace("torch.arange(n)", "torch.arange(64)").replace(
        ".flatten(1).float()", ".flatten(1).float()[:n]")),
    Listed("05.1", "the course's own", """
from course_utils.models import positions
def sinusoidal(n, d_model, base=10000.0):
    return positions.sinusoidal(n, d_model, base)
""", says=("out of bounds",)),
    Listed("05.1", "a cache that forgets the base", """
cache = {}
def sinusoidal(n, d_model, base=10000.0):
    if d_model % 2:
        raise ValueError(f"d_model={d_model} is odd")
    if (n, d_model) not in cache:
        angle = torch.arange(n)[:, None] * base ** (-torch.arange(0, d_model, 2).double() / d_model)
        cache[n, d_model] = torch.stack([angle.sin(), angle.cos()], -1).flatten(1).float()
    return cache[n, d_model].clone()
""", never=("does not depend on the base at all",)),
    Listed("05.1", "an assertion", TABLE.replace(
        "if d_model % 2:\n        raise ValueError(f\"d_model={d_model} is odd\")", "assert d_model % 2 == 0, f\"{d_model} is odd\""),
        never=("by accident",)),
    Listed("05.1", "angles in whole turns", TABLE.replace("torch.arange(n)[:, None]", "2 * math.pi * torch.arange(n).double()[:, None]"),
           says=("Angles in whole turns",)),
    Listed("05.1", "stacked and flattened", TABLE, right=True),
    Listed("05.2", "the course's own", """
from course_utils.models.positions import sinusoidal
def positional_encoding(n, d_model):
    return sinusoidal(n, d_model)
""", says=("out of bounds",)),
    Listed("05.2", "positions from 1", """
def positional_encoding(n, d_model):
    table = torch.zeros(n, d_model)
    for position in range(n):
        for column in range(d_model):
            angle = (position + 1) / 10000 ** (2 * (column // 2) / d_model)
            table[position, column] = math.sin(angle) if column % 2 == 0 else math.cos(angle)
    return table
""", says=("Positions counted from one",)),
    Listed("05.2", "a width of 128 written out", """
def positional_encoding(n, d_model):
    table = torch.zeros(n, d_model)
    for position in range(n):
        for column in range(d_model):
            angle = position / 10000 ** (2 * (column // 2) / 128)
            table[position, column] = math.sin(angle) if column % 2 == 0 else math.cos(angle)
    return table
"""),
    Listed("05.3", "the course's own", """
from course_utils.models import positions
def shift_matrix(k, d_model, base=10000.0):
    return positions.shift_matrix(k, d_model, base)
""", says=("out of bounds",)),
    Listed("05.3", "least squares on many rows", """
def shift_matrix(k, d_model, base=10000.0):
    def rows(start):
        angle = torch.arange(start - 400, start + 400)[:, None] * base ** (-torch.arange(0, d_model, 2).double() / d_model)
        return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)
    return torch.linalg.lstsq(rows(0), rows(k), driver="gelsd").solution.T
"""),
    Listed("05.3", "zeros for no shift", """
def shift_matrix(k, d_model, base=10000.0):
    matrix = torch.zeros(d_model, d_model)
    for c in range(0, d_model, 2):
        if k:
            angle = k * base ** (-c / d_model)
            matrix[c, c] = matrix[c + 1, c + 1] = math.cos(angle)
            matrix[c, c + 1], matrix[c + 1, c] = math.sin(angle), -math.sin(angle)
    return matrix
""", never=("should sum to 1",)),
    Listed("05.5", "word 0 as padding", EMBEDDINGS.replace("(vocab_size, d_model)", "(vocab_size, d_model, padding_idx=0)"),
           says=("Word 0 never trained",)),
    Listed("05.5", "goes on where the last call ended", EMBEDDINGS.replace(
        "        n, max_len", "        self.first = getattr(self, 'first', 0) + first\n        first = self.first\n        n, max_len")),
    Listed("05.5", "an assertion", EMBEDDINGS.replace(
        "if first + n > max_len:\n            raise ValueError(f\"{first + n} positions, table of {max_len}\")",
        "assert first + n <= max_len, f\"{first + n} positions, table of {max_len}\""), never=("by accident",)),
    Listed("05.5", "the bound forgets where the sequence starts", EMBEDDINGS.replace("if first + n > max_len", "if n > max_len")),
    Listed("05.5", "the bound is one too high", EMBEDDINGS.replace("if first + n > max_len", "if first + n - 1 > max_len")),
    Listed("05.5", "three layers", EMBEDDINGS, right=True),
    Listed("05.6", "words outside the list", """
prediction_of_biases = {"i": "nothing", "j": "key", "j - i": "keys", "-|i - j|": "offset", "-|i - j|, causal mask": "keys",
                        "number by offset, causal mask": "offset"}
""", never=("5 of 6 entries agree",)),
    Listed("05.7", "the course's own", """
from course_utils.models import positions as course
def rotate(x, positions, base=10000.0):
    return course.rope(x, positions, base)
""", says=("out of bounds",)),
    Listed("05.7", "halves read, neighbours written", ROTATE.replace("x[..., 0::2], x[..., 1::2]", "x.chunk(2, -1)"),
           says=("Read in halves, written in turn",)),
    Listed("05.7", "an assertion", ROTATE.replace(
        "if width % 2:\n        raise ValueError(f\"head_dim={width} is odd\")", "assert width % 2 == 0, f\"{width} is odd\""),
        never=("by accident",)),
    Listed("05.7", "neighbours turned", ROTATE, right=True),
)
