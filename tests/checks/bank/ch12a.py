"""Chapter 12a: answers written from the blank notebook."""

from . import Answer, edit

REPLACED = """
def replaced_loss(logits, original, spoiled, chosen, mask):
    labels = (spoiled != original).float()
    losses = F.binary_cross_entropy_with_logits(logits, labels, reduction="none")
    return losses[mask].mean()
"""

DISTIL = """
def distil(student, teacher, labels, temperature, share):
    if not temperature > 0:
        raise ValueError(f"the temperature must be positive, not {temperature}")
    log_q = F.log_softmax(student / temperature, dim=-1)
    log_p = F.log_softmax(teacher.detach() / temperature, dim=-1)
    soft = (log_p.exp() * (log_p - log_q)).sum(-1).mean() * temperature**2
    hard = F.cross_entropy(student, labels)
    return share * soft + (1 - share) * hard
"""

DISENTANGLED = """
def disentangled(query, key, far_query, far_key, largest):
    batch, n, d = query.shape
    place = torch.arange(n)
    row = (place[:, None] - place[None, :]).clamp(-largest, largest - 1) + largest
    index = row.expand(batch, n, n)
    content = query @ key.transpose(-2, -1)
    second = (query @ far_key.T).gather(-1, index)
    third = (key @ far_query.T).gather(-1, index).transpose(-2, -1)
    return (content + second + third) / math.sqrt(3 * d)
"""

GUESSED = """
prediction = {
    "ALBERT, one block for two depths instead of two blocks: parameters": "less",
    "ALBERT, the same: multiplications for a token": "same",
    "ELECTRA, replaced or not instead of hidden words: tokens with a loss of their own": "more",
    "ELECTRA, the generator draws instead of taking its best guess: words that come back unchanged": "less",
    "ALBERT, neighbours swapped instead of in order: similarity for a judge who only sees which words occur": "same",
    "DistilBERT, temperature 4 instead of 1: the probability of the teacher's best guess": "less",
    "DeBERTa without late positions instead of BERT, sixteen equal letters: different states": "less",
    "T5, as many tokens hidden, in spans of three instead of one by one: length of the target": "less",
    "BigBird's window, a text twice as long: pairs for a token in the middle": "same",
}
"""

KEYS = ", ".join(line.strip().rpartition(": ")[0] for line in GUESSED.splitlines() if line.startswith("    "))

STEP = """
def distillation_step(weight, x, teacher, temperature, rate):
    if not temperature > 0:
        raise ValueError(f"the temperature must be positive, not {temperature}")
    log_p = F.log_softmax(teacher / temperature, dim=-1)
    log_q = F.log_softmax(x @ weight.T / temperature, dim=-1)
    loss = temperature**2 * (log_p.exp() * (log_p - log_q)).sum(-1).mean()
    grad_z = temperature * (log_q.exp() - log_p.exp()) / len(x)
    return weight - rate * grad_z.T @ x, loss
"""

MODERN = """
from course_utils.models.positions import rope

def modern_block(x, weights, num_heads, reach, base):
    batch, n, d = x.shape
    h = F.layer_norm(x, (d,), weights["norm_1"])
    q, k, v = (h @ weights["qkv"].T).split(d, dim=-1)
    q, k, v = (t.reshape(batch, n, num_heads, d // num_heads).transpose(1, 2) for t in (q, k, v))
    q, k = rope(q, base=base, halves=True), rope(k, base=base, halves=True)
    scores = q @ k.transpose(-2, -1) / math.sqrt(d // num_heads)
    if reach is not None:
        i = torch.arange(n)
        scores = scores.masked_fill((i[:, None] - i).abs() > reach, -torch.inf)
    out = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, n, d)
    x = x + out @ weights["out"].T
    h = F.layer_norm(x, (d,), weights["norm_2"])
    gate, value = (h @ weights["up"].T).chunk(2, dim=-1)
    return x + (F.gelu(gate) * value) @ weights["down"].T
"""

SPANS = """
def hide_spans(ids, spans, sentinels):
    if len(sentinels) < len(spans) + 1:
        raise ValueError(f"{len(spans) + 1} sentinels are needed")
    source, target, end = [], [], 0
    for mark, (start, length) in zip(sentinels, sorted(spans)):
        source += ids[end:start] + [mark]
        target += [mark] + ids[start:start + length]
        end = start + length
    source += ids[end:]
    target.append(sentinels[len(spans)])
    return source, target
"""

BLOCKS = """
def block_mask(n, block, reach, chosen, extra):
    if n % block:
        raise ValueError(f"{n} tokens cannot be cut into blocks of {block}")
    blocks = torch.arange(n // block)
    small = (blocks[:, None] - blocks[None, :]).abs() <= reach
    for c in chosen:
        small[c, :] = True
        small[:, c] = True
    for a, b in extra:
        small[a, b] = True
    return small.repeat_interleave(block, 0).repeat_interleave(block, 1)
"""

