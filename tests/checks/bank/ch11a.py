"""Chapter 11a: answers written from the blank notebook."""

from . import Answer, edit

MERGES = """
def learn_merges(words, count):
    if count < 0:
        raise ValueError(f"count must not be negative, it is {count}")
    parts = {word: list(word) for word in words}
    merges = []
    for _ in range(count):
        pairs = Counter()
        for word, symbols in parts.items():
            for pair in zip(symbols, symbols[1:]):
                pairs[pair] += words[word]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(" ".join(best))
        parts = {word: join(symbols, best, "".join(best)) for word, symbols in parts.items()}
    return merges
"""

APPLY = """
def apply_merges(word, merges):
    rank = {tuple(merge.split(" ")): at for at, merge in enumerate(merges)}
    pieces = list(word)
    while True:
        known = [pair for pair in zip(pieces, pieces[1:]) if pair in rank]
        if not known:
            return pieces
        best = min(known, key=rank.get)
        pieces = join(pieces, best, "".join(best))
"""

WINDOWS = """
def windows(ids, size, stride):
    tokens = len(ids)
    if not 1 <= stride <= size:
        raise ValueError(f"stride={stride} must lie between 1 and size={size}")
    if tokens < 2:
        raise ValueError(f"at least 2 tokens are needed, there are {tokens}")
    count = 1 + max(0, math.ceil((tokens - 1 - size) / stride))
    missing = (count - 1) * stride + size - (tokens - 1)
    inputs = F.pad(ids[:-1], (0, missing))
    targets = F.pad(ids[1:], (0, missing), value=-100)
    return inputs.unfold(0, size, stride), targets.unfold(0, size, stride)
"""

LOGITS = """
def gpt_logits(ids, token, position, blocks, weight, bias):
    n = ids.shape[1]
    if n > len(position):
        raise ValueError(f"{n} ids, but only {len(position)} positions")
    x = token[ids] + position[:n]
    for block in blocks:
        x = block(x)
    x = F.layer_norm(x, weight.shape, weight, bias)
    return x @ token.T
"""

LOSS = """
def next_token_loss(logits, ids, lengths):
    log_p = logits[:, :-1].log_softmax(-1)
    losses = -log_p.gather(-1, ids[:, 1:, None])[..., 0]
    real = torch.arange(1, ids.shape[1]) < lengths[:, None]
    return (losses * real).sum() / real.sum()
"""

BITS = """
def bits_per_character(logits_of, ids, size, stride, characters):
    count = 1 + max(0, math.ceil((len(ids) - 1 - size) / stride))
    missing = (count - 1) * stride + size - (len(ids) - 1)
    inputs = F.pad(ids[:-1], (0, missing)).unfold(0, size, stride)
    targets = F.pad(ids[1:], (0, missing), value=-100).unfold(0, size, stride).clone()
    targets[1:, :size - stride] = -100
    total = F.cross_entropy(logits_of(inputs).flatten(0, 1), targets.flatten(), reduction="sum")
    return total.item() / math.log(2) / characters
"""

NEXT = """
def next_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    if temperature < 0:
        raise ValueError(f"temperature is {temperature}, must not be negative")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k is {top_k}, must be at least 1")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p is {top_p}, must be above 0 and at most 1")
    if temperature == 0:
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    values, places = (logits / temperature).sort(dim=-1, descending=True)
    if top_k is not None:
        values = values.masked_fill(torch.arange(values.shape[-1]) >= top_k, -torch.inf)
    p = values.softmax(-1)
    if top_p is not None and top_p < 1:
        before = F.pad(p.cumsum(-1)[:, :-1], (1, 0))
        p = p * (before < top_p)
        p = p / p.sum(-1, keepdim=True)
    return torch.zeros_like(p).scatter(-1, places, p)
"""

SIMILAR = """
def similarity(read, a, b, start, delimiter, extract, weight, bias):
    def column(token):
        return torch.full((len(a), 1), token)

    def at_extract(first, second):
        row = torch.cat([column(start), first, column(delimiter), second, column(extract)], dim=1)
        return read(row)[:, -1]

    both = at_extract(a, b) + at_extract(b, a)
    return both @ weight.T + bias
"""

GUESS = """
prediction_of_gpt = {
    "tokens that a byte-level BPE without merges makes of “naïve café”": 12,
    "targets in one pass over 16 windows of 64 inputs": 1024,
    "targets if only the last row of each window is used": 16,
    "bits per character: all of 1,024 tokens equally likely, 2.5 characters a token": 4,
    "of ten parameters of a block, how many are in its feed-forward network": 6.7,
    "of ten parameters of GPT-2 small, how many are in the token embedding": 3.1,
}
"""

SHARE = """
def mixing_share(p, q, rounds):
    if len(p) != len(q):
        raise ValueError(f"p has {len(p)} tokens, q has {len(q)}")
    w = 0.5
    for _ in range(rounds):
        r = w * p / (w * p + (1 - w) * q)
        w = r.mean().item()
    return w
"""

