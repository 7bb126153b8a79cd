"""Chapter 11a."""

from . import Listed

LEARN = '''
from collections import Counter

def learn_merges(words, count):
    {bad}
    parts, merges = {{word: {letters} for word in words}}, []
    for _ in range(count):
        pairs = Counter()
        for word, symbols in parts.items():
            for pair in zip(symbols, symbols[1:]):
                pairs[pair] += words[word]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        for word, symbols in parts.items():
            out, i = [], 0
            while i < len(symbols):
                if tuple(symbols[i:i + 2]) == best:
                    out.append("".join(best))
                    i += 2
                else:
                    out.append(symbols[i])
                    i += 1
            parts[word] = out
        merges.append({merge})
    return merges
'''
REFUSE = 'if count < 0:\n        raise ValueError(f"count={count}")'


def learn(bad=REFUSE, letters="list(word)", merge='" ".join(best)'):
    return LEARN.format(bad=bad, letters=letters, merge=merge)


APPLY = '''
{before}
def apply_merges(word, merges):
    {first}
    ranks = {{tuple(merge.split(" ")): rank for rank, merge in enumerate(merges)}}
    symbols = {letters}
    while True:
        present = [pair for pair in zip(symbols, symbols[1:]) if pair in ranks]
        if not present:
            {last}
            return symbols
        best = {best}
        out, i = [], 0
        while i < len(symbols):
            if tuple(symbols[i:i + 2]) == best:
                out.append("".join(best))
                i += 2
            else:
                out.append(symbols[i])
                i += 1
        symbols = out
'''


def apply(before="", first="pass", letters="list(word)", last="pass", best="min(present, key=ranks.get)"):
    return APPLY.format(before=before, first=first, letters=letters, last=last, best=best)


WINDOWS = '''
def windows(ids, size, stride):
    {bad}
    if len(ids) < 2:
        raise ValueError(f"{{len(ids)}} token leaves nothing to predict")
    n = len(ids) - 1
    count = 1 + max(0, math.ceil((n - size) / stride))
    inputs, targets = torch.zeros(count, size, dtype=ids.dtype), torch.full((count, size), -100)
    for k in range(count):
        length = min(size, n - k * stride)
        inputs[k, :length] = ids[k * stride: k * stride + length]
        targets[k, :length] = ids[k * stride + 1: k * stride + length + 1]
    {end}
'''

CHOOSE = '''
def next_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    if temperature < 0 or (top_k is not None and top_k < 1) or (top_p is not None and not 0 < top_p <= 1):
        raise ValueError(f"temperature={{temperature}}, top_k={{top_k}}, top_p={{top_p}}: out of range")
    if temperature == 0:
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).float()
    logits, place = (logits / temperature).sort(-1, descending=True)
    if top_k is not None:
        logits[:, top_k:] = -torch.inf
    p = {p}
    if top_p is not None:
        before = p.cumsum(-1) - p
        p = p.masked_fill(~({keep}), 0)
        p = p / p.sum(-1, keepdim=True)
    return torch.zeros_like(p).scatter(-1, place, p)
'''

GPT = '''
def gpt_logits(ids, token, position, blocks, weight, bias):
    n = ids.shape[1]
    if n > len(position):
        raise ValueError(f"{{n}} ids, but only {{len(position)}} positions")
    x = token[ids] + position[:n]
    for block in blocks:
        x = block(x)
    centred = x - x.mean(-1, keepdim=True)
    return (centred / {root} * weight + bias) @ token.T
'''

BITS = '''
def bits_per_character(logits_of, ids, size, stride, characters):
    total, start, n = 0.0, 0, len(ids) - 1
    while True:
        inputs, targets = ids[start:start + size][:n - start], ids[start + 1:start + size + 1]
        losses = F.cross_entropy(logits_of(inputs[None])[0], targets, reduction="none")
        new = 0 if start == 0 else {new}
        total += losses[new:].sum().item()
        if start + size >= n:
            return total / math.log(2) / characters
        start += stride
'''

SIMILAR = '''
def similarity(read, a, b, start, delimiter, extract, weight, bias):
    def vector(one, other):
        begin, middle, end = (torch.full((len(one), 1), token) for token in (start, delimiter, extract))
        {how}

    return (vector(a, b) + vector(b, a)) @ weight.T + bias
'''

NUMBERS = '''
from fractions import Fraction

prediction_of_gpt = {{
    "tokens that a byte-level BPE without merges makes of “naïve café”": 12,
    "targets in one pass over 16 windows of 64 inputs": 1_024,
    "targets if only the last row of each window is used": 16,
    "bits per character: all of 1,024 tokens equally likely, 2.5 characters a token": {bits},
    "of ten parameters of a block, how many are in its feed-forward network": 6.7,
    "of ten parameters of GPT-2 small, how many are in the token embedding": 3.1,
}}
'''

