"""Chapter 13a."""

from . import Listed

MERGE = '''
def merge(a, b):
    {first}
    m = torch.maximum(a[0], b[0])
    x, y = ((z - {base}).exp() for z in (a[0], b[0]))
    return m, x * a[1] + y * b[1], x[:, None] * a[2] + y[:, None] * b[2]
'''

ROWS = '''
def attention_in_blocks(query, key, value, size):
    if size < 1:
        raise ValueError(f"{{size}} keys in a block")
    m, s, o = torch.full((len(query),), {start}), 0, 0
    for k, v in zip(key.split(size), value.split(size)):
        x = query @ k.T / query.shape[1] ** 0.5
        new = {new}
        old, e = (m - new).exp(), (x - new[:, None]).exp()
        m, s, o = new, old * s + e.sum(1), old[:, None] * o + e @ v
    return o / s[:, None], {lse}
'''


def rows(start="-torch.inf", new="torch.maximum(m, x.amax(1))", lse="m + s.log()"):
    return ROWS.format(start=start, new=new, lse=lse)


GRADIENTS = '''
def block_gradients(q, k, v, grad, output, lse):
    root = math.sqrt(q.shape[1])
    p = {p}
    dx = p * (grad @ v.T - {share}) / root
    return dx @ k, dx.T @ q, p.T @ grad
'''


def gradients(p="(q @ k.T / root - lse[:, None]).exp()", share="(grad * output).sum(1, keepdim=True)"):
    return GRADIENTS.format(p=p, share=share)


GROWTH = '''
prediction_of_growth = {{
    "n doubles: weights kept by plain attention": "quadruples",
    "n doubles: bytes kept by blocks": "doubles",
    "n doubles: arithmetic of blocks": "{arithmetic}",
    "n doubles: bytes moved by blocks, same block size": "quadruples",
    "n doubles: bytes moved by blocks, block of twice the rows": "doubles",
    "n doubles: key/value cache": "doubles",
    "batch doubles: key/value caches together": "doubles",
    "batch doubles: parameters read for one step of writing": "{stays}",
    "batch doubles: arithmetic of one step of writing": "doubles",
}}
'''

BITS = '''
def to_few_bits(x, bits, group=None):
    group = group or x.shape[1]
    if x.shape[1] % group:
        raise ValueError(f"{{x.shape[1]}} columns, groups of {{group}}")
    parts = x.unflatten(1, (-1, group))
    scale = {size} / (2 ** (bits - 1) - 1)
    scale = {mended}
    return {codes}.flatten(1), scale
'''


def bits(size="parts.abs().amax(2)", mended="scale.masked_fill(scale == 0, 1)", codes="(parts / scale[..., None]).round()"):
    return BITS.format(size=size, mended=mended, codes=codes)


REPAIR = '''
def accept_or_repair(p, q, token, u, w):
    ratio = p.gather(1, token[:, None]) / q.gather(1, token[:, None])
    accepted = u < ratio[:, 0]
    left = {left}
    running = left.cumsum(1) {divided}
    return torch.where(accepted, token, {new}), accepted
'''


def repair(left="(p - q).relu()", divided="/ left.sum(1, keepdim=True)", new="(running <= w[:, None]).sum(1)"):
    return REPAIR.format(left=left, divided=divided, new=new)


