"""Chapter 13b: answers written from the blank notebook.

Not in it: 13b.3 with one matrix of all weights. A check sees results and no memory, so it takes that answer for right.
"""

from . import Answer, edit

FOURIER = """
def fourier_features(x, frequencies):
    d, e = x.shape[1], frequencies.shape[1]
    if d != e:
        raise ValueError(f"points of width {d}, frequencies of width {e}")
    angles = x @ frequencies.T
    return torch.cat([angles.cos(), angles.sin()], 1) / math.sqrt(len(frequencies))
"""

STEP = """
def linear_step(written, counted, query, key, value):
    q = F.elu(query) + 1
    k = F.elu(key) + 1
    new_written = written + torch.outer(k, value)
    new_counted = counted + k
    output = (q @ new_written) / (q @ new_counted)
    return output, new_written, new_counted
"""

CHUNKS = """
def causal_in_chunks(query, key, value, size):
    if size < 1:
        raise ValueError(f"size {size} is below 1")
    n, r = query.shape
    S = torch.zeros(r, value.shape[1])
    z = torch.zeros(r)
    parts = []
    for start in range(0, n, size):
        q, k, v = query[start:start + size], key[start:start + size], value[start:start + size]
        w = (q @ k.T).tril()
        top = w @ v + q @ S
        below = w.sum(1) + q @ z
        parts.append(top / below[:, None])
        S = S + k.T @ v
        z = z + k.sum(0)
    return torch.cat(parts)
"""

DELTA = """
def delta_memory(keys, values, strength=1.0):
    matrix = torch.zeros(keys.shape[1], values.shape[1])
    for key, value in zip(keys, values):
        key = key / key.norm()
        known = key @ matrix
        matrix = matrix + strength * torch.outer(key, value - known)
    return matrix
"""

BUGGY = """
def delta_memory(keys, values, strength=1.0):
    matrix = torch.zeros(keys.shape[1], values.shape[1])
    for key, value in zip(keys, values):
        matrix = matrix + torch.outer(key, strength * value)
        known = key @ matrix                              # (d_v,)
        matrix = matrix - torch.outer(key, known)
    return matrix
"""

MEMORY = """
prediction_of_memory = {
    "read from a plain sum": "a + b",
    "read from a plain sum divided by the key's count": "their mean",
    "read from a delta memory, strength 1": "b",
    "read by sharp softmax attention without positions": "their mean",
    "read by sharp softmax attention that prefers recent keys": "b",
    "n doubles: cache of softmax attention": "doubles",
    "n doubles: cache of a window of 64 tokens": "stays",
    "n doubles: state of linear attention": "stays",
    "features double: state of linear attention": "doubles",
}
"""

PATCHES = """
def patches(images, size):
    batch, height, width = images.shape
    if height % size or width % size:
        raise ValueError(f"size {size} does not divide {height} by {width}")
    x = images.reshape(batch, height // size, size, width // size, size)
    x = x.permute(0, 1, 3, 2, 4)
    return x.reshape(batch, -1, size * size)
"""


def memory(**changed):
    """The right prediction with some entries changed; an entry is named by its number in the text, e0 to e8."""
    lines = MEMORY.strip().splitlines()
    for name, word in changed.items():
        i = int(name[1:]) + 1
        lines[i] = lines[i].rsplit(": ", 1)[0] + f": {word!r},"
    return "\n".join(lines) + "\n"


