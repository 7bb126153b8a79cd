"""Chapter 11b."""

from . import Listed

POWER = '''
def fit_power_law(sizes, losses):
    if len(sizes) < 2:
        raise ValueError(f"{{len(sizes)}} points, at least 2 are needed")
    if {bad}:
        raise ValueError(f"not positive: {{sizes.tolist()}}, {{losses.tolist()}}")
    x, y = sizes.double().log(), losses.double().log()
    {fit}
'''
POSITIVE = "min(sizes.min(), losses.min()) <= 0"
DESIGN = "design = torch.stack([torch.ones_like(x), x], 1)"
BY_HAND = '''slope = ((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum()
    left = y - y.mean() - slope * (x - x.mean())
    r2 = 1 - left.square().sum() / (y - y.mean()).square().sum()
    scale = (y.mean() - slope * x.mean()).exp()
    '''

DISTINCT = '''
def distinct(texts, n, threshold):
    if {bad}:
        raise ValueError(f"n={{n}}, threshold={{threshold}}")
    {before}
    kept, sets = [], []
    for text in texts:
        words = text.lower().{split}
        found = {{{shingle} for i in range(max(1, len(words) - n + 1))}}
        if all(len(found & other) / len(found | other) < threshold for other in sets):
            kept.append({keep})
            sets.append(found)
    return kept
'''


def distinct(bad="n < 1 or not 0 < threshold <= 1", before="pass", split="split()", shingle="tuple(words[i:i + n])", keep="text"):
    return DISTINCT.format(bad=bad, before=before, split=split, shingle=shingle, keep=keep)


ANSWER = '''
def answer_log_prob(logits, ids, prompts, lengths):
    log_p = {log_p}
    picked = log_p[:, :-1].gather(-1, ids[:, 1:, None])[..., 0]
    place = torch.arange(1, ids.shape[1])
    real = (place >= prompts[:, None]) & (place < lengths[:, None])
    return {end}
'''

ROUTE = '''
def route(logits, active):
    experts = logits.shape[1]
    if not 1 <= active <= experts:
        raise ValueError(f"active={active} must lie between 1 and the {experts} experts")
    p = logits.softmax(dim=1)
    chosen = (p >= p.topk(active, dim=1).values[:, -1:]).float()
    weights = p * chosen
    weights = weights / weights.sum(dim=1, keepdim=True)
    return weights, experts * (chosen.sum(dim=0) / chosen.sum() * p.mean(dim=0)).sum()
'''

DPO = '''
def preference_loss(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
    if not beta > 0:
        raise ValueError(f"beta={{beta}} must be positive")
    margins = beta * {gain}
    return {loss}, margins
'''

GAIN = "((policy_chosen - reference_chosen) - (policy_rejected - reference_rejected))"

LAW = '''
def law_loss(parameters, sizes, tokens, losses, delta):
    a, b, e, alpha, beta = parameters
    parts = torch.stack([a - alpha * sizes.log(), b - beta * tokens.log(), e.expand(len(sizes))])
    return {end}
'''

GROUP = '''
def group_loss(log_probs, rewards):
    if rewards.shape[1] < 2:
        raise ValueError(f"{{rewards.shape[1]}} answer")
    {advantages}
    return -(advantages * log_probs).mean(), advantages
'''

BLOCK = '''
from course_utils.models.decoder import Decoder, DecoderConfig
def decoder_block(x, weights, num_heads, num_kv_heads):
    model = Decoder(DecoderConfig(vocab_size=2, d_model=x.shape[-1], num_heads=num_heads, num_layers=1, max_len=x.shape[1], rotary=True,
                                  num_kv_heads=num_kv_heads, norm="rms", gated=True, activation="silu", bias=False, dropout=0.0))
    return model.blocks[0](x)
'''

