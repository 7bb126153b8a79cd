"""Chapter 00."""

from . import Listed

GREEDY = """
def split_word(word, vocabulary):
    pieces, start = [], 0
    while start < len(word):
        mark = "##" if start > 0 else ""
        for end in range(len(word), start, -1):
            if mark + word[start:end] in vocabulary:
                pieces.append(mark + word[start:end])
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
        return F.one_hot(ids, len(self.weight)).float() @ self.weight
"""

LISTED = (
    Listed("00.2", "a shorter piece where the longest leads nowhere", """
def split_word(word, vocabulary, mark=""):
    if not word:
        return []
    for end in range(len(word), 0, -1):
        if mark + word[:end] in vocabulary:
            rest = split_word(word[end:], vocabulary, "##")
            if rest != ["[UNK]"]:
                return [mark + word[:end], *rest]
    return ["[UNK]"]
""", says=("shorter piece tried instead",)),
    Listed("00.2", "entries without ## inside a word", GREEDY.replace(
        "mark + word[start:end] in vocabulary", "(mark + word[start:end]) in vocabulary or word[start:end] in vocabulary").replace(
        "append(mark + word[start:end])", "append(mark + word[start:end] if mark + word[start:end] in vocabulary else word[start:end])")),
    Listed("00.2", "small letters first", GREEDY.replace("    pieces, start", "    word = word.lower()\n    pieces, start"),
           says=("Capital letters made small",)),
    Listed("00.2", "BERT's limit of 100 letters", GREEDY.replace(
        "    pieces, start", "    if len(word) > 100:\n        return [\"[UNK]\"]\n    pieces, start")),
    Listed("00.2", "at most 6 letters a piece", GREEDY.replace("range(len(word), start", "range(min(len(word), start + 6), start")),
    Listed("00.2", "the vocabulary of the first call", """
known = set()
def split_word(word, vocabulary):
    if not known:
        known.update(vocabulary)
    pieces, start = [], 0
    while start < len(word):
        mark = "##" if start > 0 else ""
        for end in range(len(word), start, -1):
            if mark + word[start:end] in known:
                pieces.append(mark + word[start:end])
                start = end
                break
        else:
            return ["[UNK]"]
    return pieces
"""),
    Listed("00.2", "greedy", GREEDY, right=True),
    Listed("00.3", "number of classes forgotten", LOOKUP.replace("F.one_hot(ids, len(self.weight))", "F.one_hot(ids)")),
    Listed("00.3", "row 0 treated as padding", LOOKUP.replace("@ self.weight", "@ self.weight * (ids != 0).unsqueeze(-1)")),
    Listed("00.3", "parameter made in forward", """
class Lookup(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.size = (vocab_size, d_model)

    def forward(self, ids):
        self.weight = nn.Parameter(torch.randn(self.size))
        return self.weight[ids]
""", never=("The weight is not a parameter. A plain tensor as an attribute is invisible",)),
    Listed("00.3", "one-hot vectors", LOOKUP, right=True),
    Listed("00.5", "the batch squeezed away", """
def sentence_vector(x):
    return x.mean(dim=1).squeeze()
"""),
    Listed("00.5", "tokens of nothing but zeros left out", """
def sentence_vector(x):
    count = (x != 0).any(-1, keepdim=True).sum(1)
    return x.sum(1) / count.clamp(min=1)
"""),
    Listed("00.6", "positions counted from 1", """
def visibility(rule, n):
    return torch.tensor([[rule(i, j) for j in range(1, n + 1)] for i in range(1, n + 1)])
""", says=("Positions counted from one",)),
    Listed("00.6", "the rule asked once, with tensors", """
def visibility(n, rule):
    i = torch.arange(n)
    return torch.as_tensor(rule(i[:, None], i[None, :])).expand(n, n)
""", says=("Rule asked with tensors",)),
    Listed("00.6", "last token left out", """
def visibility(n, rule):
    return torch.tensor([[rule(i, j) for j in range(n - 1)] for i in range(n - 1)])
""", never=("expected booleans",)),
    Listed("00.6", "the table as a flat list", """
def visibility(n, rule):
    return torch.tensor([rule(i, j) for i in range(n) for j in range(n)])
""", never=("an axis of length 1",)),
    Listed("00.4", "batch against batch", """
def all_scores(query, key):
    return torch.tensordot(query, key, dims=([2], [2]))
""", never=("should be summed",)),
)