BANK = (
    # 13b.1 Fourier features
    Answer("13b.1", "a right answer: one product, cosines and sines side by side", FOURIER, right=True),
    Answer("13b.1", "a right answer: a linear layer's function, the root multiplied in", """
def fourier_features(x, frequencies):
    if x.size(-1) != frequencies.size(-1):
        raise ValueError("widths: " + str(x.size(-1)) + " and " + str(frequencies.size(-1)))
    a = F.linear(x, frequencies)
    return frequencies.size(0) ** -0.5 * torch.hstack((torch.cos(a), torch.sin(a)))
""", right=True),
    Answer("13b.1", "a right answer: einsum, written into a tensor made before", """
def fourier_features(x, frequencies):
    (n, d), (m, d2) = x.shape, frequencies.shape
    if d2 != d:
        raise ValueError(f"{d} != {d2}")
    out = x.new_empty(n, 2 * m)
    angle = torch.einsum("nd,md->nm", x, frequencies)
    out[:, :m] = angle.cos()
    out[:, m:] = angle.sin()
    return out.div_(m ** 0.5)
""", right=True),
    Answer("13b.1", "a right answer: complex exponentials, real parts before imaginary ones", """
def fourier_features(x, frequencies):
    n, d = x.shape
    m = frequencies.shape[0]
    if d != frequencies.shape[1]:
        raise ValueError(f"x has {d} columns but frequencies have {frequencies.shape[1]}")
    z = torch.exp(1j * (x[:, None, :] * frequencies).sum(-1))
    return torch.cat((z.real, z.imag), dim=-1) / m ** 0.5
""", right=True),
    Answer("13b.1", "a right answer: loops over points and frequencies, with Python's cosine", """
def fourier_features(x, frequencies):
    if x.shape[1] != frequencies.shape[1]:
        raise ValueError(f"cannot multiply widths {x.shape[1]} and {frequencies.shape[1]}")
    rows = []
    for point in x.tolist():
        angles = [sum(a * b for a, b in zip(point, w)) for w in frequencies.tolist()]
        root = len(angles) ** 0.5
        rows.append([math.cos(a) / root for a in angles] + [math.sin(a) / root for a in angles])
    return torch.tensor(rows, dtype=x.dtype)
""", right=True),
    Answer("13b.1", "a right answer: sines shifted by a quarter turn, stacked on an axis of their own", """
def fourier_features(x, frequencies):
    if x.shape[-1] != frequencies.shape[-1]:
        raise ValueError((x.shape[-1], frequencies.shape[-1]))
    quarter = torch.tensor([math.pi / 2, 0.0])
    both = (x @ frequencies.T).unsqueeze(1) + quarter.view(1, 2, 1)
    return both.sin().flatten(1) / math.sqrt(frequencies.shape[0])
""", right=True),
    Answer("13b.1", "the sines come first", edit(FOURIER, "[angles.cos(), angles.sin()]", "[angles.sin(), angles.cos()]")),
    Answer("13b.1", "cosine and sine of each frequency alternate", edit(FOURIER,
           "torch.cat([angles.cos(), angles.sin()], 1)", "torch.stack([angles.cos(), angles.sin()], -1).flatten(1)")),
    Answer("13b.1", "divided by m: the factor of the mean is put on both sides", edit(FOURIER,
           "math.sqrt(len(frequencies))", "len(frequencies)")),
    Answer("13b.1", "not divided: the dot product is the sum over the frequencies", edit(FOURIER,
           " / math.sqrt(len(frequencies))", "")),
    Answer("13b.1", "divided by the root of 2 m, the number of the features", edit(FOURIER,
           "math.sqrt(len(frequencies))", "math.sqrt(2 * len(frequencies))")),
    Answer("13b.1", "multiplied by the root of 2 / m, as with random phases", edit(FOURIER,
           " / math.sqrt(len(frequencies))", " * math.sqrt(2 / len(frequencies))")),
    Answer("13b.1", "divided by the root of the number of points", edit(FOURIER, "len(frequencies)", "len(x)")),
    Answer("13b.1", "divided by the root of the width, as attention does", edit(FOURIER, "len(frequencies)", "d")),
    Answer("13b.1", "multiplied by the root instead of divided", edit(FOURIER, " / math.sqrt", " * math.sqrt")),
    Answer("13b.1", "only the cosines", edit(FOURIER, "torch.cat([angles.cos(), angles.sin()], 1)", "angles.cos()")),
    Answer("13b.1", "the cosines twice", edit(FOURIER, "angles.sin()", "angles.cos()")),
    Answer("13b.1", "the angles are multiplied by two pi", edit(FOURIER, "x @ frequencies.T", "2 * math.pi * x @ frequencies.T")),
    Answer("13b.1", "the root divides the angle instead of the feature", edit(edit(FOURIER,
           "x @ frequencies.T", "x @ frequencies.T / math.sqrt(len(frequencies))"), "1) / math.sqrt(len(frequencies))", "1)")),
    Answer("13b.1", "only the sines are divided: brackets misplaced", edit(edit(FOURIER, "angles.sin()]",
           "angles.sin() / math.sqrt(len(frequencies))]"), "1) / math.sqrt(len(frequencies))", "1)")),
    Answer("13b.1", "cosines and sines are stacked below each other", edit(FOURIER, "angles.sin()], 1)", "angles.sin()])")),
    Answer("13b.1", "points and frequencies exchanged: one row for each frequency", edit(FOURIER,
           "x @ frequencies.T", "frequencies @ x.T")),
    Answer("13b.1", "the frequencies are not transposed", edit(FOURIER, "x @ frequencies.T", "x @ frequencies")),
    Answer("13b.1", "the cosine is taken of the coordinates, before the product", edit(FOURIER,
           "[angles.cos(), angles.sin()]", "[x.cos() @ frequencies.T, x.sin() @ frequencies.T]")),
    Answer("13b.1", "a product of coordinates for each axis: the sum over the width is forgotten", edit(FOURIER,
           "x @ frequencies.T", "(x[:, None] * frequencies).flatten(1)")),
    Answer("13b.1", "the mean over the coordinates instead of the dot product", edit(FOURIER,
           "x @ frequencies.T", "(x[:, None] * frequencies).mean(-1)")),
    Answer("13b.1", "only the first coordinate is used: written for points on a line", edit(FOURIER,
           "x @ frequencies.T", "x[:, :1] * frequencies[:, 0]")),
    Answer("13b.1", "points are first normalised to length 1", edit(FOURIER, "x @ frequencies.T", "F.normalize(x, dim=1) @ frequencies.T")),
    Answer("13b.1", "absolute values, so that no feature is negative", edit(FOURIER,
           "torch.cat([angles.cos(), angles.sin()], 1)", "torch.cat([angles.cos(), angles.sin()], 1).abs()")),
    Answer("13b.1", "the mean is taken of the squares: features are squared cosines and sines", edit(FOURIER,
           "[angles.cos(), angles.sin()]", "[angles.cos() ** 2, angles.sin() ** 2]")),
    Answer("13b.1", "own random frequencies are drawn, the given ones only say how many", edit(FOURIER,
           "x @ frequencies.T", "x @ torch.randn_like(frequencies).T")),
    Answer("13b.1", "no refusal of its own: the product raises another error", edit(FOURIER, """
    if d != e:
        raise ValueError(f"points of width {d}, frequencies of width {e}")
""", "\n")),
    Answer("13b.1", "the error names neither width", edit(FOURIER, 'f"points of width {d}, frequencies of width {e}"',
           '"the widths differ"')),
    Answer("13b.1", "the error names the width of the points alone", edit(FOURIER, ", frequencies of width {e}", "")),
    Answer("13b.1", "an assertion where a ValueError was asked for", edit(FOURIER, """    if d != e:
        raise ValueError(f"points of width {d}, frequencies of width {e}")
""", """    assert d == e, f"points of width {d}, frequencies of width {e}"
""")),
    Answer("13b.1", "compares the numbers of rows instead of the widths", edit(FOURIER, "x.shape[1], frequencies.shape[1]",
           "x.shape[0], frequencies.shape[0]")),
    Answer("13b.1", "compares whole shapes: as many points as frequencies are demanded", edit(FOURIER, "if d != e:",
           "if x.shape != frequencies.shape:")),
    Answer("13b.1", "a width of 1 is broadcast instead of refused", edit(edit(FOURIER, "if d != e:", "if d != e and 1 not in (d, e):"),
           "x @ frequencies.T", "(x[:, None] * frequencies).sum(-1)")),
    Answer("13b.1", "the error is returned instead of raised", edit(FOURIER, "raise ValueError", "return ValueError")),
    Answer("13b.1", "superfluous frequencies are cut off instead of refused", edit(edit(FOURIER, """
    if d != e:
        raise ValueError(f"points of width {d}, frequencies of width {e}")
""", "\n    both = min(d, e)\n"), "x @ frequencies.T", "x[:, :both] @ frequencies[:, :both].T")),
    Answer("13b.1", "points and frequencies are rescaled in place", edit(FOURIER, "    angles =",
           "    frequencies /= 2\n    x *= 2\n    angles =")),

    # 13b.2 one token
    Answer("13b.2", "a right answer: features, outer product, two reads", STEP, right=True),
    Answer("13b.2", "a right answer: the feature by cases, einsum", """
def linear_step(written, counted, query, key, value):
    def feature(x):
        return torch.where(x > 0, x + 1, x.exp())
    fq, fk = feature(query), feature(key)
    counted = counted + fk
    written = written + torch.einsum("d,v->dv", fk, value)
    return torch.einsum("d,dv->v", fq, written) / torch.dot(fq, counted), written, counted
""", right=True),
    Answer("13b.2", "a right answer: copies are changed in place", """
def linear_step(written, counted, query, key, value):
    written, counted = written.clone(), counted.clone()
    q, k = (F.elu(x).add(1) for x in (query, key))
    written += k[:, None] * value[None, :]
    counted += k
    return written.T @ q / (counted * q).sum(), written, counted
""", right=True),
    Answer("13b.2", "a right answer: features as relu plus a clipped exponential, the counts as one more column", """
def linear_step(written, counted, query, key, value):
    phi = lambda x: x.relu() + x.clamp(max=0).exp()
    state = torch.cat([written, counted[:, None]], 1) + phi(key).unsqueeze(1) @ torch.cat([value, torch.ones(1)])[None]
    read = phi(query) @ state
    return read[:-1] / read[-1], state[:, :-1], state[:, -1]
""", right=True),
    Answer("13b.2", "a right answer: old part and own part apart, a loop over the rows of the matrix", """
def linear_step(written, counted, query, key, value):
    q, k = F.elu(query) + 1, F.elu(key) + 1
    own = q.dot(k)
    output = (q @ written + own * value) / (q.dot(counted) + own)
    rows = [row + k[i] * value for i, row in enumerate(written)]
    return output, torch.stack(rows), torch.add(counted, k)
""", right=True),
    Answer("13b.2", "reads before it writes, so the token does not see itself", edit(STEP,
           "(q @ new_written) / (q @ new_counted)", "(q @ written) / (q @ counted)")),
    Answer("13b.2", "reads before it writes, with nan made 0 at the start", edit(STEP,
           "(q @ new_written) / (q @ new_counted)", "((q @ written) / (q @ counted)).nan_to_num()")),
    Answer("13b.2", "the denominator is read before the token is counted", edit(STEP, "(q @ new_counted)", "(q @ counted)")),
    Answer("13b.2", "the numerator is read before the token is written", edit(STEP, "(q @ new_written)", "(q @ written)")),
    Answer("13b.2", "raw query and key, without features", edit(edit(STEP, "F.elu(query) + 1", "query"), "F.elu(key) + 1", "key")),
    Answer("13b.2", "the query stays raw", edit(STEP, "F.elu(query) + 1", "query")),
    Answer("13b.2", "the key stays raw", edit(STEP, "F.elu(key) + 1", "key")),
    Answer("13b.2", "the one is forgotten: elu alone, which can be negative", edit(edit(STEP, "F.elu(query) + 1", "F.elu(query)"),
           "F.elu(key) + 1", "F.elu(key)")),
    Answer("13b.2", "elu of x + 1 instead of elu of x, plus 1", edit(edit(STEP, "F.elu(query) + 1", "F.elu(query + 1)"),
           "F.elu(key) + 1", "F.elu(key + 1)")),
    Answer("13b.2", "relu plus 1", edit(edit(STEP, "F.elu(query)", "F.relu(query)"), "F.elu(key)", "F.relu(key)")),
    Answer("13b.2", "relu as feature", edit(edit(STEP, "F.elu(query) + 1", "F.relu(query)"), "F.elu(key) + 1", "F.relu(key)")),
    Answer("13b.2", "the exponential as feature everywhere", edit(edit(STEP, "F.elu(query) + 1", "query.exp()"),
           "F.elu(key) + 1", "key.exp()")),
    Answer("13b.2", "softmax over the width as feature", edit(edit(STEP, "F.elu(query) + 1", "query.softmax(0)"),
           "F.elu(key) + 1", "key.softmax(0)")),
    Answer("13b.2", "the value gets features, too", edit(STEP, "torch.outer(k, value)", "torch.outer(k, F.elu(value) + 1)")),
    Answer("13b.2", "the raw key is counted", edit(STEP, "counted + k", "counted + key")),
    Answer("13b.2", "the raw key is written, its feature is counted", edit(STEP, "torch.outer(k, value)", "torch.outer(key, value)")),
    Answer("13b.2", "tokens are counted: 1 is added everywhere", edit(STEP, "counted + k", "counted + 1")),
    Answer("13b.2", "the query's feature is counted", edit(STEP, "counted + k", "counted + q")),
    Answer("13b.2", "the query's feature is written", edit(STEP, "torch.outer(k, value)", "torch.outer(q, value)")),
    Answer("13b.2", "query and key exchanged", edit(edit(STEP, "F.elu(query)", "F.elu(key_)"), "k = F.elu(key)",
           "k = F.elu(query)").replace("key_", "key")),
    Answer("13b.2", "not divided", edit(STEP, " / (q @ new_counted)", "")),
    Answer("13b.2", "divided by the sum of the counts, whatever the query is", edit(STEP, "(q @ new_counted)", "new_counted.sum()")),
    Answer("13b.2", "divided by the sum of the query's features", edit(STEP, "(q @ new_counted)", "q.sum()")),
    Answer("13b.2", "divided by the weight of the new token alone", edit(STEP, "(q @ new_counted)", "(q @ k)")),
    Answer("13b.2", "each feature's row is divided by its own count before it is read", edit(STEP,
           "(q @ new_written) / (q @ new_counted)", "q @ (new_written / new_counted[:, None])")),
    Answer("13b.2", "softmax over the query's features, so that no denominator is needed", edit(STEP,
           "(q @ new_written) / (q @ new_counted)", "q.softmax(0) @ new_written")),
    Answer("13b.2", "a small number in the denominator that is not small", edit(STEP, "(q @ new_counted)", "(q @ new_counted + 0.1)")),
    Answer("13b.2", "query divided by the root of the width, before the feature", edit(STEP, "F.elu(query)",
           "F.elu(query / math.sqrt(len(query)))")),
    Answer("13b.2", "the state comes back unchanged", edit(STEP, "return output, new_written, new_counted",
           "return output, written, counted")),
    Answer("13b.2", "the state is replaced instead of added to", edit(edit(STEP, "written + torch", "torch"), "counted + k", "k")),
    Answer("13b.2", "the past fades: the old state is multiplied by 0.9", edit(edit(STEP, "= written + torch", "= 0.9 * written + torch"),
           "= counted + k", "= 0.9 * counted + k")),
    Answer("13b.2", "the delta rule: what is known is subtracted", edit(STEP, "torch.outer(k, value)",
           "torch.outer(k, value - k @ written)")),
    Answer("13b.2", "the outer product the wrong way round", edit(STEP, "torch.outer(k, value)", "torch.outer(value, k)")),
    Answer("13b.2", "number by number instead of an outer product", edit(STEP, "torch.outer(k, value)", "k * value")),
    Answer("13b.2", "read along the wrong axis", edit(STEP, "(q @ new_written)", "(new_written @ q)")),
    Answer("13b.2", "the given tensors are changed in place", """
def linear_step(written, counted, query, key, value):
    q, k = F.elu(query) + 1, F.elu(key) + 1
    written += torch.outer(k, value)
    counted += k
    return q @ written / (q @ counted), written, counted
"""),
    Answer("13b.2", "the matrix is changed in place, the counts are not", edit(STEP, "written + torch.outer(k, value)",
           "written.add_(torch.outer(k, value))")),
    Answer("13b.2", "the features are computed in place", edit(edit(STEP, "F.elu(query) + 1", "F.elu(query, inplace=True).add_(1)"),
           "F.elu(key) + 1", "F.elu(key, inplace=True).add_(1)")),
    Answer("13b.2", "the divided matrix goes on as the state", edit(STEP, "return output, new_written",
           "return output, new_written / (q @ new_counted)")),
    Answer("13b.2", "the output comes last", edit(STEP, "return output, new_written, new_counted",
           "return new_written, new_counted, output")),
    Answer("13b.2", "only the output comes back", edit(STEP, "return output, new_written, new_counted", "return output")),
    Answer("13b.2", "counts and matrix exchanged in the result", edit(STEP, "new_written, new_counted\n", "new_counted, new_written\n")),

    # 13b.3 chunks
    Answer("13b.3", "a right answer: slices, a triangle, a state", CHUNKS, right=True),
    Answer("13b.3", "a right answer: split, a column of ones beside the values carries the denominator", """
def causal_in_chunks(query, key, value, size):
    if size <= 0:
        raise ValueError(f"chunks of {size} tokens")
    value = torch.cat([value, torch.ones_like(value[:, :1])], 1)
    state = torch.zeros(key.shape[1], value.shape[1])
    out = []
    for q, k, v in zip(query.split(size), key.split(size), value.split(size)):
        out.append(torch.tril(q @ k.transpose(0, 1)) @ v + q @ state)
        state = state + k.transpose(0, 1) @ v
    out = torch.cat(out, 0)
    return out[:, :-1] / out[:, -1:]
""", right=True),
    Answer("13b.3", "a right answer: all chunks at once, padded with zeros, states as running sums less the own chunk", """
def causal_in_chunks(query, key, value, size):
    if size < 1:
        raise ValueError("size = %d" % size)
    n = len(query)
    size = min(size, n)
    missing = -n % size
    q, k, v = (F.pad(x, (0, 0, 0, missing)).unflatten(0, (-1, size)) for x in (query, key, value))
    written = torch.einsum("csr,csv->crv", k, v)
    counted = k.sum(1)
    before = written.cumsum(0) - written
    seen = counted.cumsum(0) - counted
    weights = torch.einsum("csr,ctr->cst", q, k).tril()
    top = weights @ v + q @ before
    below = weights.sum(-1) + (q @ seen[..., None])[..., 0]
    return (top / below[..., None]).flatten(0, 1)[:n]
""", right=True),
    Answer("13b.3", "a right answer: masked_fill with a triangle for each chunk, written into the result", """
def causal_in_chunks(query, key, value, size):
    if not size >= 1:
        raise ValueError(size)
    n = query.size(0)
    result = torch.empty(n, value.size(1))
    S, z, a = 0, 0, 0
    while a < n:
        b = min(a + size, n)
        i = torch.arange(a, b)
        w = torch.einsum("ir,jr->ij", query[a:b], key[a:b]).masked_fill(i[:, None] < i, 0)
        upper, lower = w @ value[a:b], w.sum(-1, keepdim=True)
        if a:
            upper = upper + query[a:b] @ S
            lower = lower + (query[a:b] * z).sum(-1, keepdim=True)
        result[a:b] = upper / lower
        S = S + torch.einsum("jr,jv->rv", key[a:b], value[a:b])
        z = z + key[a:b].sum(0)
        a = b
    return result
""", right=True),
    Answer("13b.3", "a right answer: loops over the tokens of a chunk, in double precision", """
def causal_in_chunks(query, key, value, size):
    if size < 1:
        raise ValueError(f"at least one token in a chunk, not {size}")
    q, k, v = query.double(), key.double(), value.double()
    S, z = torch.zeros(k.shape[1], v.shape[1], dtype=torch.double), torch.zeros(k.shape[1], dtype=torch.double)
    rows = []
    for a in range(0, len(q), size):
        stop = min(len(q), a + size)
        for t in range(a, stop):
            top, below = q[t] @ S, q[t] @ z
            for i in range(a, t + 1):
                weight = q[t] @ k[i]
                top, below = top + weight * v[i], below + weight
            rows.append(top / below)
        for i in range(a, stop):
            S, z = S + torch.outer(k[i], v[i]), z + k[i]
    return torch.stack(rows).to(value.dtype)
""", right=True),
    Answer("13b.3", "the chunk goes into the state before it is read, so its tokens count twice", """
def causal_in_chunks(query, key, value, size):
    if size < 1:
        raise ValueError(f"size {size}")
    S, z, parts = 0, 0, []
    for q, k, v in zip(query.split(size), key.split(size), value.split(size)):
        S = S + k.T @ v
        z = z + k.sum(0)
        w = (q @ k.T).tril()
        parts.append((w @ v + q @ S) / (w.sum(1) + q @ z)[:, None])
    return torch.cat(parts)
"""),
    Answer("13b.3", "the chunk goes into the state first, and only the state is read: the future of the chunk is seen", """
def causal_in_chunks(query, key, value, size):
    if size < 1:
        raise ValueError(f"size {size}")
    S, z, parts = 0, 0, []
    for q, k, v in zip(query.split(size), key.split(size), value.split(size)):
        S = S + k.T @ v
        z = z + k.sum(0)
        parts.append(q @ S / (q @ z)[:, None])
    return torch.cat(parts)
"""),
    Answer("13b.3", "only the counts are updated before they are read", edit(edit(CHUNKS, "        z = z + k.sum(0)\n", ""),
           "        w = (q", "        z = z + k.sum(0)\n        w = (q")),
    Answer("13b.3", "the diagonal is missing: a token does not see itself", edit(CHUNKS, ".tril()", ".tril(-1)")),
    Answer("13b.3", "no triangle: a token sees the whole chunk", edit(CHUNKS, ".tril()", "")),
    Answer("13b.3", "the upper triangle", edit(CHUNKS, ".tril()", ".triu()")),
    Answer("13b.3", "the triangle reaches one token too far", edit(CHUNKS, ".tril()", ".tril(1)")),
    Answer("13b.3", "the triangle only in the numerator", edit(CHUNKS, "w.sum(1) + q @ z", "(q @ k.T).sum(1) + q @ z")),
    Answer("13b.3", "the state is never read: every chunk begins anew", edit(edit(CHUNKS, "w @ v + q @ S", "w @ v"),
           "w.sum(1) + q @ z", "w.sum(1)")),
    Answer("13b.3", "the state is read in the numerator alone", edit(CHUNKS, "w.sum(1) + q @ z", "w.sum(1)")),
    Answer("13b.3", "the state is read in the denominator alone", edit(CHUNKS, "w @ v + q @ S", "w @ v")),
    Answer("13b.3", "each part is divided by its own sum, and the two are added", edit(edit(CHUNKS, "parts.append(top / below[:, None])",
           "parts.append(w @ v / w.sum(1)[:, None] + (q @ S / (q @ z)[:, None] if start else 0))"), "        top = w @ v + q @ S\n", "")),
    Answer("13b.3", "the mean of the two parts, each divided on its own", edit(CHUNKS, "parts.append(top / below[:, None])",
           "inside = w @ v / w.sum(1)[:, None]\n        "
           "parts.append((inside + q @ S / (q @ z)[:, None]) / 2 if start else inside)")),
    Answer("13b.3", "the state holds only the previous chunk", edit(edit(CHUNKS, "S = S + k.T @ v", "S = k.T @ v"),
           "z = z + k.sum(0)", "z = k.sum(0)")),
    Answer("13b.3", "the matrix adds up, the counts are replaced", edit(CHUNKS, "z = z + k.sum(0)", "z = k.sum(0)")),
    Answer("13b.3", "the state is never written", edit(edit(CHUNKS, "        S = S + k.T @ v\n", ""), "        z = z + k.sum(0)\n", "")),
    Answer("13b.3", "the counts hold one number for all features", edit(CHUNKS, "k.sum(0)", "k.sum()")),
    Answer("13b.3", "the counts hold the mean of the keys", edit(CHUNKS, "k.sum(0)", "k.mean(0)")),
    Answer("13b.3", "the state sums queries instead of keys", edit(edit(CHUNKS, "k.T @ v", "q.T @ v"), "k.sum(0)", "q.sum(0)")),
    Answer("13b.3", "not divided at all", edit(CHUNKS, "top / below[:, None]", "top")),
    Answer("13b.3", "softmax inside the chunk", edit(CHUNKS, "(q @ k.T).tril()",
           "(q @ k.T).masked_fill(torch.ones(len(q), len(k)).triu(1).bool(), -torch.inf).softmax(1)")),
    Answer("13b.3", "exponentials of the dot products inside the chunk", edit(CHUNKS, "(q @ k.T).tril()", "(q @ k.T).exp().tril()")),
    Answer("13b.3", "dot products inside the chunk are divided by the root of the width", edit(CHUNKS, "(q @ k.T).tril()",
           "(q @ k.T).tril() / math.sqrt(r)")),
    Answer("13b.3", "features are taken once more", edit(CHUNKS, "    n, r =",
           "    query, key = F.elu(query) + 1, F.elu(key) + 1\n    n, r =")),
    Answer("13b.3", "a shorter last chunk is dropped", edit(CHUNKS, "range(0, n, size)", "range(0, n - size + 1, size)")),
    Answer("13b.3", "a shorter last chunk stays 0", edit(edit(edit(CHUNKS, "range(0, n, size)", "range(0, n // size * size, size)"),
           "parts = []", "parts, out = [], torch.zeros(n, value.shape[1])"), "parts.append(top / below[:, None])",
           "out[start:start + size] = top / below[:, None]").replace("torch.cat(parts)", "out")),
    Answer("13b.3", "a triangle of fixed size breaks on a shorter last chunk", edit(CHUNKS, "(q @ k.T).tril()",
           "(q @ k.T) * torch.ones(size, size).tril()")),
    Answer("13b.3", "a size that does not divide n is refused", edit(CHUNKS, "    n, r = query.shape\n", """    n, r = query.shape
    if n % size:
        raise ValueError(f"size {size} does not divide {n}")
""")),
    Answer("13b.3", "a size above n is refused", edit(CHUNKS, "if size < 1:", "if size < 1 or size > len(query):")),
    Answer("13b.3", "no refusal: range complains about a step of 0, and a negative size gives nothing", edit(CHUNKS, """
    if size < 1:
        raise ValueError(f"size {size} is below 1")
""", "\n")),
    Answer("13b.3", "a negative size is not refused", edit(CHUNKS, "if size < 1:", "if size == 0:")),
    Answer("13b.3", "0 is not refused", edit(CHUNKS, "if size < 1:", "if size < 0:")),
    Answer("13b.3", "size 1 is refused, too", edit(CHUNKS, "if size < 1:", "if size <= 1:")),
    Answer("13b.3", "the refusal does not name the size", edit(CHUNKS, 'f"size {size} is below 1"', '"a chunk needs tokens"')),
    Answer("13b.3", "a bad size is quietly raised to 1", edit(CHUNKS, 'raise ValueError(f"size {size} is below 1")', "size = 1")),
    Answer("13b.3", "the whole denominator is summed over the chunk", edit(CHUNKS, "w.sum(1) + q @ z",
           "(w.sum(1) + q @ z).sum().expand(len(q))")),
    Answer("13b.3", "weights are summed over the queries instead of the keys", edit(CHUNKS, "w.sum(1)", "w.sum(0)")),
    Answer("13b.3", "the chunks are stacked on an axis of their own", edit(CHUNKS, "torch.cat(parts)", "torch.stack(parts)")),
    Answer("13b.3", "the chunks are laid side by side", edit(CHUNKS, "torch.cat(parts)", "torch.cat(parts, 1)")),
    Answer("13b.3", "the denominator meets the values' axis", edit(CHUNKS, "below[:, None]", "below")),
    Answer("13b.3", "keys are divided in place", edit(CHUNKS, "    n, r =", "    key /= 2\n    n, r =")),

    # 13b.4 delta rule
    Answer("13b.4", "a right answer: the three bugs mended", DELTA, right=True),
    Answer("13b.4", "a right answer: all keys normalised first, the matrix changed in place", """
def delta_memory(keys, values, strength=1.0):
    keys = F.normalize(keys, dim=-1)
    matrix = keys.new_zeros(keys.size(1), values.size(1))
    for i in range(len(keys)):
        known = keys[i] @ matrix
        matrix += torch.outer(keys[i], strength * (values[i] - known))
    return matrix
""", right=True),
    Answer("13b.4", "a right answer: the old matrix is projected, then the pair is written", """
def delta_memory(keys, values, strength=1.0):
    d = keys.shape[1]
    matrix = torch.zeros(d, values.shape[1])
    for k, v in zip(keys / keys.norm(dim=1, keepdim=True), values):
        erase = torch.eye(d) - strength * k[:, None] * k
        matrix = erase @ matrix + strength * k[:, None] * v
    return matrix
""", right=True),
    Answer("13b.4", "a right answer: the matrix lies on its side until the end", """
def delta_memory(keys, values, strength=1.0):
    side = torch.zeros(values.shape[1], keys.shape[1])
    for key, value in zip(keys, values):
        key = key / torch.sqrt((key * key).sum())
        error = value - side @ key
        side = side + strength * torch.einsum("v,d->vd", error, key)
    return side.T
""", right=True),
    Answer("13b.4", "a right answer: the buggy lines in another sequence, each with the strength", """
def delta_memory(keys, values, strength=1.0):
    matrix = torch.zeros(keys.shape[1], values.shape[1])
    for key, value in zip(keys, values):
        key = key / torch.linalg.vector_norm(key)
        known = key @ matrix                              # (d_v,)
        matrix = matrix + torch.outer(key, strength * value)
        matrix = matrix - torch.outer(key, strength * known)
    return matrix
""", right=True),
    Answer("13b.4", "the square of the length divides the outer product, as a right answer may", """
def delta_memory(keys, values, strength=1.0):
    matrix = torch.zeros(keys.shape[1], values.shape[1])
    for key, value in zip(keys, values):
        length = key.norm()
        known = key @ matrix / length
        matrix = matrix + strength * torch.outer(key, value - known) / length
    return matrix
""", right=True),
    Answer("13b.4", "nothing has been mended", BUGGY),
    Answer("13b.4", "only the length is mended", edit(BUGGY, "        matrix = matrix + torch", "        key = key / key.norm()\n"
           "        matrix = matrix + torch")),
    Answer("13b.4", "only the order is mended", """
def delta_memory(keys, values, strength=1.0):
    matrix = torch.zeros(keys.shape[1], values.shape[1])
    for key, value in zip(keys, values):
        known = key @ matrix
        matrix = matrix + torch.outer(key, strength * value)
        matrix = matrix - torch.outer(key, known)
    return matrix
"""),
    Answer("13b.4", "only the strength of the erasing is mended", edit(BUGGY, "torch.outer(key, known)",
           "torch.outer(key, strength * known)")),
    Answer("13b.4", "the keys keep their lengths", edit(DELTA, "        key = key / key.norm()\n", "")),
    Answer("13b.4", "the pair is written before what is known is read", edit(edit(BUGGY, "        matrix = matrix + torch",
           "        key = key / key.norm()\n        matrix = matrix + torch"), "torch.outer(key, known)",
           "torch.outer(key, strength * known)")),
    Answer("13b.4", "erases with full strength", edit(DELTA, "strength * torch.outer(key, value - known)",
           "torch.outer(key, strength * value - known)")),
    Answer("13b.4", "writes with full strength and erases with the given one", edit(DELTA, "strength * torch.outer(key, value - known)",
           "torch.outer(key, value - strength * known)")),
    Answer("13b.4", "the strength is ignored", edit(DELTA, "strength * torch", "torch")),
    Answer("13b.4", "the strength counts twice", edit(DELTA, "strength * torch", "strength ** 2 * torch")),
    Answer("13b.4", "the strength multiplies what is known once more", edit(DELTA, "known = key", "known = strength * key")),
    Answer("13b.4", "the whole matrix fades by one minus the strength", edit(DELTA,
           "matrix + strength * torch.outer(key, value - known)", "(1 - strength) * matrix + strength * torch.outer(key, value)")),
    Answer("13b.4", "the keys are normalised along the wrong axis", edit(edit(DELTA, "zip(keys, values)",
           "zip(keys / keys.norm(dim=0), values)"), "        key = key / key.norm()\n", "")),
    Answer("13b.4", "all keys are divided by one common length", edit(DELTA, "key.norm()", "keys.norm()")),
    Answer("13b.4", "all keys are divided by the longest length", edit(DELTA, "key.norm()", "keys.norm(dim=1).max()")),
    Answer("13b.4", "divided by the square of the length", edit(DELTA, "key.norm()", "key.pow(2).sum()")),
    Answer("13b.4", "divided by the sum of the absolute values", edit(DELTA, "key.norm()", "key.abs().sum()")),
    Answer("13b.4", "divided by the sum of the numbers", edit(DELTA, "key.norm()", "key.sum()")),
    Answer("13b.4", "divided by the root of the width instead of the length", edit(DELTA, "key.norm()", "math.sqrt(len(key))")),
    Answer("13b.4", "softmax makes the key's numbers sum to 1", edit(DELTA, "key / key.norm()", "key.softmax(0)")),
    Answer("13b.4", "only keys longer than 1 are shortened", edit(DELTA, "key.norm()", "key.norm().clamp(min=1)")),
    Answer("13b.4", "a small number added to the length that is not small", edit(DELTA, "key.norm()", "(key.norm() + 0.1)")),
    Answer("13b.4", "the values are normalised, too", edit(DELTA, "value - known", "value / value.norm() - known")),
    Answer("13b.4", "the values are normalised instead of the keys", edit(edit(DELTA, "value - known", "value / value.norm() - known"),
           "        key = key / key.norm()\n", "")),
    Answer("13b.4", "what is known is read with the raw key", """
def delta_memory(keys, values, strength=1.0):
    matrix = torch.zeros(keys.shape[1], values.shape[1])
    for key, value in zip(keys, values):
        known = key @ matrix
        key = key / key.norm()
        matrix = matrix + strength * torch.outer(key, value - known)
    return matrix
"""),
    Answer("13b.4", "read with the normalised key, written with the raw one", edit(edit(DELTA, "        key = key / key.norm()\n", ""),
           "known = key @ matrix", "known = key / key.norm() @ matrix")),
    Answer("13b.4", "what is known is added instead of subtracted", edit(DELTA, "value - known", "value + known")),
    Answer("13b.4", "the difference is turned round", edit(DELTA, "value - known", "known - value")),
    Answer("13b.4", "a plain sum: nothing is erased", edit(DELTA, "value - known", "value")),
    Answer("13b.4", "all pairs at once: nothing is known of the pairs before", """
def delta_memory(keys, values, strength=1.0):
    k = F.normalize(keys, dim=1)
    matrix = strength * k.T @ values
    return matrix - strength * k.T @ (k @ matrix)
"""),
    Answer("13b.4", "least squares over all pairs: the newest does not win", """
def delta_memory(keys, values, strength=1.0):
    return strength * torch.linalg.pinv(F.normalize(keys, dim=1)) @ values
"""),
    Answer("13b.4", "the matrix is replaced instead of added to", edit(DELTA, "matrix + strength", "strength")),
    Answer("13b.4", "the matrix begins anew for each pair", edit(edit(DELTA,
           "    matrix = torch.zeros(keys.shape[1], values.shape[1])\n", ""),
           "        key = key /", "        matrix = torch.zeros(keys.shape[1], values.shape[1])\n        key = key /")),
    Answer("13b.4", "the pairs are written in reverse", edit(DELTA, "zip(keys, values)", "zip(keys.flip(0), values.flip(0))")),
    Answer("13b.4", "the last pair is left out", edit(DELTA, "zip(keys, values)", "zip(keys[:-1], values[:-1])")),
    Answer("13b.4", "returns after the first pair", edit(DELTA, "    return matrix", "        return matrix")),
    Answer("13b.4", "the matrix comes back transposed", edit(DELTA, "return matrix", "return matrix.T")),
    Answer("13b.4", "the outer product the wrong way round", edit(DELTA, "torch.outer(key, value - known)",
           "torch.outer(value - known, key)")),
    Answer("13b.4", "the keys are divided in place", edit(edit(DELTA, "    matrix = torch.zeros",
           "    keys /= keys.norm(dim=1, keepdim=True)\n"
           "    matrix = torch.zeros"), "        key = key / key.norm()\n", "")),
    Answer("13b.4", "each key is divided in place inside the loop", edit(DELTA, "key = key / key.norm()", "key /= key.norm()")),
    Answer("13b.4", "a strength of 0 is taken for none given", edit(DELTA, "    for key", "    strength = strength or 1.0\n    for key")),

    # 13b.5 prediction
    Answer("13b.5", "a right answer", MEMORY, right=True),
    Answer("13b.5", "a right answer: capitals and blanks", memory(e0=" A + B", e1="Their mean", e5="Doubles ", e6="STAYS"), right=True),
    Answer("13b.5", "a right answer: filled in afterwards, in another sequence", """
prediction_of_memory = {}
prediction_of_memory["features double: state of linear attention"] = "doubles"
prediction_of_memory["n doubles: state of linear attention"] = prediction_of_memory["n doubles: cache of a window of 64 tokens"] = "stays"
prediction_of_memory["n doubles: cache of softmax attention"] = "doubles"
for x in ("read from a delta memory, strength 1", "read by sharp softmax attention that prefers recent keys"):
    prediction_of_memory[x] = "b"
for x in ("read from a plain sum divided by the key's count", "read by sharp softmax attention without positions"):
    prediction_of_memory[x] = "their mean"
prediction_of_memory["read from a plain sum"] = "a + b"
""", right=True),
    Answer("13b.5", "a right answer: computed with numbers", """
a, b = torch.tensor(2.0), torch.tensor(8.0)
said = {10.0: "a + b", 5.0: "their mean", 8.0: "b", 2.0: "a"}
attended = torch.tensor([9.0, 9.0]).softmax(0) @ torch.stack([a, b])
recent = torch.tensor([9.0, 40.0]).softmax(0) @ torch.stack([a, b])
growth = lambda before, after: {1: "stays", 2: "doubles"}[after // before]
prediction_of_memory = {
    "read from a plain sum": said[(a + b).item()],
    "read from a plain sum divided by the key's count": said[((a + b) / 2).item()],
    "read from a delta memory, strength 1": said[(a + (b - a)).item()],
    "read by sharp softmax attention without positions": said[attended.item()],
    "read by sharp softmax attention that prefers recent keys": said[round(recent.item(), 4)],
    "n doubles: cache of softmax attention": growth(2 * 500 * 8, 2 * 1000 * 8),
    "n doubles: cache of a window of 64 tokens": growth(2 * 64 * 8, 2 * 64 * 8),
    "n doubles: state of linear attention": growth(8 * 8 + 8, 8 * 8 + 8),
    "features double: state of linear attention": growth(8 * 8 + 8, 16 * 8 + 16),
}
""", right=True),
    Answer("13b.5", "a plain sum forgets the old value", memory(e0="b")),
    Answer("13b.5", "a plain sum answers the mean", memory(e0="their mean")),
    Answer("13b.5", "a plain sum keeps the first value", memory(e0="a")),
    Answer("13b.5", "dividing by the count leaves the sum", memory(e1="a + b")),
    Answer("13b.5", "the count makes the newest win", memory(e1="b")),
    Answer("13b.5", "the delta memory takes the mean", memory(e2="their mean")),
    Answer("13b.5", "the delta memory adds", memory(e2="a + b")),
    Answer("13b.5", "what is known is protected: the delta memory keeps the first value", memory(e2="a")),
    Answer("13b.5", "softmax takes the newest of two equal keys", memory(e3="b")),
    Answer("13b.5", "softmax takes the first of two equal keys", memory(e3="a")),
    Answer("13b.5", "softmax adds the values up", memory(e3="a + b")),
    Answer("13b.5", "a preference for recent keys changes nothing for equal keys", memory(e4="their mean")),
    Answer("13b.5", "recent keys are preferred, yet the first value is read", memory(e4="a")),
    Answer("13b.5", "the cache of softmax attention stays", memory(e5="stays")),
    Answer("13b.5", "the cache of a window grows with the text", memory(e6="doubles")),
    Answer("13b.5", "the state grows with the text", memory(e7="doubles")),
    Answer("13b.5", "every cache and state grows with the text", memory(e6="doubles", e7="doubles")),
    Answer("13b.5", "the state has one size, whatever the features", memory(e8="stays")),
    Answer("13b.5", "linear attention and softmax exchanged", memory(e5="stays", e7="doubles")),
    Answer("13b.5", "every memory overwrites", memory(e0="b", e1="b", e3="b")),
    Answer("13b.5", "every memory averages", memory(e0="their mean", e2="their mean", e4="their mean")),
    Answer("13b.5", "the sum and its mean exchanged", memory(e0="their mean", e1="a + b")),
    Answer("13b.5", "a word that is not offered", memory(e5="quadruples")),
    Answer("13b.5", "one entry left open", edit(MEMORY, '"features double: state of linear attention": "doubles"',
           '"features double: state of linear attention": None')),

    # 13b.6 patches
    Answer("13b.6", "a right answer: five axes, two of them exchanged", PATCHES, right=True),
    Answer("13b.6", "a right answer: unfold twice", """
def patches(images, size):
    h, w = images.shape[1:]
    if h % size != 0 or w % size != 0:
        raise ValueError(f"{h} x {w} is not divided by {size}")
    return images.unfold(1, size, size).unfold(2, size, size).flatten(3).flatten(1, 2)
""", right=True),
    Answer("13b.6", "a right answer: loops over rows and columns of squares", """
def patches(images, size):
    batch, height, width = images.size()
    for length in (height, width):
        if length % size > 0:
            raise ValueError("height %d, width %d, size %d" % (height, width, size))
    tokens = []
    for top in range(0, height, size):
        for left in range(0, width, size):
            tokens.append(images[:, top:top + size, left:left + size].reshape(batch, size ** 2))
    return torch.stack(tokens, dim=1)
""", right=True),
    Answer("13b.6", "a right answer: torch's unfold for convolutions, transposed", """
def patches(images, size):
    if images.shape[1] % size or images.shape[2] % size:
        raise ValueError(f"images {tuple(images.shape[1:])}, squares {size}")
    return F.unfold(images[:, None], kernel_size=size, stride=size).mT
""", right=True),
    Answer("13b.6", "a right answer: einsum exchanges the axes", """
def patches(images, size):
    b, h, w = images.shape
    rows, more = divmod(h, size)
    columns, rest = divmod(w, size)
    if more or rest:
        raise ValueError(f"{h=}, {w=}, {size=}")
    x = torch.einsum("brpcq->brcpq", images.contiguous().view(b, rows, size, columns, size))
    return x.contiguous().view(b, rows * columns, size * size)
""", right=True),
    Answer("13b.6", "a right answer: split into rows of squares, each of them into squares", """
def patches(images, size):
    _, h, w = images.shape
    if (h % size, w % size) != (0, 0):
        raise ValueError(f"{h}, {w}: {size} does not fit")
    return torch.stack([s.flatten(1) for row in images.split(size, 1) for s in row.split(size, 2)], 1)
""", right=True),
    Answer("13b.6", "one reshape without exchanging axes: tokens are strips of pixels", edit(PATCHES,
           "    x = x.permute(0, 1, 3, 2, 4)\n", "")),
    Answer("13b.6", "the pixels are cut into runs of size * size", """
def patches(images, size):
    batch, height, width = images.shape
    if height % size or width % size:
        raise ValueError(f"{height}, {width}, {size}")
    return images.reshape(batch, -1, size * size)
"""),
    Answer("13b.6", "the squares go down the columns first", edit(PATCHES, "permute(0, 1, 3, 2, 4)", "permute(0, 3, 1, 2, 4)")),
    Answer("13b.6", "the pixels of a square go down the columns first", edit(PATCHES, "permute(0, 1, 3, 2, 4)", "permute(0, 1, 3, 4, 2)")),
    Answer("13b.6", "squares and pixels both go down the columns first", edit(PATCHES, "permute(0, 1, 3, 2, 4)", "permute(0, 3, 1, 4, 2)")),
    Answer("13b.6", "the axes of the squares and of the pixels exchanged: every token holds one pixel of each square", edit(PATCHES,
           "permute(0, 1, 3, 2, 4)", "permute(0, 2, 4, 1, 3)")),
    Answer("13b.6", "the same by the wrong split: first the pixel, then the square", edit(edit(PATCHES,
           "images.reshape(batch, height // size, size, width // size, size)",
           "images.reshape(batch, size, height // size, size, width // size)"), "permute(0, 1, 3, 2, 4)", "permute(0, 2, 4, 1, 3)")),
    Answer("13b.6", "height and width exchanged in the split", edit(PATCHES,
           "images.reshape(batch, height // size, size, width // size, size)",
           "images.reshape(batch, width // size, size, height // size, size)")),
    Answer("13b.6", "the images are transposed first", edit(PATCHES,
           "images.reshape(batch, height // size, size, width // size, size)",
           "images.mT.reshape(batch, width // size, size, height // size, size)")),
    Answer("13b.6", "view after permute needs contiguous memory", edit(PATCHES, "return x.reshape(", "return x.view(")),
    Answer("13b.6", "torch's unfold, not transposed: pixels times tokens", """
def patches(images, size):
    _, height, width = images.shape
    if height % size or width % size:
        raise ValueError(f"{height}, {width}, {size}")
    return F.unfold(images[:, None], size, stride=size)
"""),
    Answer("13b.6", "torch's unfold, reshaped instead of transposed", """
def patches(images, size):
    _, height, width = images.shape
    if height % size or width % size:
        raise ValueError(f"{height}, {width}, {size}")
    return F.unfold(images[:, None], size, stride=size).reshape(len(images), -1, size * size)
"""),
    Answer("13b.6", "overlapping squares: a step of 1", """
def patches(images, size):
    _, height, width = images.shape
    if height % size or width % size:
        raise ValueError(f"{height}, {width}, {size}")
    return images.unfold(1, size, 1).unfold(2, size, 1).flatten(3).flatten(1, 2)
"""),
    Answer("13b.6", "the batch is merged with the tokens", edit(PATCHES, "x.reshape(batch, -1, size * size)",
           "x.reshape(-1, size * size)")),
    Answer("13b.6", "rows and columns of squares stay two axes", edit(PATCHES, "x.reshape(batch, -1, size * size)",
           "x.reshape(batch, height // size, width // size, size * size)")),
    Answer("13b.6", "the squares stay squares", edit(PATCHES, "x.reshape(batch, -1, size * size)", "x.reshape(batch, -1, size, size)")),
    Answer("13b.6", "the batch moves behind the tokens", edit(PATCHES, "x.reshape(batch, -1, size * size)",
           "x.reshape(batch, -1, size * size).transpose(0, 1)")),
    Answer("13b.6", "the batch is mixed: the loop's tokens are joined along the batch and reshaped", """
def patches(images, size):
    batch, height, width = images.shape
    if height % size or width % size:
        raise ValueError(f"{height}, {width}, {size}")
    parts = [images[:, i:i + size, j:j + size].reshape(batch, -1) for i in range(0, height, size) for j in range(0, width, size)]
    return torch.cat(parts).reshape(batch, -1, size * size)
"""),
    Answer("13b.6", "written for square images: the width is taken for the height", edit(PATCHES,
           "images.reshape(batch, height // size, size, width // size, size)",
           "images[:, :width, :width].reshape(batch, width // size, size, width // size, size)")),
    Answer("13b.6", "each token is averaged to one number", edit(PATCHES, "x.reshape(batch, -1, size * size)",
           "x.reshape(batch, -1, size * size).mean(-1, keepdim=True)")),
    Answer("13b.6", "the size is taken for the number of squares along an edge", """
def patches(images, size):
    batch, height, width = images.shape
    if height % size or width % size:
        raise ValueError(f"{height}, {width}, {size}")
    a, b = height // size, width // size
    return images.reshape(batch, size, a, size, b).permute(0, 1, 3, 2, 4).reshape(batch, size * size, a * b)
"""),
    Answer("13b.6", "only the height is looked at", edit(PATCHES, "if height % size or width % size:", "if height % size:")),
    Answer("13b.6", "only the width is looked at", edit(PATCHES, "if height % size or width % size:", "if width % size:")),
    Answer("13b.6", "only the number of pixels is looked at", edit(PATCHES, "if height % size or width % size:",
           "if height * width % (size * size):")),
    Answer("13b.6", "refuses only if neither is divided: and in place of or", edit(PATCHES, "height % size or width % size",
           "height % size and width % size")),
    Answer("13b.6", "no refusal: reshape raises another error", edit(PATCHES, """
    if height % size or width % size:
        raise ValueError(f"size {size} does not divide {height} by {width}")
""", "\n")),
    Answer("13b.6", "the remainder is cut off instead of refused", edit(PATCHES, """
    if height % size or width % size:
        raise ValueError(f"size {size} does not divide {height} by {width}")
""", """
    height, width = height // size * size, width // size * size
    images = images[:, :height, :width]
""")),
    Answer("13b.6", "zeros are added instead of refusing", edit(PATCHES, """
    if height % size or width % size:
        raise ValueError(f"size {size} does not divide {height} by {width}")
""", """
    images = F.pad(images, (0, -width % size, 0, -height % size))
    height, width = images.shape[1:]
""")),
    Answer("13b.6", "the refusal names the size alone", edit(PATCHES, " does not divide {height} by {width}", " does not fit")),
    Answer("13b.6", "the refusal forgets the size", edit(PATCHES, "size {size} does not divide {height} by {width}",
           "not divisible: {height} by {width}")),
    Answer("13b.6", "images that are not square are refused", edit(PATCHES, "if height % size or width % size:",
           "if height % size or width % size or height != width:")),
    Answer("13b.6", "a size of 1 is refused", edit(PATCHES, "if height % size or width % size:",
           "if height % size or width % size or size == 1:")),
    Answer("13b.6", "a square as large as the image is refused", edit(PATCHES, "if height % size or width % size:",
           "if height % size or width % size or size >= min(height, width):")),
    Answer("13b.6", "an assertion where a ValueError was asked for", edit(PATCHES, """    if height % size or width % size:
        raise ValueError(f"size {size} does not divide {height} by {width}")
""", """    assert height % size == 0 and width % size == 0, f"{height}, {width}, {size}"
""")),
    Answer("13b.6", "pixels are scaled to at most 1 in place", edit(PATCHES, "    x = images.reshape(",
           "    images /= images.abs().max()\n    x = images.reshape(")),
)