BANK = (
    # 11a.1 Learn merges
    Answer("11a.1", "a right answer: dictionary of symbols, smallest key of minus count and pair", MERGES, right=True),
    Answer("11a.1", "a right answer: joins by hand, sorts all pairs", """
def glue(symbols, left, right):
    out, i = [], 0
    while i < len(symbols):
        if i + 1 < len(symbols) and symbols[i] == left and symbols[i + 1] == right:
            out.append(left + right)
            i += 2
        else:
            out.append(symbols[i])
            i += 1
    return out

def learn_merges(words, count):
    if count < 0:
        raise ValueError(f"cannot learn {count} merges")
    state = [(list(word), often) for word, often in words.items()]
    learned = []
    while len(learned) < count:
        table = {}
        for symbols, often in state:
            for i in range(len(symbols) - 1):
                key = symbols[i], symbols[i + 1]
                table[key] = table.get(key, 0) + often
        ranked = sorted(table.items(), key=lambda item: (-item[1], item[0]))
        if len(ranked) == 0:
            return learned
        (left, right), _ = ranked[0]
        learned.append(f"{left} {right}")
        state = [(glue(symbols, left, right), often) for symbols, often in state]
    return learned
""", right=True),
    Answer("11a.1", "a right answer: the highest count first, then the smallest pair that has it", """
from collections import defaultdict

def neighbours(state):
    pairs = defaultdict(int)
    for symbols, n in state:
        for left, right in zip(symbols[:-1], symbols[1:]):
            pairs[left, right] += n
    return pairs

def learn_merges(words, count):
    if count < 0:
        raise ValueError("count = " + str(count) + " is negative")

    state = [(list(word), n) for word, n in words.items()]
    found = []
    while len(found) < count and (pairs := neighbours(state)):
        most = max(pairs.values())
        first = min(pair for pair, n in pairs.items() if n == most)
        state = [(join(symbols, first, first[0] + first[1]), n) for symbols, n in state]
        found += [first[0] + " " + first[1]]
    return found
""", right=True),
    Answer("11a.1", "of pairs with equal counts it takes the one that was seen first, not the first in sorted order",
           edit(MERGES, "min(pairs, key=lambda pair: (-pairs[pair], pair))", "pairs.most_common(1)[0][0]")),
    Answer("11a.1", "of pairs with equal counts it takes the last in sorted order",
           edit(MERGES, "min(pairs, key=lambda pair: (-pairs[pair], pair))", "max(pairs, key=lambda pair: (pairs[pair], pair))")),
    Answer("11a.1", "every word counts once, however often it occurs", edit(MERGES, "+= words[word]", "+= 1")),
    Answer("11a.1", "returns the joined pieces, not the two parts with a space", edit(MERGES, '" ".join(best)', '"".join(best)')),
    Answer("11a.1", "returns tuples, not strings", edit(MERGES, 'merges.append(" ".join(best))', "merges.append(best)")),
    Answer("11a.1", "fails when no pairs are left, instead of returning a shorter list",
           edit(MERGES, "        if not pairs:\n            break\n", "")),
    Answer("11a.1", "a negative count gives an empty list, no ValueError",
           edit(MERGES, '    if count < 0:\n        raise ValueError(f"count must not be negative, it is {count}")\n', "")),
    Answer("11a.1", "the ValueError does not say the number",
           edit(MERGES, 'f"count must not be negative, it is {count}"', '"count must not be negative"')),
    Answer("11a.1", "a pair that stands twice in one word counts once: “aaa” holds a, a one time only",
           edit(MERGES, "in zip(symbols, symbols[1:])", "in set(zip(symbols, symbols[1:]))")),
    Answer("11a.1", "turns capitals into small letters",
           edit(MERGES, "list(word) for word in words", "list(word.lower()) for word in words")),
    Answer("11a.1", "adds an end mark to every word", edit(MERGES, "list(word) for word in words", "[*word, '</w>'] for word in words")),
    Answer("11a.1", "joins by replacing text, which also joins the end of a longer symbol: “th u” with the pair h, u",
           edit(MERGES, 'join(symbols, best, "".join(best)) for',
                '" ".join(symbols).replace(" ".join(best), "".join(best)).split(" ") for')),
    Answer("11a.1", "stops as soon as the best pair occurs only once",
           edit(MERGES, "        merges.append", "        if pairs[best] < 2:\n            break\n        merges.append")),
    Answer("11a.1", "counts pairs of letters once and never joins anything", """
def learn_merges(words, count):
    if count < 0:
        raise ValueError(f"{count} is negative")
    pairs = Counter()
    for word, n in words.items():
        for pair in zip(word, word[1:]):
            pairs[pair] += n
    ranked = sorted(pairs, key=lambda pair: (-pairs[pair], pair))
    return [" ".join(pair) for pair in ranked[:count]]
"""),
    Answer("11a.1", "prints every merge and returns nothing",
           edit(edit(MERGES, 'merges.append(" ".join(best))', 'print(" ".join(best))'), "    return merges\n", "")),
    Answer("11a.1", "joins all words into one row, so that the end of one word and the start of the next make a pair", """
def learn_merges(words, count):
    if count < 0:
        raise ValueError(f"negative count {count}")
    symbols = [letter for word, n in words.items() for letter in word * n]
    merges = []
    for _ in range(count):
        pairs = Counter(zip(symbols, symbols[1:]))
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(" ".join(best))
        symbols = join(symbols, best, "".join(best))
    return merges
"""),

    # 11a.2 Cut a word with learned merges
    Answer("11a.2", "a right answer: ranks in a dictionary, smallest rank first", APPLY, right=True),
    Answer("11a.2", "a right answer: goes through the list again and again, joins by hand", """
def apply_merges(word, merges):
    pieces = [letter for letter in word]

    def joined(left, right):
        out = []
        skip = False
        for i, piece in enumerate(pieces):
            if skip:
                skip = False
            elif piece == left and i + 1 < len(pieces) and pieces[i + 1] == right:
                out.append(left + right)
                skip = True
            else:
                out.append(piece)
        return out

    changed = True
    while changed:
        changed = False
        for merge in merges:
            left, right = merge.split(" ")
            new = joined(left, right)
            if new != pieces:
                pieces, changed = new, True
                break
    return pieces
""", right=True),
    Answer("11a.2", "a right answer: place in the list by index", """
def apply_merges(word, merges):
    pieces = list(word)

    def places():
        texts = [a + " " + b for a, b in zip(pieces[:-1], pieces[1:])]
        return [merges.index(text) for text in texts if text in merges]

    while found := places():
        left, right = merges[min(found)].split(" ")
        pieces = join(pieces, (left, right), left + right)
    return pieces
""", right=True),
    Answer("11a.2", "a right answer for every list that learn_merges can return: each merge once, in the order of learning", """
def apply_merges(word, merges):
    pieces = list(word)
    for merge in merges:
        left, right = merge.split(" ")
        pieces = join(pieces, (left, right), left + right)
    return pieces
""", right=True),
    Answer("11a.2", "joins the pair that was learned last", edit(APPLY, "min(known", "max(known")),
    Answer("11a.2", "joins the pair that stands first in the word, not the one that was learned first",
           edit(APPLY, "min(known, key=rank.get)", "known[0]")),
    Answer("11a.2", "makes one join and stops", edit(APPLY, "        pieces = join(pieces, best", "        return join(pieces, best")),
    Answer("11a.2", "takes the most frequent pair in the word, not the one learned first",
           edit(APPLY, "min(known, key=rank.get)", "Counter(known).most_common(1)[0][0]")),
    Answer("11a.2", "joins only the first place of the pair before it looks for the next one learned later", """
def apply_merges(word, merges):
    pieces = list(word)
    for merge in merges:
        left, right = merge.split()
        for i in range(len(pieces) - 1):
            if pieces[i] == left and pieces[i + 1] == right:
                pieces[i:i + 2] = [left + right]
                break
    return pieces
"""),
    Answer("11a.2", "joins by replacing text, which also catches the end of a longer piece", """
def apply_merges(word, merges):
    text = " ".join(word)
    for merge in merges:
        text = text.replace(merge, merge.replace(" ", ""))
    return text.split()
"""),
    Answer("11a.2", "cuts off the longest known piece from the left, whatever was learned first", """
def apply_merges(word, merges):
    vocabulary = {merge.replace(" ", "") for merge in merges} | set(word)
    pieces, start = [], 0
    while start < len(word):
        end = len(word)
        while word[start:end] not in vocabulary:
            end -= 1
        pieces.append(word[start:end])
        start = end
    return pieces
"""),
    Answer("11a.2", "returns [''] for the empty word", edit(APPLY, "    pieces = list(word)\n", '    pieces = list(word) or [""]\n')),
    Answer("11a.2", "drops letters that occur in no merge",
           edit(APPLY, "    pieces = list(word)\n",
                '    letters = set("".join(merges))\n    pieces = [letter for letter in word if letter in letters]\n')),
    Answer("11a.2", "returns one string with spaces, not a list", edit(APPLY, "return pieces", 'return " ".join(pieces)')),
    Answer("11a.2", "empties the caller's list of merges", """
def apply_merges(word, merges):
    pieces = list(word)
    while merges:
        left, right = merges.pop(0).split(" ")
        pieces = join(pieces, (left, right), left + right)
    return pieces
"""),
    Answer("11a.2", "ranks the merges by the alphabet, not by the order of learning",
           edit(APPLY, "enumerate(merges)", "enumerate(sorted(merges))")),
    Answer("11a.2", "half-finished: never joins, returns the letters", """
def apply_merges(word, merges):
    ranks = {merge: i for i, merge in enumerate(merges)}
    pieces = list(word)
    for pair in zip(pieces, pieces[1:]):
        if pair in ranks:
            pieces = join(pieces, pair, "".join(pair))
    return pieces
"""),

    # 11a.3 Windows and their targets
    Answer("11a.3", "a right answer: pad and unfold", WINDOWS, right=True),
    Answer("11a.3", "a right answer: a table of places", """
def windows(ids, size, stride):
    if stride < 1 or stride > size:
        raise ValueError(f"need 1 <= stride <= size, got stride {stride} and size {size}")
    if ids.shape[0] < 2:
        raise ValueError(f"{ids.shape[0]} tokens have no target")
    last = ids.shape[0] - 1
    k = 1
    while (k - 1) * stride + size < last:
        k += 1
    at = torch.arange(k)[:, None] * stride + torch.arange(size)       # (windows, size)
    empty = at >= last
    inputs = ids[at.clamp(max=last - 1)].masked_fill(empty, 0)
    targets = ids[(at + 1).clamp(max=last)].masked_fill(empty, -100)
    return inputs, targets
""", right=True),
    Answer("11a.3", "a right answer: a loop over lists", """
def windows(ids, size, stride):
    if not (1 <= stride and stride <= size):
        raise ValueError("stride " + str(stride) + ", size " + str(size))
    row = ids.tolist()
    if len(row) < 2:
        raise ValueError("too few tokens: " + str(len(row)))
    xs, ys, start = [], [], 0
    while True:
        y = row[start + 1:start + 1 + size]
        x = row[start:start + len(y)]
        gap = size - len(y)
        xs.append(x + [0] * gap)
        ys.append(y + [-100] * gap)
        if start + size >= len(row) - 1:
            return torch.tensor(xs, dtype=ids.dtype), torch.tensor(ys, dtype=ids.dtype)
        start += stride
""", right=True),
    Answer("11a.3", "rounds down and loses the last window that is not full",
           edit(WINDOWS, "math.ceil((tokens - 1 - size) / stride)", "(tokens - 1 - size) // stride")),
    Answer("11a.3", "counts tokens instead of targets: one window too many, without a target, where they fit exactly",
           edit(WINDOWS, "math.ceil((tokens - 1 - size)", "math.ceil((tokens - size)")),
    Answer("11a.3", "goes on until a window begins at every stride, although all tokens have been targets", """
def windows(ids, size, stride):
    if not 1 <= stride <= size:
        raise ValueError(f"stride={stride}, size={size}")
    if len(ids) < 2:
        raise ValueError(f"{len(ids)} tokens")
    inputs, targets = [], []
    for start in range(0, len(ids) - 1, stride):
        target = ids[start + 1:start + 1 + size]
        source = ids[start:start + len(target)]
        inputs.append(F.pad(source, (0, size - len(source))))
        targets.append(F.pad(target, (0, size - len(target)), value=-100))
    return torch.stack(inputs), torch.stack(targets)
"""),
    Answer("11a.3", "the very last token stands in the inputs, at a place without target",
           edit(WINDOWS, "F.pad(ids[:-1], (0, missing))", "F.pad(ids, (0, missing))[:tokens - 1 + missing]")),
    Answer("11a.3", "fills the targets up with 0, so that token 0 is learned there", edit(WINDOWS, "value=-100", "value=0")),
    Answer("11a.3", "fills the inputs up with -100 as well",
           edit(WINDOWS, "F.pad(ids[:-1], (0, missing))", "F.pad(ids[:-1], (0, missing), value=-100)")),
    Answer("11a.3", "the target of a position is the token itself, not the one after it",
           edit(WINDOWS, "F.pad(ids[1:], (0, missing), value=-100)", "F.pad(ids[:-1], (0, missing), value=-100)")),
    Answer("11a.3", "fails for a text shorter than a window",
           edit(WINDOWS, "max(0, math.ceil((tokens - 1 - size) / stride))", "math.ceil((tokens - 1 - size) / stride)")),
    Answer("11a.3", "a stride larger than the size is accepted and leaves tokens out",
           edit(WINDOWS, "if not 1 <= stride <= size", "if stride < 1")),
    Answer("11a.3", "one token gives an empty window, no ValueError",
           edit(WINDOWS, '    if tokens < 2:\n        raise ValueError(f"at least 2 tokens are needed, there are {tokens}")\n', "")),
    Answer("11a.3", "takes out the targets that an earlier window has already had",
           edit(WINDOWS, "    return inputs.unfold(0, size, stride), targets.unfold(0, size, stride)",
                "    inputs, targets = inputs.unfold(0, size, stride), targets.unfold(0, size, stride).clone()\n"
                "    targets[1:, :size - stride] = -100\n    return inputs, targets")),
    Answer("11a.3", "returns floats, which are no ids", """
def windows(ids, size, stride):
    if not 1 <= stride <= size:
        raise ValueError(f"stride={stride}, size={size}")
    tokens = len(ids)
    if tokens < 2:
        raise ValueError(f"{tokens} tokens")
    count = 1 + max(0, math.ceil((tokens - 1 - size) / stride))
    inputs, targets = torch.zeros(count, size), torch.full((count, size), -100.0)
    for k in range(count):
        y = ids[k * stride + 1:k * stride + 1 + size]
        inputs[k, :len(y)] = ids[k * stride:k * stride + len(y)]
        targets[k, :len(y)] = y
    return inputs, targets
"""),
    Answer("11a.3", "ignores the stride: windows stand side by side",
           edit(WINDOWS, "    count = 1", "    stride = size\n    count = 1")),
    Answer("11a.3", "returns the inputs alone",
           edit(WINDOWS, "return inputs.unfold(0, size, stride), targets.unfold(0, size, stride)",
                "return inputs.unfold(0, size, stride)")),

    # 11a.4 A GPT from its parts
    Answer("11a.4", "a right answer: indexing, layer_norm, product with the transposed table", LOGITS, right=True),
    Answer("11a.4", "a right answer: F.embedding, the norm by hand, F.linear", """
def gpt_logits(ids, token, position, blocks, weight, bias):
    max_len = position.shape[0]
    if ids.shape[-1] > max_len:
        raise ValueError(f"a row of {ids.shape[-1]} ids does not fit into {max_len} places")
    places = torch.arange(ids.shape[-1])
    h = F.embedding(ids, token) + F.embedding(places, position)[None]
    for f in blocks:
        h = f(h)
    centred = h - h.mean(-1, keepdim=True)
    h = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    return F.linear(h * weight + bias, token)
""", right=True),
    Answer("11a.4", "a right answer: reduce and einsum", """
from functools import reduce

def gpt_logits(ids, token, position, blocks, weight, bias):
    batch, n = ids.shape
    if position.size(0) < n:
        raise ValueError(f"only {position.size(0)} positions for {n} ids")
    words = token.index_select(0, ids.reshape(-1)).reshape(batch, n, -1)
    top = reduce(lambda x, block: block(x), blocks, words + position.narrow(0, 0, n))
    top = F.layer_norm(top, top.shape[-1:], weight=weight, bias=bias, eps=1e-5)
    return torch.einsum("bnd,vd->bnv", top, token)
""", right=True),
    Answer("11a.4", "multiplies the embeddings by the square root of the width",
           edit(LOGITS, "token[ids] + position[:n]", "token[ids] * math.sqrt(token.shape[1]) + position[:n]")),
    Answer("11a.4", "forgets the positions", edit(LOGITS, "token[ids] + position[:n]", "token[ids]")),
    Answer("11a.4", "takes the last n positions, not the first", edit(LOGITS, "position[:n]", "position[-n:]")),
    Answer("11a.4", "looks up the positions by the ids of the tokens, clamped to fit",
           edit(LOGITS, "position[:n]", "position[ids.clamp(max=len(position) - 1)]")),
    Answer("11a.4", "adds the residual path once more around each block", edit(LOGITS, "x = block(x)", "x = x + block(x)")),
    Answer("11a.4", "every block reads the embedding, so that only the last one matters", edit(
        edit(LOGITS, "x = block(x)", "x = block(embedded)"), "    for block", "    embedded = x\n    for block")),
    Answer("11a.4", "goes through the blocks from the last to the first", edit(LOGITS, "in blocks", "in list(blocks)[::-1]")),
    Answer("11a.4", "no norm behind the last block", edit(LOGITS, "    x = F.layer_norm(x, weight.shape, weight, bias)\n", "")),
    Answer("11a.4", "normalises in front of the blocks instead of behind them", """
def gpt_logits(ids, token, position, blocks, weight, bias):
    n = ids.shape[1]
    if n > len(position):
        raise ValueError(f"{n} ids, but only {len(position)} positions")
    x = F.layer_norm(token[ids] + position[:n], weight.shape, weight, bias)
    for block in blocks:
        x = block(x)
    return x @ token.T
"""),
    Answer("11a.4", "normalises behind every block", edit(
        LOGITS, "        x = block(x)\n    x = F", "        x = block(x)\n        x = F")),
    Answer("11a.4", "the norm has no weight and no bias", edit(LOGITS, "weight.shape, weight, bias)", "weight.shape)")),
    Answer("11a.4", "divides by the standard deviation with n - 1",
           edit(LOGITS, "F.layer_norm(x, weight.shape, weight, bias)",
                "(x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + 1e-5).sqrt() * weight + bias")),
    Answer("11a.4", "returns probabilities", edit(LOGITS, "x @ token.T", "(x @ token.T).softmax(-1)")),
    Answer("11a.4", "returns the logits of the last position only", edit(LOGITS, "x @ token.T", "x[:, -1] @ token.T")),
    Answer("11a.4", "refuses a row that just fits", edit(LOGITS, "n > len(position)", "n >= len(position)")),
    Answer("11a.4", "the ValueError says only one of the two numbers",
           edit(LOGITS, 'f"{n} ids, but only {len(position)} positions"', 'f"{n} ids are too many"')),
    Answer("11a.4", "cuts rows that are too long instead of raising a ValueError", edit(
        edit(LOGITS, '        raise ValueError(f"{n} ids, but only {len(position)} positions")', "        ids = ids[:, :len(position)]"),
        "position[:n]", "position[:ids.shape[1]]")),
    Answer("11a.4", "takes the batch size for the length, so that it is right only if both are equal",
           edit(LOGITS, "ids.shape[1]", "ids.shape[0]")),

    # 11a.5 Find the bugs: the loss of a language model
    Answer("11a.5", "a right answer: slices and a mask, sum over count", LOSS, right=True),
    Answer("11a.5", "a right answer: cross_entropy that ignores -100", """
def next_token_loss(logits, ids, lengths):
    targets = ids[:, 1:].clone()
    for row, length in enumerate(lengths.tolist()):
        targets[row, max(length - 1, 0):] = -100
    return F.cross_entropy(logits[:, :-1].transpose(1, 2), targets)
""", right=True),
    Answer("11a.5", "a right answer: row by row, one long list of losses", """
def next_token_loss(logits, ids, lengths):
    found = []
    for scores, row, length in zip(logits, ids, lengths.tolist()):
        for t in range(1, length):
            found.append(torch.logsumexp(scores[t - 1], dim=0) - scores[t - 1, row[t]])
    return torch.stack(found).mean()
""", right=True),
    Answer("11a.5", "a right answer: selects the real places", """
def next_token_loss(logits, ids, lengths):
    log_p = logits.log_softmax(2)
    losses = -log_p[:, :-1].gather(2, ids[:, 1:].unsqueeze(2)).squeeze(2)
    real = torch.arange(ids.shape[1] - 1) < lengths[:, None] - 1
    return losses[real].mean()
""", right=True),
    Answer("11a.5", "two of three: the softmax still runs over the positions", edit(LOSS, "log_softmax(-1)", "log_softmax(1)")),
    Answer("11a.5", "two of three: row t is still compared with token t", """
def next_token_loss(logits, ids, lengths):
    log_p = logits.log_softmax(-1)
    losses = -log_p.gather(-1, ids[..., None])[..., 0]
    real = torch.arange(ids.shape[1]) < lengths[:, None]
    return (losses * real).sum() / real.sum()
"""),
    Answer("11a.5", "two of three: the mean still divides by all places, pads included",
           edit(LOSS, "(losses * real).sum() / real.sum()", "(losses * real).mean()")),
    Answer("11a.5", "one of three: only the axis of the softmax is repaired", """
def next_token_loss(logits, ids, lengths):
    log_p = logits.log_softmax(-1)
    losses = -log_p.gather(-1, ids[..., None])[..., 0]
    real = torch.arange(ids.shape[1]) < lengths[:, None]
    return (losses * real).mean()
"""),
    Answer("11a.5", "the mask was not moved with the targets, so one pad of each shorter row counts",
           edit(LOSS, "torch.arange(1, ids.shape[1])", "torch.arange(ids.shape[1] - 1)")),
    Answer("11a.5", "shifted the other way: row t is compared with the token before it", """
def next_token_loss(logits, ids, lengths):
    log_p = logits[:, 1:].log_softmax(-1)
    losses = -log_p.gather(-1, ids[:, :-1, None])[..., 0]
    real = torch.arange(1, ids.shape[1]) < lengths[:, None]
    return (losses * real).sum() / real.sum()
"""),
    Answer("11a.5", "divides by the number of real tokens, the first ones included", edit(LOSS, "/ real.sum()", "/ lengths.sum()")),
    Answer("11a.5", "a mean of the rows' means: tokens of short rows count more",
           edit(LOSS, "(losses * real).sum() / real.sum()", "((losses * real).sum(1) / real.sum(1).clamp(min=1)).mean()")),
    Answer("11a.5", "returns the sum, not the mean", edit(LOSS, "(losses * real).sum() / real.sum()", "(losses * real).sum()")),
    Answer("11a.5", "returns bits, not nats", edit(LOSS, "/ real.sum()", "/ real.sum() / math.log(2)")),
    Answer("11a.5", "the last real token of each row is left out",
           edit(LOSS, "< lengths[:, None]", "< lengths[:, None] - 1")),
    Answer("11a.5", "ignores the lengths", """
def next_token_loss(logits, ids, lengths):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
"""),
    Answer("11a.5", "detached: nothing can be trained with it",
           edit(LOSS, "return (losses * real).sum() / real.sum()", "return torch.tensor(((losses * real).sum() / real.sum()).item())")),

    # 11a.6 Bits per character
    Answer("11a.6", "a right answer: all windows in one batch, old targets set to -100", BITS, right=True),
    Answer("11a.6", "a right answer: window by window, only the new rows", """
def bits_per_character(logits_of, ids, size, stride, characters):
    last = len(ids) - 1
    nats_so_far, done, start = 0.0, 0, 0
    while done < last:
        end = min(start + size, last)
        rows = logits_of(ids[None, start:end])[0][done - start:]
        nats_so_far += F.cross_entropy(rows, ids[done + 1:end + 1], reduction="sum").item()
        done = end
        start += stride
    return nats_so_far / (math.log(2) * characters)
""", right=True),
    Answer("11a.6", "a right answer: token by token, slow", """
def bits_per_character(logits_of, ids, size, stride, characters):
    bits = 0.0
    for t in range(1, len(ids)):
        k = 0
        while k * stride + size < t:
            k += 1
        row = logits_of(ids[k * stride:t].unsqueeze(0))[0, -1]
        bits -= row.log_softmax(-1)[ids[t]].item() / math.log(2)
    return bits / characters
""", right=True),
    Answer("11a.6", "every target of every window counts, so tokens in the overlap are paid twice",
           edit(BITS, "    targets[1:, :size - stride] = -100\n", "")),
    Answer("11a.6", "returns nats: the division by ln 2 is missing", edit(BITS, " / math.log(2)", "")),
    Answer("11a.6", "divides by log10 of 2", edit(BITS, "math.log(2)", "math.log10(2)")),
    Answer("11a.6", "bits per token, not per character", edit(BITS, "/ characters", "/ (len(ids) - 1)")),
    Answer("11a.6", "the mean over the tokens divided by the characters",
           edit(BITS, 'reduction="sum"', 'reduction="mean"')),
    Answer("11a.6", "leaves out the first stride targets of each later window, right only if the stride is half the size",
           edit(BITS, "targets[1:, :size - stride]", "targets[1:, :stride]")),
    Answer("11a.6", "the first window loses its early targets as well",
           edit(BITS, "targets[1:, :size - stride]", "targets[:, :size - stride]")),
    Answer("11a.6", "scores a token in the last window that has it, with the shortest context",
           edit(BITS, "targets[1:, :size - stride] = -100", "targets[:-1, stride:] = -100")),
    Answer("11a.6", "writes into views that share their memory, so the first windows lose targets too",
           edit(BITS, ".clone()", "")),
    Answer("11a.6", "ignores the stride: windows side by side", edit(BITS, "    count = 1", "    stride = size\n    count = 1")),
    Answer("11a.6", "drops the last window if it is not full",
           edit(edit(BITS, "math.ceil((len(ids) - 1 - size) / stride)", "(len(ids) - 1 - size) // stride"),
                "(count - 1) * stride + size - (len(ids) - 1)", "max(0, size - (len(ids) - 1))")),
    Answer("11a.6", "fails for a text shorter than a window",
           edit(BITS, "max(0, math.ceil((len(ids) - 1 - size) / stride))", "math.ceil((len(ids) - 1 - size) / stride)")),
    Answer("11a.6", "feeds the whole text at once, more tokens than the model can read", """
def bits_per_character(logits_of, ids, size, stride, characters):
    logits = logits_of(ids[None, :-1])[0]
    return F.cross_entropy(logits, ids[1:], reduction="sum").item() / math.log(2) / characters
"""),
    Answer("11a.6", "half-finished: returns the loss of the first window", """
def bits_per_character(logits_of, ids, size, stride, characters):
    logits = logits_of(ids[None, :size])[0]
    loss = F.cross_entropy(logits[:-1], ids[1:size])
    return loss.item() / math.log(2)
"""),

    # 11a.7 Temperature, top-k and top-p
    Answer("11a.7", "a right answer: sort, running sum, scatter", NEXT, right=True),
    Answer("11a.7", "a right answer: plain Python, row by row", """
def next_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    if temperature < 0:
        raise ValueError(f"no temperature below 0: {temperature}")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k = {top_k} keeps nothing")
    if top_p is not None and (top_p <= 0 or top_p > 1):
        raise ValueError(f"top_p = {top_p} is no share")
    result = torch.zeros_like(logits)
    for row, scores in enumerate(logits.tolist()):
        order = sorted(range(len(scores)), key=lambda i: -scores[i])
        if temperature == 0:
            result[row, order[0]] = 1.0
            continue
        order = order[:top_k]
        mass = [math.exp((scores[i] - scores[order[0]]) / temperature) for i in order]
        if top_p is not None and top_p < 1:
            total, held, keep = sum(mass), 0.0, 0
            while held / total < top_p and keep < len(mass):
                held += mass[keep]
                keep += 1
            order, mass = order[:keep], mass[:keep]
        for i, m in zip(order, mass):
            result[row, i] = m / sum(mass)
    return result
""", right=True),
    Answer("11a.7", "a right answer: a mask of what stays, then softmax of what is left", """
def next_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    for name, value, good in (("temperature", temperature, temperature >= 0),
                              ("top_k", top_k, top_k is None or top_k >= 1),
                              ("top_p", top_p, top_p is None or 0 < top_p <= 1)):
        if not good:
            raise ValueError(f"{name} must not be {value}")
    vocab = logits.shape[1]
    if temperature == 0:
        best = logits.argmax(dim=1, keepdim=True)
        return torch.zeros_like(logits).scatter_(1, best, 1.0)
    x = logits / temperature
    if top_k is not None and top_k < vocab:
        stays = torch.zeros_like(x, dtype=torch.bool).scatter(1, x.topk(top_k, dim=1).indices, True)
        x = x.masked_fill(~stays, -torch.inf)
    if top_p is not None and top_p < 1:
        p, order = x.softmax(1).sort(dim=1, descending=True)
        reached = p.cumsum(1) >= top_p
        late = torch.cat([torch.zeros_like(reached[:, :1]), reached[:, :-1]], dim=1)
        x = x.masked_fill(torch.zeros_like(late).scatter(1, order, late), -torch.inf)
    return x.softmax(1)
""", right=True),
    Answer("11a.7", "top-p also drops the token that reaches the share, so less than top_p stays, sometimes nothing",
           edit(NEXT, "p = p * (before < top_p)", "p = p * (p.cumsum(-1) <= top_p)")),
    Answer("11a.7", "the rows no longer sum to 1 after top-p", edit(NEXT, "        p = p / p.sum(-1, keepdim=True)\n", "")),
    Answer("11a.7", "returns the probabilities in sorted order",
           edit(NEXT, "return torch.zeros_like(p).scatter(-1, places, p)", "return p")),
    Answer("11a.7", "gather instead of scatter on the way back: probabilities land at the wrong tokens",
           edit(NEXT, "torch.zeros_like(p).scatter(-1, places, p)", "p.gather(-1, places)")),
    Answer("11a.7", "multiplies by the temperature", edit(NEXT, "logits / temperature", "logits * temperature")),
    Answer("11a.7", "temperature 0 divides by zero and gives nan",
           edit(NEXT, "    if temperature == 0:\n        return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)\n", "")),
    Answer("11a.7", "at temperature 0 bad values of top_k and top_p are accepted", edit(
        edit(NEXT, "    if temperature == 0:\n        return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)\n", ""),
        "    if top_k is not None and top_k < 1:",
        "    if temperature == 0:\n        return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)\n"
        "    if top_k is not None and top_k < 1:")),
    Answer("11a.7", "fails if top_k is more than there are tokens",
           edit(NEXT, "values = values.masked_fill(torch.arange(values.shape[-1]) >= top_k, -torch.inf)",
                "values, places = (logits / temperature).topk(top_k, dim=-1)").replace("torch.zeros_like(p)", "torch.zeros_like(logits)")),
    Answer("11a.7", "takes top_k = 0 for None and raises nothing", edit(
        edit(NEXT, "if top_k is not None and top_k < 1:", "if top_k and top_k < 1:"), "    if top_k is not None:\n", "    if top_k:\n")),
    Answer("11a.7", "refuses top_p = 1", edit(NEXT, "not 0 < top_p <= 1", "not 0 < top_p < 1")),
    Answer("11a.7", "top-p looks at the probabilities before top-k, which do not sum to 1 among those that are left", """
def next_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    if temperature < 0:
        raise ValueError(f"temperature {temperature}")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k {top_k}")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p {top_p}")
    if temperature == 0:
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    p, places = (logits / temperature).softmax(-1).sort(dim=-1, descending=True)
    keep = torch.ones_like(p)
    if top_p is not None:
        keep = keep * (p.cumsum(-1) - p < top_p)
    if top_k is not None:
        keep = keep * (torch.arange(p.shape[-1]) < top_k)
    p = p * keep
    return torch.zeros_like(p).scatter(-1, places, p / p.sum(-1, keepdim=True))
"""),
    Answer("11a.7", "exponentials without taking off the largest logit: nan for logits in the hundreds",
           edit(NEXT, "p = values.softmax(-1)", "p = values.exp() / values.exp().sum(-1, keepdim=True)")),
    Answer("11a.7", "sorts upwards and keeps the improbable tokens", edit(NEXT, "descending=True", "descending=False")),
    Answer("11a.7", "top-p is decided at temperature 1, before the division",
           edit(NEXT, "before = F.pad(p.cumsum(-1)[:, :-1], (1, 0))",
                "q = (values * temperature).softmax(-1)\n        before = F.pad(q.cumsum(-1)[:, :-1], (1, 0))")),
    Answer("11a.7", "divides the caller's logits in place", edit(
        NEXT, "    values, places = (logits / temperature).sort", "    logits /= temperature\n    values, places = logits.sort")),
    Answer("11a.7", "decides top-p on the first row and uses it for the whole batch",
           edit(NEXT, "p = p * (before < top_p)", "p = p * (before[:1] < top_p)")),
    Answer("11a.7", "draws a token instead of returning probabilities",
           edit(NEXT, "return torch.zeros_like(p).scatter(-1, places, p)", "return places.gather(-1, torch.multinomial(p, 1))")),

    # 11a.8 Similar in either order
    Answer("11a.8", "a right answer: two rows, two passes", SIMILAR, right=True),
    Answer("11a.8", "a right answer: both orders in one batch", """
def similarity(read, a, b, start, delimiter, extract, weight, bias):
    batch = a.shape[0]
    marks = torch.tensor([start, delimiter, extract], dtype=a.dtype).expand(batch, 3)
    s, d, e = marks[:, :1], marks[:, 1:2], marks[:, 2:]
    rows = torch.cat([torch.cat([s, a, d, b, e], 1), torch.cat([s, b, d, a, e], 1)])
    hidden = read(rows)[:, -1, :]                              # (2 * batch, d)
    return F.linear(hidden.view(2, batch, -1).sum(0), weight, bias)
""", right=True),
    Answer("11a.8", "a right answer: fills in a row, einsum, half of the bias in each order", """
def similarity(read, a, b, start, delimiter, extract, weight, bias):
    scores = 0
    for one, other in ((a, b), (b, a)):
        n, m = one.shape[1], other.shape[1]
        row = torch.empty(one.shape[0], n + m + 3, dtype=torch.long)
        row[:, 0] = start
        row[:, 1:n + 1] = one
        row[:, n + 1] = delimiter
        row[:, n + 2:n + m + 2] = other
        row[:, n + m + 2] = extract
        scores = scores + torch.einsum("bd,cd->bc", read(row)[:, n + m + 2], weight) + bias / 2
    return scores
""", right=True),
    Answer("11a.8", "applies the linear layer to each order and adds: the bias counts twice",
           edit(edit(SIMILAR, "both = at_extract(a, b) + at_extract(b, a)",
                     "one, two = at_extract(a, b) @ weight.T + bias, at_extract(b, a) @ weight.T + bias"),
                "both @ weight.T + bias", "one + two")),
    Answer("11a.8", "takes the mean of the two vectors, not the sum",
           edit(SIMILAR, "at_extract(a, b) + at_extract(b, a)", "(at_extract(a, b) + at_extract(b, a)) / 2")),
    Answer("11a.8", "reads one order only", edit(SIMILAR, "at_extract(a, b) + at_extract(b, a)", "at_extract(a, b)")),
    Answer("11a.8", "reads the same order twice",
           edit(SIMILAR, "at_extract(a, b) + at_extract(b, a)", "at_extract(a, b) + at_extract(a, b)")),
    Answer("11a.8", "takes the vector at start, which has read only itself", edit(SIMILAR, "[:, -1]", "[:, 0]")),
    Answer("11a.8", "takes the vector of the last token before extract", edit(SIMILAR, "[:, -1]", "[:, -2]")),
    Answer("11a.8", "takes the mean over all positions", edit(SIMILAR, "[:, -1]", ".mean(1)")),
    Answer("11a.8", "the delimiter is missing", edit(SIMILAR, "first, column(delimiter), second", "first, second")),
    Answer("11a.8", "start and extract exchanged",
           edit(SIMILAR, "[column(start), first, column(delimiter), second, column(extract)]",
                "[column(extract), first, column(delimiter), second, column(start)]")),
    Answer("11a.8", "no gradient: the model could not be trained",
           edit(SIMILAR, "        return read(row)[:, -1]", "        with torch.no_grad():\n            return read(row)[:, -1]")),
    Answer("11a.8", "works for a batch of 1 only", edit(SIMILAR, "torch.full((len(a), 1), token)", "torch.tensor([[token]])")),
    Answer("11a.8", "finds extract only if both texts are equally long",
           edit(SIMILAR, "[:, -1]", "[:, 2 * a.shape[1] + 2]")),
    Answer("11a.8", "returns probabilities", edit(SIMILAR, "both @ weight.T + bias", "(both @ weight.T + bias).softmax(-1)")),
    Answer("11a.8", "forgets the bias", edit(SIMILAR, "both @ weight.T + bias", "both @ weight.T")),
    Answer("11a.8", "compares the two texts read alone, by a product", """
def similarity(read, a, b, start, delimiter, extract, weight, bias):
    one = read(a)[:, -1]
    two = read(b)[:, -1]
    return (one * two) @ weight.T + bias
"""),

    # 11a.9 Predict: bytes, rows, bits and sizes
    Answer("11a.9", "a right answer: to one place", GUESS, right=True),
    Answer("11a.9", "a right answer: computed", """
width, vocabulary = 768, 50_257
prediction_of_gpt = {
    "tokens that a byte-level BPE without merges makes of “naïve café”": len("naïve café".encode()),
    "targets in one pass over 16 windows of 64 inputs": 16 * 64,
    "targets if only the last row of each window is used": 16,
    "bits per character: all of 1,024 tokens equally likely, 2.5 characters a token": math.log2(1_024) / 2.5,
    "of ten parameters of a block, how many are in its feed-forward network": 10 * 8 / 12,
    "of ten parameters of GPT-2 small, how many are in the token embedding":
        10 * vocabulary * width / (12 * 12 * width**2 + (vocabulary + 1_024) * width),
}
""", right=True),
    Answer("11a.9", "a right answer: rounded, floats", edit(edit(edit(GUESS, "6.7", "7.0"), "3.1", "3"), ": 4,", ": 4.0,"), right=True),
    Answer("11a.9", "counts characters, not bytes: 10", edit(GUESS, ": 12,", ": 10,")),
    Answer("11a.9", "forgets the space: 11 bytes", edit(GUESS, ": 12,", ": 11,")),
    Answer("11a.9", "takes one target off each window: 16 · 63", edit(GUESS, ": 1024,", ": 16 * 63,")),
    Answer("11a.9", "counts 65 tokens a window as targets", edit(GUESS, ": 1024,", ": 1040,")),
    Answer("11a.9", "one pass, one target: forgets that there are 16 windows", edit(GUESS, ": 16,", ": 1,")),
    Answer("11a.9", "takes the last row for a row of windows: 64", edit(GUESS, ": 16,", ": 64,")),
    Answer("11a.9", "bits per token, not per character: 10", edit(GUESS, ": 4,", ": 10,")),
    Answer("11a.9", "multiplies by the characters per token: 25", edit(GUESS, ": 4,", ": 25,")),
    Answer("11a.9", "nats, not bits: ln 1,024 / 2.5", edit(GUESS, ": 4,", ": math.log(1_024) / 2.5,")),
    Answer("11a.9", "attention and network as large as each other", edit(GUESS, "6.7", "5")),
    Answer("11a.9", "the attention's part: a third", edit(GUESS, "6.7", "3.3")),
    Answer("11a.9", "four times as wide, so four fifths", edit(GUESS, "6.7", "8")),
    Answer("11a.9", "the tied matrix counted twice", edit(GUESS, "3.1", "4.7")),
    Answer("11a.9", "the blocks' part", edit(GUESS, "3.1", "6.8")),
    Answer("11a.9", "percent", edit(edit(GUESS, "6.7", "67"), "3.1", "31")),
    Answer("11a.9", "shares of one", edit(edit(GUESS, "6.7", "0.67"), "3.1", "0.31")),
    Answer("11a.9", "takes the embedding for negligible", edit(GUESS, "3.1", "0.5")),
    Answer("11a.9", "half-finished: the two shares are left open", edit(edit(GUESS, "6.7", "None"), "3.1", "None")),
    Answer("11a.10", "a right answer: odds", """
def mixing_share(p, q, rounds):
    n, m = p.shape[0], q.shape[0]
    if n != m:
        raise ValueError("lengths %d and %d differ" % (n, m))
    share = 0.5
    for _ in range(rounds):
        if share == 1.0:
            break
        odds = share / (1 - share) * p / q
        share = float((odds / (1 + odds)).mean())
    return share
""", right=True),
    Answer("11a.10", "a right answer: a loop over the tokens", """
def mixing_share(p, q, rounds):
    if len(p) != len(q):
        raise ValueError(f"{len(p)} against {len(q)}")
    share = 0.5
    for _ in range(rounds):
        total = 0.0
        for a, b in zip(p.tolist(), q.tolist()):
            total += share * a / (share * a + (1 - share) * b)
        share = total / len(p)
    return share
""", right=True),
    Answer("11a.10", "a right answer: with logarithms and a sigmoid", """
def mixing_share(p, q, rounds):
    if len(p) != len(q):
        raise ValueError(f"{len(p)} probabilities and {len(q)}")
    difference, share = p.double().log() - q.double().log(), torch.tensor(0.5, dtype=torch.float64)
    for _ in range(rounds):
        share = torch.sigmoid(difference + torch.logit(share)).mean()
    return share.item()
""", right=True),
    Answer("11a.10", "a right answer: recursion", """
def mixing_share(p, q, rounds):
    if len(p) != len(q):
        raise ValueError(f"{len(p)} != {len(q)}")
    if rounds == 0:
        return 0.5
    w = mixing_share(p, q, rounds - 1)
    return (w * p / (w * p + (1 - w) * q)).mean().item()
""", right=True),
    Answer("11a.10", "the share stays at one half inside the loop",
           edit(SHARE, "r = w * p / (w * p + (1 - w) * q)", "r = 0.5 * p / (0.5 * p + 0.5 * q)")),
    Answer("11a.10", "leaves the share out", edit(SHARE, "r = w * p / (w * p + (1 - w) * q)", "r = p / (p + q)")),
    Answer("11a.10", "gives the share of the other", edit(SHARE, "r = w * p /", "r = (1 - w) * q /")),
    Answer("11a.10", "weighs both with w", edit(SHARE, "(1 - w) * q", "w * q")),
    Answer("11a.10", "counts the tokens where the model is more probable",
           edit(SHARE, "r.mean().item()", "(w * p > (1 - w) * q).float().mean().item()")),
    Answer("11a.10", "sum instead of mean", edit(SHARE, "r.mean()", "r.sum()")),
    Answer("11a.10", "sums before dividing",
           edit(SHARE, "w = r.mean().item()", "w = ((w * p).sum() / (w * p + (1 - w) * q).sum()).item()")),
    Answer("11a.10", "returns the responsibilities", edit(SHARE, "return w", "return r")),
    Answer("11a.10", "returns inside the loop",
           edit(SHARE, "        w = r.mean().item()\n    return w", "        w = r.mean().item()\n        return w")),
    Answer("11a.10", "one round too many", edit(SHARE, "range(rounds)", "range(rounds + 1)")),
    Answer("11a.10", "lengths not compared", edit(SHARE, """    if len(p) != len(q):
        raise ValueError(f"p has {len(p)} tokens, q has {len(q)}")
""", "")),
    Answer("11a.10", "a message without numbers", edit(SHARE, 'f"p has {len(p)} tokens, q has {len(q)}"', '"different lengths"')),
    Answer("11a.10", "logarithms of the probabilities in Bayes' rule",
           edit(SHARE, "r = w * p / (w * p + (1 - w) * q)", "r = w * p.log() / (w * p.log() + (1 - w) * q.log())")),
    Answer("11a.10", "the odds", edit(SHARE, "r = w * p / (w * p + (1 - w) * q)", "r = w * p / ((1 - w) * q)")),
    Answer("11a.10", "changes p on the way", edit(SHARE, "r = w * p / (w * p + (1 - w) * q)", "p *= w; r = p / (p + (1 - w) * q)")),
)
