"""Chapter 09."""

from . import Listed

BY_ACCIDENT = ("by accident",)

SPLIT = '''
def split_word(word, vocabulary):
    {empty}
    found, start = [], 0
    while start < len(word):
        mark = "##" if start else ""
        fitting = [end for end in range(start + 1, len(word) + 1) if mark + word[start:end] in vocabulary]
        if not fitting:
            return ["[UNK]"]
        found.append(mark + word[start:fitting[-1]])
        start = fitting[-1]
    return found
'''
RAISE = 'if not word:\n        raise ValueError("the word is empty")'

LOSS = '''
def masked_loss(hidden, labels, head):
    chosen = labels != -100
    {logits}
    if not chosen.any():
        return logits.sum(), logits
    return F.cross_entropy(logits, labels[chosen]), logits
'''

EMBEDDINGS = '''
class InputEmbeddings(nn.Module):
    def __init__(self, vocab_size, d_model, max_len, num_segments):
        super().__init__()
        self.token = nn.Embedding(vocab_size, d_model)
        self.position = nn.Embedding(max_len, d_model)
        self.segment = nn.Embedding(num_segments, d_model)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)

    def forward(self, ids, segments):
        n, max_len = ids.shape[1], self.position.num_embeddings
        if n > max_len:
            raise ValueError(f"n={{n}} tokens, but positions end at max_len={{max_len}}")
        x = self.token(ids) + self.position(torch.arange(n)) + self.segment(segments)
        {end}
'''

