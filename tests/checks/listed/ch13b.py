"""Chapter 13b."""

from . import Listed

FEATURES = '''
def fourier_features(x, frequencies):
    if x.shape[1] != frequencies.shape[1]:
        raise ValueError(f"{{x.shape[1]}} and {{frequencies.shape[1]}}")
    m = len(frequencies)
    angle = {angle}
    return {features}
'''


def features(angle="x @ frequencies.T", features="torch.hstack([angle.cos(), angle.sin()]) / m**0.5"):
    return FEATURES.format(angle=angle, features=features)


STEP = '''
def linear_step(written, counted, query, key, value):
    q, k = ({feature} for x in (query, key))
    written, counted = written + {new}, counted + k
    return {output}, written, counted
'''


def step(feature="F.elu(x) + 1", new="torch.outer(k, value)", output="q @ written / (q @ counted)"):
    return STEP.format(feature=feature, new=new, output=output)


CHUNKS = '''
def causal_in_chunks(query, key, value, size):
    if size < 1:
        raise ValueError(f"{{size}} tokens in a chunk")
    written, counted, out = torch.zeros(key.shape[1], value.shape[1]), torch.zeros(key.shape[1]), []
    for q, k, v in zip(query.split(size), key.split(size), value.split(size)):
        dot = q @ k.T
        inside = {inside}
        {early}
        above, below = inside @ v + {past}, {sums} + q @ counted
        out.append(above / {below})
        written = written + k.T @ v
        {late}
    return {joined}
'''


def chunks(inside="dot.tril()", early="pass", past="q @ written", sums="inside.sum(1)", below="below[:, None]",
           late="counted = counted + k.sum(0)", joined="torch.cat(out)"):
    return CHUNKS.format(inside=inside, early=early, past=past, sums=sums, below=below, late=late, joined=joined)


DELTA = '''
def delta_memory(keys, values, strength=1.0):
    {first}
    matrix = torch.zeros(keys.shape[1], values.shape[1])
    for k, v in zip({keys}, values):
        error = v - k @ matrix
        matrix = {after}
    return matrix
'''


def delta(first="pass", keys="keys / keys.norm(dim=1, keepdim=True)", after="matrix + strength * torch.outer(k, error)"):
    return DELTA.format(first=first, keys=keys, after=after)


MEMORY = '''
prediction_of_memory = {{
    "read from a plain sum": "{plain}",
    "read from a plain sum divided by the key's count": "{divided}",
    "read from a delta memory, strength 1": "b",
    "read by sharp softmax attention without positions": "their mean",
    "read by sharp softmax attention that prefers recent keys": "b",
    "n doubles: cache of softmax attention": "doubles",
    "n doubles: cache of a window of 64 tokens": "stays",
    "n doubles: state of linear attention": "stays",
    "features double: state of linear attention": "{features}",
}}
'''

PATCHES = '''
def patches(images, size):
    batch, height, width = images.shape
    if height % size or width % size:
        raise ValueError(f"{{height}} by {{width}}, squares of {{size}}")
    rows, columns = height // size, width // size
    return {tokens}
'''


