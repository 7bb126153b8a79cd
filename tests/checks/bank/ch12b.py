"""Chapter 12b: answers written from the blank notebook."""

from . import Answer, edit

APART = """
def guessed_apart(joint):
    total = joint.sum()
    if abs(total.item() - 1) > 1e-4:
        raise ValueError(f"probabilities add up to {total.item()}")
    product = torch.outer(joint.sum(1), joint.sum(0))
    occurs = joint > 0
    lost = (joint[occurs] * (joint[occurs].log() - product[occurs].log())).sum()
    return product, lost
"""

FACTORS = """
def factors(joint, sentence, order):
    n = joint.dim()
    if sorted(order.tolist()) != list(range(n)):
        raise ValueError(f"the order {order.tolist()} does not name each of {n} positions once")
    index, before, found = [slice(None)] * n, joint.sum(), []
    for i in order.tolist():
        index[i] = int(sentence[i])
        now = joint[tuple(index)].sum()
        found.append(now / before)
        before = now
    return torch.stack(found)
"""

MASKS = """
def order_masks(order):
    n = len(order)
    if sorted(order.tolist()) != list(range(n)):
        raise ValueError(f"no order of {n} positions: {order.tolist()}")
    turn = order.argsort()
    content = turn[:, None] >= turn[None, :]
    query = turn[:, None] > turn[None, :]
    return content, query
"""

STREAMS = """
class TwoStreamAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model {d_model} is not divisible by num_heads {num_heads}")
        self.num_heads = num_heads
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, x):
        batch, n, d_model = x.shape
        return x.reshape(batch, n, self.num_heads, d_model // self.num_heads).transpose(1, 2)

    def attend(self, q, k, v, mask):
        mask = mask.unsqueeze(-3)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = scores.masked_fill(~mask, -1e9).softmax(-1) * mask
        mixed = (weights @ v).transpose(1, 2).flatten(2)
        return self.w_o(mixed)

    def forward(self, h, g, content, query):
        k, v = self.split(self.w_k(h)), self.split(self.w_v(h))
        new_h = self.attend(self.split(self.w_q(h)), k, v, content)
        new_g = self.attend(self.split(self.w_q(g)), k, v, query)
        return new_h, new_g
"""

PARTIAL = """
def partial_loss(logits, ids, orders, k):
    log_p = logits.log_softmax(-1)
    chosen = orders[:, -k:]
    losses = -log_p.gather(-1, ids[..., None])[..., 0]
    return losses.gather(1, chosen).sum() / chosen.numel()
"""

HIDDEN = """
def diffusion_loss(logits, ids, hidden, t):
    if ((t <= 0) | (t > 1)).any():
        raise ValueError(f"t must be above 0 and at most 1: {t.tolist()}")
    log_p = logits.log_softmax(-1)
    nats = -log_p.gather(-1, ids[..., None])[..., 0]
    return ((nats * hidden).sum(1) / t).mean()
"""

COUNTS = """
prediction = {
    "pairs that the content mask of 3→2→4→1 allows": 10,
    "pairs that its query mask allows": 6,
    "tokens that a token of 9 sees before its turn, on average over all orders": 4,
    "New York and Los Angeles, half each: probability of no city, both words guessed at once": 0.5,
    "four such cities, a quarter each: bits lost by guessing both words at once": 2,
    "parameters only the query stream has, width 768": 768,
}
"""

