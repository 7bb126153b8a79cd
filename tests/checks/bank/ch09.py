"""Chapter 09: answers written from the blank notebook."""

from . import Answer, edit

SPLIT = """
def split_word(word, vocabulary):
    if not word:
        raise ValueError("the word is empty")
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in vocabulary:
                break
        else:
            return ["[UNK]"]
        pieces.append(piece)
        start = end
    return pieces
"""

BUILD = """
def build_input(first, second, max_len):
    texts = [list(first)] if second is None else [list(first), list(second)]
    special = 1 + len(texts)
    if max_len < special:
        raise ValueError(f"max_len = {max_len} has no room for {special} special tokens")
    while special + sum(len(text) for text in texts) > max_len:
        max(texts, key=len).pop()
    ids, segments = [2], [0]
    for k, text in enumerate(texts):
        ids += text + [3]
        segments += [k] * (len(text) + 1)
    return torch.tensor(ids), torch.tensor(segments)
"""

EMBED = """
class InputEmbeddings(nn.Module):
    def __init__(self, vocab_size, d_model, max_len, num_segments):
        super().__init__()
        self.token = nn.Embedding(vocab_size, d_model)
        self.position = nn.Embedding(max_len, d_model)
        self.segment = nn.Embedding(num_segments, d_model)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)

    def forward(self, ids, segments):
        n = ids.shape[1]
        max_len = self.position.num_embeddings
        if n > max_len:
            raise ValueError(f"{n} tokens, but max_len is {max_len}")
        x = self.token(ids) + self.position(torch.arange(n)) + self.segment(segments)
        return self.norm(x)
"""

MASK = """
def mask_tokens(ids, special, chance, fate, anything, mask_id):
    selected = (chance < 0.15) & ~special
    inputs = torch.where(selected & (fate < 0.8), mask_id, ids)
    inputs = torch.where(selected & (fate >= 0.8) & (fate < 0.9), anything, inputs)
    labels = torch.where(selected, ids, -100)
    return inputs, labels
"""

LOSS = """
def masked_loss(hidden, labels, head):
    chosen = labels != -100
    logits = head(hidden[chosen])
    total = F.cross_entropy(logits, labels[chosen], reduction="sum")
    return total / max(1, len(logits)), logits
"""

HEAD = """
class MaskedTokenHead(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.transform = nn.Linear(d_model, d_model)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)
        self.bias = nn.Parameter(torch.zeros(vocab_size))

    def forward(self, hidden):
        x = self.norm(F.gelu(self.transform(hidden)))
        return x @ self.embedding.weight.T + self.bias
"""

LEAK = """
prediction = {
    "1 layer, own key hidden": "yes",
    "1 layer, own key hidden, no residual": "yes",
    "1 layer, own key hidden, no residual, query from the position": "no",
    "2 layers of that kind": "yes",
    "2 layers, the key hidden from everybody, no residual, query from the position": "no",
    "2 ordinary layers, [MASK] put in its place": "no",
}
"""

PAIR_MASK = """
def pair_mask(segments, real, kind):
    if kind not in ("everything", "own text", "own text, [CLS] all"):
        raise ValueError(f"kind {kind!r} is unknown")
    seen = real[:, None, :] & real[:, :, None]
    if kind == "everything":
        return seen
    same = segments.unsqueeze(2) == segments.unsqueeze(1)
    if kind == "own text, [CLS] all":
        same[:, 0, :] = True
    return same & seen
"""

PAIR_MASK_LOOP = """
def pair_mask(segments, real, kind):
    if kind != "everything" and kind != "own text" and kind != "own text, [CLS] all":
        raise ValueError(kind)
    rows = []
    for parts, tokens in zip(segments.tolist(), real.tolist()):
        n = len(parts)
        row = [[tokens[i] and tokens[j] and (kind == "everything" or parts[i] == parts[j]
                or (i == 0 and kind.endswith("all"))) for j in range(n)] for i in range(n)]
        rows.append(row)
    return torch.tensor(rows)
"""

PAIR_MASK_PRODUCT = """
def pair_mask(segments, real, kind):
    there = real.float()
    pairs = torch.einsum("bi,bj->bij", there, there)
    if kind == "everything":
        return pairs > 0
    if not kind.startswith("own text"):
        raise ValueError("no such kind: " + str(kind))
    own = 1 - (segments[:, :, None] - segments[:, None, :]).abs()
    if kind == "own text, [CLS] all":
        own = own.index_fill(1, torch.tensor([0]), 1)
    elif kind != "own text":
        raise ValueError("no such kind: " + str(kind))
    return (pairs * own).bool()
"""

