"""Chapter 10: answers written from the blank notebook."""

from . import Answer, edit

HEADS = """
prediction_of_heads = {
    "output layer for 2 classes": 1538,
    "output layer for 9 tags": 6921,
    "output layer for start and end": 1_538,
    "the whole 2-class model, pooler included": 109483778,
    "trained when embeddings and 11 of 12 blocks are frozen, 2 classes": 7680002,
}
"""

LOW_RANK = """
class LowRank(nn.Module):
    def __init__(self, d_out, d_in, rank, alpha):
        super().__init__()
        if rank < 1 or rank > min(d_out, d_in):
            raise ValueError(f"rank {rank} does not fit a matrix of {d_out} by {d_in}")
        self.rank, self.alpha = rank, alpha
        self.down = nn.Parameter(torch.randn(rank, d_in) * 0.02)
        self.up = nn.Parameter(torch.zeros(d_out, rank))

    def forward(self, weight):
        return weight + self.alpha / self.rank * self.up @ self.down
"""

CLASSIFIER = """
class Classifier(nn.Module):
    def __init__(self, d_model, num_labels, dropout):
        super().__init__()
        self.pooler = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, num_labels)
        self.dropout = dropout

    def forward(self, hidden):
        x = torch.tanh(self.pooler(hidden[:, 0]))
        x = F.dropout(x, self.dropout, self.training)
        return self.output(x)
"""

MEAN = """
def mean_pool(hidden, mask):
    real = mask[:, :, None].to(hidden.dtype)
    total = (hidden * real).sum(dim=1)
    count = real.sum(dim=1).clamp(min=1)
    return total / count
"""

PIECE = """
def piece_labels(words, labels, length):
    if len(words) > length:
        raise ValueError(f"{len(words)} pieces do not fit into {length} places")
    result = torch.full((length,), -100)
    before = None
    for place, word in enumerate(words):
        if word is not None and word != before:
            if word >= len(labels):
                raise ValueError(f"word {word} has no label")
            result[place] = labels[word]
        before = word
    return result
"""

NAMES = """
def name_scores(wanted, guessed):
    def names(sentences):
        found = set()
        for s, tags in enumerate(sentences):
            kind = None
            for t, tag in enumerate([*tags, "O"]):
                if kind is not None and tag != "I-" + kind:
                    found.add((s, kind, start, t))
                    kind = None
                if kind is None and tag != "O":
                    kind, start = tag[2:], t
        return found

    a, b = names(wanted), names(guessed)
    right = len(a & b)
    precision = right / len(b) if b else 0.0
    recall = right / len(a) if a else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return precision, recall, f1
"""

SPAN = """
def best_span(start, end, longest):
    if longest < 1:
        raise ValueError(f"longest is {longest}, but a span has at least one token")
    n = len(start)
    table = start[:, None] + end[None, :]
    allowed = torch.ones(n, n, dtype=torch.bool).triu().tril(longest - 1)
    table = table.masked_fill(~allowed, -torch.inf)
    i, j = divmod(int(table.argmax()), n)
    return i, j, table[i, j].item()
"""

WINDOWS = """
def windows(passage, room, stride, answer):
    if not 1 <= stride <= room:
        raise ValueError(f"stride {stride} must lie between 1 and the room, {room}")
    n, (first, last) = len(passage), answer
    starts = [0]
    while starts[-1] + room < n:
        starts.append(starts[-1] + stride)
    rows = torch.zeros(len(starts), room, dtype=torch.long)
    spans = []
    for k, s in enumerate(starts):
        part = passage[s:s + room]
        rows[k, :len(part)] = part
        inside = s <= first and last < s + room
        spans.append([first - s, last - s] if inside else [-1, -1])
    return rows, torch.tensor(starts), torch.tensor(spans)
"""

