"""Right answers to the exercises 12a.6 and 12a.7, written differently from the solutions."""

import torch


def spans_stack(ids, spans, sentinels):
    if len(spans) + 1 > len(sentinels):
        raise ValueError(f"{len(spans)} spans, {len(sentinels)} sentinels; {len(spans) + 1} are needed")
    source = list(ids)
    target = [sentinels[len(spans)]]
    for number, (start, length) in reversed(list(enumerate(sorted(spans)))):  # from the back: places in front stay valid
        target = [sentinels[number], *source[start:start + length], *target]
        source[start:start + length] = [sentinels[number]]
    return source, target


def spans_walk(ids, spans, sentinels):
    if len(sentinels) - len(spans) < 1:
        raise ValueError(f"need {len(spans) + 1} sentinels for {len(spans)} spans, got {len(sentinels)}")
    lengths, source, target, marks, place = dict(map(tuple, spans)), [], [], iter(sentinels), 0
    while place < len(ids):
        if place in lengths:
            mark = next(marks)
            source.append(mark)
            target.extend([mark, *ids[place:place + lengths[place]]])
            place += lengths[place]
        else:
            source.append(ids[place])
            place += 1
    target.append(next(marks))
    return source, target


def blocks_kron(n, block, reach, chosen, extra):
    if n % block != 0:
        raise ValueError(f"{n} tokens, blocks of {block}")
    m = n // block
    small = torch.ones(m, m).tril(reach).triu(-reach)
    for place in chosen:
        small[place, :] = small[:, place] = 1
    for query, key in extra:
        small[query, key] = 1
    return torch.kron(small, torch.ones(block, block)).bool()


def blocks_compare(n, block, reach, chosen, extra):
    number, left = divmod(n, block)
    if left:
        raise ValueError(f"n={n} leaves {left} tokens over in blocks of {block}")
    own = torch.arange(n).div(block, rounding_mode="floor")
    query, key = own[:, None].expand(n, n), own.expand(n, n)
    mask = (query - key).abs() <= reach
    mask = mask | torch.isin(query, torch.tensor(chosen, dtype=torch.long)) | torch.isin(key, torch.tensor(chosen, dtype=torch.long))
    wanted = torch.tensor([a * number + b for a, b in extra], dtype=torch.long)
    return mask | torch.isin(query * number + key, wanted)


ANSWERS = {"12a.6": [spans_stack, spans_walk], "12a.7": [blocks_kron, blocks_compare]}
