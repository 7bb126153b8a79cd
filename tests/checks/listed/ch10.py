"""Chapter 10."""

from . import Listed

CLASSIFIER = '''
class Classifier(nn.Module):
    def __init__(self, d_model, num_labels, dropout):
        super().__init__()
        self.pooler = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, num_labels)
        self.dropout = dropout

    def forward(self, hidden):
        x = torch.tanh(self.pooler(hidden[:, 0]))
        if self.training:
            x = {x}
        return self.output(x)
'''

LABELS = '''
def piece_labels(words, labels, length):
    if len(words) > length:
        raise ValueError(f"{{len(words)}} pieces do not fit into length={{length}}")
    out = {out}
    before = {before}
    for place, word in enumerate(words):
        if word is not None and word != before:
            if word >= len(labels):
                raise ValueError(f"word {{word}} has no label: there are {{len(labels)}}")
            out[place] = labels[word]
        before = word
    return out
'''

SCORES = '''
def name_scores(wanted, guessed):
    def names(sentences):
        found = set()
        for number, tags in enumerate(sentences):
            begin = None
            for k, tag in enumerate([*tags, "O"]):
                continues = tag[0] == "I" and k > 0 and tags[k - 1][1:] == tag[1:]
                if begin is not None and not continues:
                    found.add((number, begin, k, tags[begin][2:]))
                begin = None if tag == "O" else begin if continues else k
        return found

    a, b = names(wanted), names(guessed)
    hits = len(a & b)
    {end}
'''

SPAN = '''
def best_span(start, end, longest):
    if longest < 1:
        raise ValueError({message})
    n = len(start)
    scores = start[:, None] + end
    permitted = torch.ones_like(scores, dtype=torch.bool){band}
    table = scores.masked_fill(~permitted, {low})
    flat = table.flatten()
    best = flat.argmax()
    {end}
'''


def span(end, message='f"longest={longest}"', band=".triu().tril(longest - 1)", low="-torch.inf"):
    return SPAN.format(end=end, message=message, band=band, low=low)


PLAIN = "return int(best) // n, int(best) % n, float(flat.max())"

WINDOWS = '''
def windows(passage, room, stride, answer):
    if not 1 <= stride <= room:
        raise ValueError(f"stride={{stride}} must lie between 1 and room={{room}}")
    starts = [0]
    while starts[-1] + room{more} < len(passage):
        starts.append(starts[-1] + stride)
    rows = torch.zeros(len(starts), room{dtype})
    spans = torch.full((len(starts), 2), -1)
    for k, s in enumerate(starts):
        piece = passage[s:s + room]
        rows[k, :len(piece)] = piece
        if s <= answer[0] and answer[1] < s + room:
            spans[k] = torch.tensor(answer) - s
    {end}
'''

