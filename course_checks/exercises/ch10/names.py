"""Exercise 10.5: the score of whole names. The oracle walks from tag to tag."""

from __future__ import annotations

from functools import partial

import torch

from ...exercise import Case, Exercise, Twin, generator


def _score_oracle(wanted: list[list[str]], guessed: list[list[str]]) -> tuple[float, float, float]:
    def names(sentence: list[str]) -> list[tuple[str, int, int]]:
        closed, kind, begin = [], "", 0
        for i, tag in enumerate([*sentence, "O"]):
            if kind and (tag[0] != "I" or tag[2:] != kind):
                closed.append((kind, begin, i))
                kind = ""
            if tag != "O" and not kind:
                kind, begin = tag[2:], i
        return closed

    right = total = said = 0
    for truth, guess in zip(wanted, guessed, strict=True):
        a, b = names(truth), names(guess)
        right, total, said = right + sum(name in a for name in b), total + len(a), said + len(b)
    precision, recall = right / said if said else 0.0, right / total if total else 0.0
    return precision, recall, 2 * right / (said + total) if said + total else 0.0


def _spans(tags: list[str], how: str) -> list[tuple]:
    found: list[list] = []
    for i, tag in enumerate(tags):
        before = tags[i - 1] if i else "O"
        starts = tag[0] == "B" or tag[0] == "I" and before[1:] != tag[1:]
        if how == "loose":
            starts = tag != "O" and before[1:] != tag[1:]
        if how == "strict":
            starts = tag[0] == "B"
        if how == "kinds run on":
            starts = tag[0] == "B" or tag[0] == "I" and before == "O"
        if starts:
            found.append([tag[2:], i, i])
        elif tag[0] == "I" and found and found[-1][2] == i - 1 and (how == "kinds run on" or found[-1][0] == tag[2:]) or (
                how == "loose" and tag != "O"):
            found[-1][2] = i
    if how == "first letter":
        found = [[kind[:1], a, b] for kind, a, b in found]
    if how == "one word lost":
        found = [span for span in found if span[2] > span[1]]
    if how == "end lost":
        found = [span for span in found if span[2] < len(tags) - 1]
    return [(kind, a) if how == "starts" else (a, b) if how == "no kind" else (kind, b) if how == "ends"
            else (kind, a, b) for kind, a, b in found]


def _score(wanted: list[list[str]], guessed: list[list[str]], how: str = "right") -> tuple[float, float, float]:
    if how == "full marks for nothing" and all(tag == "O" for sentence in wanted + guessed for tag in sentence):
        return 1.0, 1.0, 1.0

    def ratio(a: float, b: float) -> float:
        return a / b if b else 1.0 if how == "one" else 0.0

    def result(right: float, said: float, total: float) -> tuple[float, float, float]:
        p, r = ratio(right, said), ratio(right, total)
        f = (p + r) / 2 if how == "arithmetic" else (p * r) ** 0.5 if how == "geometric" else p * r if how == "product" else (
            ratio((1 if how == "no 2" else 2) * p * r, p + r))
        return (r, p, f) if how == "swapped" else (100 * p, 100 * r, 100 * f) if how == "percent" else (p, r, f)

    if how in ("tokens", "names' tokens"):
        pairs = [(a, b) for x, y in zip(wanted, guessed, strict=True) for a, b in zip(x, y, strict=True)]
        if how == "tokens":
            share = sum(a == b for a, b in pairs) / len(pairs)
            return share, share, share
        return result(sum(a == b != "O" for a, b in pairs), sum(b != "O" for _, b in pairs), sum(a != "O" for a, _ in pairs))
    if how == "joined":
        wanted, guessed = [sum(wanted, [])], [sum(guessed, [])]
    sets = [(_spans(a, how), _spans(b, how)) for a, b in zip(wanted, guessed, strict=True)]
    if how == "by sentence":
        scores = [result(len(set(a) & set(b)), len(b), len(a)) for a, b in sets]
        return tuple(sum(column) / len(scores) for column in zip(*scores, strict=True))
    if how == "no sentence":
        a, b = {s for x, _ in sets for s in x}, {s for _, y in sets for s in y}
        return result(len(a & b), len(b), len(a))
    if how == "by kind":
        scores = []
        for kind in sorted({span[0] for a, b in sets for span in a + b}):
            mine = [([s for s in a if s[0] == kind], [s for s in b if s[0] == kind]) for a, b in sets]
            scores.append(result(*(sum(column) for column in zip(*((len(set(a) & set(b)), len(b), len(a)) for a, b in mine), strict=True))))
        return tuple(sum(column) / len(scores) for column in zip(*scores, strict=True)) if scores else (0.0, 0.0, 0.0)
    if how == "sentences":
        share = sum(a == b for a, b in zip(wanted, guessed, strict=True)) / len(wanted)
        return share, share, share
    if how == "overlap":
        right = sum(any(k == kind and i <= d and c <= j for k, i, j in a) for a, b in sets for kind, c, d in b)
    else:
        right = sum(len(set(a) & set(b)) for a, b in sets)
    return result(right, sum(len(b) for _, b in sets), sum(len(a) for a, _ in sets))


