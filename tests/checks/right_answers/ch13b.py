"""Right answers to chapter 13b, written differently from its solution."""

import math

import torch
from torch.nn import functional as F

from course_checks.exercises.ch13b.predict import RIGHT


def features_einsum(x, frequencies):
    if x.shape[1] != frequencies.shape[1]:
        raise ValueError(f"{x.shape[1]} is not {frequencies.shape[1]}")
    angle = torch.einsum("nd,md->nm", x.double(), frequencies.double())
    return (torch.stack([angle.cos(), angle.sin()], 1).flatten(1) / math.sqrt(len(frequencies))).float()


def features_complex(x, frequencies):
    """Cosine and sine are the two parts of one complex number of length 1."""
    (n, d), (m, width) = x.shape, frequencies.shape
    if d != width:
        raise ValueError(f"widths {d} and {width}")
    turned = torch.polar(torch.full((n, m), m**-0.5), F.linear(x, frequencies))
    return torch.hstack([turned.real, turned.imag])


def features_loops(x, frequencies):
    if len(x[0]) != len(frequencies[0]):
        raise ValueError(f"{len(x[0])}, {len(frequencies[0])}")
    out, m = torch.zeros(len(x), 2 * len(frequencies)), len(frequencies)
    for i, point in enumerate(x):
        for j, w in enumerate(frequencies):
            out[i, j] = torch.cos(point.dot(w))
            out[i, m + j] = torch.sin((point * w).sum())
    return out / m**0.5


def step_where(written, counted, query, key, value):
    q, k = (torch.where(x > 0, x + 1, x.exp()) for x in (query, key))
    new, count = written + k[:, None] * value[None], counted.add(k)
    return (q[:, None] * new).sum(0) / (q * count).sum(), new, count


def step_clone(written, counted, query, key, value):
    """Changes its own copies in place, value and a 1 beside it in one matrix."""
    both = torch.cat([written, counted[:, None]], 1).clone()
    k, q = F.elu(key).add(1), F.elu(query).add(1)
    both += torch.einsum("d,v->dv", k, torch.cat([value, value.new_ones(1)]))
    out = q @ both
    return out[:-1] / out[-1], both[:, :-1], both[:, -1]


def step_split(written, counted, query, key, value):
    """Reads the past and adds what the token reads from itself."""
    def feature(x):
        return x.clamp(min=0) + x.clamp(max=0).exp()

    q, k = feature(query), feature(key)
    own = q @ k
    output = (q @ written + own * value) / (q @ counted + own)
    return output, torch.addr(written, k, value), counted + k


def chunks_recurrent(query, key, value, size):
    if size <= 0:
        raise ValueError(f"chunks of {size}")
    written, counted, rows = torch.zeros(key.size(1), value.size(1)), torch.zeros(key.size(1)), []
    for q, k, v in zip(query, key, value, strict=True):
        written, counted = written + torch.outer(k, v), counted + k
        rows.append(q @ written / (q @ counted))
    return torch.stack(rows)


def chunks_ones(query, key, value, size):
    """A column of ones beside the values makes the sums of weights."""
    if not size >= 1:
        raise ValueError(f"{size} tokens in a chunk")
    more, out = torch.cat([value, torch.ones(len(value), 1)], 1), torch.zeros(len(value), value.shape[1] + 1)
    state = torch.zeros(key.shape[1], more.shape[1])
    for start in range(0, len(query), size):
        at = slice(start, start + size)
        weights = torch.einsum("ir,jr->ij", query[at], key[at])
        weights = weights * torch.ones_like(weights).tril()
        out[at] = weights @ more[at] + query[at] @ state
        state += key[at].T @ more[at]
    return out[:, :-1] / out[:, -1:]


def chunks_padded(query, key, value, size):
    """All chunks side by side, padded with zeros; states by a running sum."""
    if size < 1:
        raise ValueError(f"size {size} is below 1")
    n = len(query)
    q, k, v = (F.pad(x, (0, 0, 0, -n % size)).unflatten(0, (-1, size)).double() for x in (query, key, value))
    inside = (q @ k.mT).tril()
    state, count = k.mT @ v, k.sum(1)
    state, count = state.cumsum(0) - state, count.cumsum(0) - count
    above = inside @ v + q @ state
    below = inside.sum(-1) + (q * count[:, None]).sum(-1)
    return (above.flatten(0, 1)[:n] / below.flatten()[:n, None]).float()


def delta_normalised(keys, values, strength=1.0):
    keys = F.normalize(keys, dim=-1)
    matrix = torch.zeros(keys.shape[1], values.shape[1])
    for k, v in zip(keys, values, strict=True):
        matrix = matrix + strength * k[:, None] * (v - k @ matrix)[None]
    return matrix


def delta_gradient(keys, values, strength=1.0):
    """A step down the gradient of half of the squared error."""
    matrix = torch.zeros(keys.shape[1], values.shape[1])
    for k, v in zip(keys / keys.square().sum(1, keepdim=True).sqrt(), values, strict=True):
        matrix.requires_grad_()
        loss = (k @ matrix - v).square().sum() / 2
        matrix = (matrix - strength * torch.autograd.grad(loss, matrix)[0]).detach()
    return matrix


def delta_projection(keys, values, strength=1.0):
    """Erases with a matrix, then writes."""
    matrix = torch.zeros(keys.shape[1], values.shape[1], dtype=torch.double)
    for k, v in zip(keys.double(), values.double(), strict=True):
        k = k / torch.linalg.vector_norm(k)
        matrix = (torch.eye(len(k)) - strength * torch.outer(k, k)) @ matrix + strength * torch.outer(k, v)
    return matrix.float()


def patches_loops(images, size):
    batch, height, width = images.shape
    if height % size != 0 or width % size != 0:
        raise ValueError(f"size {size} does not divide {height} and {width}")
    squares = [images[:, i:i + size, j:j + size].reshape(batch, -1) for i in range(0, height, size) for j in range(0, width, size)]
    return torch.stack(squares, 1)


def patches_unfold(images, size):
    height, width = images.shape[1:]
    if any(edge % size for edge in (height, width)):
        raise ValueError(f"({height}, {width}) and {size}")
    return images.unfold(1, size, size).unfold(2, size, size).flatten(3).flatten(1, 2)


def patches_index(images, size):
    """The place of every pixel, counted through the image."""
    batch, height, width = images.shape
    if height // size * size != height or width // size * size != width:
        raise ValueError(f"{height}, {width}, {size}")
    rows, columns = torch.arange(height // size), torch.arange(width // size)
    corner = (rows[:, None] * size * width + columns * size).flatten()
    inside = (torch.arange(size)[:, None] * width + torch.arange(size)).flatten()
    return images.flatten(1)[:, corner[:, None] + inside]


ANSWERS = {"13b.1": (features_einsum, features_complex, features_loops), "13b.2": (step_where, step_clone, step_split),
           "13b.3": (chunks_recurrent, chunks_ones, chunks_padded), "13b.4": (delta_normalised, delta_gradient, delta_projection),
           "13b.5": (dict(RIGHT), dict(reversed(RIGHT.items())), {name: word.upper() for name, word in RIGHT.items()}),
           "13b.6": (patches_loops, patches_unfold, patches_index)}