BANK = (
    # ---- 10.1 what a task adds
    Answer("10.1", "the right numbers", HEADS, right=True),
    Answer("10.1", "the right numbers as expressions", """
d = 768
body = 109_482_240
block = 12 * d * d + 13 * d
prediction_of_heads = {
    "output layer for 2 classes": 2 * d + 2,
    "output layer for 9 tags": 9 * (d + 1),
    "output layer for start and end": 2 * (d + 1),
    "the whole 2-class model, pooler included": body + 2 * (d + 1),
    "trained when embeddings and 11 of 12 blocks are frozen, 2 classes": block + d * (d + 1) + 2 * (d + 1),
}
""", right=True),
    Answer("10.1", "the right numbers, by a function and as floats", """
def linear(inputs, outputs):
    return float(inputs * outputs + outputs)

prediction_of_heads = dict.fromkeys(["output layer for 2 classes", "output layer for start and end"], linear(768, 2))
prediction_of_heads["output layer for 9 tags"] = linear(768, 9)
prediction_of_heads["the whole 2-class model, pooler included"] = 109_482_240 + linear(768, 2)
attention, feed_forward, norms = 4 * linear(768, 768), linear(768, 3072) + linear(3072, 768), 2 * 2 * 768
prediction_of_heads["trained when embeddings and 11 of 12 blocks are frozen, 2 classes"] = (
    attention + feed_forward + norms + linear(768, 768) + linear(768, 2))
""", right=True),
    Answer("10.1", "forgets the biases of the 2-class layer", edit(HEADS, ": 1538,", ": 1536,")),
    Answer("10.1", "counts one bias for the whole 2-class layer", edit(HEADS, ": 1538,", ": 1537,")),
    Answer("10.1", "forgets the nine biases of the tagger", edit(HEADS, "6921", "6912")),
    Answer("10.1", "gives the tagger weights of its own at each of the 512 positions", edit(HEADS, "6921", "3543552")),
    Answer("10.1", "counts one vector for the answers, not one for the start and one for the end", edit(HEADS, "1_538", "769")),
    Answer("10.1", "takes the span finder for two classifiers over 512 positions", edit(HEADS, "1_538", "787456")),
    Answer("10.1", "counts the pooler twice, though it is in the 109 million already", edit(HEADS, "109483778", "110074370")),
    Answer("10.1", "leaves the pooler out of the whole model", edit(HEADS, "109483778", "108893186")),
    Answer("10.1", "forgets the output layer in the whole model", edit(HEADS, "109483778", "109482240")),
    Answer("10.1", "forgets the pooler among the trained layers", edit(HEADS, "7680002", "7089410")),
    Answer("10.1", "forgets the output layer among the trained layers", edit(HEADS, "7680002", "7678464")),
    Answer("10.1", "forgets that one block is not frozen", edit(HEADS, "7680002", "592130")),
    Answer("10.1", "counts the eleven frozen blocks as trained and the twelfth as frozen", edit(HEADS, "7680002", "78558722")),
    Answer("10.1", "half-finished: the last two numbers are missing", edit(edit(HEADS, "109483778", "None"), "7680002", "None")),
    # ---- 10.2 find the bugs: a classifier
    Answer("10.2", "all three faults mended", CLASSIFIER, right=True),
    Answer("10.2", "all three mended, with nn.Dropout and F.linear", """
class Classifier(nn.Module):
    def __init__(self, d_model, num_labels, dropout):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        self.pooler = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, num_labels)

    def forward(self, hidden):
        class_token = hidden.select(dim=1, index=0)
        pooled = self.pooler(class_token).tanh()
        return F.linear(self.dropout(pooled), self.output.weight, self.output.bias)
""", right=True),
    Answer("10.2", "all three mended, dropout written out", """
class Classifier(nn.Module):
    def __init__(self, d_model, num_labels, dropout):
        super().__init__()
        self.pooler = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, num_labels)
        self.rate = dropout

    def forward(self, hidden):
        first, *_ = hidden.unbind(1)
        x = torch.tanh(self.pooler(first))
        if self.training and self.rate > 0:
            kept = (torch.rand_like(x) >= self.rate).to(x.dtype)
            x = x * kept / max(1 - self.rate, 1e-9)
        return self.output(x)
""", right=True),
    Answer("10.2", "changes nothing", """
class Classifier(nn.Module):
    def __init__(self, d_model, num_labels, dropout):
        super().__init__()
        self.pooler = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, num_labels)
        self.dropout = dropout

    def forward(self, hidden):
        x = torch.tanh(self.pooler(hidden[:, -1]))
        x = F.dropout(x, self.dropout)
        return torch.softmax(self.output(x), dim=-1)
"""),
    Answer("10.2", "still takes the last token", edit(CLASSIFIER, "hidden[:, 0]", "hidden[:, -1]")),
    Answer("10.2", "dropout is still on in evaluation mode", edit(CLASSIFIER, ", self.dropout, self.training)", ", self.dropout)")),
    Answer("10.2", "still returns probabilities instead of scores", edit(
        CLASSIFIER, "return self.output(x)", "return torch.softmax(self.output(x), dim=-1)")),
    Answer("10.2", "returns log-probabilities instead of scores", edit(
        CLASSIFIER, "return self.output(x)", "return torch.log_softmax(self.output(x), dim=-1)")),
    Answer("10.2", "dropout in evaluation mode instead of training mode", edit(CLASSIFIER, "self.training)", "not self.training)")),
    Answer("10.2", "hands self.training to dropout as the probability", edit(
        CLASSIFIER, "F.dropout(x, self.dropout, self.training)", "F.dropout(x, float(self.training))")),
    Answer("10.2", "throws the dropout out altogether", edit(CLASSIFIER, "        x = F.dropout(x, self.dropout, self.training)\n", "")),
    Answer("10.2", "takes the first sentence of the batch instead of the first token", edit(CLASSIFIER, "hidden[:, 0]", "hidden[0]")),
    Answer("10.2", "takes the token behind [CLS]", edit(CLASSIFIER, "hidden[:, 0]", "hidden[:, 1]")),
    Answer("10.2", "takes the mean of all tokens", edit(CLASSIFIER, "hidden[:, 0]", "hidden.mean(1)")),
    Answer("10.2", "forgets the tanh behind the pooler", edit(
        CLASSIFIER, "torch.tanh(self.pooler(hidden[:, 0]))", "self.pooler(hidden[:, 0])")),
    Answer("10.2", "dropout on the scores instead of between the two layers", edit(edit(
        CLASSIFIER, "        x = F.dropout(x, self.dropout, self.training)\n", ""),
        "return self.output(x)", "return F.dropout(self.output(x), self.dropout, self.training)")),
    Answer("10.2", "a hard-coded dropout of 0.1", edit(CLASSIFIER, "F.dropout(x, self.dropout,", "F.dropout(x, 0.1,")),
    Answer("10.2", "what dropout keeps is not divided by 1 - dropout", edit(
        CLASSIFIER, "x = F.dropout(x, self.dropout, self.training)",
        "x = x * (torch.rand_like(x) >= self.dropout) if self.training else x")),
    Answer("10.2", "squeezes the batch axis away when there is one sentence", edit(
        CLASSIFIER, "return self.output(x)", "return self.output(x).squeeze(0)")),
    # ---- 10.3 the mean of the real tokens
    Answer("10.3", "a right answer with a count of at least 1", MEAN, right=True),
    Answer("10.3", "a right answer with einsum and weights that sum to 1", """
def mean_pool(hidden, mask):
    weights = mask.to(hidden.dtype)
    weights = weights / torch.maximum(weights.sum(1, keepdim=True), torch.ones_like(weights[:, :1]))
    return torch.einsum("bn,bnd->bd", weights, hidden)
""", right=True),
    Answer("10.3", "a right answer with a loop over the sentences", """
def mean_pool(hidden, mask):
    means = []
    for states, real in zip(hidden, mask):
        chosen = states[real]
        means.append(chosen.sum(0) / max(1, len(chosen)))
    return torch.stack(means)
""", right=True),
    Answer("10.3", "ignores the mask", edit(MEAN, "    real = mask[:, :, None].to(hidden.dtype)",
           "    real = torch.ones_like(hidden[:, :, :1])")),
    Answer("10.3", "divides by the length with the pads", edit(MEAN, "real.sum(dim=1).clamp(min=1)", "hidden.shape[1]")),
    Answer("10.3", "NaN for a sentence without real tokens", edit(MEAN, ".clamp(min=1)", "")),
    Answer("10.3", "replaces the NaN afterwards: the value is 0 but the gradient is NaN", edit(edit(
        MEAN, ".clamp(min=1)", ""), "return total / count", "return torch.nan_to_num(total / count)")),
    Answer("10.3", "replaces the NaN by torch.where afterwards: the gradient is still NaN", edit(edit(
        MEAN, ".clamp(min=1)", ""), "return total / count", "return torch.where(count > 0, total / count, torch.zeros_like(total))")),
    Answer("10.3", "mask turned round: the mean of the pads", edit(MEAN, "mask[:, :, None]", "(~mask)[:, :, None]")),
    Answer("10.3", "leaves [CLS] out, though special tokens are included", edit(
        MEAN, "    real =", "    hidden, mask = hidden[:, 1:], mask[:, 1:]\n    real =")),
    Answer("10.3", "the sum instead of the mean", edit(MEAN, "return total / count", "return total")),
    Answer("10.3", "adds 1 to every count to avoid zero", edit(MEAN, ".clamp(min=1)", " + 1")),
    Answer("10.3", "takes the pads to stand at the end", """
def mean_pool(hidden, mask):
    means = []
    for states, real in zip(hidden, mask):
        length = int(real.sum())
        means.append(states[:length].sum(0) / max(1, length))
    return torch.stack(means)
"""),
    Answer("10.3", "divides by the count of the whole batch", edit(MEAN, "real.sum(dim=1).clamp(min=1)", "real.sum().clamp(min=1)")),
    Answer("10.3", "divides by the count of the longest sentence", edit(
        MEAN, "real.sum(dim=1).clamp(min=1)", "real.sum(dim=1).max().clamp(min=1)")),
    Answer("10.3", "averages over the batch instead of over the tokens", """
def mean_pool(hidden, mask):
    real = mask[:, :, None].to(hidden.dtype)
    return (hidden * real).sum(dim=0) / real.sum(dim=0).clamp(min=1)
"""),
    Answer("10.3", "writes zeros into the hidden states that were handed in", """
def mean_pool(hidden, mask):
    with torch.no_grad():
        hidden[~mask] = 0.0
    return hidden.sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)
"""),
    Answer("10.3", "keeps the token axis: (batch, 1, d_model)", edit(edit(
        MEAN, "(hidden * real).sum(dim=1)", "(hidden * real).sum(dim=1, keepdim=True)"),
        "real.sum(dim=1).clamp", "real.sum(dim=1, keepdim=True).clamp")),
    Answer("10.3", "the largest value instead of the mean", edit(MEAN, "return total / count", "return (hidden * real).max(dim=1).values")),
    # ---- 10.4 a label for the first piece
    Answer("10.4", "a right answer that remembers the word before", PIECE, right=True),
    Answer("10.4", "a right answer with a set of words already labelled", """
def piece_labels(words, labels, length):
    if not len(words) <= length:
        raise ValueError("too many pieces: %d for a length of %d" % (len(words), length))
    answer, asked = [-100] * length, set()
    for i, w in enumerate(words):
        if w is None or w in asked:
            continue
        asked.add(w)
        try:
            answer[i] = labels[w]
        except IndexError:
            raise ValueError(f"no label was given for word number {w}") from None
    return torch.tensor(answer, dtype=torch.long)
""", right=True),
    Answer("10.4", "a right answer that compares with the shifted list", """
def piece_labels(words, labels, length):
    n = len(words)
    if n > length:
        raise ValueError(f"length is {length}, there are {n} pieces")
    missing = [w for w in words if w is not None and w >= len(labels)]
    if missing:
        raise ValueError(f"word {missing[0]} is without a label")
    pairs = zip([None] + list(words), words)
    asked = [-100 if w is None or w == earlier else int(labels[w]) for earlier, w in pairs]
    return torch.tensor(asked + (length - n) * [-100]).long()
""", right=True),
    Answer("10.4", "every piece of a word gets the label", edit(PIECE, "word is not None and word != before", "word is not None")),
    Answer("10.4", "the last piece of a word gets the label, not the first", """
def piece_labels(words, labels, length):
    if len(words) > length:
        raise ValueError(f"{len(words)} pieces do not fit into {length} places")
    result = torch.full((length,), -100)
    for place, word in enumerate(words):
        after = words[place + 1] if place + 1 < len(words) else None
        if word is not None and word != after:
            if word >= len(labels):
                raise ValueError(f"word {word} has no label")
            result[place] = labels[word]
    return result
"""),
    Answer("10.4", "word number 0 is taken for no word", edit(PIECE, "if word is not None and", "if word and")),
    Answer("10.4", "places that are not asked for get 0", edit(
        PIECE, "torch.full((length,), -100)", "torch.zeros(length, dtype=torch.long)")),
    Answer("10.4", "does not fill up to length", edit(PIECE, "torch.full((length,), -100)", "torch.full((len(words),), -100)")),
    Answer("10.4", "cuts off too many pieces silently", edit(edit(PIECE, """    if len(words) > length:
        raise ValueError(f"{len(words)} pieces do not fit into {length} places")
""", ""), "enumerate(words)", "enumerate(words[:length])")),
    Answer("10.4", "a piece whose word has no label ends in an IndexError", edit(PIECE, """            if word >= len(labels):
                raise ValueError(f"word {word} has no label")
""", "")),
    Answer("10.4", "a word without a label is silently left out", edit(
        PIECE, """                raise ValueError(f"word {word} has no label")
""", "                continue\n")),
    Answer("10.4", "refuses labels for words that have no piece", edit(PIECE, "    before = None\n    for", """    before = None
    if len(labels) != len({word for word in words if word is not None}):
        raise ValueError(f"{len(labels)} labels do not belong to these words")
    for""")),
    Answer("10.4", "for the first piece looks at the last one: words[-1] is the piece before it", """
def piece_labels(words, labels, length):
    if len(words) > length:
        raise ValueError(f"{len(words)} pieces do not fit into {length} places")
    result = torch.full((length,), -100)
    for place, word in enumerate(words):
        if word is not None and word != words[place - 1]:
            if word >= len(labels):
                raise ValueError(f"word {word} has no label")
            result[place] = labels[word]
    return result
"""),
    Answer("10.4", "takes [CLS] for granted and skips the first place", edit(
        PIECE, "        if word is not None", "        if place > 0 and word is not None")),
    Answer("10.4", "takes the labels in their order, so a word without pieces shifts all that follow", """
def piece_labels(words, labels, length):
    if len(words) > length:
        raise ValueError(f"{len(words)} pieces do not fit into {length} places")
    result, rest, before = torch.full((length,), -100), list(labels), None
    for place, word in enumerate(words):
        if word is not None and word != before:
            if not rest:
                raise ValueError(f"word {word} has no label")
            result[place] = rest.pop(0)
        before = word
    return result
"""),
    Answer("10.4", "refuses as many pieces as length", edit(PIECE, "len(words) > length", "len(words) >= length")),
    Answer("10.4", "the error for too many pieces names neither of the two numbers", edit(
        PIECE, 'f"{len(words)} pieces do not fit into {length} places"', '"too many pieces"')),
    Answer("10.4", "returns floats", edit(PIECE, "torch.full((length,), -100)", "torch.full((length,), -100.0)")),
    Answer("10.4", "compares labels instead of words: of two neighbours with the same label one is lost", """
def piece_labels(words, labels, length):
    if len(words) > length:
        raise ValueError(f"{len(words)} pieces do not fit into {length} places")
    if any(word is not None and word >= len(labels) for word in words):
        raise ValueError(f"word {max(w for w in words if w is not None)} has no label")
    each = [-100 if word is None else labels[word] for word in words]
    asked = [now if now != before else -100 for before, now in zip([-100] + each, each)]
    return torch.tensor(asked + [-100] * (length - len(words)))
"""),
    # ---- 10.5 the score of whole names
    Answer("10.5", "a right answer with sets of names", NAMES, right=True),
    Answer("10.5", "a right answer that walks with two indices", """
def name_scores(wanted, guessed):
    def spans(tags):
        result, i = [], 0
        while i < len(tags):
            if tags[i] == "O":
                i += 1
                continue
            kind, j = tags[i].split("-", 1)[1], i + 1
            while j < len(tags) and tags[j] == f"I-{kind}":
                j += 1
            result.append((kind, i, j - 1))
            i = j
        return result

    truth = [(k, *name) for k, tags in enumerate(wanted) for name in spans(tags)]
    said = [(k, *name) for k, tags in enumerate(guessed) for name in spans(tags)]
    hits = sum(name in truth for name in said)
    ratio = lambda above, below: above / below if below else 0
    return ratio(hits, len(said)), ratio(hits, len(truth)), ratio(2 * hits, len(said) + len(truth))
""", right=True),
    Answer("10.5", "a right answer that finds beginnings first and counts sentence by sentence", """
def name_scores(wanted, guessed):
    def begins(tags, i):
        if tags[i][0] == "B":
            return True
        return tags[i][0] == "I" and (i == 0 or tags[i - 1] not in (tags[i], "B" + tags[i][1:]))

    def names(tags):
        found = {}
        for i in range(len(tags)):
            if begins(tags, i):
                opened = i
            if tags[i] != "O":
                found[opened] = (tags[i][2:], i)
        return set(found.items())

    right = in_wanted = in_guessed = 0
    for a, b in zip(map(names, wanted), map(names, guessed)):
        right, in_wanted, in_guessed = right + len(a & b), in_wanted + len(a), in_guessed + len(b)
    p = right / max(in_guessed, 1)
    r = right / max(in_wanted, 1)
    return p, r, 0.0 if p + r == 0 else 2 / (1 / p + 1 / r)
""", right=True),
    Answer("10.5", "compares tags that are not O, not names", """
def name_scores(wanted, guessed):
    pairs = [(a, b) for x, y in zip(wanted, guessed) for a, b in zip(x, y)]
    right = sum(a == b != "O" for a, b in pairs)
    said, there = sum(b != "O" for _, b in pairs), sum(a != "O" for a, _ in pairs)
    precision = right / said if said else 0.0
    recall = right / there if there else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if right else 0.0
"""),
    Answer("10.5", "names of different sentences are mixed up: the sentence is not part of a name", edit(
        NAMES, "found.add((s, kind, start, t))", "found.add((kind, start, t))")),
    Answer("10.5", "a name at the end of a sentence is lost", edit(NAMES, 'enumerate([*tags, "O"])', "enumerate(tags)")),
    Answer("10.5", "a name of the wrong kind counts as right", edit(NAMES, "found.add((s, kind, start, t))", "found.add((s, start, t))")),
    Answer("10.5", "a name counts as right when it begins in the right place, wherever it ends", edit(
        NAMES, "found.add((s, kind, start, t))", "found.add((s, kind, start))")),
    Answer("10.5", "an I-X that continues nothing is ignored instead of beginning a name", edit(
        NAMES, 'kind is None and tag != "O"', 'kind is None and tag.startswith("B-")')),
    Answer("10.5", "an I of another kind continues the name", edit(
        NAMES, 'tag != "I-" + kind', 'not tag.startswith("I-")')),
    Answer("10.5", "a B-X directly behind a name X continues it instead of beginning another", edit(
        NAMES, 'tag != "I-" + kind', 'tag not in ("I-" + kind, "B-" + kind)')),
    Answer("10.5", "divides by zero when no name is guessed", edit(NAMES, " if b else 0.0", "")),
    Answer("10.5", "divides by zero when nothing is right", edit(NAMES, "(precision + recall) if right else 0.0", "(precision + recall)")),
    Answer("10.5", "where a divisor is 0 gives 1 instead of 0", edit(edit(
        NAMES, " if b else 0.0", " if b else 1.0"), " if a else 0.0", " if a else 1.0")),
    Answer("10.5", "the mean over sentences instead of counts over all of them", edit(NAMES, "def name_scores(", "def one(") + """
def name_scores(wanted, guessed):
    rows = [one([a], [b]) for a, b in zip(wanted, guessed)]
    return tuple(sum(row[k] for row in rows) / max(1, len(rows)) for k in range(3))
"""),
    Answer("10.5", "precision and recall are exchanged", edit(NAMES, "return precision, recall, f1", "return recall, precision, f1")),
    Answer("10.5", "F1 is the arithmetic mean", edit(
        NAMES, "2 * precision * recall / (precision + recall) if right else 0.0", "(precision + recall) / 2")),
    Answer("10.5", "returns F1 only", edit(NAMES, "return precision, recall, f1", "return f1")),
    Answer("10.5", "joins all sentences into one, so a name may run on into the next sentence", edit(
        NAMES, "a, b = names(wanted), names(guessed)", "a, b = names([sum(map(list, wanted), [])]), names([sum(map(list, guessed), [])])")),
    Answer("10.5", "an empty sentence ends in an IndexError", edit(
        NAMES, "            kind = None\n            for", """            kind = None
            if tags[0].startswith("I-"):
                tags = ["B" + tags[0][1:], *tags[1:]]
            for""")),
    # ---- 10.6 the best span
    Answer("10.6", "a right answer with a table", SPAN, right=True),
    Answer("10.6", "a right answer with two loops over Python's numbers", """
def best_span(start, end, longest):
    if not longest >= 1:
        raise ValueError("no span has " + str(longest) + " tokens")
    starts, ends = start.tolist(), end.tolist()
    best = None
    for i, s in enumerate(starts):
        for j, e in enumerate(ends[i:i + longest], start=i):
            if best is None or s + e > best[2]:
                best = (i, j, s + e)
    return best
""", right=True),
    Answer("10.6", "a right answer that goes from width to width and returns tensors", """
def best_span(start, end, longest):
    if longest <= 0:
        raise ValueError(f"longest = {longest}")
    n, options = start.numel(), []
    for width in range(min(longest, n)):
        sums = start[:n - width] + end[width:]
        score, i = sums.max(0)
        options.append((score, i, i + width))
    score, i, j = max(options, key=lambda option: option[0].item())
    return i, j, score
""", right=True),
    Answer("10.6", "the best start and the best end, each for itself", """
def best_span(start, end, longest):
    if longest < 1:
        raise ValueError(f"longest is {longest}, but a span has at least one token")
    i, j = start.argmax().item(), end.argmax().item()
    return i, j, (start[i] + end[j]).item()
"""),
    Answer("10.6", "takes the best start first and then the best end behind it", """
def best_span(start, end, longest):
    if longest < 1:
        raise ValueError(f"longest is {longest}, but a span has at least one token")
    i = start.argmax().item()
    j = i + end[i:i + longest].argmax().item()
    return i, j, (start[i] + end[j]).item()
"""),
    Answer("10.6", "an end before the start is permitted", edit(SPAN, ".triu().tril(longest - 1)", ".tril(longest - 1)")),
    Answer("10.6", "ignores longest", edit(SPAN, ".triu().tril(longest - 1)", ".triu()")),
    Answer("10.6", "permits one token too many", edit(SPAN, ".tril(longest - 1)", ".tril(longest)")),
    Answer("10.6", "permits one token too few", edit(SPAN, ".tril(longest - 1)", ".tril(max(longest - 2, 0))")),
    Answer("10.6", "a span of a single token is forbidden", edit(SPAN, ".triu()", ".triu(1)")),
    Answer("10.6", "forbidden pairs score 0, which wins when all others are negative", edit(SPAN, "-torch.inf", "0.0")),
    Answer("10.6", "forbidden pairs score -100, which wins when all others are far below", edit(SPAN, "-torch.inf", "-100.0")),
    Answer("10.6", "starts the search with a best score of 0, so negative scores find nothing", """
def best_span(start, end, longest):
    if longest < 1:
        raise ValueError(f"longest is {longest}, but a span has at least one token")
    best = (0, 0, 0.0)
    for i in range(len(start)):
        for j in range(i, min(i + longest, len(end))):
            score = (start[i] + end[j]).item()
            if score > best[2]:
                best = (i, j, score)
    return best
"""),
    Answer("10.6", "j is the place behind the last token", edit(SPAN, "return i, j,", "return i, j + 1,")),
    Answer("10.6", "rows and columns are exchanged: returns the end first", edit(SPAN, "i, j = divmod", "j, i = divmod")),
    Answer("10.6", "multiplies the scores instead of adding them", edit(SPAN, "start[:, None] + end", "start[:, None] * end")),
    Answer("10.6", "adds probabilities instead of scores", edit(
        SPAN, "start[:, None] + end[None, :]", "start.softmax(0)[:, None] + end.softmax(0)[None, :]")),
    Answer("10.6", "longest = 0 is not refused", edit(SPAN, """    if longest < 1:
        raise ValueError(f"longest is {longest}, but a span has at least one token")
""", "")),
    Answer("10.6", "returns the places without the score", edit(SPAN, "return i, j, table[i, j].item()", "return i, j")),
    Answer("10.6", "fails when longest is more than there are tokens", """
def best_span(start, end, longest):
    if longest < 1:
        raise ValueError(f"longest is {longest}, but a span has at least one token")
    n, options = len(start), []
    for width in range(longest):
        score, i = (start[:n - width] + end[width:]).max(0)
        options.append((score.item(), i.item(), i.item() + width))
    score, i, j = max(options)
    return i, j, score
"""),
    # ---- 10.7 windows
    Answer("10.7", "a right answer with a loop over the starts", WINDOWS, right=True),
    Answer("10.7", "a right answer with padding and unfold", """
def windows(passage, room, stride, answer):
    if stride < 1 or stride > room:
        raise ValueError(f"room {room}, stride {stride}: the stride has to be from 1 to the room")
    n = passage.shape[0]
    count = 1 + max(0, -((room - n) // stride))
    padded = F.pad(passage, (0, (count - 1) * stride + room - n))
    starts = stride * torch.arange(count)
    spans = torch.tensor([list(answer)]) - starts[:, None]
    inside = (spans[:, 0] >= 0) & (spans[:, 1] < room)
    return padded.unfold(0, room, stride).clone(), starts, torch.where(inside[:, None], spans, -1)
""", right=True),
    Answer("10.7", "a right answer with a table of places", """
def windows(passage, room, stride, answer):
    if stride not in range(1, room + 1):
        raise ValueError("stride %d does not go with room %d" % (stride, room))
    n = len(passage)
    starts = torch.tensor([s for s in range(0, n + stride, stride) if s == 0 or s - stride + room < n])
    places = starts[:, None] + torch.arange(room)
    rows = torch.where(places < n, passage[places.clamp(max=n - 1)], 0)
    spans = torch.full((len(starts), 2), -1)
    for k, s in enumerate(starts.tolist()):
        here = [int(a) - s for a in answer]
        if all(0 <= place < room for place in here):
            spans[k] = torch.tensor(here)
    return rows, starts, spans
""", right=True),
    Answer("10.7", "goes on with windows after one has reached the end", edit(WINDOWS, """    starts = [0]
    while starts[-1] + room < n:
        starts.append(starts[-1] + stride)
""", "    starts = list(range(0, n, stride))\n")),
    Answer("10.7", "only full windows: the end of the passage is lost", edit(WINDOWS, """    starts = [0]
    while starts[-1] + room < n:
        starts.append(starts[-1] + stride)
""", "    starts = list(range(0, max(n - room, 0) + 1, stride))\n")),
    Answer("10.7", "one window too many when a window ends exactly at the end of the passage", edit(
        WINDOWS, "starts[-1] + room < n", "starts[-1] + room <= n")),
    Answer("10.7", "moves the last window back so that it ends with the passage", edit(
        WINDOWS, "starts.append(starts[-1] + stride)", "starts.append(min(starts[-1] + stride, n - room))")),
    Answer("10.7", "spans are places in the passage, not in the window", edit(WINDOWS, "[first - s, last - s]", "[first, last]")),
    Answer("10.7", "looks at the start of the answer only, so the end may lie outside the window", edit(
        WINDOWS, "s <= first and last < s + room", "s <= first < s + room")),
    Answer("10.7", "looks at the end of the answer only, so the start may lie before the window", edit(
        WINDOWS, "s <= first and last < s + room", "s <= last < s + room")),
    Answer("10.7", "cuts an answer that lies partly in the window down to that part", edit(edit(
        WINDOWS, "s <= first and last < s + room", "s <= last and first < s + room"),
        "[first - s, last - s]", "[max(first - s, 0), min(last - s, room - 1)]")),
    Answer("10.7", "the last place of a window does not count", edit(WINDOWS, "last < s + room", "last < s + room - 1")),
    Answer("10.7", "an answer that begins with the window does not count", edit(WINDOWS, "s <= first and", "s < first and")),
    Answer("10.7", "windows side by side, the stride is ignored", edit(
        WINDOWS, "starts.append(starts[-1] + stride)", "starts.append(starts[-1] + room)")),
    Answer("10.7", "takes the stride for the overlap of two windows", edit(
        WINDOWS, "starts.append(starts[-1] + stride)", "starts.append(starts[-1] + max(1, room - stride))")),
    Answer("10.7", "does not test the stride: 0 and more than room are accepted", edit(edit(WINDOWS, """    if not 1 <= stride <= room:
        raise ValueError(f"stride {stride} must lie between 1 and the room, {room}")
""", ""), "while starts[-1] + room < n:", "while starts[-1] + room < n and len(starts) <= n:")),
    Answer("10.7", "a stride larger than the room is not refused", edit(WINDOWS, "not 1 <= stride <= room", "stride < 1")),
    Answer("10.7", "a stride equal to the room is refused", edit(WINDOWS, "1 <= stride <= room", "1 <= stride < room")),
    Answer("10.7", "a window without the answer gets 0, 0", edit(WINDOWS, "[-1, -1]", "[0, 0]")),
    Answer("10.7", "pads with -100", edit(
        WINDOWS, "torch.zeros(len(starts), room, dtype=torch.long)", "torch.full((len(starts), room), -100)")),
    Answer("10.7", "starts are the numbers of the windows, not places in the passage", edit(
        WINDOWS, "torch.tensor(starts)", "torch.arange(len(starts))")),
    Answer("10.7", "does not return the starts", edit(WINDOWS, "return rows, torch.tensor(starts), ", "return rows, ")),
    Answer("10.7", "pads in front of a short last window", edit(
        WINDOWS, "rows[k, :len(part)] = part", "rows[k, room - len(part):] = part")),
    # ---- 10.8 a change of low rank
    Answer("10.8", "a right answer that scales at the end", LOW_RANK, right=True),
    Answer("10.8", "a right answer with init functions and einsum", """
class LowRank(nn.Module):
    def __init__(self, d_out, d_in, rank, alpha):
        super().__init__()
        largest = d_in if d_in < d_out else d_out
        if rank not in range(1, largest + 1):
            raise ValueError(f"1 <= rank <= {largest} is needed, not rank={rank}")
        self.scale = alpha / rank
        self.down = nn.Parameter(torch.empty(rank, d_in))
        self.up = nn.Parameter(torch.empty(d_out, rank))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))
        nn.init.zeros_(self.up)

    def forward(self, weight):
        return weight + self.scale * torch.einsum("or,ri->oi", self.up, self.down)
""", right=True),
    Answer("10.8", "a right answer with register_parameter and addmm", """
class LowRank(nn.Module):
    def __init__(self, d_out, d_in, rank, alpha):
        super().__init__()
        if not 0 < rank <= min(d_in, d_out):
            raise ValueError("the rank cannot be " + str(rank))
        self.register_parameter("down", nn.Parameter(torch.rand(rank, d_in) - 0.5))
        self.register_parameter("up", nn.Parameter(torch.zeros(d_out, rank)))
        self.factor = alpha / rank

    def forward(self, weight):
        return torch.addmm(weight, self.up, self.down, alpha=self.factor)
""", right=True),
    Answer("10.8", "both matrices start at 0, so neither ever gets a gradient", edit(
        LOW_RANK, "torch.randn(rank, d_in) * 0.02", "torch.zeros(rank, d_in)")),
    Answer("10.8", "both start at random, so the body is changed before the first step", edit(
        LOW_RANK, "torch.zeros(d_out, rank)", "torch.randn(d_out, rank) * 0.02")),
    Answer("10.8", "up starts at random and down at 0", edit(edit(
        LOW_RANK, "torch.randn(rank, d_in) * 0.02", "torch.zeros(rank, d_in)"),
        "torch.zeros(d_out, rank)", "torch.randn(d_out, rank)")),
    Answer("10.8", "the scale is left out", edit(LOW_RANK, "self.alpha / self.rank * self.up", "self.up")),
    Answer("10.8", "multiplies by alpha only", edit(LOW_RANK, "self.alpha / self.rank", "self.alpha")),
    Answer("10.8", "divides by the root of the rank", edit(LOW_RANK, "self.alpha / self.rank", "self.alpha / self.rank ** 0.5")),
    Answer("10.8", "the scale upside down", edit(LOW_RANK, "self.alpha / self.rank", "self.rank / self.alpha")),
    Answer("10.8", "returns the change without the weight", edit(LOW_RANK, "weight + self.alpha", "self.alpha")),
    Answer("10.8", "changes the weight that was handed in", edit(
        LOW_RANK, "return weight + self.alpha / self.rank * self.up @ self.down", """with torch.no_grad():
            weight += self.alpha / self.rank * self.up @ self.down
        return weight""")),
    Answer("10.8", "the product is computed without a gradient", edit(
        LOW_RANK, "return weight + self.alpha / self.rank * self.up @ self.down", """with torch.no_grad():
            change = self.alpha / self.rank * self.up @ self.down
        return weight + change""")),
    Answer("10.8", "down is a plain tensor, which no optimiser finds", edit(
        LOW_RANK, "nn.Parameter(torch.randn(rank, d_in) * 0.02)", "torch.randn(rank, d_in) * 0.02")),
    Answer("10.8", "accepts every rank", edit(LOW_RANK, """        if rank < 1 or rank > min(d_out, d_in):
            raise ValueError(f"rank {rank} does not fit a matrix of {d_out} by {d_in}")
""", "")),
    Answer("10.8", "compares the rank with the larger side", edit(LOW_RANK, "rank > min(d_out, d_in)", "rank > max(d_out, d_in)")),
    Answer("10.8", "refuses the full rank", edit(LOW_RANK, "rank > min(d_out, d_in)", "rank >= min(d_out, d_in)")),
    Answer("10.8", "rank 0 is let through", edit(LOW_RANK, "rank < 1 or", "rank < 0 or")),
    Answer("10.8", "the matrices lie on their sides", edit(edit(
        LOW_RANK, "torch.randn(rank, d_in) * 0.02", "torch.randn(d_in, rank) * 0.02"), "self.up @ self.down", "self.up @ self.down.T")),
    Answer("10.8", "the names exchanged", edit(edit(edit(
        LOW_RANK, "self.down = nn", "self.first = nn"), "self.up = nn", "self.second = nn"),
        "self.up @ self.down", "self.second @ self.first")),
)