LISTED = (
    Listed("09.1", "words of more than 20 letters are unknown",
           SPLIT.format(empty=RAISE + '\n    if len(word) > 20:\n        return ["[UNK]"]')),
    Listed("09.1", "words of more than 100 letters are unknown",
           SPLIT.format(empty=RAISE + '\n    if len(word) > 100:\n        return ["[UNK]"]')),
    Listed("09.1", "the longest piece anywhere, then left and right of it", '''
def split_word(word, vocabulary):
    if not word:
        raise ValueError("the word is empty")
    def cut(start, stop):
        if start == stop:
            return []
        for length in range(stop - start, 0, -1):
            for i in range(start, stop - length + 1):
                piece = ("##" if i else "") + word[i:i + length]
                if piece in vocabulary:
                    left, right = cut(start, i), cut(i + length, stop)
                    if left is None or right is None:
                        return None
                    return left + [piece] + right
        return None
    return cut(0, len(word)) or ["[UNK]"]
''', says=("longest piece anywhere",)),
    Listed("09.1", "RuntimeError on purpose", SPLIT.format(empty='if not word:\n        raise RuntimeError("the word is empty")'),
           says=("ValueError",), never=BY_ACCIDENT),
    Listed("09.1", "IndexError on purpose", SPLIT.format(empty='if not word:\n        raise IndexError("the word is empty")'),
           says=("ValueError",), never=BY_ACCIDENT),
    Listed("09.1", "TypeError on purpose", SPLIT.format(empty='if not word:\n        raise TypeError("the word is empty")'),
           says=("ValueError",), never=BY_ACCIDENT),
    Listed("09.1", "assert on purpose", SPLIT.format(empty='assert word, "the word is empty"'), says=("ValueError",), never=BY_ACCIDENT),
    Listed("09.1", "the caller's list is sorted in place", SPLIT.format(empty=RAISE + "\n    vocabulary.sort(key=len)"),
           never=("Make a new tensor instead",)),
    Listed("09.2", "whole numbers as floats", '''
def build_input(first, second, max_len):
    texts = [list(text) for text in (first, second) if text is not None]
    room = max_len - 1 - len(texts)
    if room < 0:
        raise ValueError(f"max_len={max_len} has no room for the special tokens of {len(texts)} text(s)")
    while sum(map(len, texts)) > room:
        max(texts, key=len).pop()
    ids, segments = [2], [0]
    for segment, text in enumerate(texts):
        ids += [*text, 3]
        segments += [segment] * (len(text) + 1)
    return torch.Tensor(ids), torch.Tensor(segments)
'''),
    Listed("09.2", "texts popped in place", '''
def build_input(first, second, max_len):
    texts = [text for text in (first, second) if text is not None]
    room = max_len - 1 - len(texts)
    if room < 0:
        raise ValueError(f"max_len={max_len} has no room for the special tokens of {len(texts)} text(s)")
    while sum(map(len, texts)) > room:
        max(texts, key=len).pop()
    ids, segments = [2], [0]
    for segment, text in enumerate(texts):
        ids += [*text, 3]
        segments += [segment] * (len(text) + 1)
    return torch.tensor(ids), torch.tensor(segments)
''', never=("Make a new tensor instead",)),
    Listed("09.3", "dropout added", EMBEDDINGS.format(end="return F.dropout(self.norm(x), 0.1, self.training)")),
    Listed("09.4", "fate at most 0.9", '''
def mask_tokens(ids, special, chance, fate, anything, mask_id):
    selected = (chance < 0.15) & ~special
    labels = torch.where(selected, ids, -100)
    inputs = torch.where(selected & (fate < 0.8), mask_id, ids)
    inputs = torch.where(selected & (fate >= 0.8) & (fate <= 0.9), anything, inputs)
    return inputs, labels
'''),
    Listed("09.4", "labels as floats", '''
def mask_tokens(ids, special, chance, fate, anything, mask_id):
    selected = (chance < 0.15) & ~special
    labels = torch.where(selected, ids, -100.0)
    inputs = torch.where(selected & (fate < 0.8), mask_id, ids)
    inputs = torch.where(selected & (fate >= 0.8) & (fate < 0.9), anything, inputs)
    return inputs, labels
'''),
    Listed("09.4", "a loop over Python's numbers", '''
def mask_tokens(ids, special, chance, fate, anything, mask_id):
    inputs, labels = ids.tolist(), [[-100] * ids.shape[1] for _ in ids]
    for b in range(ids.shape[0]):
        for t in range(ids.shape[1]):
            if special[b, t] or chance[b, t].item() >= 0.15:
                continue
            labels[b][t] = inputs[b][t]
            if fate[b, t].item() < 0.8:
                inputs[b][t] = mask_id
            elif fate[b, t].item() < 0.9:
                inputs[b][t] = anything[b, t].item()
    return torch.tensor(inputs), torch.tensor(labels)
''', right=True),
    Listed("09.5", "the head on all tokens, then picked", LOSS.format(
        logits="logits = head(hidden.flatten(0, 1))[chosen.flatten()]"), says=("Picked behind the head",)),
    Listed("09.5", "the head once for each input", LOSS.format(
        logits="logits = torch.cat([head(row[keep]) for row, keep in zip(hidden, chosen)])"), says=("The head called for each input",)),
    Listed("09.5", "the head twice", '''
def masked_loss(hidden, labels, head):
    chosen = labels != -100
    if not chosen.any():
        return head(hidden[chosen]).sum(), head(hidden[chosen])
    return F.cross_entropy(head(hidden[chosen]), labels[chosen]), head(hidden[chosen])
'''),
    Listed("09.5", "nothing selected: logits without an axis for the vocabulary", '''
def masked_loss(hidden, labels, head):
    chosen = labels != -100
    if not chosen.any():
        return torch.tensor(0.0), torch.zeros(0)
    logits = head(hidden[chosen])
    return F.cross_entropy(logits, labels[chosen]), logits
''', never=("an axis of length 1",)),
    Listed("09.5", "logits for all places, zeros where not asked", '''
def masked_loss(hidden, labels, head):
    chosen = labels != -100
    picked = head(hidden[chosen])
    logits = torch.zeros(*labels.shape, picked.shape[-1])
    logits[chosen] = picked
    if not chosen.any():
        return picked.sum(), logits
    return F.cross_entropy(picked, labels[chosen]), logits
''', never=("should be summed",)),
    Listed("09.7", "True and False for yes and no", '''
prediction = {
    "1 layer, own key hidden": True,
    "1 layer, own key hidden, no residual": True,
    "1 layer, own key hidden, no residual, query from the position": False,
    "2 layers of that kind": True,
    "2 layers, the key hidden from everybody, no residual, query from the position": False,
    "2 ordinary layers, [MASK] put in its place": False,
}
''', right=True),
)