LISTED = (
    Listed("13a.1", "pieces that are empty as a whole alone", MERGE.format(
        first="if (a[0] == -torch.inf).all():\n        return b\n    if (b[0] == -torch.inf).all():\n        return a", base="m"),
        says=("othing only as a whole",)),
    Listed("13a.1", "the maximum of nothing is 0", MERGE.format(first="", base="m.nan_to_num(neginf=0)").replace(
        "return m,", "return m.nan_to_num(neginf=0),"), says=("othing has maximum 0",)),
    Listed("13a.1", "relative to the first piece", '''
def merge(a, b):
    f = (b[0] - a[0]).exp()
    return a[0], a[1] + f * b[1], a[2] + f[:, None] * b[2]
''', says=("elative to the first piece",)),
    Listed("13a.1", "a very negative number subtracted", MERGE.format(first="", base="m.clamp_min(-1e30)"), right=True),
    Listed("13a.2", "the running maximum begins at 0", rows(start="0.0"), says=("unning maximum begins at 0",)),
    Listed("13a.2", "the maximum of the first block", rows(new="m if torch.is_tensor(s) else x.amax(1)"),
           says=("aximum of the first block",)),
    Listed("13a.2", "the maximum of the latest block", rows(new="x.amax(1)"), says=("aximum of the latest block",)),
    Listed("13a.2", "one maximum for all rows", rows(new="torch.maximum(m, x.max())"), says=("ne maximum for all rows",)),
    Listed("13a.2", "the exponential before the logarithm", rows(lse="(m.exp() * s).log()"), says=("ogarithm taken too late",),
           never=("without the logarithm",)),
    Listed("13a.2", "the running maximum begins at the smallest number", rows(start="torch.finfo(torch.float).min"), right=True),
    Listed("13a.3", "divided by the log-sum-exp", gradients(p="(q @ k.T / root).exp() / lse[:, None]"),
           says=("ivided by the log-sum-exp",)),
    Listed("13a.3", "one share for all rows", gradients(share="(grad * output).sum()"), says=("ne share for all rows",)),
    Listed("13a.3", "weights of scores that are not divided", gradients(p="(q @ k.T - lse[:, None]).exp()"),
           says=("eights of unscaled scores",)),
    Listed("13a.3", "the output subtracted from the values", '''
def block_gradients(q, k, v, grad, output, lse):
    root = math.sqrt(q.shape[1])
    p = (q @ k.T / root - lse[:, None]).exp()
    dx = p * torch.einsum("rv,rcv->rc", grad, v[None] - output[:, None]) / root
    return dx @ k, dx.T @ q, p.T @ grad
''', right=True),
    Listed("13a.4", "linear arithmetic", GROWTH.format(arithmetic="doubles", stays="stays"), says=("less arithmetic",)),
    Listed("13a.4", "capital letters and blanks", GROWTH.format(arithmetic="Quadruples ", stays=" STAYS"), right=True),
    Listed("13a.5", "tiny numbers taken for zeros", bits(mended="scale.masked_fill(scale < 1e-6, 1)"),
           says=("iny numbers taken for zeros",)),
    Listed("13a.5", "whole numbers of eight bits", bits(codes="(parts / scale[..., None]).round().to(torch.int8)"),
           says=("odes kept in eight bits",)),
    Listed("13a.5", "a group of zeros sets all scales to 1", bits(mended="torch.ones_like(scale) if (scale == 0).any() else scale"),
           says=("ne group of zeros for all",), never=("cuts the decimals off",)),
    Listed("13a.5", "no scale below 1", bits(mended="scale.clamp(min=1)"), says=("cales below one raised",), never=("has no effect",)),
    Listed("13a.5", "a tiny scale for zeros", bits(mended="scale.clamp_min(1e-12)"), says=("or close to it",)),
    Listed("13a.5", "halves rounded up", bits(codes="(parts / scale[..., None] + 0.5).floor()"), right=True),
    Listed("13a.6", "a running sum equal to w", repair(new="(running < w[:, None]).sum(1)"), says=("qual running sum taken",)),
    Listed("13a.6", "searchsorted from the left", repair(new="torch.searchsorted(running, w[:, None])[:, 0]"),
           says=("qual running sum taken",)),
    Listed("13a.6", "running sums end below 1", repair(divided=""), says=("unning sums end below one",)),
    Listed("13a.6", "negative differences kept", repair(left="p - q", divided="/ (p - q).relu().sum(1, keepdim=True)"),
           says=("egative differences kept",)),
    Listed("13a.6", "searchsorted from the right", repair(new="torch.searchsorted(running, w[:, None], right=True)[:, 0]"), right=True),
)
