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

COUNTS = """
prediction = {
    "ALBERT base: weights in its factorised token table, 30,000 × 128 and 128 × 768": 3_938_304,
    "multiplications in the blocks of ALBERT base, as a percentage of BERT base's": 100,
    "a shared weight, used at three depths, gets 2, −1 and 8 there: its gradient": 9,
    "right answers in SOP, half of the pairs swapped, in percent, by a judge who sees only which words occur": 50,
    "100 tokens, 15 chosen, the generator guesses 4 right: labelled “replaced”": 11,
    "of these 100, tokens with a loss of their own in ELECTRA": 100,
    "of these 100, tokens with a loss of their own in BERT": 15,
    "DistilBERT as a percentage of BERT base, in parameters": 61,
    "different scores a DeBERTa query gives to 9 equal words beyond its largest distance, all on its left": 1,
}
"""

PAIR = """
def translation_pair(first, second, languages, bound):
    n, m = len(first), len(second)
    if n == 0 or m == 0:
        raise ValueError(f"both sentences need words, their lengths are {n} and {m}")
    edge = torch.tensor([bound])
    ids = torch.cat([edge, first, edge, edge, second, edge])
    positions = torch.cat([torch.arange(n + 2), torch.arange(m + 2)])
    numbers = torch.cat([torch.full((n + 2,), languages[0]), torch.full((m + 2,), languages[1])])
    return ids, positions, numbers
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

    # 12a.4 predictions
    Answer("12a.4", "a right answer: whole numbers", COUNTS, right=True),
    Answer("12a.4", "a right answer: written as the sums they come from", """
half, bert = 6, 109_482_240
prediction = {
    "ALBERT base: weights in its factorised token table, 30,000 × 128 and 128 × 768": 30_000 * 128 + 128 * 768,
    "multiplications in the blocks of ALBERT base, as a percentage of BERT base's": 100 * 12 // 12,
    "a shared weight, used at three depths, gets 2, −1 and 8 there: its gradient": sum((2, -1, 8)),
    "right answers in SOP, half of the pairs swapped, in percent, by a judge who sees only which words occur": 100 // 2,
    "100 tokens, 15 chosen, the generator guesses 4 right: labelled “replaced”": 15 - 4,
    "of these 100, tokens with a loss of their own in ELECTRA": 85 + 15,
    "of these 100, tokens with a loss of their own in BERT": 15,
    "DistilBERT as a percentage of BERT base, in parameters": round(100 * (bert - half * 7_087_872 - 768 * 768 - 768) / bert),
    "different scores a DeBERTa query gives to 9 equal words beyond its largest distance, all on its left": len({-4} | {-4}),
}
""", right=True),
    Answer("12a.4", "a right answer: filled in one after the other, floats and a Fraction", """