BANK = (
    # 12b.1 two words guessed apart
    Answer("12b.1", "a right answer: outer product, the pairs that occur are selected", APART, right=True),
    Answer("12b.1", "a right answer: broadcasting, and xlogy for the zeros", """
def guessed_apart(joint):
    s = float(joint.sum())
    if not math.isclose(s, 1.0, abs_tol=1e-4):
        raise ValueError("sum is " + str(s))
    product = joint.sum(dim=1, keepdim=True) * joint.sum(dim=0, keepdim=True)
    return product, (torch.xlogy(joint, joint) - torch.xlogy(joint, product)).sum()
""", right=True),
    Answer("12b.1", "a right answer: entropies of both words less the entropy of the pair", """
def guessed_apart(joint):
    one, two = torch.einsum("ij->i", joint), torch.einsum("ij->j", joint)
    if (one.sum() - 1).abs() > 1e-4:
        raise ValueError(f"{one.sum():.4f} is not 1")
    entropy = lambda p: torch.special.entr(p).sum()
    return torch.einsum("i,j->ij", one, two), entropy(one) + entropy(two) - entropy(joint)
""", right=True),
    Answer("12b.1", "a right answer: two loops over the table", """
def guessed_apart(joint):
    total = sum(joint.flatten().tolist())
    if total < 0.9999 or total > 1.0001:
        raise ValueError(f"a table of probabilities adds up to 1, this one to {total}")
    rows, columns = joint.sum(1), joint.sum(0)
    product, lost = torch.zeros_like(joint), torch.zeros((), dtype=joint.dtype)
    for a in range(joint.shape[0]):
        for b in range(joint.shape[1]):
            product[a, b] = rows[a] * columns[b]
            if joint[a, b] > 0:
                lost = lost + joint[a, b] * torch.log(joint[a, b] / product[a, b])
    return product, lost
""", right=True),
    Answer("12b.1", "takes the logarithm of pairs that never occur: 0 times minus infinity is nan", edit(APART,
           "(joint[occurs] * (joint[occurs].log() - product[occurs].log())).sum()", "(joint * (joint / product).log()).sum()")),
    Answer("12b.1", "the mean over the pairs, each counted alike, not as often as it occurs", edit(APART,
           "(joint[occurs] * (joint[occurs].log() - product[occurs].log())).sum()",
           "(joint[occurs].log() - product[occurs].log()).mean()")),
    Answer("12b.1", "weighted, but averaged over the number of pairs instead of added up", edit(APART,
           "(joint[occurs] * (joint[occurs].log() - product[occurs].log())).sum()",
           "(joint[occurs] * (joint[occurs].log() - product[occurs].log())).mean()")),
    Answer("12b.1", "the difference is weighted by the product instead of by the true table", edit(APART,
           "(joint[occurs] * (", "(product[occurs] * (")),
    Answer("12b.1", "the sign is turned round: log product less log joint", edit(APART,
           "joint[occurs].log() - product[occurs].log()", "product[occurs].log() - joint[occurs].log()")),
    Answer("12b.1", "bits instead of nats", edit(APART, "joint[occurs].log() - product[occurs].log()",
           "joint[occurs].log2() - product[occurs].log2()")),
    Answer("12b.1", "sums over the wrong axes: the product is (second, first)",
           edit(APART, "torch.outer(joint.sum(1), joint.sum(0))", "torch.outer(joint.sum(0), joint.sum(1))")),
    Answer("12b.1", "takes the most frequent partner of each word instead of adding up its row or column",
           edit(APART, "torch.outer(joint.sum(1), joint.sum(0))", "torch.outer(joint.amax(1), joint.amax(0))")),
    Answer("12b.1", "each word's frequency is replaced by how many partners it has", edit(APART,
           "product = torch.outer(joint.sum(1), joint.sum(0))",
           "pairs = (joint > 0).float() / (joint > 0).sum()\n    product = torch.outer(pairs.sum(1), pairs.sum(0))")),
    Answer("12b.1", "demands a sum of exactly 1 and so refuses tables that are off by rounding",
           edit(APART, "abs(total.item() - 1) > 1e-4", "total.item() != 1")),
    Answer("12b.1", "only sums above 1 are refused, smaller ones pass",
           edit(APART, "abs(total.item() - 1) > 1e-4", "total.item() > 1.0001")),
    Answer("12b.1", "makes a table that does not add up to 1 add up to 1 instead of raising", edit(APART,
           """    total = joint.sum()
    if abs(total.item() - 1) > 1e-4:
        raise ValueError(f"probabilities add up to {total.item()}")
""", "    joint = joint / joint.sum()\n")),
    Answer("12b.1", "checks each row for a sum of 1, as if they were conditional probabilities", edit(APART,
           "if abs(total.item() - 1) > 1e-4:", "if ((joint.sum(1) - 1).abs() > 1e-4).any():")),
    Answer("12b.1", "returns the product alone", edit(APART, "return product, lost", "return product")),
    Answer("12b.1", "half finished: every pair gets the same probability", edit(APART, "torch.outer(joint.sum(1), joint.sum(0))",
           "torch.full_like(joint, 1 / joint.numel())")),

    # 12b.2 one sentence, any order
    Answer("12b.2", "a right answer: an index that is filled place by place", FACTORS, right=True),
    Answer("12b.2", "a right answer: the axes in the sequence of the order, and the table gets smaller", """
def factors(joint, sentence, order):
    if not torch.equal(order.sort().values, torch.arange(joint.dim())):
        raise ValueError("bad order: " + str(order))
    table, result = joint.permute(*order.tolist()), []
    for word in sentence[order].tolist():
        first = table.reshape(len(table), -1).sum(1)          # joint with all that is known, (words,)
        result.append(first[word] / first.sum())
        table = table[word]
    return torch.stack(result)
""", right=True),
    Answer("12b.2", "a right answer: all probabilities of what is known first, then quotients", """
def factors(joint, sentence, order):
    n, places = joint.ndim, [int(i) for i in order]
    if len(places) != n or set(places) != set(range(n)):
        raise ValueError(f"{tuple(places)} is no order of 0 to {n - 1}")

    def probability(known):
        return joint[tuple(sentence[i].item() if i in known else slice(None) for i in range(n))].sum()

    totals = torch.stack([probability(places[:t]) for t in range(n + 1)])
    return totals[1:] / totals[:-1]
""", right=True),
    Answer("12b.2", "a right answer: sentences that do not fit are set to 0", """
def factors(joint, sentence, order):
    n = len(joint.shape)
    counts = [order.tolist().count(i) for i in range(n)]
    if counts != [1] * n or len(order) != n:
        raise ValueError(f"order {order}")
    left, out = joint, joint.new_empty(n)
    for t in range(n):
        place = int(order[t])
        shape = [1] * n
        shape[place] = joint.shape[place]
        fits = (torch.arange(joint.shape[place]) == sentence[place]).view(shape)
        smaller = left * fits
        out[t] = smaller.sum() / left.sum()
        left = smaller
    return out
""", right=True),
    Answer("12b.2", "the probability of everything known, without dividing by what was known before",
           edit(FACTORS, "found.append(now / before)", "found.append(now)")),
    Answer("12b.2", "conditions on nothing: each word's own frequency", """
def factors(joint, sentence, order):
    n = joint.dim()
    if sorted(order.tolist()) != list(range(n)):
        raise ValueError(f"the order {order.tolist()} does not name each of {n} positions once")
    found = []
    for i in order.tolist():
        others = [j for j in range(n) if j != i]
        found.append(joint.sum(others)[sentence[i]])
    return torch.stack(found)
"""),
    Answer("12b.2", "conditions on all other words of the sentence, also on those whose turn comes later", """
def factors(joint, sentence, order):
    n = joint.dim()
    if sorted(order.tolist()) != list(range(n)):
        raise ValueError(f"the order {order.tolist()} does not name each of {n} positions once")
    found = []
    for i in order.tolist():
        index = sentence.tolist()
        now = joint[tuple(index)]
        index[i] = slice(None)
        found.append(now / joint[tuple(index)].sum())
    return torch.stack(found)
"""),
    Answer("12b.2", "the order is ignored: always from left to right", edit(FACTORS, "for i in order.tolist():", "for i in range(n):")),
    Answer("12b.2", "reads the order as turns: uses its inverse",
           edit(FACTORS, "for i in order.tolist():", "for i in order.argsort().tolist():")),
    Answer("12b.2", "the factors stand at their position in the sentence, not in the sequence of the order",
           edit(FACTORS, "return torch.stack(found)", "return torch.stack(found)[order.argsort()]")),
    Answer("12b.2", "takes the words in the sequence of the sentence while the places follow the order", edit(FACTORS,
           """    for i in order.tolist():
        index[i] = int(sentence[i])
""", """    for t, i in enumerate(order.tolist()):
        index[i] = int(sentence[t])
""")),
    Answer("12b.2", "divides by the factor before instead of by the probability of all that was known before: right for two words",
           edit(FACTORS, "        before = now\n", "        before = found[-1]\n")),
    Answer("12b.2", "unknown words are not added up: takes the most probable one", """
def factors(joint, sentence, order):
    n = joint.dim()
    if sorted(order.tolist()) != list(range(n)):
        raise ValueError(f"the order {order.tolist()} does not name each of {n} positions once")
    index, before, found = [slice(None)] * n, joint.max(), []
    for i in order.tolist():
        index[i] = int(sentence[i])
        now = joint[tuple(index)].max()
        found.append(now / before)
        before = now
    return torch.stack(found)
"""),
    Answer("12b.2", "written for three positions only", """
def factors(joint, sentence, order):
    if sorted(order.tolist()) != [0, 1, 2]:
        raise ValueError(f"not an order: {order.tolist()}")
    i, j, k = order.tolist()
    table = joint.permute(i, j, k)
    a, b, c = sentence[order].tolist()
    one = table[a].sum()
    two = table[a, b].sum()
    return torch.stack([one, two / one, table[a, b, c] / two])
"""),
    Answer("12b.2", "checks only how many positions the order has, not that each is named once",
           edit(FACTORS, "sorted(order.tolist()) != list(range(n))", "len(order) != n")),
    Answer("12b.2", "checks only that no position is named twice: a negative or missing position passes",
           edit(FACTORS, "sorted(order.tolist()) != list(range(n))", "len(set(order.tolist())) != len(order)")),
    Answer("12b.2", "logarithms of the factors instead of the factors",
           edit(FACTORS, "return torch.stack(found)", "return torch.stack(found).log()")),
    Answer("12b.2", "returns the product of the factors", edit(FACTORS, "return torch.stack(found)", "return torch.stack(found).prod()")),
    Answer("12b.2", "prints the factors and returns nothing", edit(FACTORS, "return torch.stack(found)", "print(torch.stack(found))")),

    # 12b.3 an order as two masks
    Answer("12b.3", "a right answer: turns by argsort, compared by broadcasting", MASKS, right=True),
    Answer("12b.3", "a right answer: two loops, each place marks those that have gone before", """
def order_masks(order):
    places = [int(i) for i in order]
    n = len(places)
    if set(places) != set(range(n)):
        raise ValueError(f"order {places}")
    query = torch.zeros(n, n).bool()
    for t in range(n):
        for earlier in places[:t]:
            query[places[t], earlier] = True
    return query | torch.eye(n).bool(), query
""", right=True),
    Answer("12b.3", "a right answer: a triangle, scattered to the places of the order", """
def order_masks(order):
    n = order.numel()
    if not torch.equal(order.sort()[0], torch.arange(n)):
        raise ValueError(str(order))
    triangle = torch.ones(n, n, dtype=torch.bool).tril()
    content = torch.empty_like(triangle)
    content[order[:, None], order[None, :]] = triangle
    return content, content & ~torch.eye(n, dtype=torch.bool)
""", right=True),
    Answer("12b.3", "a right answer: turns by scatter, rows of comparisons stacked", """
def order_masks(order):
    n = order.shape[0]
    if not torch.isin(torch.arange(n), order).all():
        raise ValueError(f"each of 0 to {n - 1} has to occur once in {order}")
    turns = torch.zeros(n, dtype=torch.long)
    turns[order] = torch.arange(n)
    content = torch.stack([turns.le(turn) for turn in turns])
    query = torch.stack([turns.lt(turn) for turn in turns])
    return content, query
""", right=True),
    Answer("12b.3", "takes the order itself for the turns: argsort is missing", edit(MASKS, "order.argsort()", "order")),
    Answer("12b.3", "rows and columns exchanged: positions see the later turns",
           edit(edit(MASKS, "turn[:, None] >= turn[None, :]", "turn[:, None] <= turn[None, :]"),
                "turn[:, None] > turn[None, :]", "turn[:, None] < turn[None, :]")),
    Answer("12b.3", "the query mask keeps the diagonal", edit(MASKS, "turn[:, None] > turn[None, :]", "turn[:, None] >= turn[None, :]")),
    Answer("12b.3", "the content mask lacks the position itself",
           edit(MASKS, "turn[:, None] >= turn[None, :]", "turn[:, None] > turn[None, :]")),
    Answer("12b.3", "query and content are returned the wrong way round", edit(MASKS, "return content, query", "return query, content")),
    Answer("12b.3", "True means forbidden", edit(MASKS, "return content, query", "return ~content, ~query")),
    Answer("12b.3", "only the rows of the triangle follow the order, the columns do not", """
def order_masks(order):
    n = len(order)
    if sorted(order.tolist()) != list(range(n)):
        raise ValueError(f"no order of {n} positions: {order.tolist()}")
    turn = order.argsort()
    content = torch.ones(n, n, dtype=torch.bool).tril()[turn]
    query = torch.ones(n, n, dtype=torch.bool).tril(-1)[turn]
    return content, query
"""),
    Answer("12b.3", "the plain triangle, as if words were moved: the order is not used", """
def order_masks(order):
    n = len(order)
    if sorted(order.tolist()) != list(range(n)):
        raise ValueError(f"no order of {n} positions: {order.tolist()}")
    content = torch.ones(n, n).tril().bool()
    return content, torch.ones(n, n).tril(-1).bool()
"""),
    Answer("12b.3", "permutes the triangle by the order instead of by its inverse", """
def order_masks(order):
    n = len(order)
    if sorted(order.tolist()) != list(range(n)):
        raise ValueError(f"no order of {n} positions: {order.tolist()}")
    content = torch.ones(n, n, dtype=torch.bool).tril()[order][:, order]
    query = torch.ones(n, n, dtype=torch.bool).tril(-1)[order][:, order]
    return content, query
"""),
    Answer("12b.3", "sees only the turn immediately before, not all earlier ones", edit(
           edit(MASKS, "turn[:, None] >= turn[None, :]", "(turn[:, None] - turn[None, :] == 1) | torch.eye(n, dtype=torch.bool)"),
           "turn[:, None] > turn[None, :]", "turn[:, None] - turn[None, :] == 1")),
    Answer("12b.3", "counts the positions from 1, as the text does, and refuses an order from 0", edit(MASKS,
           "sorted(order.tolist()) != list(range(n))", "sorted(order.tolist()) != list(range(1, n + 1))")),
    Answer("12b.3", "looks only at the largest position: an order that names one twice passes",
           edit(MASKS, "sorted(order.tolist()) != list(range(n))", "order.max() != n - 1")),
    Answer("12b.3", "looks only for positions named twice: an order with a gap or from 1 passes",
           edit(MASKS, "sorted(order.tolist()) != list(range(n))", "len(set(order.tolist())) != n")),
    Answer("12b.3", "masks of 0 and minus infinity instead of boolean ones", edit(MASKS, "return content, query",
           "shut = [torch.zeros(n, n).masked_fill(~mask, float('-inf')) for mask in (content, query)]\n    return tuple(shut)")),
    Answer("12b.3", "returns the content mask alone", edit(MASKS, "return content, query", "return content")),

    # 12b.4 attention with two streams
    Answer("12b.4", "a right answer: one helper for both streams", STREAMS, right=True),
    Answer("12b.4", "a right answer: einsum, and an exponential that is masked and divided by its sum", """
class TwoStreamAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{num_heads} heads do not divide a width of {d_model}")
        self.heads, self.width = num_heads, d_model // num_heads
        for name in ("w_q", "w_k", "w_v", "w_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, h, g, content, query):
        cut = lambda x: x.unflatten(-1, (self.heads, self.width))        # (batch, n, head, width)
        keys, values = cut(self.w_k(h)), cut(self.w_v(h))
        new = []
        for stream, mask in ((h, content), (g, query)):
            scores = torch.einsum("bihd,bjhd->bhij", cut(self.w_q(stream)), keys) * self.width**-0.5
            allowed = mask if mask.dim() == 2 else mask[:, None]
            scores = torch.where(allowed, scores, torch.full_like(scores, -1e30))
            e = (scores - scores.amax(-1, keepdim=True).detach()).exp() * allowed
            total = e.sum(-1, keepdim=True)
            weights = e / (total + (total == 0))
            mixed = torch.einsum("bhij,bjhd->bihd", weights, values)
            new.append(self.w_o(mixed.flatten(-2)))
        return tuple(new)
""", right=True),
    Answer("12b.4", "a right answer: both streams ask at once, one below the other", """
class TwoStreamAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model // num_heads * num_heads != d_model:
            raise ValueError(f"cannot cut {d_model} features into {num_heads} heads")
        self.h = num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))

    def forward(self, h, g, content, query):
        batch, n, d = h.shape
        mask = torch.cat([content.expand(batch, n, n), query.expand(batch, n, n)], dim=1)[:, None]   # (batch, 1, 2n, n)
        q = self.w_q(torch.cat([h, g], dim=1)).reshape(batch, 2 * n, self.h, -1).permute(0, 2, 1, 3)
        k = self.w_k(h).reshape(batch, n, self.h, -1).permute(0, 2, 3, 1)
        v = self.w_v(h).reshape(batch, n, self.h, -1).permute(0, 2, 1, 3)
        scores = torch.matmul(q, k) / (d // self.h) ** 0.5
        weights = F.softmax(scores.masked_fill(mask.logical_not(), torch.finfo(scores.dtype).min), dim=-1)
        weights = weights.masked_fill(mask.logical_not(), 0.0)
        out = self.w_o((weights @ v).permute(0, 2, 1, 3).reshape(batch, 2 * n, d))
        return out[:, :n], out[:, n:]
""", right=True),
    Answer("12b.4", "a right answer: head by head with slices", """
class TwoStreamAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads > 0:
            raise ValueError("d_model = {}, num_heads = {}".format(d_model, num_heads))
        self.d_head, self.num_heads = d_model // num_heads, num_heads
        linear = lambda: nn.Linear(d_model, d_model, bias=False)
        self.w_q = linear()
        self.w_k = linear()
        self.w_v = linear()
        self.w_o = linear()

    def one(self, asking, h, allowed):
        q, k, v = self.w_q(asking), self.w_k(h), self.w_v(h)
        parts = []
        for first in range(0, self.num_heads * self.d_head, self.d_head):
            part = slice(first, first + self.d_head)
            scores = q[..., part] @ k[..., part].mT / math.sqrt(self.d_head)
            safe = torch.where(allowed, scores, torch.tensor(-1e9, dtype=scores.dtype))
            parts.append(torch.where(allowed, safe.softmax(-1), 0.0) @ v[..., part])
        return self.w_o(torch.cat(parts, dim=-1))

    def forward(self, h, g, content, query):
        return self.one(h, h, content), self.one(g, h, query)
""", right=True),
    Answer("12b.4", "the query stream takes its keys and values from itself instead of from h", edit(STREAMS,
           "        new_g = self.attend(self.split(self.w_q(g)), k, v, query)\n",
           """        k, v = self.split(self.w_k(g)), self.split(self.w_v(g))
        new_g = self.attend(self.split(self.w_q(g)), k, v, query)
""")),
    Answer("12b.4", "the query stream reads the new content stream instead of the old one", edit(STREAMS,
           "        new_g = self.attend(self.split(self.w_q(g)), k, v, query)\n",
           """        k, v = self.split(self.w_k(new_h)), self.split(self.w_v(new_h))
        new_g = self.attend(self.split(self.w_q(g)), k, v, query)
""")),
    Answer("12b.4", "the two masks are exchanged", edit(edit(STREAMS, "k, v, content)", "k, v, query)"),
           "new_g = self.attend(self.split(self.w_q(g)), k, v, query)", "new_g = self.attend(self.split(self.w_q(g)), k, v, content)")),
    Answer("12b.4", "both streams use the content mask, so g reads the word it has to predict", edit(STREAMS,
           "k, v, query)", "k, v, content)")),
    Answer("12b.4", "both streams ask with the queries of h", edit(STREAMS, "self.split(self.w_q(g))", "self.split(self.w_q(h))")),
    Answer("12b.4", "a position that may attend to nothing gets the mean of all values instead of 0",
           edit(STREAMS, ".softmax(-1) * mask", ".softmax(-1)")),
    Answer("12b.4", "minus infinity as score: a row without any allowed position becomes nan", edit(STREAMS,
           "scores.masked_fill(~mask, -1e9).softmax(-1) * mask", "scores.masked_fill(~mask, float('-inf')).softmax(-1)")),
    Answer("12b.4", "the mask is only multiplied to the weights after the softmax: the rest does not add up to 1",
           edit(STREAMS, "scores.masked_fill(~mask, -1e9).softmax(-1) * mask", "scores.softmax(-1) * mask")),
    Answer("12b.4", "1e-9 for -1e9: forbidden positions get a score near 0 and take part in the sum",
           edit(STREAMS, "-1e9", "1e-9")),
    Answer("12b.4", "divides by the root of d_model, not of the width of a head", edit(STREAMS,
           "math.sqrt(q.shape[-1])", "math.sqrt(q.shape[-1] * self.num_heads)")),
    Answer("12b.4", "the linear layer w_v has a bias", edit(STREAMS,
           "self.w_v = nn.Linear(d_model, d_model, bias=False)", "self.w_v = nn.Linear(d_model, d_model)")),
    Answer("12b.4", "the output layer w_o is never applied", edit(STREAMS, "return self.w_o(mixed)", "return mixed")),
    Answer("12b.4", "heads take every num_heads-th feature instead of neighbouring ones", edit(edit(STREAMS,
           "x.reshape(batch, n, self.num_heads, d_model // self.num_heads).transpose(1, 2)",
           "x.reshape(batch, n, d_model // self.num_heads, self.num_heads).permute(0, 3, 1, 2)"),
           "(weights @ v).transpose(1, 2).flatten(2)", "(weights @ v).permute(0, 2, 3, 1).flatten(2)")),
    Answer("12b.4", "a reshape without a transpose when the heads are cut: positions and features get mixed", edit(STREAMS,
           "x.reshape(batch, n, self.num_heads, d_model // self.num_heads).transpose(1, 2)",
           "x.reshape(batch, self.num_heads, n, d_model // self.num_heads)")),
    Answer("12b.4", "the heads are joined without transposing back", edit(STREAMS,
           "(weights @ v).transpose(1, 2).flatten(2)", "(weights @ v).reshape(q.shape[0], q.shape[2], -1)")),
    Answer("12b.4", "masks (batch, n, n) have no place for the heads: only masks (n, n) work", edit(STREAMS,
           "        mask = mask.unsqueeze(-3)\n", "")),
    Answer("12b.4", "of masks (batch, n, n) only the first one is used, for all sentences", edit(STREAMS,
           "mask = mask.unsqueeze(-3)", "mask = mask if mask.dim() == 2 else mask[0]")),
    Answer("12b.4", "the query stream has query weights of its own, not the same ones", edit(edit(STREAMS,
           "        self.w_k = nn", "        self.w_g = nn.Linear(d_model, d_model, bias=False)\n        self.w_k = nn"),
           "self.split(self.w_q(g))", "self.split(self.w_g(g))")),
    Answer("12b.4", "the inputs are added as a residual although attention alone is asked for",
           edit(STREAMS, "return new_h, new_g", "return h + new_h, g + new_g")),
    Answer("12b.4", "dropout of 0.1 on the weights, which nobody asked for: results are random while training", edit(STREAMS,
           ".softmax(-1) * mask", ".softmax(-1) * mask\n        weights = F.dropout(weights, 0.1, self.training)")),
    Answer("12b.4", "no ValueError: a width that the heads do not divide is accepted and fails much later, if at all", edit(STREAMS,
           """        if d_model % num_heads:
            raise ValueError(f"d_model {d_model} is not divisible by num_heads {num_heads}")
""", "")),
    Answer("12b.4", "new g is returned before new h", edit(STREAMS, "return new_h, new_g", "return new_g, new_h")),
    Answer("12b.4", "the softmax runs over the queries instead of the keys", edit(STREAMS, ".softmax(-1) * mask", ".softmax(-2) * mask")),
    Answer("12b.4", "wraps PyTorch's multi-head attention, which is out of bounds, and has no w_q, w_k, w_v, w_o", """
class TwoStreamAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model} and {num_heads}")
        self.attention = nn.MultiheadAttention(d_model, num_heads, bias=False, batch_first=True)

    def forward(self, h, g, content, query):
        new_h = self.attention(h, h, h, attn_mask=~content)[0]
        new_g = self.attention(g, h, h, attn_mask=~query)[0]
        return new_h, new_g
"""),
    Answer("12b.4", "the weights are plain tensors, no layers: they are not registered and nothing trains them", """
class TwoStreamAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model {d_model} is not divisible by num_heads {num_heads}")
        self.num_heads = num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (torch.randn(d_model, d_model) / d_model**0.5 for _ in range(4))

    def attend(self, q, k, v, mask):
        q, k, v = (x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for x in (q, k, v))
        mask = mask.unsqueeze(-3)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = scores.masked_fill(~mask, -1e9).softmax(-1) * mask
        return (weights @ v).transpose(1, 2).flatten(2) @ self.w_o

    def forward(self, h, g, content, query):
        k, v = h @ self.w_k, h @ self.w_v
        return self.attend(h @ self.w_q, k, v, content), self.attend(g @ self.w_q, k, v, query)
"""),
    Answer("12b.4", "half finished: one stream only, g comes back as it was", edit(STREAMS,
           "new_g = self.attend(self.split(self.w_q(g)), k, v, query)", "new_g = g")),

    # 12b.5 partial prediction
    Answer("12b.5", "a right answer: the three faults repaired in place", PARTIAL, right=True),
    Answer("12b.5", "a right answer: cross-entropy on the rows that were gathered", """
def partial_loss(logits, ids, orders, k):
    n, vocab = logits.shape[1:]
    late = orders[:, n - k:]                                                 # (batch, k)
    rows = logits.gather(1, late[..., None].expand(-1, -1, vocab))           # (batch, k, vocab)
    return F.cross_entropy(rows.reshape(-1, vocab), ids.gather(1, late).reshape(-1))
""", right=True),
    Answer("12b.5", "a right answer: the turn of every position, and a mask", """
def partial_loss(logits, ids, orders, k):
    turn = orders.argsort(dim=-1)                                            # (batch, n), by position
    losses = F.cross_entropy(logits.transpose(1, 2), ids, reduction="none")  # (batch, n)
    return losses[turn >= orders.shape[1] - k].mean()
""", right=True),
    Answer("12b.5", "a right answer: two loops", """
def partial_loss(logits, ids, orders, k):
    total, count = 0.0, 0
    for sentence, words, order in zip(logits, ids, orders):
        for place in order.flip(0)[:k].tolist():
            total = total + torch.logsumexp(sentence[place], 0) - sentence[place, words[place]]
            count += 1
    return total / count
""", right=True),
    Answer("12b.5", "nothing repaired: the cell is left as it was", """
def partial_loss(logits, ids, orders, k):
    log_p = logits.log_softmax(-1)
    chosen = orders.argsort(-1)[:, :k]
    losses = -log_p.gather(-1, ids[..., None])[..., 0]
    return losses.gather(1, chosen).sum() / ids.numel()
"""),
    Answer("12b.5", "still divides by all tokens, not by the chosen ones", edit(PARTIAL, "chosen.numel()", "ids.numel()")),
    Answer("12b.5", "still takes the first k turns", edit(PARTIAL, "orders[:, -k:]", "orders[:, :k]")),
    Answer("12b.5", "still turns the order into turns and uses these as positions",
           edit(PARTIAL, "orders[:, -k:]", "orders.argsort(-1)[:, -k:]")),
    Answer("12b.5", "only the divisor is repaired", edit(PARTIAL, "orders[:, -k:]", "orders.argsort(-1)[:, :k]")),
    Answer("12b.5", "only the end of the order is repaired; the divisor and argsort are as they were", edit(edit(PARTIAL,
           "orders[:, -k:]", "orders.argsort(-1)[:, -k:]"), "chosen.numel()", "ids.numel()")),
    Answer("12b.5", "leaves out the first k turns instead of keeping the last k: right for half of the tokens only",
           edit(PARTIAL, "orders[:, -k:]", "orders[:, k:]")),
    Answer("12b.5", "off by one: the last turn is missing and an earlier one is taken",
           edit(PARTIAL, "orders[:, -k:]", "orders[:, -k - 1:-1]")),
    Answer("12b.5", "divides by k alone, so the loss grows with the batch", edit(PARTIAL, "chosen.numel()", "k")),
    Answer("12b.5", "divides by the number of sentences alone", edit(PARTIAL, "chosen.numel()", "len(ids)")),
    Answer("12b.5", "takes the words at the last k positions of the sentence; the order is ignored", edit(PARTIAL,
           "losses.gather(1, chosen).sum()", "losses[:, -k:].sum()")),
    Answer("12b.5", "logarithm of a softmax: logits in the hundreds give an infinite loss",
           edit(PARTIAL, "logits.log_softmax(-1)", "logits.softmax(-1).log()")),
    Answer("12b.5", "1e-9 in the logarithm: a confident mistake costs at most some twenty nats",
           edit(PARTIAL, "logits.log_softmax(-1)", "(logits.softmax(-1) + 1e-9).log()")),
    Answer("12b.5", "the row of the turn is compared with the word of the position", """
def partial_loss(logits, ids, orders, k):
    log_p = logits.log_softmax(-1)
    wanted = ids.gather(1, orders)                                           # words in the sequence of the order
    losses = -log_p.gather(-1, wanted[..., None])[..., 0]
    return losses[:, -k:].mean()
"""),
    Answer("12b.5", "one mean for each sentence, not one for the batch", edit(PARTIAL, "losses.gather(1, chosen).sum() / chosen.numel()",
           "losses.gather(1, chosen).mean(1)")),
    Answer("12b.5", "uses the order of the first sentence for the whole batch", edit(PARTIAL, "orders[:, -k:]",
           "orders[:1, -k:].expand(len(ids), k)")),

    # 12b.6 predictions
    Answer("12b.6", "a right answer: numbers", COUNTS, right=True),
    Answer("12b.6", "a right answer: written as the formulas they come from", """
n, cities = 4, 4
prediction = {
    "pairs that the content mask of 3→2→4→1 allows": n * (n + 1) // 2,
    "pairs that its query mask allows": n * (n - 1) // 2,
    "tokens that a token of 9 sees before its turn, on average over all orders": sum(range(9)) / 9,
    "New York and Los Angeles, half each: probability of no city, both words guessed at once": 2 * 0.5 * 0.5,
    "four such cities, a quarter each: bits lost by guessing both words at once": math.log2(cities),
    "parameters only the query stream has, width 768": torch.zeros(768).numel(),
}
""", right=True),
    Answer("12b.6", "a right answer: Fractions and floats, other sequence of the entries", """
from fractions import Fraction
prediction = dict([
    ("parameters only the query stream has, width 768", 768.0),
    ("four such cities, a quarter each: bits lost by guessing both words at once", 4.0 - 2.0),
    ("New York and Los Angeles, half each: probability of no city, both words guessed at once", Fraction(1, 2)),
    ("tokens that a token of 9 sees before its turn, on average over all orders", Fraction(8, 2)),
    ("pairs that its query mask allows", 0 + 1 + 2 + 3),
    ("pairs that the content mask of 3→2→4→1 allows", 1 + 2 + 3 + 4),
])
""", right=True),
    Answer("12b.6", "content and query mask exchanged",
           edit(edit(COUNTS, "4→1 allows\": 10", "4→1 allows\": 6"), "query mask allows\": 6", "query mask allows\": 10")),
    Answer("12b.6", "the content mask is taken to allow all 16 pairs", edit(COUNTS, "4→1 allows\": 10", "4→1 allows\": 16")),
    Answer("12b.6", "the query mask is taken to allow all but the diagonal",
           edit(COUNTS, "query mask allows\": 6", "query mask allows\": 12")),
    Answer("12b.6", "counts the token itself among those it sees before its turn",
           edit(COUNTS, "over all orders\": 4,", "over all orders\": 5,")),
    Answer("12b.6", "takes half of nine, but there are only eight others",
           edit(COUNTS, "over all orders\": 4,", "over all orders\": 4.5,")),
    Answer("12b.6", "sees all eight others, whatever the order", edit(COUNTS, "over all orders\": 4,", "over all orders\": 8,")),
    Answer("12b.6", "counts one of the two mixed pairs, Los York or New Angeles, not both",
           edit(COUNTS, "at once\": 0.5", "at once\": 0.25")),
    Answer("12b.6", "believes that both words fit each other although they are guessed apart",
           edit(COUNTS, "at once\": 0.5", "at once\": 0")),
    Answer("12b.6", "nats instead of bits: the natural logarithm of 4", edit(COUNTS, "at once\": 2,", "at once\": 1.386,")),
    Answer("12b.6", "the entropy of both words together, 4 bits, without taking off the 2 bits of the pair",
           edit(COUNTS, "at once\": 2,", "at once\": 4,")),
    Answer("12b.6", "a whole matrix of its own for the query stream, which shares all matrices",
           edit(COUNTS, "width 768\": 768", "width 768\": 589_824")),
    Answer("12b.6", "the start vector of the query stream is forgotten", edit(COUNTS, "width 768\": 768", "width 768\": 0")),
    Answer("12b.6", "half finished: the last entry is still None", edit(COUNTS, "width 768\": 768", "width 768\": None")),

    # 12b.7 the loss of masked diffusion
    Answer("12b.7", "a right answer: log-softmax, gather, a sum for each sentence", HIDDEN, right=True),
    Answer("12b.7", "a right answer: cross-entropy without reduction, other places set to 0", """
def diffusion_loss(logits, ids, hidden, t):
    if (t <= 0).any() or (t > 1).any():
        raise ValueError("t has to lie in (0, 1], got " + str(t))
    nats = F.cross_entropy(logits.transpose(1, 2), ids, reduction="none")
    return (nats.masked_fill(~hidden, 0.0) / t.unsqueeze(1)).sum() / len(ids)
""", right=True),
    Answer("12b.7", "a right answer: the hidden rows are selected, each with the weight of its sentence", """
def diffusion_loss(logits, ids, hidden, t):
    for value in t:
        if not 0 < value.item() <= 1:
            raise ValueError(f"t={value.item()}")
    weight = (1 / t)[:, None].expand(ids.shape)[hidden]
    nats = F.cross_entropy(logits[hidden], ids[hidden], reduction="none")
    return (weight * nats).sum() / ids.shape[0]
""", right=True),
    Answer("12b.7", "a right answer: a loop over the sentences", """
def diffusion_loss(logits, ids, hidden, t):
    losses = []
    for rows, words, gaps, share in zip(logits, ids, hidden, t):
        if share <= 0 or share > 1:
            raise ValueError(f"{share.item()} is no share of hidden words")
        total = torch.zeros(())
        for i in range(len(words)):
            if gaps[i]:
                total = total + torch.logsumexp(rows[i], 0) - rows[i, words[i]]
        losses.append(total / share)
    return torch.stack(losses).mean()
""", right=True),
    Answer("12b.7", "t is not used at all", edit(HIDDEN, "(nats * hidden).sum(1) / t", "(nats * hidden).sum(1)")),
    Answer("12b.7", "the mean over all gaps, as in BERT", edit(HIDDEN, "((nats * hidden).sum(1) / t).mean()", "nats[hidden].mean()")),
    Answer("12b.7", "the mean over all gaps, then divided by the mean t",
           edit(HIDDEN, "((nats * hidden).sum(1) / t).mean()", "nats[hidden].mean() / t.mean()")),
    Answer("12b.7", "the mean of each sentence's gaps, divided by t", edit(HIDDEN, "(nats * hidden).sum(1) / t",
           "(nats * hidden).sum(1) / hidden.sum(1).clamp(min=1) / t")),
    Answer("12b.7", "multiplied by t", edit(HIDDEN, ".sum(1) / t)", ".sum(1) * t)")),
    Answer("12b.7", "weighted by 1 / (1 - t)", edit(HIDDEN, ".sum(1) / t)", ".sum(1) / (1 - t + 1e-6))")),
    Answer("12b.7", "divided by the share that really came out hidden", edit(HIDDEN, ".sum(1) / t)",
           ".sum(1) / hidden.float().mean(1).clamp(min=1e-6))")),
    Answer("12b.7", "mean of an empty selection: 0 / 0 where nothing is hidden", edit(HIDDEN, "((nats * hidden).sum(1) / t).mean()",
           "torch.stack([nats[b][hidden[b]].mean() * hidden[b].sum() / t[b] for b in range(len(ids))]).mean()")),
    Answer("12b.7", "the mean over words instead of the sum", edit(HIDDEN, "(nats * hidden).sum(1)", "(nats * hidden).mean(1)")),
    Answer("12b.7", "the sum over the batch", edit(HIDDEN, "/ t).mean()", "/ t).sum()")),
    Answer("12b.7", "one number for each sentence", edit(HIDDEN, "/ t).mean()", "/ t)")),
    Answer("12b.7", "the words that were shown are counted", edit(HIDDEN, "nats * hidden", "nats * ~hidden")),
    Answer("12b.7", "all words are counted", edit(HIDDEN, "(nats * hidden).sum(1)", "nats.sum(1)")),
    Answer("12b.7", "logarithm of a softmax", edit(HIDDEN, "logits.log_softmax(-1)", "logits.softmax(-1).log()")),
    Answer("12b.7", "sentences without a gap are left out of the mean", edit(HIDDEN, "((nats * hidden).sum(1) / t).mean()",
           "((nats * hidden).sum(1) / t)[hidden.any(1)].mean()")),
    Answer("12b.7", "t = 0 is let through", edit(HIDDEN, "(t <= 0)", "(t < 0)")),
    Answer("12b.7", "t above 1 is let through", edit(HIDDEN, " | (t > 1)", "")),
    Answer("12b.7", "t = 1 is refused", edit(HIDDEN, "(t > 1)", "(t >= 1)")),
    Answer("12b.7", "bits", edit(HIDDEN, "/ t).mean()", "/ t).mean() / math.log(2)")),
    Answer("12b.7", "the sign is lost", edit(HIDDEN, "-log_p.gather", "log_p.gather")),
)