LISTED = (
    Listed("11b.1", "a loss that is not positive is let through", POWER.format(
        bad="(sizes <= 0).any()", fit=BY_HAND + "return scale.float(), -slope.float(), r2.float()")),
    Listed("11b.1", "torch.linalg.lstsq", POWER.format(bad=POSITIVE, fit=DESIGN + '''
    start, slope = torch.linalg.lstsq(design, y[:, None]).solution[:, 0]
    left = y - start - slope * x
    r2 = 1 - left.square().sum() / (y - y.mean()).square().sum()
    return start.exp().float(), -slope.float(), r2.float()'''), right=True),
    Listed("11b.1", "normal equations, r2 by corrcoef", POWER.format(bad=POSITIVE, fit=DESIGN + '''
    start, slope = torch.linalg.solve(design.T @ design, design.T @ y)
    r2 = torch.corrcoef(torch.stack([x, y]))[0, 1] ** 2
    return start.exp().float(), -slope.float(), r2.float()'''), right=True),
    Listed("11b.1", "adjusted r2", POWER.format(bad=POSITIVE, fit=BY_HAND + '''r2 = 1 - (1 - r2) * (len(x) - 1) / (len(x) - 2)
    return scale.float(), -slope.float(), r2.float()'''), says=("Share adjusted for the number of points",)),
    Listed("11b.2", "the mean", LAW.format(
        end='F.huber_loss(parts.logsumexp(0), losses.log(), delta=delta)'), says=("You average over the points",)),
    Listed("11b.2", "log of the sum of exponentials", LAW.format(
        end='F.huber_loss(parts.exp().sum(0).log(), losses.log(), delta=delta, reduction="sum")'), right=True),
    Listed("11b.3", "texts lower-cased in the result", distinct(keep="text.lower()")),
    Listed("11b.3", "blanks tidied in the result", distinct(keep='" ".join(text.split())')),
    Listed("11b.3", "a threshold of 1 refused", distinct(bad="n < 1 or not 0 < threshold < 1")),
    Listed("11b.3", "a threshold above 1 let through", distinct(bad="n < 1 or not 0 < threshold")),
    Listed("11b.3", "cut at single blanks", distinct(split='split(" ")'), says=("Cut at single blanks",)),
    Listed("11b.3", "words run together", distinct(shingle='"".join(words[i:i + n])'), says=("Words run together",)),
    Listed("11b.3", "texts sorted in place", distinct(before="texts.sort()"), never=("Make a new tensor instead",)),
    Listed("11b.4", "answers found by looking for the separators", '''
def few_shot(examples, between, behind, last_only=False):
    row = []
    for k, (question, answer) in enumerate(examples):
        if not question or not answer:
            raise ValueError(f"example {k} is empty")
        row += [*question, between, *answer, behind]
    counted, inside, ends = [], False, 0
    for token in row:
        counts = inside and (not last_only or ends == len(examples) - 1)
        counted.append(counts)
        if token == between:
            inside = True
        elif token == behind:
            inside, ends = False, ends + 1
    row, counted = torch.tensor(row), torch.tensor(counted)
    return row[:-1], torch.where(counted, row, -100)[1:]
'''),
    Listed("11b.4", "only the last id of the last answer", '''
def few_shot(examples, between, behind, last_only=False):
    row, counted = [], []
    for k, (question, answer) in enumerate(examples):
        if not question or not answer:
            raise ValueError(f"example {k} is empty")
        row += [*question, between, *answer, behind]
        if last_only:
            last = k == len(examples) - 1
            counted += [False] * (len(question) + len(answer)) + [last, last]
        else:
            counted += [False] * (len(question) + 1) + [True] * (len(answer) + 1)
    row, counted = torch.tensor(row), torch.tensor(counted)
    return row[:-1], torch.where(counted, row, -100)[1:]
''', never=("ask one place late", "not on the token that stands there")),
    Listed("11b.4", "lists kept from call to call", '''
def few_shot(examples, between, behind, last_only=False, row=[], counted=[]):
    for k, (question, answer) in enumerate(examples):
        if not question or not answer:
            raise ValueError(f"example {k} is empty")
        row += [*question, between, *answer, behind]
        counts = not last_only or k == len(examples) - 1
        counted += [False] * (len(question) + 1) + [counts] * (len(answer) + 1)
    ids, lessons = torch.tensor(row), torch.tensor(counted)
    return ids[:-1], torch.where(lessons, ids, -100)[1:]
'''),
    Listed("11b.5", "the logarithm of a softmax", ANSWER.format(
        log_p="logits.softmax(-1).log()", end="torch.where(real, picked, 0.0).sum(1)")),
    Listed("11b.5", "a small number in the logarithm", ANSWER.format(
        log_p="logits.softmax(-1).add(1e-9).log()", end="(picked * real).sum(1)"),
           says=("Small number in the logarithm",)),
    Listed("11b.5", "a list of numbers", ANSWER.format(log_p="logits.log_softmax(-1)", end="(picked * real).sum(1).tolist()"),
           never=("uple instead of",)),
    Listed("11b.6", "the references exchanged", DPO.format(
        gain="((policy_chosen - reference_rejected) - (policy_rejected - reference_chosen))", loss="-F.logsigmoid(margins).mean()"),
           says=("or you have exchanged them",)),
    Listed("11b.6", "the loss without gradient", DPO.format(
        gain=GAIN, loss="-F.logsigmoid(margins).mean().detach()"),
           says=("Loss without gradient",)),
    Listed("11b.6", "gradient 0 where the margin is 0", DPO.format(
        gain=GAIN,
        loss="torch.where(margins == 0, torch.full_like(margins, math.log(2)), -F.logsigmoid(margins)).mean()")),
    Listed("11b.7", "ties take more experts", ROUTE, says=("Ties take more experts",)),
    Listed("11b.8", "PyTorch's deviation as it comes", GROUP.format(
        advantages="advantages = (rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-8)"),
           says=("one less than the size of the group",)),
    Listed("11b.8", "a z-score over the batch", GROUP.format(
        advantages="advantages = (rewards - rewards.mean()) / (rewards.std(correction=0) + 1e-8)"), says=("whole batch",)),
    Listed("11b.9", "a new block of the course, whose weights are others", BLOCK),
    Listed("11b.10", "plain indexing where answers come again", '''
def preference_step(scores, known, chosen, rejected, beta, rate):
    gain = scores.log_softmax(0) - known
    force = rate * beta * torch.sigmoid(-beta * (gain[chosen] - gain[rejected])) / len(chosen)
    new = scores.clone()
    new[chosen] += force
    new[rejected] -= force
    return new
''', says=("index_add adds all",)),
)