from fractions import Fraction
prediction = {}
prediction["ALBERT base: weights in its factorised token table, 30,000 × 128 and 128 × 768"] = 128 * (30_000 + 768)
prediction["multiplications in the blocks of ALBERT base, as a percentage of BERT base's"] = 100.0
prediction["a shared weight, used at three depths, gets 2, −1 and 8 there: its gradient"] = 9.0
prediction["right answers in SOP, half of the pairs swapped, in percent, by a judge who sees only which words occur"] = Fraction(100, 2)
prediction["100 tokens, 15 chosen, the generator guesses 4 right: labelled “replaced”"] = 11.0
prediction["of these 100, tokens with a loss of their own in ELECTRA"] = 100.0
prediction["of these 100, tokens with a loss of their own in BERT"] = 15.0
prediction["DistilBERT as a percentage of BERT base, in parameters"] = 61.0
prediction["different scores a DeBERTa query gives to 9 equal words beyond its largest distance, all on its left"] = Fraction(1)
""", right=True),
    Answer("12a.4", "the table that is not factorised: 30,000 × 768", edit(COUNTS, "3_938_304", "23_040_000")),
    Answer("12a.4", "forgets the matrix that widens 128 to 768", edit(COUNTS, "3_938_304", "3_840_000")),
    Answer("12a.4", "one block of twelve is stored, so a twelfth of the work: parameters taken for multiplications",
           edit(COUNTS, "BERT base's\": 100", "BERT base's\": 8")),
    Answer("12a.4", "the gradients of a shared weight are averaged, not added", edit(COUNTS, "its gradient\": 9", "its gradient\": 3")),
    Answer("12a.4", "only the first depth moves a shared weight", edit(COUNTS, "its gradient\": 9", "its gradient\": 2")),
    Answer("12a.4", "both orders have the same words, but the judge is taken to be always right",
           edit(COUNTS, "words occur\": 50", "words occur\": 100")),
    Answer("12a.4", "all chosen tokens are labelled replaced, the lucky ones too", edit(COUNTS, "“replaced”\": 11", "“replaced”\": 15")),
    Answer("12a.4", "counts those that the generator guessed right", edit(COUNTS, "“replaced”\": 11", "“replaced”\": 4")),
    Answer("12a.4", "ELECTRA's discriminator has a loss at the chosen tokens only", edit(COUNTS, "in ELECTRA\": 100", "in ELECTRA\": 15")),
    Answer("12a.4", "BERT has a loss at every token it reads", edit(COUNTS, "in BERT\": 15", "in BERT\": 100")),
    Answer("12a.4", "half of the blocks is taken for half of the parameters; the table of words stays",
           edit(COUNTS, "parameters\": 61", "parameters\": 50")),
    Answer("12a.4", "nine words, nine scores: the clipping is forgotten", edit(COUNTS, "left\": 1", "left\": 9")),
    Answer("12a.4", "the share that is saved, not the share that is left", edit(COUNTS, "parameters\": 61", "parameters\": 39")),
    Answer("12a.4", "half finished: an entry is still None", edit(COUNTS, "parameters\": 61", "parameters\": None")),

    # 12a.5 a pair of translations
    Answer("12a.5", "a right answer: torch.cat of parts", PAIR, right=True),
    Answer("12a.5", "a right answer: lists, made into tensors at the end", """
def translation_pair(first, second, languages, bound):
    sizes = [len(first), len(second)]
    if 0 in sizes:
        raise ValueError(f"an empty sentence: lengths {sizes}")
    ids, positions, spoken = [], [], []
    for sentence, language in zip((first, second), languages):
        closed = [bound] + [int(i) for i in sentence] + [bound]
        for place, token in enumerate(closed):
            ids.append(token)
            positions.append(place)
            spoken.append(language)
    return torch.tensor(ids), torch.tensor(positions), torch.tensor(spoken)
""", right=True),
    Answer("12a.5", "a right answer: a helper closes each sentence, then the columns are joined", """
def translation_pair(first, second, languages, bound):
    if not (len(first) and len(second)):
        raise ValueError(f"need two sentences with words, have {len(first)} words and {len(second)} words")

    def closed(sentence, language):
        ids = F.pad(sentence, (1, 1), value=bound)
        return torch.stack([ids, torch.arange(len(ids)), torch.full_like(ids, language)])

    both = torch.cat([closed(first, languages[0]), closed(second, languages[1])], dim=1)
    return tuple(both)
""", right=True),
    Answer("12a.5", "a right answer: one tensor filled by slices, positions by subtraction", """
def translation_pair(first, second, languages, bound):
    n, m = first.numel(), second.numel()
    if min(n, m) == 0:
        raise ValueError(f"lengths {n} and {m}: neither may be 0")
    ids = first.new_full((n + m + 4,), bound)
    ids[1:n + 1] = first
    ids[n + 3:-1] = second
    place = torch.arange(n + m + 4)
    late = place >= n + 2
    return ids, place - (n + 2) * late, torch.where(late, languages[1], languages[0])
""", right=True),
    Answer("12a.5", "the second sentence's positions go on counting instead of beginning at 0",
           edit(PAIR, "torch.cat([torch.arange(n + 2), torch.arange(m + 2)])", "torch.arange(n + m + 4)")),
    Answer("12a.5", "positions are counted from 1", edit(PAIR, "torch.cat([torch.arange(n + 2), torch.arange(m + 2)])",
           "torch.cat([torch.arange(1, n + 3), torch.arange(1, m + 3)])")),
    Answer("12a.5", "three bounds: the two sentences share one in the middle", """