BANK = (
    # ---- 09.1 the longest piece first
    Answer("09.1", "a right answer with two loops", SPLIT, right=True),
    Answer("09.1", "a right answer that asks every piece whether the rest begins with it", """
def split_word(word, vocabulary):
    if word == "":
        raise ValueError("an empty word has no pieces")
    rest, mark, found = word, "", []
    while rest:
        fits = [p for p in vocabulary if p.startswith(mark) and len(p) > len(mark) and rest.startswith(p[len(mark):])]
        if not fits:
            return ["[UNK]"]
        best = max(fits, key=len)
        found.append(best)
        rest, mark = rest[len(best) - len(mark):], "##"
    return found
""", right=True),
    Answer("09.1", "a right answer with a set and next", """
def split_word(word, vocabulary):
    if len(word) == 0:
        raise ValueError("word is empty: there is nothing to split")
    known = set(vocabulary)
    longest = max((len(piece) for piece in known), default=0)
    result, i = [], 0
    while i != len(word):
        prefix = "##" if i else ""
        j = next((j for j in range(min(len(word), i + longest), i, -1) if prefix + word[i:j] in known), None)
        if j is None:
            return ["[UNK]"]
        result.append(prefix + word[i:j])
        i = j
    return result
""", right=True),
    Answer("09.1", "takes the shortest piece that fits, not the longest",
           edit(SPLIT, "range(len(word), start, -1)", "range(start + 1, len(word) + 1)")),
    Answer("09.1", "looks later pieces up with ## but returns them without", edit(SPLIT, "pieces.append(piece)",
           "pieces.append(word[start:end])")),
    Answer("09.1", "looks later pieces up without ## in front", edit(
        SPLIT, 'word[start:end] if start == 0 else "##" + word[start:end]', "word[start:end]")),
    Answer("09.1", "where nothing fits, keeps the pieces found so far and adds [UNK]",
           edit(SPLIT, 'return ["[UNK]"]', 'return pieces + ["[UNK]"]')),
    Answer("09.1", "returns the string [UNK] instead of a list", edit(SPLIT, 'return ["[UNK]"]', 'return "[UNK]"')),
    Answer("09.1", "an empty word gives an empty list instead of an error", edit(SPLIT, """    if not word:
        raise ValueError("the word is empty")
""", "")),
    Answer("09.1", "the error does not say that the word is empty", edit(SPLIT, '"the word is empty"', '"bad input"')),
    Answer("09.1", "lower-cases the word", edit(SPLIT, "    pieces, start = [], 0", "    word = word.lower()\n    pieces, start = [], 0")),
    Answer("09.1", "goes back and tries shorter pieces when the greedy way ends nowhere", """
def split_word(word, vocabulary):
    if not word:
        raise ValueError("the word is empty")

    def ways(start):
        if start == len(word):
            return []
        for end in range(len(word), start, -1):
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in vocabulary:
                rest = ways(end)
                if rest is not None:
                    return [piece] + rest
        return None

    found = ways(0)
    return ["[UNK]"] if found is None else found
"""),
    Answer("09.1", "leaves out a letter that does not fit and goes on", """
def split_word(word, vocabulary):
    if not word:
        raise ValueError("the word is empty")
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in vocabulary:
                pieces.append(piece)
                start = end
                break
        else:
            start += 1
    return pieces or ["[UNK]"]
"""),
    Answer("09.1", "a later piece may also be one without ##, if no continuing piece fits", """
def split_word(word, vocabulary):
    if not word:
        raise ValueError("the word is empty")
    pieces, start = [], 0
    while start < len(word):
        fits = [end for end in range(start + 1, len(word) + 1) if start and "##" + word[start:end] in vocabulary]
        mark = "##" if fits else ""
        fits = fits or [end for end in range(start + 1, len(word) + 1) if word[start:end] in vocabulary]
        if not fits:
            return ["[UNK]"]
        pieces.append(mark + word[start:fits[-1]])
        start = fits[-1]
    return pieces
"""),
    Answer("09.1", "words of more than 100 letters become [UNK], as in BERT's own program, though no word is too long here",
           edit(SPLIT, "    pieces, start = [], 0", '    if len(word) > 100:\n        return ["[UNK]"]\n    pieces, start = [], 0')),
    Answer("09.1", "the inner loop never tries the whole rest of the word",
           edit(SPLIT, "range(len(word), start, -1)", "range(len(word) - 1, start, -1)")),
    Answer("09.1", "returns one string with spaces, not a list", edit(SPLIT, "    return pieces\n", '    return " ".join(pieces)\n')),
    Answer("09.1", "takes the first piece in the order of the vocabulary that fits, not the longest", """
def split_word(word, vocabulary):
    if not word:
        raise ValueError("the word is empty")
    pieces, rest = [], word
    while rest:
        mark = "##" if pieces else ""
        for piece in vocabulary:
            if (mark + rest).startswith(piece) and len(piece) > len(mark):
                break
        else:
            return ["[UNK]"]
        pieces.append(piece)
        rest = rest[len(piece) - len(mark):]
    return pieces
"""),
    Answer("09.1", "knows whole words only: every other word is [UNK]", """
def split_word(word, vocabulary):
    if not word:
        raise ValueError("the word is empty")
    return [word] if word in vocabulary else ["[UNK]"]
"""),
    # ---- 09.2 [CLS] A [SEP] B [SEP]
    Answer("09.2", "a right answer with a list of texts", BUILD, right=True),
    Answer("09.2", "a right answer that counts lengths down", """
def build_input(first, second, max_len):
    pair = second is not None
    a, b = len(first), (len(second) if pair else 0)
    room = max_len - (3 if pair else 2)
    if room < 0:
        raise ValueError(f"with max_len {max_len} the special tokens alone are too many")
    while a + b > room:
        if pair and b > a:
            b -= 1
        else:
            a -= 1
    ids = [2, *first[:a], 3] + ([*second[:b], 3] if pair else [])
    return torch.tensor(ids), (torch.arange(len(ids)) >= a + 2).long()
""", right=True),
    Answer("09.2", "a right answer that computes the lengths without a loop", """
def build_input(first, second, max_len):
    budget = max_len - 2 - (second is not None)
    if budget < 0:
        raise ValueError("max_len=" + str(max_len) + " is too short")
    if second is None:
        ids = [2] + list(first[:budget]) + [3]
        return torch.tensor(ids), torch.zeros(len(ids), dtype=torch.long)
    a, b = len(first), len(second)
    if a + b > budget:
        shorter = min(a, b)
        if 2 * shorter <= budget:
            a, b = (budget - b, b) if a > b else (a, budget - a)
        else:
            a, b = budget // 2, budget - budget // 2
    ids = [2] + list(first[:a]) + [3] + list(second[:b]) + [3]
    return torch.tensor(ids), torch.tensor([0] * (a + 2) + [1] * (b + 1))
""", right=True),
    Answer("09.2", "an empty second text is treated like no second text", edit(BUILD, "if second is None else", "if not second else")),
    Answer("09.2", "no second text is treated like an empty one and gets a second [SEP]", edit(
        BUILD, "[list(first)] if second is None else [list(first), list(second)]", "[list(first), list(second or [])]")),
    Answer("09.2", "cuts the finished row off behind max_len, so the last [SEP] is lost", edit(edit(BUILD, """
    while special + sum(len(text) for text in texts) > max_len:
        max(texts, key=len).pop()""", ""), "torch.tensor(ids), torch.tensor(segments)",
        "torch.tensor(ids[:max_len]), torch.tensor(segments[:max_len])")),
    Answer("09.2", "of two equally long texts the second one loses a token", edit(
        BUILD, "max(texts, key=len)", "max(reversed(texts), key=len)")),
    Answer("09.2", "takes tokens from the front instead of from the end", edit(BUILD, ".pop()", ".pop(0)")),
    Answer("09.2", "shortens the lists that were handed in", edit(
        BUILD, "[list(first)] if second is None else [list(first), list(second)]", "[first] if second is None else [first, second]")),
    Answer("09.2", "the first [SEP] counts as part of the second text", """
def build_input(first, second, max_len):
    texts = [list(first)] if second is None else [list(first), list(second)]
    special = 1 + len(texts)
    if max_len < special:
        raise ValueError(f"max_len = {max_len} has no room for {special} special tokens")
    while special + sum(len(text) for text in texts) > max_len:
        max(texts, key=len).pop()
    if second is None:
        return torch.tensor([2, *texts[0], 3]), torch.zeros(len(texts[0]) + 2, dtype=torch.long)
    a, b = texts
    return torch.tensor([2, *a, 3, *b, 3]), torch.tensor([0] * (len(a) + 1) + [1] * (len(b) + 2))
"""),
    Answer("09.2", "forgets the [SEP] behind the last text", edit(
        BUILD, "    return torch.tensor(ids), torch.tensor(segments)", "    return torch.tensor(ids[:-1]), torch.tensor(segments[:-1])")),
    Answer("09.2", "does not test max_len: an IndexError comes out of an empty list", edit(BUILD, """    if max_len < special:
        raise ValueError(f"max_len = {max_len} has no room for {special} special tokens")
""", "")),
    Answer("09.2", "refuses a max_len into which the special tokens just fit", edit(
        BUILD, "if max_len < special", "if max_len <= special")),
    Answer("09.2", "forgets the special tokens when it counts what fits", edit(
        BUILD, "special + sum(len(text) for text in texts)", "sum(len(text) for text in texts)")),
    Answer("09.2", "returns lists instead of tensors", edit(BUILD, "torch.tensor(ids), torch.tensor(segments)", "ids, segments")),
    Answer("09.2", "returns floats", edit(BUILD, "torch.tensor(ids), torch.tensor(segments)",
           "torch.tensor(ids).float(), torch.tensor(segments).float()")),
    Answer("09.2", "always shortens the second text, however long the first is", edit(
        BUILD, "max(texts, key=len).pop()", "(texts[-1] or texts[0]).pop()")),
    Answer("09.2", "gives either text half of the room, even where one of them is short", edit(BUILD, """
    while special + sum(len(text) for text in texts) > max_len:
        max(texts, key=len).pop()""", """
    if special + sum(len(text) for text in texts) > max_len:
        texts = [text[:(max_len - special) // len(texts)] for text in texts]""")),
    Answer("09.2", "segments are counted from 1", edit(BUILD, "[k] * (len(text) + 1)", "[k + 1] * (len(text) + 1)")),
    # ---- 09.3 token, position, segment
    Answer("09.3", "a right answer with three lookups", EMBED, right=True),
    Answer("09.3", "a right answer that adds the first n rows of the position table", """
class InputEmbeddings(nn.Module):
    def __init__(self, vocab_size, d_model, max_len, num_segments):
        super().__init__()
        sizes = {"token": vocab_size, "position": max_len, "segment": num_segments}
        for name, size in sizes.items():
            setattr(self, name, nn.Embedding(size, d_model))
        self.norm = nn.LayerNorm(d_model, eps=1e-12)
        self.longest = max_len

    def forward(self, ids, segments):
        batch, n = ids.shape
        if n > self.longest:
            raise ValueError("n = %d is above max_len = %d" % (n, self.longest))
        summed = self.token(ids)
        summed = summed + self.position.weight[:n]
        summed = summed + self.segment(segments)
        return self.norm(summed)
""", right=True),
    Answer("09.3", "a right answer with one-hot rows for the segments and a table of places", """
class InputEmbeddings(nn.Module):
    def __init__(self, vocab_size, d_model, max_len, num_segments):
        super().__init__()
        self.token, self.position = nn.Embedding(vocab_size, d_model), nn.Embedding(max_len, d_model)
        self.segment, self.norm = nn.Embedding(num_segments, d_model), nn.LayerNorm(d_model, 1e-12)

    def forward(self, ids, segments):
        limit = len(self.position.weight)
        if ids.size(-1) > limit:
            raise ValueError(f"the input has {ids.size(-1)} tokens, the table only max_len = {limit} rows")
        places = torch.ones_like(ids).cumsum(1) - 1
        table = self.segment.weight
        parts = [F.embedding(ids, self.token.weight), self.position(places),
                 F.one_hot(segments, len(table)).to(table.dtype) @ table]
        return self.norm(torch.stack(parts).sum(0))
""", right=True),
    Answer("09.3", "creates the norm but never uses it", edit(EMBED, "return self.norm(x)", "return x")),
    Answer("09.3", "leaves the norm's eps at PyTorch's default", edit(EMBED, "nn.LayerNorm(d_model, eps=1e-12)", "nn.LayerNorm(d_model)")),
    Answer("09.3", "counts positions from 1", edit(EMBED, "self.position(torch.arange(n))", "self.position(torch.arange(1, n + 1))")),
    Answer("09.3", "looks up as many positions as there are inputs in the batch", edit(edit(
        EMBED, "torch.arange(n)", "torch.arange(len(ids))"), " + self.segment(segments)", "[:, None] + self.segment(segments)")),
    Answer("09.3", "ignores the segments", edit(EMBED, " + self.segment(segments)", "")),
    Answer("09.3", "ignores the positions", edit(EMBED, " + self.position(torch.arange(n))", "")),
    Answer("09.3", "looks the position up by the token's id", edit(
        EMBED, "self.position(torch.arange(n))", "self.position(ids % max_len)")),
    Answer("09.3", "does not test the length: an IndexError comes out of the table", edit(EMBED, """        if n > max_len:
            raise ValueError(f"{n} tokens, but max_len is {max_len}")
""", "")),
    Answer("09.3", "refuses an input of exactly max_len tokens", edit(EMBED, "if n > max_len", "if n >= max_len")),
    Answer("09.3", "the error names neither n nor max_len", edit(
        EMBED, 'f"{n} tokens, but max_len is {max_len}"', '"the input is too long"')),
    Answer("09.3", "multiplies the token vectors by the root of d_model, as the Transformer of 2017 does", edit(
        EMBED, "self.token(ids) +", "self.token(ids) * math.sqrt(self.token.embedding_dim) +")),
    Answer("09.3", "normalises the token vector alone and adds the others afterwards", edit(edit(
        EMBED, "self.token(ids) +", "self.norm(self.token(ids)) +"), "return self.norm(x)", "return x")),
    Answer("09.3", "puts the three vectors side by side instead of adding them", edit(edit(
        EMBED, "self.token(ids) + self.position(torch.arange(n)) + self.segment(segments)",
        "torch.cat([self.token(ids), self.position(torch.arange(n)).expand(*ids.shape, -1), self.segment(segments)], -1)"),
        "nn.LayerNorm(d_model, eps=1e-12)", "nn.LayerNorm(3 * d_model, eps=1e-12)")),
    Answer("09.3", "adds dropout, which nobody asked for, and leaves it on in evaluation mode too",
           edit(EMBED, "return self.norm(x)", "return F.dropout(self.norm(x), 0.1)")),
    Answer("09.3", "the positions are a fixed random tensor instead of a learned table", edit(edit(edit(
        EMBED, "self.position = nn.Embedding(max_len, d_model)", "self.position = torch.randn(max_len, d_model)"),
        "self.position.num_embeddings", "len(self.position)"), "self.position(torch.arange(n))", "self.position[:n]")),
    Answer("09.3", "only ever two segments, whatever num_segments says",
           edit(EMBED, "nn.Embedding(num_segments, d_model)", "nn.Embedding(2, d_model)")),
    Answer("09.3", "at most 512 positions as in BERT, whatever max_len says",
           edit(EMBED, "nn.Embedding(max_len, d_model)", "nn.Embedding(512, d_model)")),
    # ---- 09.4 80, 10, 10
    Answer("09.4", "a right answer with torch.where", MASK, right=True),
    Answer("09.4", "a right answer with copies and boolean indices", """
def mask_tokens(ids, special, chance, fate, anything, mask_id):
    asked = torch.logical_and(chance < 0.15, torch.logical_not(special))
    labels = torch.full_like(ids, -100)
    labels[asked] = ids[asked]
    inputs = ids.clone()
    swapped = asked & ~(fate < 0.8) & (fate < 0.9)
    inputs[swapped] = anything[swapped]
    inputs[asked & (fate < 0.8)] = mask_id
    return inputs, labels
""", right=True),
    Answer("09.4", "a right answer that numbers the three fates and gathers", """
def mask_tokens(ids, special, chance, fate, anything, mask_id):
    chosen = (chance < 0.15) * (special == 0)
    which = (fate >= 0.8).long() + (fate >= 0.9).long()
    shown = torch.stack([torch.full_like(ids, mask_id), anything, ids]).gather(0, which[None])[0]
    k = chosen.long()
    return k * shown + (1 - k) * ids, k * ids - 100 * (1 - k)
""", right=True),
    Answer("09.4", "selects special tokens too", edit(MASK, " & ~special", "")),
    Answer("09.4", "takes special the wrong way round: only special tokens are selected", edit(MASK, "& ~special", "& special")),
    Answer("09.4", "labels only what became [MASK], not all selected tokens", edit(
        MASK, "torch.where(selected, ids, -100)", "torch.where(selected & (fate < 0.8), ids, -100)")),
    Answer("09.4", "labels only what was changed, so kept tokens are not asked for", edit(
        MASK, "torch.where(selected, ids, -100)", "torch.where(inputs != ids, ids, -100)")),
    Answer("09.4", "labels turned round: the selected places get -100", edit(
        MASK, "torch.where(selected, ids, -100)", "torch.where(selected, -100, ids)")),
    Answer("09.4", "labels hold what is shown, not the original id", edit(
        MASK, "torch.where(selected, ids, -100)", "torch.where(selected, inputs, -100)")),
    Answer("09.4", "everything selected with a fate below 0.9 becomes a random token, the masks included", edit(
        MASK, " & (fate >= 0.8)", "")),
    Answer("09.4", "exchanges the last two fates: 0.8 to 0.9 stays and 0.9 to 1 becomes random", edit(
        MASK, "(fate >= 0.8) & (fate < 0.9)", "(fate >= 0.9)")),
    Answer("09.4", "writes into the ids that were handed in", """
def mask_tokens(ids, special, chance, fate, anything, mask_id):
    selected = (chance < 0.15) & ~special
    labels = torch.where(selected, ids, -100)
    inputs = ids
    random_ones = selected & (fate >= 0.8) & (fate < 0.9)
    inputs[random_ones] = anything[random_ones]
    inputs[selected & (fate < 0.8)] = mask_id
    return inputs, labels
"""),
    Answer("09.4", "a chance of exactly 0.15 is selected too", edit(MASK, "chance < 0.15", "chance <= 0.15")),
    Answer("09.4", "a fate of exactly 0.8 is masked and not replaced", edit(edit(
        MASK, "(fate < 0.8)", "(fate <= 0.8)"), "(fate >= 0.8)", "(fate > 0.8)")),
    Answer("09.4", "every selected token becomes [MASK]", """
def mask_tokens(ids, special, chance, fate, anything, mask_id):
    selected = (chance < 0.15) & ~special
    return torch.where(selected, mask_id, ids), torch.where(selected, ids, -100)
"""),
    Answer("09.4", "random tokens also replace what was not selected", edit(
        MASK, "selected & (fate >= 0.8)", "(fate >= 0.8)")),
    Answer("09.4", "draws its own random tokens instead of taking those in anything", edit(
        MASK, "anything, inputs", "torch.randint(5, 1000, ids.shape), inputs")),
    Answer("09.4", "a hard-coded id in place of mask_id", edit(MASK, "mask_id, ids)", "103, ids)")),
    Answer("09.4", "the places that are not asked for get the label 0", edit(MASK, "ids, -100)", "ids, 0)")),
    Answer("09.4", "labels and inputs are returned in the wrong order", edit(MASK, "return inputs, labels", "return labels, inputs")),
    Answer("09.4", "returns the labels as floats", edit(MASK, "return inputs, labels", "return inputs, labels.float()")),
    # ---- 09.5 the loss of the selected
    Answer("09.5", "a right answer with a sum and a count", LOSS, right=True),
    Answer("09.5", "a right answer with log_softmax and gather", """
def masked_loss(hidden, labels, head):
    rows, columns = (labels != -100).nonzero(as_tuple=True)
    scores = head(hidden[rows, columns])
    wanted = labels[rows, columns].unsqueeze(1)
    nats = -scores.log_softmax(dim=1).gather(1, wanted)
    return (nats.mean() if len(rows) else scores.sum()), scores
""", right=True),
    Answer("09.5", "a right answer on flattened inputs with logsumexp", """
def masked_loss(hidden, labels, head):
    flat, asked = hidden.reshape(-1, hidden.shape[-1]), labels.reshape(-1)
    index = torch.tensor([k for k, label in enumerate(asked.tolist()) if label != -100], dtype=torch.long)
    out = head(flat.index_select(0, index))
    right = out[torch.arange(len(index)), asked[index]]
    return (torch.logsumexp(out, -1) - right).sum() / max(len(index), 1), out
""", right=True),
    Answer("09.5", "NaN when nothing is selected", """
def masked_loss(hidden, labels, head):
    chosen = labels != -100
    logits = head(hidden[chosen])
    return F.cross_entropy(logits, labels[chosen]), logits
"""),
    Answer("09.5", "divides by the number of all tokens, not of the selected ones", edit(LOSS, "max(1, len(logits))", "labels.numel()")),
    Answer("09.5", "returns the sum, not the mean", edit(LOSS, "total / max(1, len(logits))", "total")),
    Answer("09.5", "the id 0 counts as not selected", edit(LOSS, "labels != -100", "labels > 0")),
    Answer("09.5", "the mean of the inputs' means: a selected token counts less in an input with many", """
def masked_loss(hidden, labels, head):
    chosen = labels != -100
    logits = head(hidden[chosen])
    each = torch.zeros(labels.shape)
    each[chosen] = F.cross_entropy(logits, labels[chosen], reduction="none")
    count = chosen.sum(1)
    means = each.sum(1) / count.clamp(min=1)
    return means.sum() / max(1, int((count > 0).sum())), logits
"""),
    Answer("09.5", "sends every hidden state through the head and returns all logits", """
def masked_loss(hidden, labels, head):
    logits = head(hidden.flatten(0, 1))
    total = F.cross_entropy(logits, labels.flatten(), ignore_index=-100, reduction="sum")
    return total / max(1, int((labels != -100).sum())), logits
"""),
    Answer("09.5", "sends every hidden state through the head and picks afterwards", """
def masked_loss(hidden, labels, head):
    chosen = labels != -100
    logits = head(hidden.flatten(0, 1))[chosen.flatten()]
    total = F.cross_entropy(logits, labels[chosen], reduction="sum")
    return total / max(1, len(logits)), logits
"""),
    Answer("09.5", "calls the head once for every input instead of once", """
def masked_loss(hidden, labels, head):
    logits = torch.cat([head(h[row != -100]) for h, row in zip(hidden, labels)])
    total = F.cross_entropy(logits, labels[labels != -100], reduction="sum")
    return total / max(1, len(logits)), logits
"""),
    Answer("09.5", "the selected tokens come position by position, not input by input", """
def masked_loss(hidden, labels, head):
    hidden, labels = hidden.transpose(0, 1), labels.T
    chosen = labels != -100
    logits = head(hidden[chosen])
    total = F.cross_entropy(logits, labels[chosen], reduction="sum")
    return total / max(1, len(logits)), logits
"""),
    Answer("09.5", "in bits instead of nats", edit(
        LOSS, "total / max(1, len(logits)), logits", "total / max(1, len(logits)) / math.log(2), logits")),
    Answer("09.5", "softmax before cross_entropy, which wants logits",
           edit(LOSS, "F.cross_entropy(logits,", "F.cross_entropy(logits.softmax(-1),")),
    Answer("09.5", "returns the loss only", edit(LOSS, "total / max(1, len(logits)), logits", "total / max(1, len(logits))")),
    Answer("09.5", "takes the places with -100 as the selected ones", edit(edit(
        LOSS, "labels != -100", "labels == -100"), "labels[chosen], reduction", "labels[chosen].clamp(min=0), reduction")),
    Answer("09.5", "no gradient reaches the hidden states", edit(LOSS, "hidden[chosen]", "hidden[chosen].detach()")),
    Answer("09.5", "no logits are returned when nothing is selected", edit(
        LOSS, "    logits = head", "    if not chosen.any():\n        return torch.tensor(0.0), None\n    logits = head")),
    Answer("09.5", "only looks at the first input of the batch", edit(
        LOSS, "    chosen =", "    hidden, labels = hidden[:1], labels[:1]\n    chosen =")),
    # ---- 09.6 find the bugs: the head
    Answer("09.6", "all three faults mended", HEAD, right=True),
    Answer("09.6", "all three mended, with F.linear and nn.GELU", """
class MaskedTokenHead(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(vocab_size))
        self.norm = nn.LayerNorm(d_model, eps=1e-12)
        self.transform = nn.Linear(d_model, d_model)
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.activation = nn.GELU()

    def forward(self, hidden):
        for layer in (self.transform, self.activation, self.norm):
            hidden = layer(hidden)
        return F.linear(hidden, self.embedding.weight, self.bias)
""", right=True),
    Answer("09.6", "all three mended, GELU written out and einsum", """
class MaskedTokenHead(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.transform = nn.Linear(d_model, d_model)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)
        self.bias = nn.Parameter(torch.zeros(vocab_size))

    def forward(self, hidden):
        z = self.transform(hidden)
        z = z * 0.5 * (1 + torch.erf(z / 2 ** 0.5))
        return self.bias + torch.einsum("...d,vd->...v", self.norm(z), self.embedding.weight)
""", right=True),
    Answer("09.6", "changes nothing", edit(edit(
        HEAD, "self.norm(F.gelu(self.transform(hidden)))", "torch.tanh(self.norm(self.transform(hidden)))"), " + self.bias\n", "\n")),
    Answer("09.6", "mends activation and order but forgets the bias", edit(HEAD, " + self.bias\n", "\n")),
    Answer("09.6", "GELU still comes after the norm", edit(
        HEAD, "self.norm(F.gelu(self.transform(hidden)))", "F.gelu(self.norm(self.transform(hidden)))")),
    Answer("09.6", "order and bias are mended, the activation is still tanh", edit(HEAD, "F.gelu(", "torch.tanh(")),
    Answer("09.6", "only the bias is mended", edit(
        HEAD, "self.norm(F.gelu(self.transform(hidden)))", "torch.tanh(self.norm(self.transform(hidden)))")),
    Answer("09.6", "the approximate GELU instead of the exact one", edit(
        HEAD, "F.gelu(self.transform(hidden))", 'F.gelu(self.transform(hidden), approximate="tanh")')),
    Answer("09.6", "ReLU instead of GELU", edit(HEAD, "F.gelu(", "F.relu(")),
    Answer("09.6", "a linear layer of its own makes the logits, so the table is not shared", edit(edit(
        HEAD, "        self.bias = nn.Parameter(torch.zeros(vocab_size))\n", """        self.bias = nn.Parameter(torch.zeros(vocab_size))
        self.decoder = nn.Linear(d_model, vocab_size, bias=False)
"""), "x @ self.embedding.weight.T + self.bias", "self.decoder(x) + self.bias")),
    Answer("09.6", "the table is cut off from the gradient", edit(HEAD, "self.embedding.weight.T", "self.embedding.weight.detach().T")),
    Answer("09.6", "the hidden states are cut off from the gradient", edit(
        HEAD, "self.transform(hidden)", "self.transform(hidden.detach())")),
    Answer("09.6", "the bias is a plain tensor and is not learned", edit(
        HEAD, "nn.Parameter(torch.zeros(vocab_size))", "torch.zeros(vocab_size)")),
    Answer("09.6", "the bias is only added in training mode", edit(
        HEAD, "+ self.bias", "+ self.bias * self.training")),
    Answer("09.6", "returns probabilities, not logits", edit(
        HEAD, "x @ self.embedding.weight.T + self.bias", "(x @ self.embedding.weight.T + self.bias).softmax(-1)")),
    Answer("09.6", "only works for hidden states with exactly three axes", edit(
        HEAD, "x @ self.embedding.weight.T", "torch.bmm(x, self.embedding.weight.T.expand(len(x), -1, -1))")),
    Answer("09.6", "mends the listing but leaves out the transform", edit(HEAD, "F.gelu(self.transform(hidden))", "F.gelu(hidden)")),
    Answer("09.6", "uses a copy of the table made in the constructor, which never changes with the table", edit(edit(
        HEAD, "        self.bias =", "        self.table = self.embedding.weight.clone().detach()\n        self.bias ="),
        "self.embedding.weight.T", "self.table.T")),
    # ---- 09.7 does the answer leak?
    Answer("09.7", "the right entries", LEAK, right=True),
    Answer("09.7", "the right entries, filled in one by one", """
prediction = {}
prediction["2 ordinary layers, [MASK] put in its place"] = "no"
prediction["2 layers, the key hidden from everybody, no residual, query from the position"] = "no"
prediction["2 layers of that kind"] = "yes"
prediction["1 layer, own key hidden, no residual, query from the position"] = "no"
prediction["1 layer, own key hidden, no residual"] = "yes"
prediction["1 layer, own key hidden"] = "yes"
""", right=True),
    Answer("09.7", "the right entries, by a rule", """
leaks = {
    "1 layer, own key hidden": True,
    "1 layer, own key hidden, no residual": True,
    "1 layer, own key hidden, no residual, query from the position": False,
    "2 layers of that kind": True,
    "2 layers, the key hidden from everybody, no residual, query from the position": False,
    "2 ordinary layers, [MASK] put in its place": False,
}
prediction = {name: "yes" if leak else "no" for name, leak in leaks.items()}
""", right=True),
    Answer("09.7", "forgets that the residual carries the token past the attention",
           edit(LEAK, 'own key hidden": "yes"', 'own key hidden": "no"')),
    Answer("09.7", "forgets that the token's own query decides what it reads",
           edit(LEAK, 'own key hidden, no residual": "yes"', 'own key hidden, no residual": "no"')),
    Answer("09.7", "thinks that a query made of the position still carries the token",
           edit(LEAK, 'query from the position": "no",\n    "2 layers of', 'query from the position": "yes",\n    "2 layers of')),
    Answer("09.7", "overlooks the way back over the neighbours in the second layer", edit(LEAK, 'that kind": "yes"', 'that kind": "no"')),
    Answer("09.7", "thinks that the neighbours hand back even what nobody may read",
           edit(LEAK, 'everybody, no residual, query from the position": "no"', 'everybody, no residual, query from the position": "yes"')),
    Answer("09.7", "thinks that [MASK] only hides the token from the others", edit(LEAK, 'in its place": "no"', 'in its place": "yes"')),
    Answer("09.7", "thinks that a hidden key alone keeps the answer secret, in every set-up", LEAK.replace('"yes"', '"no"')),
    Answer("09.7", "takes yes for safe: all entries are turned round",
           LEAK.replace('"yes"', '"safe"').replace('"no"', '"yes"').replace('"safe"', '"no"')),
    Answer("09.7", "looks at the residual only: without it nothing leaks, in one layer or two", edit(edit(
        LEAK, 'own key hidden, no residual": "yes"', 'own key hidden, no residual": "no"'), 'that kind": "yes"', 'that kind": "no"')),
    Answer("09.7", "half-finished: the two-layer set-ups are still None", edit(edit(edit(
        LEAK, 'that kind": "yes"', 'that kind": None'), 'in its place": "no"', 'in its place": None'),
        'everybody, no residual, query from the position": "no"', 'everybody, no residual, query from the position": None')),
    # ---- 09.8 the mask of a pair
    Answer("09.8", "a right answer", PAIR_MASK, right=True),
    Answer("09.8", "a right answer with loops", PAIR_MASK_LOOP, right=True),
    Answer("09.8", "a right answer with products", PAIR_MASK_PRODUCT, right=True),
    Answer("09.8", "the mask says who is hidden", edit(PAIR_MASK, "return same & seen", "return ~(same & seen)")),
    Answer("09.8", "pads are seen", edit(
        PAIR_MASK, "real[:, None, :] & real[:, :, None]", "real[:, :, None].expand(-1, -1, real.shape[1])")),
    Answer("09.8", "pads may look", edit(
        PAIR_MASK, "real[:, None, :] & real[:, :, None]", "real[:, None, :].expand(-1, real.shape[1], -1)")),
    Answer("09.8", "pads are forgotten in the kind everything", edit(
        PAIR_MASK, "        return seen\n", "        return torch.ones_like(seen)\n")),
    Answer("09.8", "[CLS] is seen by all instead of seeing all", edit(PAIR_MASK, "same[:, 0, :]", "same[:, :, 0]")),
    Answer("09.8", "the first input of the batch sees all", edit(PAIR_MASK, "same[:, 0, :] = True", "same[0] = True")),
    Answer("09.8", "[CLS] sees the pads too", edit(PAIR_MASK, """        same[:, 0, :] = True
    return same & seen""", """        same = same & seen
        same[:, 0, :] = True
        return same
    return same & seen""")),
    Answer("09.8", "tokens see the other text instead of their own", edit(
        PAIR_MASK, "segments.unsqueeze(2) == segments.unsqueeze(1)", "segments.unsqueeze(2) != segments.unsqueeze(1)")),
    Answer("09.8", "only the first text sees itself", edit(
        PAIR_MASK, "segments.unsqueeze(2) == segments.unsqueeze(1)", "(segments.unsqueeze(2) == 0) & (segments.unsqueeze(1) == 0)")),
    Answer("09.8", "the second text sees the first, as a prefix", edit(
        PAIR_MASK, "segments.unsqueeze(2) == segments.unsqueeze(1)", "segments.unsqueeze(2) >= segments.unsqueeze(1)")),
    Answer("09.8", "[CLS] never sees all", edit(PAIR_MASK, """    if kind == "own text, [CLS] all":
        same[:, 0, :] = True
""", "")),
    Answer("09.8", "[CLS] always sees all", edit(PAIR_MASK, """    if kind == "own text, [CLS] all":
        same[:, 0, :] = True
""", "    same[:, 0, :] = True\n")),
    Answer("09.8", "numbers instead of booleans", edit(PAIR_MASK, "return same & seen", "return (same & seen).float()")),
    Answer("09.8", "an axis for heads that nobody asked for", edit(PAIR_MASK, "return same & seen", "return (same & seen)[:, None]")),
    Answer("09.8", "an unknown kind is taken for the second", edit(
        PAIR_MASK, """    if kind not in ("everything", "own text", "own text, [CLS] all"):
        raise ValueError(f"kind {kind!r} is unknown")
""", "")),
    Answer("09.8", "the mask of the first input for all", edit(
        PAIR_MASK, "return same & seen", "return (same & seen)[:1].expand(len(real), -1, -1)")),
)