LISTED = (
    Listed("13b.1", "the root in the angle", features("x @ frequencies.T / m**0.5", "torch.hstack([angle.cos(), angle.sin()])"),
           says=("oot inside the angle",)),
    Listed("13b.1", "a bracket too late", features(features="torch.hstack([angle.cos(), angle.sin() / m**0.5])"),
           says=("ines alone divided",)),
    Listed("13b.1", "a row for each frequency", features("frequencies @ x.T"), says=(" row for each frequency",)),
    Listed("13b.1", "no sum over the coordinates", features("(x[:, None] * frequencies).flatten(1)"),
           says=("oordinates not added up",)),
    Listed("13b.1", "no transpose", features("x @ frequencies"), says=("requencies not transposed",)),
    Listed("13b.1", "one coordinate", features("x[:, :1] * frequencies[:, 0]"), says=("irst coordinate alone",)),
    Listed("13b.1", "sines of a quarter turn more", features(
        features="torch.stack([angle + math.pi / 2, angle], 1).sin().flatten(1) / m**0.5"), right=True),
    Listed("13b.2", "one added before elu", step("F.elu(x + 1)"), says=("ne added inside",)),
    Listed("13b.2", "rows divided one by one", step(output="q @ (written / counted[:, None])"),
           says=("ach row divided by itself",)),
    Listed("13b.2", "softmax of the query", step(output="q.softmax(0) @ written"), says=("oftmax for the denominator",)),
    Listed("13b.2", "key times value", step(new="k * value"), says=("o outer product",)),
    Listed("13b.2", "query on the right", step(output="written @ q / (q @ counted)"), says=("ead from the wrong side",)),
    Listed("13b.2", "relu and a clipped exponential", step("x.relu() + x.clamp(max=0).exp()"), right=True),
    Listed("13b.3", "counts updated early", chunks(early="counted = counted + k.sum(0)", late="pass"),
           says=("ounted before it is read",)),
    Listed("13b.3", "sums without the triangle", chunks(sums="dot.sum(1)"), says=("riangle in the numerator alone",)),
    Listed("13b.3", "the matrix never read", chunks(past="0"), says=("ast in the sum alone",)),
    Listed("13b.3", "a single count", chunks(late="counted = counted + k.sum()"), says=("ne number counted",)),
    Listed("13b.3", "a triangle of size rows", chunks("dot * torch.ones(size, size).tril()"), says=("riangle of a fixed size",)),
    Listed("13b.3", "sums not made a column", chunks(below="below"), says=("ums along the wrong axis",)),
    Listed("13b.3", "stack", chunks(joined="torch.stack(out)"), says=("hunks stacked",)),
    Listed("13b.3", "a short chunk of zeros", '''
def causal_in_chunks(query, key, value, size):
    if size < 1:
        raise ValueError(size)
    n, S, z, out = len(query), 0, 0, torch.zeros_like(value)
    for a in range(0, max(n // size, 1) * size, size):
        q, k, v = (x[a:a + size] for x in (query, key, value))
        w = (q @ k.T).tril()
        out[a:a + size] = (w @ v + (q @ S if a else 0)) / (w.sum(1) + (q @ z if a else 0))[:, None]
        S, z = S + k.T @ v, z + k.sum(0)
    return out
''', says=("horter chunk left empty",), never=("is too much",)),
    Listed("13b.3", "one matrix of all weights: a check sees no memory", '''
def causal_in_chunks(query, key, value, size):
    if size < 1:
        raise ValueError(size)
    w = (query @ key.T).tril()
    return w @ value / w.sum(1, keepdim=True)
''', right=True),
    Listed("13b.4", "strength 0 is made 1", delta("strength = strength or 1.0"), says=("trength 0 taken for none",)),
    Listed("13b.4", "the square of the length", delta(keys="keys / keys.square().sum(1, keepdim=True)"), says=("quared length",)),
    Listed("13b.4", "the strength twice", delta(after="matrix + strength**2 * torch.outer(k, error)"),
           says=("trength twice in both places",)),
    Listed("13b.4", "the longest key", delta(keys="keys / keys.norm(dim=1).max()"), says=("ne length, the longest",)),
    Listed("13b.4", "the sum of the numbers", delta(keys="keys / keys.sum(1, keepdim=True)"), says=("um of the numbers",)),
    Listed("13b.4", "the root of the width", delta(keys="keys / keys.shape[1] ** 0.5"), says=("oot of the width",)),
    Listed("13b.4", "softmax for the length", delta(keys="keys.softmax(1)"), says=("oftmax of the key",)),
    Listed("13b.4", "short keys", delta(keys="keys / keys.norm(dim=1, keepdim=True).clamp(min=1)"), says=("hort keys left short",)),
    Listed("13b.4", "minus the difference", delta(after="matrix - strength * torch.outer(k, error)"), says=("ifference turned round",)),
    Listed("13b.4", "the matrix is lost", delta(after="strength * torch.outer(k, error)"), says=("atrix replaced",)),
    Listed("13b.4", "a return in the loop", delta().replace("    return", "        return"), says=("irst pair alone",)),
    Listed("13b.4", "an outer product with values as rows", delta(after="matrix + strength * torch.outer(error, k)"),
           says=("uter product transposed",)),
    Listed("13b.4", "the raw key, divided twice at the end", delta(keys="keys", after="(lambda n: matrix + strength * "
           "torch.outer(k / n, v - k / n @ matrix))(k.norm())"), right=True),
    Listed("13b.5", "sum and mean exchanged", MEMORY.format(plain="their mean", divided="a + b", features="doubles"),
           says=("a plain sum averages", "a count does not divide")),
    Listed("13b.5", "more features are free", MEMORY.format(plain="a + b", divided="their mean", features="stays"),
           says=("eatures cost nothing",)),
    Listed("13b.5", "capitals and blanks", MEMORY.format(plain=" A + B", divided="Their Mean ", features="DOUBLES"), right=True),
    Listed("13b.6", "unfold reshaped", PATCHES.format(
        tokens="F.unfold(images[:, None], size, stride=size).reshape(batch, rows * columns, size * size)"),
        says=("xchanged axes reshaped",)),
    Listed("13b.6", "squares and pixels exchanged", PATCHES.format(
        tokens="images.reshape(batch, rows, size, columns, size).permute(0, 2, 4, 1, 3).reshape(batch, -1, size * size)"),
        says=("xchanged axes reshaped",)),
    Listed("13b.6", "size squares along an edge", PATCHES.format(
        tokens="images.reshape(batch, size, rows, size, columns).transpose(2, 3).reshape(batch, size * size, -1)"),
        says=("ize taken for a number",)),
    Listed("13b.6", "the batch behind the squares", PATCHES.format(
        tokens="F.unfold(images[:, None], size, stride=size).permute(2, 0, 1)"), says=("atch behind the squares",)),
    Listed("13b.6", "pixel_unshuffle", PATCHES.format(tokens="F.pixel_unshuffle(images[:, None], size).flatten(2).mT"), right=True),
)