def translation_pair(first, second, languages, bound):
    n, m = len(first), len(second)
    if n == 0 or m == 0:
        raise ValueError(f"both sentences need words, their lengths are {n} and {m}")
    edge = torch.tensor([bound])
    ids = torch.cat([edge, first, edge, second, edge])
    positions = torch.cat([torch.arange(n + 2), torch.arange(m + 1)])
    numbers = torch.tensor([languages[0]] * (n + 2) + [languages[1]] * (m + 1))
    return ids, positions, numbers
"""),
    Answer("12a.5", "both bounds in the middle are given to the first sentence's language", edit(PAIR,
           "torch.full((n + 2,), languages[0]), torch.full((m + 2,), languages[1])",
           "torch.full((n + 3,), languages[0]), torch.full((m + 1,), languages[1])")),
    Answer("12a.5", "the argument languages is ignored: always 0 and 1", edit(PAIR,
           "torch.full((n + 2,), languages[0]), torch.full((m + 2,), languages[1])",
           "torch.full((n + 2,), 0), torch.full((m + 2,), 1)")),
    Answer("12a.5", "the argument bound is ignored: always 0", edit(PAIR, "torch.tensor([bound])", "torch.tensor([0])")),
    Answer("12a.5", "raises only if both sentences are empty", edit(PAIR, "n == 0 or m == 0", "n == 0 and m == 0")),
    Answer("12a.5", "looks at the first sentence only when it checks for empty ones", edit(PAIR, "n == 0 or m == 0", "n == 0")),
    Answer("12a.5", "positions and languages are returned in the wrong order",
           edit(PAIR, "return ids, positions, numbers", "return ids, numbers, positions")),
    Answer("12a.5", "the bounds are not counted: they have position 0 and the words begin at 0", """
def translation_pair(first, second, languages, bound):
    n, m = len(first), len(second)
    if n == 0 or m == 0:
        raise ValueError(f"both sentences need words, their lengths are {n} and {m}")
    edge, zero = torch.tensor([bound]), torch.tensor([0])
    ids = torch.cat([edge, first, edge, edge, second, edge])
    positions = torch.cat([zero, torch.arange(n), zero, zero, torch.arange(m), zero])
    numbers = torch.cat([torch.full((n + 2,), languages[0]), torch.full((m + 2,), languages[1])])
    return ids, positions, numbers
"""),
    Answer("12a.5", "takes the length of the first sentence for both: right only for sentences of equal length", """
def translation_pair(first, second, languages, bound):
    n, m = len(first), len(second)
    if n == 0 or m == 0:
        raise ValueError(f"both sentences need words, their lengths are {n} and {m}")
    edge = torch.tensor([bound])
    ids = torch.cat([edge, first, edge, edge, second, edge])
    positions = torch.arange(n + 2).repeat(2)
    numbers = torch.tensor(languages).repeat_interleave(n + 2)
    return ids, positions, numbers
"""),
    Answer("12a.5", "the bounds are floats, so all ids become floats", edit(PAIR, "torch.tensor([bound])", "torch.ones(1) * bound")),
    Answer("12a.5", "bounds are put only at the two ends, not around each sentence", """
def translation_pair(first, second, languages, bound):
    if len(first) == 0 or len(second) == 0:
        raise ValueError(f"lengths {len(first)} and {len(second)}")
    edge = torch.tensor([bound])
    ids = torch.cat([edge, first, second, edge])
    positions = torch.cat([torch.arange(len(first) + 1), torch.arange(len(second) + 1)])
    numbers = torch.tensor([languages[0]] * (len(first) + 1) + [languages[1]] * (len(second) + 1))
    return ids, positions, numbers
"""),
    Answer("12a.5", "half finished: returns the ids alone", edit(PAIR, "return ids, positions, numbers", "return ids")),

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
)
