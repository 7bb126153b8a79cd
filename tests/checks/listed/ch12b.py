"""Chapter 12b."""

from . import Listed

APART = '''
def guessed_apart(joint):
    if {bad}:
        raise ValueError(f"the probabilities add up to {{joint.sum().item():.4g}} instead of 1")
    product = joint.sum(1, keepdim=True) * joint.sum(0)
    seen = joint > 0
    return product, (joint[seen] * (joint[seen] / product[seen]).log()).sum()
'''

FACTORS = '''
def factors(joint, sentence, order):
    n, places = joint.dim(), order.tolist()
    if {bad}:
        raise ValueError(f"order {message} does not name each position once")
    index, mass, found = [slice(None)] * n, joint.sum(), []
    for i in places:
        index[i] = int(sentence[i])
        smaller = joint[tuple(index)].sum()
        found.append(smaller / mass)
        mass = smaller
    return {end}
'''


def factors(bad="sorted(places) != list(range(n))", message="{places}", end="torch.stack(found)"):
    return FACTORS.format(bad=bad, message=message, end=end)


MASKS = '''
def order_masks(order):
    n = len(order)
    if {bad}:
        raise ValueError(f"order {message} does not name each position once")
    rank = order.argsort()
    return rank <= rank[:, None], rank < rank[:, None]
'''


def masks(bad="sorted(order.tolist()) != list(range(n))", message="{order.tolist()}"):
    return MASKS.format(bad=bad, message=message)


LAYER = '''
class TwoStreamAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        {bad}
        self.num_heads = num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))

    def heads(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, h, g, content, query):
        k, v = self.heads(self.w_k(h)), self.heads(self.w_v(h))
        new = []
        for stream, mask in ((h, content), (g, query)):
            q, mask = self.heads(self.w_q(stream)), mask[..., None, :, :]
            scores = q @ k.mT / q.shape[-1] ** 0.5
            weights = scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num(0)
            new.append(self.w_o((weights @ v).transpose(1, 2).flatten(2)))
        return tuple(new)
'''

HIDDEN = '''
def diffusion_loss(logits, ids, hidden, t):
    if not ((t > 0) & (t <= 1)).all():
        raise ValueError(f"t={{t.tolist()}}")
    nats = F.cross_entropy(logits.transpose(1, 2), ids, reduction="none")
    return {end}
'''

LISTED = (
    Listed("12b.1", "sums below 1 let through", APART.format(bad="joint.sum() > 1 + 1e-4")),
    Listed("12b.1", "a tolerance of a tenth", APART.format(bad="abs(joint.sum().item() - 1) > 0.1")),
    Listed("12b.2", "only repeated positions refused", factors(bad="len(set(places)) != len(places)")),
    Listed("12b.2", "negative positions let through", factors(bad="sorted(i % n for i in places) != list(range(n))")),
    Listed("12b.2", "the order as NumPy writes it", factors(message="{order.numpy()}"), right=True),
    Listed("12b.2", "the order with arrows", factors(message="{' → '.join(map(str, places))}"), right=True),
    Listed("12b.2", "a list instead of a tensor", factors(end="[float(x) for x in found]"), never=("uple instead of",)),
    Listed("12b.3", "as many different positions as entries", masks(bad="len(set(order.tolist())) != n")),
    Listed("12b.3", "positions with the right sum", masks(bad="order.sum() != n * (n - 1) / 2")),
    Listed("12b.3", "the order as NumPy writes it", masks(message="{order.numpy()}"), right=True),
    Listed("12b.3", "the order with arrows", masks(message="{' → '.join(map(str, order.tolist()))}"), right=True),
    Listed("12b.4", "empty rows mended behind the softmax", LAYER.format(bad='''if d_model % num_heads:
            raise ValueError(f"d_model={d_model}, num_heads={num_heads}")'''), right=True),
    Listed("12b.4", "assert instead of ValueError", LAYER.format(bad='assert d_model % num_heads == 0, f"{d_model}, {num_heads}"'),
           says=("ValueError",), never=("by accident",)),
    Listed("12b.5", "the logarithm of a softmax", '''
def partial_loss(logits, ids, orders, k):
    log_p = logits.softmax(-1).log()
    chosen = orders[:, ids.shape[1] - k:]
    losses = -log_p.gather(-1, ids[..., None])[..., 0]
    return losses.gather(1, chosen).mean()
''', says=("Logarithm of a softmax",)),
    Listed("12b.5", "the last half instead of k", '''
def partial_loss(logits, ids, orders, k):
    log_p = logits.log_softmax(-1)
    chosen = orders[:, ids.shape[1] // 2:]
    losses = -log_p.gather(-1, ids[..., None])[..., 0]
    return losses.gather(1, chosen).mean()
''', says=("Last half of each order",)),
    Listed("12b.7", "the mean over the gaps, as in 09", HIDDEN.format(end="nats[hidden].mean()"), says=("lain mean over the gaps",)),
    Listed("12b.7", "the mean over all gaps, weighted afterwards", HIDDEN.format(end="(nats[hidden].mean() / t).mean()"),
           says=("ne mean for the batch",)),
    Listed("12b.1", "a word that never occurs", APART.format(bad="abs(joint.sum().item() - 1) > 1e-4").replace(
        "(joint[seen] * (joint[seen] / product[seen]).log()).sum()", "(joint * (joint.clamp_min(1e-12) / product).log()).sum()"),
        says=("word that never occurs",)),
    Listed("12b.7", "the mean of each sentence's gaps, and divided by t",
           HIDDEN.format(end="((nats * hidden).sum(1) / hidden.sum(1).clamp_min(1) / t).mean()"), says=("ean of each sentence",)),
    Listed("12b.7", "the hidden words selected", HIDDEN.format(end="(nats / t[:, None])[hidden].sum() / len(ids)"), right=True),
)