LISTED = (
    Listed("11a.1", "capitals in the result", learn(merge='" ".join(best).upper()')),
    Listed("11a.1", "two spaces between the parts", learn(merge='"  ".join(best)')),
    Listed("11a.1", "letters lower-cased", learn(letters="list(word.lower())")),
    Listed("11a.1", "an end mark as a symbol of its own", learn(letters='list(word) + ["</w>"]'), says=("An end mark added",)),
    Listed("11a.1", "assert instead of ValueError", learn(bad='assert count >= 0, f"count={count}"'), says=("ValueError",),
           never=("by accident",)),
    Listed("11a.1", "counts popped from the caller's dict", learn(bad=REFUSE + '\n    words.pop("", None)\n    words["\\n"] = 0'),
           never=("Make a new tensor instead",)),
    Listed("11a.2", "letters lower-cased", apply(letters="list(word.lower())")),
    Listed("11a.2", "a cache by the word alone", apply(before="seen = {}", first="if word in seen:\n        return list(seen[word])",
                                                       last="seen[word] = list(symbols)")),
    Listed("11a.2", "the longest result first", apply(best="max(present, key=lambda pair: len(pair[0] + pair[1]))"),
           never=("you join the first pair you meet",)),
    Listed("11a.2", "merges sorted in place", apply(first="merges.reverse()"), never=("Make a new tensor instead",)),
    Listed("11a.3", "whole numbers as floats", WINDOWS.format(bad='''if not 1 <= stride <= size:
        raise ValueError(f"stride={stride} must lie between 1 and size={size}")''', end="return inputs.float(), targets.float()")),
    Listed("11a.3", "stride 0 not refused", WINDOWS.format(bad='''if stride > size:
        raise ValueError(f"stride={stride} must not be above size={size}")''', end="return inputs, targets")),
    Listed("11a.4", "eps beside the root", GPT.format(root="(x.std(-1, unbiased=False, keepdim=True) + 1e-5)")),
    Listed("11a.4", "eps 1e-12", GPT.format(root="(x.var(-1, unbiased=False, keepdim=True) + 1e-12).sqrt()")),
    Listed("11a.4", "the norm written out", GPT.format(root="(x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()"), right=True),
    Listed("11a.5", "the softmax alone left, behind the cut", '''
def next_token_loss(logits, ids, lengths):
    log_p = logits[:, :-1].log_softmax(1)
    losses = -log_p.gather(-1, ids[:, 1:, None])[..., 0]
    real = torch.arange(1, ids.shape[1]) < lengths[:, None]
    return (losses * real).sum() / real.sum()
''', says=("Softmax over the positions but the last",)),
    Listed("11a.5", "the shift alone mended", '''
def next_token_loss(logits, ids, lengths):
    log_p = logits[:, :-1].log_softmax(1)
    losses = -log_p.gather(-1, ids[:, 1:, None])[..., 0]
    real = torch.arange(1, ids.shape[1]) < lengths[:, None]
    return (losses * real).mean()
''', says=("Only the shift mended",)),
    Listed("11a.5", "the first row's length for all", '''
def next_token_loss(logits, ids, lengths):
    log_p = logits[:, :-1].log_softmax(-1)
    losses = -log_p.gather(-1, ids[:, 1:, None])[..., 0]
    real = (torch.arange(1, ids.shape[1]) < lengths[0]).expand_as(losses)
    return (losses * real).sum() / real.sum()
'''),
    Listed("11a.6", "a short window scored from its end", BITS.format(new="max(0, len(inputs) - stride)"),
           says=("A short window counted from its end",)),
    Listed("11a.6", "window by window", BITS.format(new="size - stride"), right=True),
    Listed("11a.7", "one more where the share is met exactly", CHOOSE.format(p="logits.softmax(-1)", keep="before <= top_p"),
           says=("One more where the share is met exactly",)),
    Listed("11a.7", "below the share only", CHOOSE.format(p="logits.softmax(-1)", keep="p.cumsum(-1) < top_p"),
           says=("Nothing left of a small share",)),
    Listed("11a.7", "min-p", CHOOSE.format(p="logits.softmax(-1)", keep="p >= top_p * p[:, :1]"), says=("Min-p",)),
    Listed("11a.7", "exponentials that overflow", CHOOSE.format(p="logits.exp() / logits.exp().sum(-1, keepdim=True)",
                                                                keep="before < top_p")),
    Listed("11a.7", "temperature 0 for the whole batch", '''
def next_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    if temperature < 0 or (top_k is not None and top_k < 1) or (top_p is not None and not 0 < top_p <= 1):
        raise ValueError(f"temperature={temperature}, top_k={top_k}, top_p={top_p}: out of range")
    if temperature == 0:
        p = torch.zeros_like(logits)
        p.view(-1)[logits.argmax()] = 1
        return p
    logits, place = (logits / temperature).sort(-1, descending=True)
    if top_k is not None:
        logits[:, top_k:] = -torch.inf
    p = logits.softmax(-1)
    if top_p is not None:
        p = p.masked_fill(p.cumsum(-1) - p >= top_p, 0)
        p = p / p.sum(-1, keepdim=True)
    return torch.zeros_like(p).scatter(-1, place, p)
''', never=("your first row sums to 1.",)),
    Listed("11a.8", "read without gradients", SIMILAR.format(how='''with torch.no_grad():
            return read(torch.cat([begin, one, middle, other, end], dim=1))[:, -1]'''), says=("Model read without gradients",)),
    Listed("11a.9", "a Fraction among the numbers", NUMBERS.format(bits="Fraction(4)"), right=True),
    Listed("11a.9", "2.5 bits", NUMBERS.format(bits="2.5"), never=("right in nats",)),
)