KINDS = ("PER", "ORG", "LOC")


def _sentence(g: torch.Generator, words: int) -> list[str]:
    tags: list[str] = []
    while len(tags) < words:
        roll = int(torch.randint(0, 3, (1,), generator=g))
        kind = KINDS[int(torch.randint(0, 3, (1,), generator=g))]
        tags += ["O"] if roll == 0 else ["B-" + kind] if roll == 1 else ["B-" + kind, "I-" + kind]
    return tags[:words]


def _disturbed(g: torch.Generator, tags: list[str]) -> list[str]:
    out = list(tags)
    for i in torch.randperm(len(out), generator=g)[: max(1, len(out) // 4)].tolist():
        roll = int(torch.randint(0, 4, (1,), generator=g))
        out[i] = ("O", "B-PER", "I-PER" if i else "O", "I-LOC" if i else "B-PER")[roll]  # an I- at the start has a case of its own
    return out


def _draw_score(seed: int) -> list[Case]:
    g = generator(seed)
    cases = []
    for label, lengths in (("3 sentences", (7, 11, 5)), ("6 sentences", (4, 9, 3, 12, 6, 8))):
        wanted = [_sentence(g, n) for n in lengths]
        cases.append(Case(label, {"wanted": wanted, "guessed": [_disturbed(g, tags) for tags in wanted]}))
    return cases


def _fixed_score() -> list[Case]:
    def case(label: str, part: str, wanted: list[str], guessed: list[str]) -> Case:
        return Case(label, {"wanted": [s.split() for s in wanted], "guessed": [s.split() for s in guessed]}, part=part)

    return [case("an end cut short, a wrong kind, a missed name", "values", ["O B-PER I-PER O B-LOC", "B-ORG O B-LOC O O", "O B-PER"],
                 ["O B-PER O O B-LOC", "B-ORG O B-PER O O", "O O"]),
            case("two names of one kind, side by side", "borders", ["B-PER B-PER O B-LOC", "O B-ORG O"],
                 ["B-PER I-PER O B-LOC", "O B-ORG O"]),
            case("a name at the end, the next sentence begins with an I-", "borders", ["O B-PER", "B-PER O B-LOC"],
                 ["O B-PER", "I-PER O B-LOC"]),
            case("the kind changes inside", "borders", ["B-PER B-LOC I-LOC O", "B-ORG I-ORG O O"],
                 ["B-PER I-LOC I-LOC O", "B-ORG I-PER O O"]),
            case("kinds with the same first letter", "borders",
                 ["B-LOC O B-PER I-PER", "O B-ORG"], ["B-LAW O B-PERCENT I-PERCENT", "O B-ORG"]),
            case("the kind changes to one with the same first letter", "borders", ["B-LOC B-LAW I-LAW O", "B-LOC I-LOC"],
                 ["B-LOC I-LAW I-LAW O", "B-LOC I-LOC"]),
            case("names of one word", "values", ["B-PER O B-LOC O B-ORG", "B-LOC"], ["B-PER O O B-LOC B-ORG", "B-LOC"]),
            case("an empty sentence among others", "nothing", ["", "O B-PER", ""], ["", "O B-PER", ""]),
            case("no name is guessed, and one of two sentences has none", "nothing", ["O B-PER", "O O O"], ["O O", "O O O"]),
            case("a guess one word too long", "borders", ["B-PER I-PER O", "O B-LOC O O"], ["B-PER I-PER I-PER", "O B-LOC O O"]),
            case("no name is guessed", "nothing", ["O B-PER O"], ["O O O"]),
            case("there is no name", "nothing", ["O O"], ["B-LOC O"]), case("no name anywhere", "nothing", ["O O O"], ["O O O"])]


SCORES = Exercise(
    id="10.5", title="The score of whole names", name="name_scores", kind="function", stars=3, minutes=18,
    signature="name_scores(wanted, guessed) -> precision, recall, F1", oracle=_score_oracle, reference=_score, draw=_draw_score,
    fixed=_fixed_score, parts={"values": 2, "borders": 2, "nothing": 1}, outputs=("precision", "recall", "F1"),
    forbidden=("course_utils.text.spans.span_scores",),
    twins=(
        Twin("share of right tags", partial(_score, how="tokens"),
             "You count tags, and most of them are O, which is easy to guess. A name is right as a whole or not at all."),
        Twin("tags of names counted", partial(_score, how="names' tokens"),
             "You count single tags of names. Half a name is no name: compare whole spans."),
        Twin("the kind does not count", partial(_score, how="no kind"),
             "You accept a span of the wrong kind. A name is right only if its kind is right too."),
        Twin("only the start compared", partial(_score, how="starts"), "Where a name ends must be right, too."),
        Twin("only the end compared", partial(_score, how="ends"), "Where a name starts must be right, too."),
        Twin("overlap is enough", partial(_score, how="overlap"),
             "You count a guess that merely touches a name. Both borders must agree."),
        Twin("neighbours of one kind merged", partial(_score, how="loose"),
             "A B- tag starts a new name, even right behind a name of the same kind."),
        Twin("names without B- dropped", partial(_score, how="strict"),
             "A model may write an I- where no name is open. The docstring's rule lets a name begin there."),
        Twin("the kind may change inside", partial(_score, how="kinds run on"),
             "An inside tag of another kind does not continue the name: a new one begins."),
        Twin("name at the end lost", partial(_score, how="end lost"),
             "You never close a name that runs up to the last word, and so you never count it."),
        Twin("sentences joined", partial(_score, how="joined"),
             "You have joined the sentences into one long row, where a name can cross a sentence border. Treat each sentence by itself."),
        Twin("sentence forgotten", partial(_score, how="no sentence"),
             "Names of different sentences are mixed up in your sets: the same place in another sentence is another place."),
        Twin("averaged over sentences", partial(_score, how="by sentence"),
             "You compute scores for each sentence and average them. Count over all sentences first, then divide once."),
        Twin("averaged over kinds", partial(_score, how="by kind"),
             "You compute scores for each kind and average them. All names are counted together, whatever their kind."),
        Twin("share of right sentences", partial(_score, how="sentences"),
             "You count sentences that are right as a whole. A sentence may have several names, and each one counts by itself."),
        Twin("precision and recall exchanged", partial(_score, how="swapped"),
             "Precision is a share of what was guessed, recall a share of what was there."),
        Twin("arithmetic mean", partial(_score, how="arithmetic"), "F1 is the harmonic mean of the two, which is low when either is low."),
        Twin("geometric mean", partial(_score, how="geometric"), "F1 is the harmonic mean of the two, not the root of their product."),
        Twin("half of F1", partial(_score, how="no 2"),
             "F1 of two equal numbers is that number itself; yours is half of it. Look at the harmonic mean again."),
        Twin("in per cent", partial(_score, how="percent"), "Return shares from 0 to 1, not numbers from 0 to 100."),
        Twin("product of the two", partial(_score, how="product"), "F1 is a mean of the two and lies between them; a product does not."),
        Twin("full marks for no name at all", partial(_score, how="full marks for nothing"),
             "Where nothing is wanted and nothing guessed you give full marks. The docstring asks for 0 wherever nothing can be divided."),
        Twin("kinds known by their first letter", partial(_score, how="first letter"),
             "You read a single letter of the kind. Read everything after the hyphen: LOC and LAW begin alike."),
        Twin("names of one word lost", partial(_score, how="one word lost"),
             "A name may be a single word without an inside tag behind it. Your code loses such names."),
        Twin("one without names", partial(_score, how="one"), "Where nothing can be divided the docstring asks for 0, not for full marks."),
    ),
)