BANK = (
    # 12a.1 replaced or original
    Answer("12a.1", "a right answer: the three faults repaired in place", REPLACED, right=True),
    Answer("12a.1", "a right answer: softplus of the signed logits", """
def replaced_loss(logits, original, spoiled, chosen, mask):
    sign = torch.where(original == spoiled, 1.0, -1.0)
    return F.softplus(sign * logits)[mask].mean()
""", right=True),
    Answer("12a.1", "a right answer: log-sigmoids, weighted and divided by the number of real tokens", """
def replaced_loss(logits, original, spoiled, chosen, mask):
    fake = original.ne(spoiled)
    per_token = -torch.where(fake, F.logsigmoid(logits), F.logsigmoid(-logits))
    real = mask.to(per_token.dtype)
    return (per_token * real).sum() / real.sum()
""", right=True),
    Answer("12a.1", "a right answer: a log-softmax over two classes", """
def replaced_loss(logits, original, spoiled, chosen, mask):
    z = logits[mask]
    two = torch.stack([torch.zeros_like(z), z], dim=-1)
    return F.cross_entropy(two, (spoiled[mask] != original[mask]).long())
""", right=True),
    Answer("12a.1", "nothing repaired: the cell is left as it was", """
def replaced_loss(logits, original, spoiled, chosen, mask):
    labels = chosen.float()
    losses = F.binary_cross_entropy_with_logits(logits.sigmoid(), labels, reduction="none")
    return losses[chosen].mean()
"""),
    Answer("12a.1", "the sigmoid is still there: the loss function takes one itself",
           edit(REPLACED, "with_logits(logits, ", "with_logits(logits.sigmoid(), ")),
    Answer("12a.1", "a token that was chosen and came back unchanged is still labelled replaced",
           edit(REPLACED, "(spoiled != original).float()", "chosen.float()")),
    Answer("12a.1", "still averages over the chosen tokens instead of all real ones", edit(REPLACED, "losses[mask]", "losses[chosen]")),
    Answer("12a.1", "labels turned round: 1 for original", edit(REPLACED, "spoiled != original", "spoiled == original")),
    Answer("12a.1", "padding counts in the mean: zeros are added, but the divisor is all places",
           edit(REPLACED, "losses[mask].mean()", "(losses * mask).mean()")),
    Answer("12a.1", "padding is not left out at all", edit(REPLACED, "losses[mask].mean()", "losses.mean()")),
    Answer("12a.1", "averages in each text first, so tokens of short texts weigh more",
           edit(REPLACED, "losses[mask].mean()", "((losses * mask).sum(1) / mask.sum(1)).mean()")),
    Answer("12a.1", "sigmoid first and the plain cross-entropy: logits in the hundreds are cut off at 100 nats",
           edit(REPLACED, "F.binary_cross_entropy_with_logits(logits, ", "F.binary_cross_entropy(logits.sigmoid(), ")),
    Answer("12a.1", "log(1 + exp(z)) written out overflows for logits in the hundreds", """
def replaced_loss(logits, original, spoiled, chosen, mask):
    sign = 1 - 2 * (spoiled != original).float()
    losses = torch.log(1 + torch.exp(sign * logits))
    return losses[mask].mean()
"""),
    Answer("12a.1", "a small number in the logarithm caps the loss of a confident mistake", """
def replaced_loss(logits, original, spoiled, chosen, mask):
    y = (spoiled != original).float()
    p = torch.sigmoid(logits)
    losses = -(y * (p + 1e-9).log() + (1 - y) * (1 - p + 1e-9).log())
    return losses[mask].mean()
"""),
    Answer("12a.1", "the sum instead of the mean", edit(REPLACED, "losses[mask].mean()", "losses[mask].sum()")),
    Answer("12a.1", "multiplies by the 50 with which the losses are added later", edit(REPLACED, "return losses", "return 50 * losses")),
    Answer("12a.1", "the three faults seen, but only real tokens that were chosen are averaged",
           edit(REPLACED, "losses[mask]", "losses[mask & chosen]")),
    Answer("12a.1", "only the half of the cross-entropy for replaced tokens",
           edit(REPLACED, 'F.binary_cross_entropy_with_logits(logits, labels, reduction="none")', "-labels * F.logsigmoid(logits)"),
           says=("Originals cost nothing",)),
    Answer("12a.1", "the caller's mask of chosen tokens becomes the labels in place",
           edit(REPLACED, "labels = (spoiled != original).float()", "chosen &= spoiled != original\n    labels = chosen.float()")),
    Answer("12a.1", "logits cut off at 20", edit(REPLACED, "with_logits(logits, ", "with_logits(logits.clamp(-20, 20), ")),
    Answer("12a.1", "a right answer: in double precision, a class of its own for the loss", """
def replaced_loss(logits, original, spoiled, chosen, mask):
    criterion = torch.nn.BCEWithLogitsLoss()
    return criterion(logits.double().masked_select(mask), (chosen & (spoiled != original)).double().masked_select(mask))
""", right=True),

    # 12a.2 a teacher's probabilities
    Answer("12a.2", "a right answer: both log-softmaxes by hand", DISTIL, right=True),
    Answer("12a.2", "a right answer: F.kl_div with batchmean and a target in logarithms", """
def distil(student, teacher, labels, temperature, share):
    if not (temperature > 0):
        raise ValueError("temperature is " + str(temperature))
    with torch.no_grad():
        wanted = (teacher / temperature).log_softmax(-1)
    kl = F.kl_div((student / temperature).log_softmax(-1), wanted, reduction="batchmean", log_target=True)
    return torch.lerp(F.cross_entropy(student, labels), kl * temperature * temperature, float(share))
""", right=True),
    Answer("12a.2", "a right answer: cross-entropy with soft targets less the teacher's entropy", """
def distil(student, teacher, labels, temperature, share):
    if not temperature > 0.0:
        raise ValueError(f"T = {temperature}")
    p = (teacher.detach() / temperature).softmax(-1)
    kl = F.cross_entropy(student / temperature, p) - torch.special.entr(p).sum(-1).mean()
    rest = -student.log_softmax(-1)[torch.arange(len(labels)), labels].mean()
    return kl * share * temperature**2 + rest * (1 - share)
""", right=True),
    Answer("12a.2", "a right answer: token by token in a loop, logsumexp as normaliser", """
def distil(student, teacher, labels, temperature, share):
    if not temperature > 0:
        raise ValueError(f"cannot soften by {temperature}")
    total = 0.0
    for s, t, y in zip(student, teacher.detach(), labels):
        a, b = t / temperature, s / temperature
        a, b = a - a.logsumexp(0), b - b.logsumexp(0)
        kl = torch.dot(a.exp(), a - b)
        total = total + share * temperature**2 * kl + (1 - share) * (s.logsumexp(0) - s[y])
    return total / len(labels)
""", right=True),
    Answer("12a.2", "the square of the temperature is missing", edit(DISTIL, ".mean() * temperature**2", ".mean()")),
    Answer("12a.2", "times the temperature, not its square", edit(DISTIL, "temperature**2", "temperature")),
    Answer("12a.2", "KL the wrong way round: the student's probabilities weigh the difference",
           edit(DISTIL, "(log_p.exp() * (log_p - log_q))", "(log_q.exp() * (log_q - log_p))")),
    Answer("12a.2", "the gradient also flows into the teacher", edit(DISTIL, "teacher.detach()", "teacher")),
    Answer("12a.2", "the teacher's part is averaged over the vocabulary as well",
           edit(DISTIL, "(log_p.exp() * (log_p - log_q)).sum(-1).mean()", "(log_p.exp() * (log_p - log_q)).mean()")),
    Answer("12a.2", "the teacher's part is summed over the tokens instead of averaged",
           edit(DISTIL, ".sum(-1).mean()", ".sum()")),
    Answer("12a.2", "takes the logarithm of a softmax: a certain teacher gives 0 times minus infinity", """
def distil(student, teacher, labels, temperature, share):
    if not temperature > 0:
        raise ValueError(f"the temperature must be positive, not {temperature}")
    p = (teacher.detach() / temperature).softmax(-1)
    q = (student / temperature).softmax(-1)
    soft = (p * (p.log() - q.log())).sum(-1).mean() * temperature**2
    return share * soft + (1 - share) * F.cross_entropy(student, labels)
"""),
    Answer("12a.2", "1e-9 inside the logarithms: no loss can exceed some twenty nats, far too little for logits in the hundreds", """
def distil(student, teacher, labels, temperature, share):
    if not temperature > 0:
        raise ValueError(f"the temperature must be positive, not {temperature}")
    p = (teacher.detach() / temperature).softmax(-1)
    q = (student / temperature).softmax(-1)
    soft = (p * torch.log((p + 1e-9) / (q + 1e-9))).sum(-1).mean() * temperature**2
    return share * soft + (1 - share) * F.cross_entropy(student, labels)
"""),
    Answer("12a.2", "share and 1 - share exchanged",
           edit(DISTIL, "share * soft + (1 - share) * hard", "(1 - share) * soft + share * hard")),
    Answer("12a.2", "the labels' part is softened too", edit(DISTIL, "F.cross_entropy(student, labels)",
           "F.cross_entropy(student / temperature, labels)")),
    Answer("12a.2", "only the teacher is softened", edit(DISTIL, "F.log_softmax(student / temperature,", "F.log_softmax(student,")),
    Answer("12a.2", "the square of the temperature multiplies the labels' part as well", """
def distil(student, teacher, labels, temperature, share):
    if not temperature > 0:
        raise ValueError(f"the temperature must be positive, not {temperature}")
    log_q = F.log_softmax(student / temperature, dim=-1)
    log_p = F.log_softmax(teacher.detach() / temperature, dim=-1)
    soft = (log_p.exp() * (log_p - log_q)).sum(-1).mean()
    return temperature**2 * (share * soft + (1 - share) * F.cross_entropy(student, labels))
"""),
    Answer("12a.2", "only a temperature of 0 is refused, negative ones pass", edit(DISTIL, "not temperature > 0", "temperature == 0")),
    Answer("12a.2", "cross-entropy with the teacher's probabilities, without taking off the teacher's entropy: no KL",
           edit(DISTIL, "(log_p.exp() * (log_p - log_q))", "(-log_p.exp() * log_q)")),
    Answer("12a.2", "softmax over the tokens instead of the vocabulary", """
def distil(student, teacher, labels, temperature, share):
    if not temperature > 0:
        raise ValueError(f"the temperature must be positive, not {temperature}")
    log_q = F.log_softmax(student / temperature, dim=0)
    log_p = F.log_softmax(teacher.detach() / temperature, dim=0)
    soft = (log_p.exp() * (log_p - log_q)).sum(-1).mean() * temperature**2
    return share * soft + (1 - share) * F.cross_entropy(student, labels)
"""),
    Answer("12a.2", "returns the teacher's part alone; labels and share are not used",
           edit(DISTIL, "share * soft + (1 - share) * hard", "soft")),
    Answer("12a.2", "F.kl_div is given logits instead of logarithms",
           edit(DISTIL, "(log_p.exp() * (log_p - log_q)).sum(-1).mean()",
                'F.kl_div(student / temperature, log_p.exp(), reduction="batchmean")'), says=("are still logits",)),
    Answer("12a.2", "F.kl_div is given the teacher's logarithms and not told",
           edit(DISTIL, "(log_p.exp() * (log_p - log_q)).sum(-1).mean()", 'F.kl_div(log_q, log_p, reduction="batchmean")'),
           says=("its target is in logarithms",), never=("has no effect",)),
    Answer("12a.2", "F.kl_div averages over all entries",
           edit(DISTIL, "(log_p.exp() * (log_p - log_q)).sum(-1).mean()", "F.kl_div(log_q, log_p.exp())"), says=("over the vocabulary",)),
    Answer("12a.2", "the labels' part takes logits for logarithms",
           edit(DISTIL, "F.cross_entropy(student, labels)", "F.nll_loss(student, labels)"), says=("A log-softmax is missing there",)),
    Answer("12a.2", "a softmax before the cross-entropy of the labels",
           edit(DISTIL, "F.cross_entropy(student, labels)", "F.cross_entropy(student.softmax(-1), labels)")),
    Answer("12a.2", "the student is cut off, too", edit(DISTIL, "F.log_softmax(student / temp", "F.log_softmax(student.detach() / temp")),
    Answer("12a.2", "the message has no number", edit(DISTIL, ", not {temperature}", "")),
    Answer("12a.2", "a right answer: PyTorch's class for the divergence, and one-hot labels", """
def distil(student, teacher, labels, temperature, share):
    if temperature <= 0:
        raise ValueError(f"{temperature=}")
    divergence = torch.nn.KLDivLoss(reduction="none", log_target=True)
    soft = divergence(F.log_softmax(student / temperature, -1), F.log_softmax(teacher.detach() / temperature, -1)).sum(-1)
    hard = -(F.one_hot(labels, student.shape[1]) * student.log_softmax(-1)).sum(-1)
    return (share * temperature**2 * soft + (1 - share) * hard).mean()
""", right=True),
    Answer("12a.2", "PyTorch's distributions: infinite where a probability of the student rounds to 0", """
def distil(student, teacher, labels, temperature, share):
    from torch.distributions import Categorical, kl_divergence
    if temperature <= 0:
        raise ValueError(f"{temperature=}")
    soft = kl_divergence(Categorical(logits=teacher.detach() / temperature), Categorical(logits=student / temperature))
    return share * temperature**2 * soft.mean() + (1 - share) * F.cross_entropy(student, labels)
"""),

    # 12a.3 content and distance
    Answer("12a.3", "a right answer: multiply with the whole table, gather, transpose the third term", DISENTANGLED, right=True),
    Answer("12a.3", "a right answer: two loops and a line for each term", """
def disentangled(query, key, far_query, far_key, largest):
    def row(i, j):
        return max(-largest, min(largest - 1, i - j)) + largest

    _, n, d = query.shape
    lines = []
    for i in range(n):
        line = []
        for j in range(n):
            total = (query[:, i] * key[:, j]).sum(-1)
            total = total + query[:, i] @ far_key[row(i, j)]
            total = total + key[:, j] @ far_query[row(j, i)]
            line.append(total)
        lines.append(torch.stack(line, dim=-1))
    return torch.stack(lines, dim=-2) / (3 * d) ** 0.5
""", right=True),
    Answer("12a.3", "a right answer: a row of each table for each pair, and einsum", """
def disentangled(query, key, far_query, far_key, largest):
    n, d = query.shape[1:]
    i = torch.arange(n).unsqueeze(1)
    delta = torch.clamp(i - i.T, min=-largest, max=largest - 1) + largest
    scores = torch.einsum("bid,bjd->bij", query, key)
    scores = scores + torch.einsum("bid,ijd->bij", query, far_key[delta])
    scores = scores + torch.einsum("bjd,ijd->bij", key, far_query[delta.T])
    return scores * (3 * d) ** -0.5
""", right=True),
    Answer("12a.3", "a right answer: the distances as one-hot rows, and the scale in the operands", """
def disentangled(query, key, far_query, far_key, largest):
    n, d = query.size(1), query.size(2)
    place = torch.arange(n)
    rows = [(place[k] - place).clamp(-largest, largest - 1) + largest for k in range(n)]
    pick = F.one_hot(torch.stack(rows), 2 * largest).to(query.dtype)        # (asks, asked, rows of the table)
    query, key = query / math.sqrt(3 * d), key / math.sqrt(3 * d)
    first = torch.matmul(query, key.mT) * math.sqrt(3 * d)
    second = torch.einsum("bir,ijr->bij", query @ far_key.mT, pick)
    third = torch.einsum("bjr,jir->bij", key @ far_query.mT, pick)
    return first + second + third
""", right=True),
    Answer("12a.3", "divides by the root of d, not of 3d", edit(DISENTANGLED, "math.sqrt(3 * d)", "math.sqrt(d)")),
    Answer("12a.3", "three times the root of d, not the root of 3d", edit(DISENTANGLED, "math.sqrt(3 * d)", "(3 * math.sqrt(d))")),
    Answer("12a.3", "the third term looks up the distance of i and j, as the released code does, not of j and i", """
def disentangled(query, key, far_query, far_key, largest):
    n, d = query.shape[1:]
    place = torch.arange(n)
    row = (place[:, None] - place).clamp(-largest, largest - 1) + largest
    scores = query @ key.transpose(-2, -1)
    scores = scores + torch.einsum("bid,ijd->bij", query, far_key[row])
    scores = scores + torch.einsum("bjd,ijd->bij", key, far_query[row])
    return scores / math.sqrt(3 * d)
"""),
    Answer("12a.3", "the third term is not turned round: it stands at j, i",
           edit(DISENTANGLED, ".transpose(-2, -1)\n    return", "\n    return")),
    Answer("12a.3", "the distance has the wrong sign: j - i instead of i - j",
           edit(DISENTANGLED, "place[:, None] - place[None, :]", "place[None, :] - place[:, None]")),
    Answer("12a.3", "clips at largest instead of largest - 1: a distance of largest or more asks for a row that does not exist",
           edit(DISENTANGLED, "clamp(-largest, largest - 1)", "clamp(-largest, largest)")),
    Answer("12a.3", "clips at -largest + 1: the row of distance -largest is never used",
           edit(DISENTANGLED, "clamp(-largest, largest - 1)", "clamp(1 - largest, largest - 1)")),
    Answer("12a.3", "far distances are not clipped but wrap around", edit(DISENTANGLED,
           "(place[:, None] - place[None, :]).clamp(-largest, largest - 1) + largest",
           "(place[:, None] - place[None, :] + largest) % (2 * largest)")),
    Answer("12a.3", "the third term is forgotten", edit(DISENTANGLED, "(content + second + third)", "(content + second)")),
    Answer("12a.3", "the two tables are exchanged", """
def disentangled(query, key, far_query, far_key, largest):
    batch, n, d = query.shape
    place = torch.arange(n)
    row = (place[:, None] - place[None, :]).clamp(-largest, largest - 1) + largest
    index = row.expand(batch, n, n)
    content = query @ key.transpose(-2, -1)
    second = (query @ far_query.T).gather(-1, index)
    third = (key @ far_key.T).gather(-1, index).transpose(-2, -1)
    return (content + second + third) / math.sqrt(3 * d)
"""),
    Answer("12a.3", "the index has a batch of 1: every sentence gets the distance terms of the first one",
           edit(DISENTANGLED, "row.expand(batch, n, n)", "row[None]")),
    Answer("12a.3", "returns the weights after the softmax, not the scores", edit(DISENTANGLED,
           "(content + second + third) / math.sqrt(3 * d)", "((content + second + third) / math.sqrt(3 * d)).softmax(-1)")),
    Answer("12a.3", "only the content term is divided by the root", edit(DISENTANGLED,
           "(content + second + third) / math.sqrt(3 * d)", "content / math.sqrt(3 * d) + second + third")),
    Answer("12a.3", "half finished: ordinary attention, distances are not used", """
def disentangled(query, key, far_query, far_key, largest):
    d = query.shape[-1]
    return query @ key.transpose(-2, -1) / math.sqrt(3 * d)
"""),
    Answer("12a.3", "a right answer: two loops that write into zeros", """
def disentangled(query, key, far_query, far_key, largest):
    batch, n, d = query.shape
    scores = torch.zeros(batch, n, n)
    for i in range(n):
        for j in range(n):
            there = min(max(i - j, -largest), largest - 1) + largest
            back = min(max(j - i, -largest), largest - 1) + largest
            scores[:, i, j] = (query[:, i] * key[:, j]).sum(-1) + query[:, i] @ far_key[there] + key[:, j] @ far_query[back]
    return scores / math.sqrt(3 * d)
""", right=True),
    Answer("12a.3", "the third term takes the query of the key's token",
           edit(DISENTANGLED, "third = (key @ far_query.T)", "third = (query @ far_query.T)"), says=("takes its query",)),
    Answer("12a.3", "gathers the third term along the wrong axis",
           edit(DISENTANGLED, "(key @ far_query.T).gather(-1, index).transpose(-2, -1)",
                "(key @ far_query.T).transpose(-2, -1).gather(-2, index)")),
    Answer("12a.3", "the root of 3n", edit(DISENTANGLED, "math.sqrt(3 * d)", "math.sqrt(3 * n)")),
    Answer("12a.3", "negative rows, which Python counts from the back", """
def disentangled(query, key, far_query, far_key, largest):
    place = torch.arange(query.shape[1])
    row = (place[:, None] - place).clamp(-largest, largest - 1)
    scores = query @ key.mT + torch.einsum("bid,ijd->bij", query, far_key[row]) + torch.einsum("bjd,ijd->bij", key, far_query[row.T])
    return scores / math.sqrt(3 * query.shape[-1])
""", says=("most negative distance",)),
    Answer("12a.3", "one table for both terms", edit(DISENTANGLED, "(key @ far_query.T)", "(key @ far_key.T)")),

    # 12a.4 less, the same, or more
    Answer("12a.4", "a right answer: filled in", GUESSED, right=True),
    Answer("12a.4", "a right answer: capitals and spaces", GUESSED.replace('"less"', '" Less"').replace('"same"', '"SAME "'), right=True),
    Answer("12a.4", "a right answer: two columns",
           f"prediction = dict(zip([{KEYS}], 'less same more less same less less less same'.split()))",
           right=True),
    Answer("12a.4", "a right answer: a variable for each word", "less, same, more = 'less', 'same', 'more'"
           + GUESSED.replace('": "less"', '": less').replace('": "same"', '": same').replace('": "more"', '": more'), right=True),
    Answer("12a.4", "shared weights counted twice", edit(GUESSED, 'parameters": "less"', 'parameters": "same"')),
    Answer("12a.4", "fewer parameters taken for less work", edit(GUESSED, 'for a token": "same"', 'for a token": "less"')),
    Answer("12a.4", "ELECTRA asks about the chosen tokens only", edit(GUESSED, 'of their own": "more"', 'of their own": "same"')),
    Answer("12a.4", "ELECTRA's binary question taken for fewer lessons", edit(GUESSED, 'of their own": "more"', 'of their own": "less"')),
    Answer("12a.4", "drawing taken for the best guess", edit(GUESSED, 'unchanged": "less"', 'unchanged": "same"')),
    Answer("12a.4", "drawing believed to hit more often", edit(GUESSED, 'unchanged": "less"', 'unchanged": "more"')),
    Answer("12a.4", "swapped neighbours believed to look less alike", edit(GUESSED, 'words occur": "same"', 'words occur": "less"')),
    Answer("12a.4", "temperature taken the wrong way round",
           edit(GUESSED, 'best guess": "less",\n    "DeBERTa', 'best guess": "more",\n    "DeBERTa')),
    Answer("12a.4", "the best stays the best, so its probability stays", edit(GUESSED, 'best guess": "less",\n    "DeBERTa',
                                                                             'best guess": "same",\n    "DeBERTa')),
    Answer("12a.4", "distances are believed to tell equal letters apart",
           edit(GUESSED, 'different states": "less"', 'different states": "same"')),
    Answer("12a.4", "sentinels forgotten in the target", edit(GUESSED, 'the target": "less"', 'the target": "same"')),
    Answer("12a.4", "a window believed to grow with the text", edit(GUESSED, 'the middle": "same"', 'the middle": "more"')),
    Answer("12a.4", "another word than the three", edit(GUESSED, 'the middle": "same"', 'the middle": "equal"')),
    Answer("12a.4", "half finished: an entry is still None", edit(GUESSED, 'the middle": "same"', 'the middle": None')),
    Answer("12a.4", "every entry the same word", GUESSED.replace('": "same"', '": "less"').replace('": "more"', '": "less"')),
    Answer("12a.4", "two mistakes at once", edit(edit(GUESSED, 'unchanged": "less"', 'unchanged": "more"'),
                                                'the middle": "same"', 'the middle": "more"')),
    Answer("12a.4", "other words for the three", GUESSED.replace('": "less"', '": "fewer"')),
    Answer("12a.4", "a line was deleted", edit(GUESSED, '    "ALBERT, the same: multiplications for a token": "same",\n', "")),

    # 12a.5 a step of the student
    Answer("12a.5", "a right answer: the gradient written down", STEP, right=True),
    Answer("12a.5", "a right answer: autograd on a copy", """
def distillation_step(weight, x, teacher, temperature, rate):
    if temperature <= 0:
        raise ValueError(f"temperature = {temperature}")
    w = weight.detach().clone().requires_grad_(True)
    with torch.enable_grad():
        loss = temperature**2 * F.kl_div(F.log_softmax(x @ w.T / temperature, -1), F.log_softmax(teacher / temperature, -1),
                                         reduction="batchmean", log_target=True)
    grad, = torch.autograd.grad(loss, w)
    return (w - rate * grad).detach(), loss.detach()
""", right=True),
    Answer("12a.5", "a right answer: an optimiser takes the step", """
def distillation_step(weight, x, teacher, temperature, rate):
    if temperature <= 0:
        raise ValueError(f"a temperature of {temperature} makes no sense")
    with torch.enable_grad():
        student = torch.nn.Parameter(weight.detach().clone())
        optimizer = torch.optim.SGD([student], lr=rate)
        q = F.log_softmax(F.linear(x, student) / temperature, dim=-1)
        p = F.log_softmax(teacher / temperature, dim=-1)
        loss = (p.exp() * (p - q)).sum() / len(x) * temperature * temperature
        loss.backward()
        optimizer.step()
    return student.detach(), loss.detach()
""", right=True),
    Answer("12a.5", "a right answer: token by token", """
def distillation_step(weight, x, teacher, temperature, rate):
    if temperature <= 0:
        raise ValueError(f"temperature must be > 0, got {temperature}")
    grad, loss = torch.zeros_like(weight), torch.zeros(())
    for state, advice in zip(x, teacher):
        log_q = (weight @ state / temperature).log_softmax(0)
        log_p = (advice / temperature).log_softmax(0)
        loss = loss + temperature**2 * (log_p.exp() * (log_p - log_q)).sum()
        grad = grad + temperature * torch.outer(log_q.exp() - log_p.exp(), state)
    return weight - rate * grad / len(x), loss / len(x)
""", right=True),
    Answer("12a.5", "T² in the loss, but the step is that of the loss without it",
           edit(STEP, "grad_z = temperature * (", "grad_z = 1 / temperature * (")),
    Answer("12a.5", "T² on the gradient as well: the 1/T of the chain rule is forgotten",
           edit(STEP, "grad_z = temperature * (", "grad_z = temperature**2 * (")),
    Answer("12a.5", "no T² anywhere",
           edit(edit(STEP, "temperature**2 * (log_p", "(log_p"), "grad_z = temperature * (", "grad_z = 1 / temperature * (")),
    Answer("12a.5", "p - q instead of q - p: uphill", edit(STEP, "(log_q.exp() - log_p.exp())", "(log_p.exp() - log_q.exp())")),
    Answer("12a.5", "the gradient is summed over the tokens", edit(STEP, " / len(x)\n", "\n")),
    Answer("12a.5", "KL the wrong way round in the loss", edit(STEP, "(log_p.exp() * (log_p - log_q))", "(log_q.exp() * (log_q - log_p))")),
    Answer("12a.5", "cross-entropy instead of KL", edit(STEP, "(log_p.exp() * (log_p - log_q))", "(-log_p.exp() * log_q)")),
    Answer("12a.5", "only the student is softened", edit(STEP, "F.log_softmax(teacher / temperature,", "F.log_softmax(teacher,")),
    Answer("12a.5", "only the teacher is softened", edit(STEP, "F.log_softmax(x @ weight.T / temperature,", "F.log_softmax(x @ weight.T,")),
    Answer("12a.5", "the step is forgotten", edit(STEP, "weight - rate * grad_z.T @ x", "weight")),
    Answer("12a.5", "the rate is forgotten", edit(STEP, "rate * grad_z", "grad_z")),
    Answer("12a.5", "returns the gradient", edit(STEP, "weight - rate * grad_z.T @ x", "grad_z.T @ x")),
    Answer("12a.5", "works on the caller's matrix", edit(STEP, "    return weight - rate * grad_z.T @ x, loss",
                                                        "    weight -= rate * grad_z.T @ x\n    return weight, loss")),
    Answer("12a.5", "a softmax and then a logarithm: nan for a certain teacher",
           edit(STEP, "F.log_softmax(teacher / temperature, dim=-1)", "F.softmax(teacher / temperature, dim=-1).log()")),
    Answer("12a.5", "softmax over the tokens", edit(STEP, "F.log_softmax(teacher / temperature, dim=-1)",
                                                   "F.log_softmax(teacher / temperature, dim=0)")),
    Answer("12a.5", "a temperature of 0 is not refused", edit(STEP, "not temperature > 0", "temperature < 0")),
    Answer("12a.5", "the loss of the new weights",
           edit(STEP, "    return weight - rate * grad_z.T @ x, loss", """    weight = weight - rate * grad_z.T @ x
    log_q = F.log_softmax(x @ weight.T / temperature, dim=-1)
    return weight, temperature**2 * (log_p.exp() * (log_p - log_q)).sum(-1).mean()""")),
    Answer("12a.5", "labels instead of probabilities: the teacher's best guess", """
def distillation_step(weight, x, teacher, temperature, rate):
    if temperature <= 0:
        raise ValueError(f"{temperature}")
    log_q = F.log_softmax(x @ weight.T / temperature, dim=-1)
    best = teacher.argmax(-1)
    loss = temperature**2 * F.nll_loss(log_q, best)
    grad = temperature * (log_q.exp() - F.one_hot(best, teacher.shape[-1])) / len(x)
    return weight - rate * grad.T @ x, loss
"""),
    Answer("12a.5", "a right answer: a function and its gradient", """
def distillation_step(weight, x, teacher, temperature, rate):
    if temperature <= 0:
        raise ValueError(f"{temperature=}")
    def loss_of(w):
        p = torch.log_softmax(teacher / temperature, 1)
        return temperature**2 * (p.exp() * (p - torch.log_softmax(F.linear(x, w) / temperature, 1))).sum() / x.shape[0]
    slope, loss = torch.func.grad_and_value(loss_of)(weight)
    return [weight - rate * slope, loss]
""", right=True),
    Answer("12a.5", "the step is taken as if nothing were softened",
           edit(STEP, "temperature * (log_q.exp() - log_p.exp())", "(F.softmax(x @ weight.T, -1) - F.softmax(teacher, -1))"),
           says=("at temperature 1",)),
    Answer("12a.5", "Adam instead of plain gradient descent", """
def distillation_step(weight, x, teacher, temperature, rate):
    if temperature <= 0:
        raise ValueError(f"{temperature}")
    w = torch.nn.Parameter(weight.clone())
    loss = temperature**2 * F.kl_div((x @ w.T / temperature).log_softmax(-1), (teacher / temperature).softmax(-1), reduction="batchmean")
    loss.backward()
    torch.optim.Adam([w], lr=rate).step()
    return w.detach(), loss.detach()
"""),
    Answer("12a.5", "a mean over the vocabulary, too", edit(STEP, "(log_p - log_q)).sum(-1).mean()", "(log_p - log_q)).mean()").replace(
        "/ len(x)", "/ teacher.numel()"), says=("over the vocabulary",)),
    Answer("12a.5", "the factor is T in loss and step",
           edit(edit(STEP, "temperature**2 * (log_p", "temperature * (log_p"), "grad_z = temperature * (", "grad_z = (")),
    Answer("12a.5", "the softmax runs over the tokens in both", STEP.replace("dim=-1", "dim=0")),
    Answer("12a.5", "returns the weights alone", edit(STEP, "grad_z.T @ x, loss", "grad_z.T @ x")),
    Answer("12a.5", "a transpose too few", edit(STEP, "grad_z.T @ x", "(x.T @ grad_z)")),

    # 12a.6 spans behind sentinels
    Answer("12a.6", "a right answer: slices between sorted spans", SPANS, right=True),
    Answer("12a.6", "a right answer: walks through the tokens one by one", """
def hide_spans(ids, spans, sentinels):
    needed = len(spans) + 1
    if needed > len(sentinels):
        raise ValueError(f"need {needed} sentinels, got {len(sentinels)}")
    length_at = {start: length for start, length in spans}
    marks, source, target, left = iter(sentinels), [], [], 0
    for place, token in enumerate(ids):
        if place in length_at:
            mark, left = next(marks), length_at[place]
            source.append(mark)
            target.append(mark)
        if left:
            target.append(token)
            left -= 1
        else:
            source.append(token)
    return source, target + [next(marks)]
""", right=True),
    Answer("12a.6", "a right answer: replaces from the end of a copy, so that no place moves", """
def hide_spans(ids, spans, sentinels):
    if len(sentinels) <= len(spans):
        raise ValueError("sentinels needed: " + str(len(spans) + 1))
    source, target = list(ids), [sentinels[len(spans)]]
    by_start = sorted(spans, key=lambda span: span[0])
    for number in reversed(range(len(by_start))):
        start, length = by_start[number]
        target = [sentinels[number], *ids[start:start + length], *target]
        source[start:start + length] = [sentinels[number]]
    return source, target
""", right=True),
    Answer("12a.6", "a right answer: the number of the span for every token, and groupby", """
def hide_spans(ids, spans, sentinels):
    from itertools import groupby
    if len(sentinels) - 1 < len(spans):
        raise ValueError(f"{len(spans)} spans take {len(spans) + 1} sentinels, there are {len(sentinels)}")
    span_of = [None] * len(ids)
    for number, (start, length) in enumerate(sorted(spans)):
        span_of[start:start + length] = [number] * length
    source, target = [], []
    for number, group in groupby(range(len(ids)), key=span_of.__getitem__):
        tokens = [ids[i] for i in group]
        if number is None:
            source.extend(tokens)
        else:
            source.append(sentinels[number])
            target.extend([sentinels[number]] + tokens)
    target.append(sentinels[len(spans)])
    return source, target
""", right=True),
    Answer("12a.6", "spans are taken in the order given, not in the order of the text", edit(SPANS, "sorted(spans)", "spans")),
    Answer("12a.6", "the spans are sorted by length instead of by their start",
           edit(SPANS, "sorted(spans)", "sorted(spans, key=lambda s: s[1])")),
    Answer("12a.6", "one sentinel for every hidden token instead of one for each span",
           edit(SPANS, "ids[end:start] + [mark]", "ids[end:start] + [mark] * length")),
    Answer("12a.6", "the sentinel at the end of the target is missing", edit(SPANS, "    target.append(sentinels[len(spans)])\n", "")),
    Answer("12a.6", "the target ends with the last sentinel of the list, not with the next one",
           edit(SPANS, "sentinels[len(spans)])", "sentinels[-1])")),
    Answer("12a.6", "the target ends with the sentinel of the last span once more", edit(SPANS, "sentinels[len(spans)])", "mark)")),
    Answer("12a.6", "reads a span as start and end, not as start and length", """
def hide_spans(ids, spans, sentinels):
    if len(sentinels) < len(spans) + 1:
        raise ValueError(f"{len(spans) + 1} sentinels are needed")
    source, target, last = [], [], 0
    for mark, (start, end) in zip(sentinels, sorted(spans)):
        source += ids[last:start] + [mark]
        target += [mark] + ids[start:end]
        last = end
    return source + ids[last:], target + [sentinels[len(spans)]]
"""),
    Answer("12a.6", "the text after the last span is lost", edit(SPANS, "    source += ids[end:]\n", "")),
    Answer("12a.6", "finds the text behind a span by value: wrong if a token occurs twice", """
def hide_spans(ids, spans, sentinels):
    if len(sentinels) < len(spans) + 1:
        raise ValueError(f"{len(spans) + 1} sentinels are needed")
    hidden = {}
    for mark, (start, length) in zip(sentinels, sorted(spans)):
        hidden[mark] = ids[start:start + length]
    taken = [token for tokens in hidden.values() for token in tokens]
    source, target = [], []
    firsts = {tokens[0]: mark for mark, tokens in hidden.items()}
    for token in ids:
        if token in firsts:
            source.append(firsts[token])
        elif token not in taken:
            source.append(token)
    for mark, tokens in hidden.items():
        target += [mark, *tokens]
    return source, target + [sentinels[len(spans)]]
"""),
    Answer("12a.6", "forgets that the closing sentinel is needed too: raises one too late",
           edit(SPANS, "if len(sentinels) < len(spans) + 1:", "if len(sentinels) < len(spans):")),
    Answer("12a.6", "does not raise: with too few sentinels the last spans are silently kept", """
def hide_spans(ids, spans, sentinels):
    source, target, end = [], [], 0
    for mark, (start, length) in zip(sentinels, sorted(spans)):
        source += ids[end:start] + [mark]
        target += [mark] + ids[start:start + length]
        end = start + length
    return source + ids[end:], target + sentinels[len(spans):len(spans) + 1]
"""),
    Answer("12a.6", "the sentinel comes after the tokens that it hides", edit(SPANS,
           "[mark] + ids[start:start + length]", "ids[start:start + length] + [mark]")),
    Answer("12a.6", "works on the caller's own list: afterwards the text is spoiled", """
def hide_spans(ids, spans, sentinels):
    if len(sentinels) < len(spans) + 1:
        raise ValueError(f"{len(spans) + 1} sentinels are needed")
    target = [sentinels[len(spans)]]
    for mark, (start, length) in reversed(list(zip(sentinels, sorted(spans)))):
        target = [mark] + ids[start:start + length] + target
        ids[start:start + length] = [mark]
    return ids, target
"""),
    Answer("12a.6", "takes the sentinels out of the caller's list, which is shorter afterwards", """
def hide_spans(ids, spans, sentinels):
    if len(sentinels) < len(spans) + 1:
        raise ValueError(f"{len(spans) + 1} sentinels are needed")
    source, target, end = [], [], 0
    for start, length in sorted(spans):
        mark = sentinels.pop(0)
        source += ids[end:start] + [mark]
        target += [mark] + ids[start:start + length]
        end = start + length
    return source + ids[end:], target + [sentinels.pop(0)]
"""),
    Answer("12a.6", "the places are shifted by the first replacement and not corrected", """
def hide_spans(ids, spans, sentinels):
    if len(sentinels) < len(spans) + 1:
        raise ValueError(f"{len(spans) + 1} sentinels are needed")
    source, target = list(ids), []
    for mark, (start, length) in zip(sentinels, sorted(spans)):
        target += [mark] + source[start:start + length]
        source[start:start + length] = [mark]
    return source, target + [sentinels[len(spans)]]
"""),
    Answer("12a.6", "prints source and target and returns nothing", edit(SPANS, "return source, target", "print(source, target)")),
    Answer("12a.6", "a right answer: hops from span to span", """
def hide_spans(ids, spans, sentinels):
    if len(sentinels) < len(spans) + 1:
        raise ValueError(f"{len(spans) + 1} sentinels needed")
    length_at, source, target, k, i = dict(map(tuple, spans)), [], [], 0, 0
    while i < len(ids):
        if i in length_at:
            source.append(sentinels[k])
            target.extend([sentinels[k], *ids[i:i + length_at[i]]])
            i, k = i + length_at[i], k + 1
        else:
            source.append(ids[i])
            i += 1
    return [source, target + [sentinels[k]]]
""", right=True),
    Answer("12a.6", "cuts from the back and numbers from the back", """
def hide_spans(ids, spans, sentinels):
    if len(sentinels) < len(spans) + 1:
        raise ValueError(f"{len(spans) + 1} sentinels are needed")
    source, target = list(ids), []
    for k, (start, length) in enumerate(sorted(spans, reverse=True)):
        target = [sentinels[k]] + ids[start:start + length] + target
        source[start:start + length] = [sentinels[k]]
    return source, target + [sentinels[len(spans)]]
""", says=("last gap has the first sentinel",)),
    Answer("12a.6", "copies the text from its beginning before each span", edit(SPANS, "ids[end:start]", "ids[:start]"),
           says=("from its very beginning",)),
    Answer("12a.6", "no closing sentinel if nothing is hidden",
           edit(SPANS, "    target.append(", "    if spans:\n        target.append(")),
    Answer("12a.6", "sorts the caller's list of spans",
           edit(SPANS, "    source, target, end", "    spans.sort()\n    source, target, end")),
    Answer("12a.6", "no test: stops by an IndexError", edit(SPANS, """    if len(sentinels) < len(spans) + 1:
        raise ValueError(f"{len(spans) + 1} sentinels are needed")
""", "")),
    Answer("12a.6", "source and target exchanged", edit(SPANS, "return source, target", "return target, source")),
    Answer("12a.6", "one token behind each span is lost",
           edit(SPANS, "        end = start + length\n", "        end = start + length + 1\n")),

    # 12a.7 a mask of blocks
    Answer("12a.7", "a right answer: the small mask, each entry repeated", BLOCKS, right=True),
    Answer("12a.7", "a right answer: the block of every token, and indexing", """
def block_mask(n, block, reach, chosen, extra):
    count, rest = divmod(n, block)
    if rest != 0:
        raise ValueError(f"n = {n} is no multiple of block = {block}")
    pairs = {(a, b) for a, b in extra}
    rows = [[abs(a - b) <= reach or a in chosen or b in chosen or (a, b) in pairs for b in range(count)] for a in range(count)]
    small = torch.tensor(rows, dtype=torch.bool)
    home = torch.arange(n) // block
    return small[home][:, home]
""", right=True),
    Answer("12a.7", "a right answer: token by token in two loops", """
def block_mask(n, block, reach, chosen, extra):
    if n // block * block != n:
        raise ValueError(f"{n} is not divisible by {block}")
    mask, wanted = torch.zeros(n, n, dtype=torch.bool), [list(pair) for pair in extra]
    for i in range(n):
        for j in range(n):
            a, b = i // block, j // block
            near = -reach <= a - b <= reach
            mask[i, j] = near or a in chosen or b in chosen or [a, b] in wanted
    return mask
""", right=True),
    Answer("12a.7", "a right answer: triangles for the band, a Kronecker product for the squares", """
def block_mask(n, block, reach, chosen, extra):
    if n % block > 0:
        raise ValueError("%d tokens, blocks of %d" % (n, block))
    m = n // block
    ones = torch.ones(m, m, dtype=torch.int64)
    small = ones.triu(-reach) * ones.tril(reach)
    everyone = torch.zeros(m, dtype=torch.int64)
    for c in chosen:
        everyone[c] = 1
    small = small + everyone[:, None] + everyone[None, :]
    for a, b in extra:
        small[a, b] += 1
    return torch.kron(small, torch.ones(block, block, dtype=torch.int64)) > 0
""", right=True),
    Answer("12a.7", "extra pairs are made symmetric: the key block attends to the query block too",
           edit(BLOCKS, "        small[a, b] = True\n", "        small[a, b] = small[b, a] = True\n")),
    Answer("12a.7", "extra pairs are read as key block and query block", edit(BLOCKS, "small[a, b] = True", "small[b, a] = True")),
    Answer("12a.7", "global blocks see all, but are not seen by all", edit(BLOCKS, "        small[:, c] = True\n", "")),
    Answer("12a.7", "global blocks are seen by all, but do not see all", edit(BLOCKS, "        small[c, :] = True\n", "")),
    Answer("12a.7", "the window reaches one block less far than reach says", edit(BLOCKS, "<= reach", "< reach")),
    Answer("12a.7", "the window lies on the left side only", edit(BLOCKS,
           "small = (blocks[:, None] - blocks[None, :]).abs() <= reach",
           "delta = blocks[:, None] - blocks[None, :]\n    small = (delta >= 0) & (delta <= reach)")),
    Answer("12a.7", "the small mask is tiled instead of each entry being enlarged",
           edit(BLOCKS, "small.repeat_interleave(block, 0).repeat_interleave(block, 1)", "small.repeat(block, block)")),
    Answer("12a.7", "the window is measured in tokens: a band of reach times block instead of whole blocks", """
def block_mask(n, block, reach, chosen, extra):
    if n % block:
        raise ValueError(f"{n} tokens cannot be cut into blocks of {block}")
    i = torch.arange(n)
    mask = (i[:, None] - i[None, :]).abs() <= reach * block
    for c in chosen:
        mask[c * block:(c + 1) * block] = True
        mask[:, c * block:(c + 1) * block] = True
    for a, b in extra:
        mask[a * block:(a + 1) * block, b * block:(b + 1) * block] = True
    return mask
"""),
    Answer("12a.7", "chosen and extra are taken for tokens, not for blocks", """
def block_mask(n, block, reach, chosen, extra):
    if n % block:
        raise ValueError(f"{n} tokens cannot be cut into blocks of {block}")
    home = torch.arange(n) // block
    mask = (home[:, None] - home[None, :]).abs() <= reach
    for c in chosen:
        mask[c] = True
        mask[:, c] = True
    for a, b in extra:
        mask[a, b] = True
    return mask
"""),
    Answer("12a.7", "does not raise if n is not a multiple of block; the mask gets smaller than n",
           edit(BLOCKS, """    if n % block:
        raise ValueError(f"{n} tokens cannot be cut into blocks of {block}")
""", "")),
    Answer("12a.7", "True and False are exchanged: True for what may not be attended to",
           edit(BLOCKS, "return small.repeat", "return ~small.repeat")),
    Answer("12a.7", "unpacks extra into rows and columns, which fails if there are no extra pairs", edit(BLOCKS,
           """    for a, b in extra:
        small[a, b] = True
""", """    rows, columns = torch.tensor(extra).T
    small[rows, columns] = True
""")),
    Answer("12a.7", "only pairs of two global blocks are opened: needs a and b in chosen, not a or b", """
def block_mask(n, block, reach, chosen, extra):
    if n % block:
        raise ValueError(f"{n} tokens cannot be cut into blocks of {block}")
    m = n // block
    small = torch.zeros(m, m, dtype=torch.bool)
    for a in range(m):
        for b in range(m):
            small[a, b] = abs(a - b) <= reach or (a in chosen and b in chosen) or [a, b] in extra
    return small.repeat_interleave(block, 0).repeat_interleave(block, 1)
"""),
    Answer("12a.7", "returns the mask of blocks, not of tokens",
           edit(BLOCKS, "small.repeat_interleave(block, 0).repeat_interleave(block, 1)", "small")),
    Answer("12a.7", "half finished: only the window, neither global blocks nor extra pairs", """
def block_mask(n, block, reach, chosen, extra):
    if n % block:
        raise ValueError(f"{n} tokens cannot be cut into blocks of {block}")
    home = torch.arange(n) // block
    return (home[:, None] - home).abs() <= reach
"""),
    Answer("12a.7", "a right answer: slices of the large mask, no small one", """
def block_mask(n, block, reach, chosen, extra):
    if n % block != 0:
        raise ValueError(f"{n} {block}")
    mask = torch.full((n, n), False)
    part = lambda a: slice(a * block, (a + 1) * block)
    for a in range(n // block):
        mask[part(a), max(0, a - reach) * block:(a + reach + 1) * block] = True
    for c in chosen:
        mask[part(c)] = True
        mask[:, part(c)] = True
    for a, b in extra:
        mask[part(a), part(b)] = True
    return mask
""", right=True),
    Answer("12a.7", "a slice that begins at a negative number", """
def block_mask(n, block, reach, chosen, extra):
    if n % block:
        raise ValueError(f"{n} tokens cannot be cut into blocks of {block}")
    small = torch.zeros(n // block, n // block, dtype=torch.bool)
    for a in range(n // block):
        small[a, a - reach:a + reach + 1] = True
    small[chosen] = True
    small[:, chosen] = True
    for a, b in extra:
        small[a, b] = True
    return small.repeat_interleave(block, 0).repeat_interleave(block, 1)
""", says=("counts from the end",)),
    Answer("12a.7", "indexes with the list twice, which meets the diagonal alone",
           edit(BLOCKS, "        small[c, :] = True\n        small[:, c] = True\n", "        small[chosen, chosen] = True\n")),
    Answer("12a.7", "reads the reach as a number of tokens", edit(BLOCKS, ".abs() <= reach", ".abs() * block <= reach"),
           says=("count the reach in tokens",)),
    Answer("12a.7", "the message names one number", edit(BLOCKS, " cannot be cut into blocks of {block}", " cannot be cut")),
    Answer("12a.7", "takes the caller's pairs away",
           edit(BLOCKS, "    for a, b in extra:\n", "    while extra:\n        a, b = extra.pop()\n")),
    Answer("12a.7", "a reach of 1, whatever is asked", edit(BLOCKS, "<= reach", "<= 1")),
    Answer("12a.7", "as many global blocks from the beginning", edit(BLOCKS, "for c in chosen:", "for c in range(len(chosen)):")),
    Answer("12a.7", "the block's whole row is opened for an extra pair", edit(BLOCKS, "small[a, b] = True", "small[a] = True")),

    # 12a.8 the block of today
    Answer("12a.8", "a right answer: scores, mask and softmax by hand", MODERN, right=True),
    Answer("12a.8", "a right answer: the fused kernel, and the course's window", """
from course_utils.models.positions import rope
from course_utils.models.masks import sliding_window_mask
from course_utils.models.multihead import merge_heads, split_heads

def modern_block(x, weights, num_heads, reach, base):
    n, d = x.shape[1], x.shape[2]
    mask = None if reach is None else sliding_window_mask(n, reach + 1, causal=False)
    def attend(h):
        q, k, v = [split_heads(t, num_heads) for t in F.linear(h, weights["qkv"]).chunk(3, -1)]
        y = F.scaled_dot_product_attention(rope(q, base=base, halves=True), rope(k, base=base, halves=True), v, attn_mask=mask)
        return F.linear(merge_heads(y), weights["out"])
    def feed(h):
        a, b = F.linear(h, weights["up"]).chunk(2, -1)
        return F.linear(F.gelu(a) * b, weights["down"])
    x = x + attend(F.layer_norm(x, (d,), weights["norm_1"]))
    return x + feed(F.layer_norm(x, (d,), weights["norm_2"]))
""", right=True),
    Answer("12a.8", "a right answer: head by head, and a LayerNorm by hand", """
from course_utils.models.positions import rope

def modern_block(x, weights, num_heads, reach, base):
    b, n, d = x.shape
    w = d // num_heads
    def norm(t, scale):
        t = t - t.mean(-1, keepdim=True)
        return t / (t.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * scale
    h = norm(x, weights["norm_1"])
    wq, wk, wv = weights["qkv"].split(d)
    outs = []
    for i in range(num_heads):
        rows = slice(i * w, i * w + w)
        q, k, v = h @ wq[rows].T, h @ wk[rows].T, h @ wv[rows].T
        s = rope(q, base=base, halves=True) @ rope(k, base=base, halves=True).mT / w**0.5
        for a in range(n):
            for c in range(n):
                if reach is not None and abs(a - c) > reach:
                    s[:, a, c] = float("-inf")
        outs.append(torch.softmax(s, -1) @ v)
    x = x + torch.cat(outs, -1) @ weights["out"].T
    h = norm(x, weights["norm_2"])
    half = len(weights["up"]) // 2
    return x + F.gelu(h @ weights["up"][:half].T) * (h @ weights["up"][half:].T) @ weights["down"].T
""", right=True),
    Answer("12a.8", "a right answer: einsum", """
from course_utils.models.positions import rope

def modern_block(x, weights, num_heads, reach, base):
    batch, n, d = x.shape
    h = torch.nn.functional.layer_norm(x, [d], weights["norm_1"], None)
    qkv = torch.einsum("bnd,ed->bne", h, weights["qkv"]).view(batch, n, 3, num_heads, -1).permute(2, 0, 3, 1, 4)
    q, k = (rope(t, torch.arange(n), base, True) for t in qkv[:2])
    scores = torch.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
    i = torch.arange(n)
    allowed = torch.ones(n, n, dtype=torch.bool) if reach is None else (i[None] - i[:, None]).abs() < reach + 1
    p = torch.where(allowed, scores, torch.tensor(-torch.inf)).softmax(-1)
    y = torch.einsum("bhij,bhjd->bihd", p, qkv[2]).reshape(batch, n, d)
    x = x + torch.einsum("bnd,ed->bne", y, weights["out"])
    h = torch.nn.functional.layer_norm(x, [d], weights["norm_2"], None)
    up = torch.einsum("bnd,ed->bne", h, weights["up"])
    f = up.shape[-1] // 2
    return x + torch.einsum("bnf,df->bnd", F.gelu(up[..., :f]) * up[..., f:], weights["down"])
""", right=True),
    Answer("12a.8", "positions forgotten",
           edit(MODERN, "    q, k = rope(q, base=base, halves=True), rope(k, base=base, halves=True)\n", "")),
    Answer("12a.8", "only the queries are turned", edit(MODERN, ", rope(k, base=base, halves=True)", ", k")),
    Answer("12a.8", "halves forgotten: columns next to each other are pairs", MODERN.replace(", halves=True", "")),
    Answer("12a.8", "the base is left out", MODERN.replace("base=base, ", "")),
    Answer("12a.8", "the window ends one place too early", edit(MODERN, ".abs() > reach", ".abs() >= reach")),
    Answer("12a.8", "the window lies on the left side only",
           edit(MODERN, "(i[:, None] - i).abs() > reach", "(i[:, None] - i > reach) | (i > i[:, None])")),
    Answer("12a.8", "the mask shows what it should hide", edit(MODERN, ".abs() > reach, -torch.inf", ".abs() <= reach, -1e9")),
    Answer("12a.8", "reach is ignored", edit(MODERN, "if reach is not None:", "if False:")),
    Answer("12a.8", "a reach of 0 opens the whole text", edit(MODERN, "if reach is not None:", "if reach:")),
    Answer("12a.8", "a reach of None is not thought of: compares with None", edit(MODERN, "if reach is not None:", "if True:")),
    Answer("12a.8", "post-norm: the sums are normalised", """
from course_utils.models.positions import rope

def modern_block(x, weights, num_heads, reach, base):
    batch, n, d = x.shape
    q, k, v = (x @ weights["qkv"].T).split(d, dim=-1)
    q, k, v = (t.reshape(batch, n, num_heads, d // num_heads).transpose(1, 2) for t in (q, k, v))
    q, k = rope(q, base=base, halves=True), rope(k, base=base, halves=True)
    scores = q @ k.transpose(-2, -1) / math.sqrt(d // num_heads)
    if reach is not None:
        i = torch.arange(n)
        scores = scores.masked_fill((i[:, None] - i).abs() > reach, -torch.inf)
    out = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, n, d)
    x = F.layer_norm(x + out @ weights["out"].T, (d,), weights["norm_1"])
    gate, value = (x @ weights["up"].T).chunk(2, dim=-1)
    return F.layer_norm(x + (F.gelu(gate) * value) @ weights["down"].T, (d,), weights["norm_2"])
"""),
    Answer("12a.8", "the residual carries the normed copy", edit(MODERN, "x = x + out @", "x = h + out @")),
    Answer("12a.8", "the second residual is missing", edit(MODERN, "return x + (F.gelu", "return (F.gelu")),
    Answer("12a.8", "both branches read the first norm", edit(MODERN, 'h = F.layer_norm(x, (d,), weights["norm_2"])\n', "pass\n")),
    Answer("12a.8", "gate and value exchanged", edit(MODERN, "gate, value =", "value, gate =")),
    Answer("12a.8", "SwiGLU instead of GeGLU", edit(MODERN, "F.gelu(gate)", "F.silu(gate)")),
    Answer("12a.8", "divided by the root of d, not of the head's width", edit(MODERN, "math.sqrt(d // num_heads)", "math.sqrt(d)")),
    Answer("12a.8", "reshaped straight to heads", edit(MODERN, "t.reshape(batch, n, num_heads, d // num_heads).transpose(1, 2)",
                                                      "t.reshape(batch, num_heads, n, d // num_heads)")),
    Answer("12a.8", "the matrix behind attention is forgotten", edit(MODERN, 'out @ weights["out"].T', "out")),
    Answer("12a.8", "weights are not transposed: works only for square ones",
           edit(MODERN, 'out @ weights["out"].T', 'out @ weights["out"]')),
    Answer("12a.8", "a right answer: places counted from one, which turns queries and keys alike",
           MODERN.replace("halves=True", "positions=torch.arange(1, n + 1), halves=True"), right=True),
    Answer("12a.8", "turned before the heads' axis moves: heads are taken for tokens", edit(edit(
        MODERN, ".transpose(1, 2) for t in (q, k, v))", " for t in (q, k, v))"), "    scores = q @ k",
        "    q, k, v = (t.transpose(1, 2) for t in (q, k, v))\n    scores = q @ k"), says=("the last but one",)),
    Answer("12a.8", "queries, keys and values of a head taken from neighbouring rows", edit(edit(
        MODERN, '    q, k, v = (h @ weights["qkv"].T).split(d, dim=-1)\n', ""),
        "q, k, v = (t.reshape(batch, n, num_heads, d // num_heads).transpose(1, 2) for t in (q, k, v))",
        'q, k, v = (h @ weights["qkv"].T).view(batch, n, num_heads, 3, -1).permute(3, 0, 2, 1, 4)'), says=("all queries come first",)),
    Answer("12a.8", "values before keys", edit(MODERN, "q, k, v = (h @", "q, v, k = (h @"), says=("keys and values are exchanged",)),
    Answer("12a.8", "keys before queries", edit(MODERN, "q, k, v = (h @", "k, q, v = (h @"), says=("queries and keys are exchanged",)),
    Answer("12a.8", "heads joined before they are brought back",
           edit(MODERN, "@ v).transpose(1, 2).reshape", "@ v).reshape"), says=("axis is still in front",)),
    Answer("12a.8", "the mask comes after the softmax", edit(edit(edit(
        MODERN, "    if reach is not None:\n", "    scores = scores.softmax(-1)\n    if reach is not None:\n"),
        "> reach, -torch.inf)", "> reach, 0.0)"), "(scores.softmax(-1) @ v)", "(scores @ v)"), says=("mask after the softmax",)),
    Answer("12a.8", "the second way around carries the normed copy", edit(MODERN, "return x + (F.gelu", "return h + (F.gelu"),
           says=("It should carry the sum itself",)),
    Answer("12a.8", "the first norm's weights in both", edit(MODERN, 'weights["norm_2"]', 'weights["norm_1"]')),
    Answer("12a.8", "GELU by the hyperbolic tangent", edit(MODERN, "F.gelu(gate)", 'F.gelu(gate, approximate="tanh")')),
    Answer("12a.8", "divided by the width, not by its root", edit(MODERN, "math.sqrt(d // num_heads)", "(d // num_heads)")),
    Answer("12a.8", "hidden scores are set to 0", edit(MODERN, "> reach, -torch.inf)", "> reach, 0.0)")),
)