LISTED = (
    Listed("10.2", "kept numbers not divided by 1 - p", CLASSIFIER.format(x="x * (torch.rand_like(x) >= self.dropout)"),
           says=("Kept numbers not enlarged",)),
    Listed("10.2", "dropout by hand", CLASSIFIER.format(x="x * (torch.rand_like(x) >= self.dropout) / (1 - self.dropout)"), right=True),
    Listed("10.4", "labels as floats", LABELS.format(out="torch.full((length,), -100.0)", before="None")),
    Listed("10.4", "first word lost without a special token", LABELS.format(out="torch.full((length,), -100)", before="0"),
           ),
    Listed("10.5", "the integer 0 where a divisor is 0", SCORES.format(end='''precision = hits / len(b) if len(b) else 0
    recall = hits / len(a) if len(a) else 0
    return precision, recall, 2 * precision * recall / (precision + recall) if hits else 0'''), right=True),
    Listed("10.5", "three tensors", SCORES.format(end='''precision = torch.tensor(hits / max(len(b), 1))
    recall = torch.tensor(hits / max(len(a), 1))
    f1 = 2 * precision * recall / (precision + recall) if hits else torch.tensor(0.0)
    return precision, recall, f1'''), right=True),
    Listed("10.5", "three zeros", SCORES.format(end="return 0, 0, 0"), never=("is not a tensor",)),
    Listed("10.5", "F1 alone", SCORES.format(end="return 2 * hits / max(len(a) + len(b), 1)"), never=("is not a tensor",)),
    Listed("10.5", "the kind is its first letter", '''
def name_scores(wanted, guessed):
    def names(sentences):
        found = set()
        for number, tags in enumerate(sentences):
            begin = None
            for k, tag in enumerate([*tags, "O"]):
                continues = tag[0] == "I" and k > 0 and tags[k - 1][2:3] == tag[2]
                if begin is not None and not continues:
                    found.add((number, begin, k, tags[begin][2]))
                begin = None if tag == "O" else begin if continues else k
        return found

    a, b = names(wanted), names(guessed)
    hits = len(a & b)
    precision = hits / len(b) if b else 0.0
    recall = hits / len(a) if a else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if hits else 0.0
''', says=("first letter",)),
    Listed("10.5", "an empty sentence ends in an IndexError", '''
def name_scores(wanted, guessed):
    def names(sentences):
        found = set()
        for number, tags in enumerate(sentences):
            begin = 0 if tags[0] != "O" else None
            for k, tag in enumerate([*tags, "O"]):
                continues = tag[0] == "I" and k > 0 and tags[k - 1][1:] == tag[1:]
                if k and begin is not None and not continues:
                    found.add((number, begin, k, tags[begin][2:]))
                begin = None if tag == "O" else begin if continues else k
        return found

    a, b = names(wanted), names(guessed)
    hits = len(a & b)
    precision = hits / len(b) if b else 0.0
    recall = hits / len(a) if a else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if hits else 0.0
''', says=("IndexError", "empty sentence")),
    Listed("10.5", "1, 1, 1 where nothing is wanted and nothing guessed", SCORES.format(end='''if not a and not b:
        return 1.0, 1.0, 1.0
    precision = hits / len(b) if b else 0.0
    recall = hits / len(a) if a else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if hits else 0.0'''),
           says=("Full marks for no name at all",), never=("Share of right sentences",)),
    Listed("10.6", "ints and a 0-dim tensor", span("i, j = divmod(int(best), n)\n    return i, j, table[i, j]"), right=True),
    Listed("10.6", "three tensors by division", span("return best // n, best % n, flat.max()"), right=True),
    Listed("10.6", "unravel_index", span("i, j = torch.unravel_index(best, table.shape)\n    return i, j, table.max()"), right=True),
    Listed("10.6", "the sum of both scores", span("i, j = divmod(int(best), n)\n    return i, j, start[i] + end[j]"), right=True),
    Listed("10.6", "a diagonal for each length", '''
def best_span(start, end, longest):
    if longest < 1:
        raise ValueError(f"longest is {longest}")
    best = None
    for extra in range(min(longest, len(start))):
        sums = start[:len(start) - extra] + end[extra:]
        value, i = sums.max(0)
        if best is None or value > best[2]:
            best = (i, i + extra, value)
    return best
''', right=True),
    Listed("10.6", "two results", span("return int(best) // n, int(best) % n"), never=("is not a tensor",)),
    Listed("10.6", "score first", span("i, j = divmod(int(best), n)\n    return float(flat.max()), i, j"), never=("is not a tensor",)),
    Listed("10.6", "an error that names no number", span(PLAIN, message="'longest must be above 0'"), says=("'-3'",)),
    Listed("10.6", "forbidden pairs at -1000", span(PLAIN, low="-1000.0"), says=("minus a thousand",)),
    Listed("10.6", "triu forgotten", span(PLAIN, band=".tril(longest - 1)"), says=("End before start permitted",),
           never=("Your limit holds in both directions", "chosen independently")),
    Listed("10.7", "rows without a dtype", WINDOWS.format(more="", dtype="", end="return rows, torch.tensor(starts), spans")),
    Listed("10.7", "the last single piece stands in no window",
           WINDOWS.format(more=" + 1", dtype=", dtype=torch.long", end="return rows, torch.tensor(starts), spans"),
           says=("Last single piece left out",)),
    Listed("10.7", "starts and spans exchanged",
           WINDOWS.format(more="", dtype=", dtype=torch.long", end="return rows, spans, torch.tensor(starts)"),
           never=("should be summed",)),
    Listed("10.7", "the answer shifted in place", '''
def windows(passage, room, stride, answer):
    if not 1 <= stride <= room:
        raise ValueError(f"stride={stride} must lie between 1 and room={room}")
    rows, starts, spans, s = [], [], [], 0
    while True:
        rows.append(F.pad(passage[s:s + room], (0, max(0, s + room - len(passage)))))
        starts.append(s)
        spans.append(list(answer) if answer[0] >= 0 and answer[1] < room else [-1, -1])
        if s + room >= len(passage):
            return torch.stack(rows), torch.tensor(starts), torch.tensor(spans)
        s += stride
        answer[0] -= stride
        answer[1] -= stride
''', never=("Make a new tensor instead",)),
)
