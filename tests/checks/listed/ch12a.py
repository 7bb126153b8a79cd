"""Chapter 12a."""

from . import Listed

REPLACED = '''
def replaced_loss(logits, original, spoiled, chosen, mask):
    labels = (spoiled != original).float()
    {losses}
    return losses[mask].mean()
'''

DISTIL = '''
def distil(student, teacher, labels, temperature, share):
    if temperature <= 0:
        raise ValueError(f"temperature={{temperature}} must be positive")
    taught = {taught}
    said = (student / temperature).log_softmax(-1)
    soft = (taught.exp() * (taught - said)).sum(-1).mean()
    return share * temperature**2 * soft + (1 - share) * F.cross_entropy(student, labels)
'''

STEP = '''
def distillation_step(weight, x, teacher, temperature, rate):
    if temperature <= 0:
        raise ValueError(f"temperature={{temperature}} must be positive")
    log_p, log_q = (teacher / temperature).log_softmax(-1), (x @ weight.T / temperature).log_softmax(-1)
    loss = temperature**2 * (log_p.exp() * (log_p - log_q)).sum(-1).mean()
    slope = {slope}
    return weight - rate * slope.T @ x / len(x), loss
'''

SPANS = '''
def hide_spans(ids, spans, sentinels):
    if len(sentinels) <= len(spans):
        raise ValueError(f"{{len(spans)}} spans need {{len(spans) + 1}} sentinels")
    source, target, place = [], [], 0
    for sentinel, (start, length) in zip(sentinels, sorted(spans)):
        source += [*ids[place:start], sentinel]
        target += [sentinel, *ids[start:start + length]]
        place = start + length
    source, target = source + list(ids[place:]), [*target, sentinels[len(spans)]]
    {end}
'''

BLOCKS = '''
def block_mask(n, block, reach, chosen, extra):
    {bad}
    place = torch.arange(n // block)
    small = (place[:, None] - place).abs() <= reach
    small[chosen], small[:, chosen] = True, True
    for a, b in extra:
        small[a, b] = True
    return small.repeat_interleave(block, 0).repeat_interleave(block, 1)
'''

LISTED = (
    Listed("12a.1", "cross-entropy of the sigmoid", REPLACED.format(
        losses='losses = F.binary_cross_entropy(logits.sigmoid(), labels, reduction="none")'), says=("Sigmoid and logarithm apart",)),
    Listed("12a.1", "logarithms of the sigmoid", REPLACED.format(
        losses="p = logits.sigmoid()\n    losses = -(labels * p.log() + (1 - labels) * (1 - p).log())")),
    Listed("12a.1", "logarithms with a millionth inside", REPLACED.format(
        losses="p = logits.sigmoid()\n    losses = -(labels * (p + 1e-6).log() + (1 - labels) * (1 - p + 1e-6).log())"),
           says=("Small number in the logarithm",)),
    Listed("12a.2", "the logarithm of the teacher's softmax", DISTIL.format(taught="(teacher.detach() / temperature).softmax(-1).log()"),
           says=("Logarithm of the teacher's softmax",)),
    Listed("12a.2", "a temperature of 2 for all", '''
def distil(student, teacher, labels, temperature, share):
    if temperature <= 0:
        raise ValueError(f"temperature={temperature} must be positive")
    taught, said = (teacher.detach() / 2).log_softmax(-1), (student / 2).log_softmax(-1)
    soft = (taught.exp() * (taught - said)).sum(-1).mean()
    return share * 4 * soft + (1 - share) * F.cross_entropy(student, labels)
''', says=("Temperature 2 for all",)),
    Listed("12a.3", "the first text for all", '''
def disentangled(query, key, far_query, far_key, largest):
    batch, (n, d) = len(query), query.shape[1:]
    place = torch.arange(n)
    row = (place[:, None] - place + largest).clamp(0, 2 * largest - 1)
    q, k = query[0], key[0]
    scores = q @ k.T + (q @ far_key.T).gather(-1, row) + (k @ far_query.T).gather(-1, row).T
    return (scores / math.sqrt(3 * d)).expand(batch, n, n)
''', says=("First text for all",)),
    Listed("12a.5", "the factor on the gradient, not divided by the temperature once", STEP.format(
        slope="temperature**2 * (log_q.exp() - log_p.exp())"), says=("Division of the logits not differentiated",)),
    Listed("12a.5", "the gradient of the divergence without the factor", STEP.format(
        slope="(log_q.exp() - log_p.exp()) / temperature"), says=("Step without the factor",)),
    Listed("12a.6", "everything in the first list", SPANS.format(end="return source + target, []")),
    Listed("12a.6", "the first sentinel in the wrong list", SPANS.format(end="return source + target[:1], target[1:]")),
    Listed("12a.6", "the hidden piece found by its ids", '''
def hide_spans(ids, spans, sentinels):
    if len(sentinels) <= len(spans):
        raise ValueError(f"{len(spans)} spans need {len(spans) + 1} sentinels")
    source, target = list(ids), []
    for sentinel, (start, length) in zip(sentinels, sorted(spans)):
        piece = list(ids[start:start + length])
        target += [sentinel, *piece]
        for i in range(len(source)):
            if source[i:i + length] == piece:
                source[i:i + length] = [sentinel]
                break
    return source, [*target, sentinels[len(spans)]]
'''),
    Listed("12a.6", "the last sentinel used closes the target", '''
def hide_spans(ids, spans, sentinels):
    if len(sentinels) <= len(spans):
        raise ValueError(f"{len(spans)} spans need {len(spans) + 1} sentinels")
    source, target, place = [], [], 0
    for sentinel, (start, length) in zip(sentinels, sorted(spans)):
        source += [*ids[place:start], sentinel]
        target += [sentinel, *ids[start:start + length]]
        place = start + length
    return source + list(ids[place:]), [*target, sentinel]
''', never=("UnboundLocalError",)),
    Listed("12a.6", "spans sorted in place", SPANS.format(end="spans.sort()\n    return source, target"),
           never=("Make a new tensor instead",)),
    Listed("12a.7", "assert instead of ValueError", BLOCKS.format(bad='assert n % block == 0, f"n={n}, block={block}"'),
           says=("ValueError",), never=("by accident",)),
    Listed("12a.7", "chosen blocks collected in place", BLOCKS.format(bad='''if n % block:
        raise ValueError(f"n={n}, block={block}")
    chosen.append(0)
    chosen.sort()
    chosen.remove(0)
    extra.reverse()'''), never=("Make a new tensor instead",)),
)
