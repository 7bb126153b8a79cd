"""Exercise 12a.6: T5's pair of input and target for given spans. The oracle asks of every token where it belongs."""

from __future__ import annotations

from functools import partial

from ...exercise import Case, Exercise, Twin, generator

Pair = tuple[list[int], list[int]]


def _oracle(ids: list[int], spans: list[list[int]], sentinels: list[int]) -> Pair:
    source, target = [], []
    for place, token in enumerate(ids):
        inside = [number for number, (start, length) in enumerate(sorted(spans)) if start <= place < start + length]
        if not inside:
            source.append(token)
            continue
        mark = sentinels[inside[0]]
        if mark not in source:
            source.append(mark)
            target.append(mark)
        target.append(token)
    return source, target + [sentinels[len(spans)]]


def _in_place(ids: list[int], spans: list[list[int]], sentinels: list[int]) -> Pair:
    """A common mistake: each replacement shortens the text, and the next span is cut where it used to stand."""
    source, target = list(ids), []
    for mark, (start, length) in zip(sentinels, sorted(spans), strict=False):
        target += [mark, *ids[start:start + length]]
        source[start:start + length] = [mark]
    return source, [*target, sentinels[len(spans)]]


def _in_the_copy(ids: list[int], spans: list[list[int]], sentinels: list[int]) -> Pair:
    """The same mistake, and what is hidden is read from the shortened text as well."""
    source, target = list(ids), []
    for mark, (start, length) in zip(sentinels, sorted(spans), strict=False):
        target += [mark, *source[start:start + length]]
        source[start:start + length] = [mark]
    return source, [*target, sentinels[len(spans)]]


def _by_value(ids: list[int], spans: list[list[int]], sentinels: list[int]) -> Pair:
    hidden = [(mark, ids[start:start + length]) for mark, (start, length) in zip(sentinels, sorted(spans), strict=False)]
    firsts, taken = {tokens[0]: mark for mark, tokens in hidden}, {token for _, tokens in hidden for token in tokens}
    source = [firsts.get(token, token) for token in ids if token in firsts or token not in taken]
    return source, [*(x for mark, tokens in hidden for x in (mark, *tokens)), sentinels[len(spans)]]


def _cut(ids: list[int], spans: list[list[int]], sentinels: list[int], how: str = "right") -> Pair:
    numbers = [spans.index(span) for span in sorted(spans)] if how == "numbered by the list" else list(range(len(spans)))
    spans = spans if how in ("spans as they come", "shortest first") else sorted(spans)
    if how == "shortest first":
        spans = sorted(spans, key=lambda span: span[1])
    if how == "length taken for the end":
        spans = [[start, max(0, end - start)] for start, end in spans]
    if how == "end belongs to it":
        spans = [[start, length + 1] for start, length in spans]
    if how == "counted from one":
        spans = [[start - 1, length] for start, length in spans]
    source, target, place = [], [], 0
    for number, (start, length) in enumerate(spans):
        end = length if how == "slice to the length" else start + length
        mark, hidden = sentinels[numbers[number]], list(ids[start:end])
        match how:
            case "same sentinel":
                mark = sentinels[0]
            case "sentinels backwards":
                mark = sentinels[len(spans) - number]
            case "counted down":
                mark = sentinels[len(spans) - 1 - number]
            case "from the list's end":
                mark = sentinels[-1 - number]
            case "second sentinel first":
                mark = sentinels[number + 1]
        source += list(ids[0 if how == "from the start each time" else place:start])
        source += [mark] * len(hidden) if how == "one sentinel a token" else [] if how == "nothing left behind" else [mark]
        source += hidden if how == "spans stay" else []
        match how:
            case "no sentinels in the target":
                target += hidden
            case "sentinel behind its span" | "behind and closed":
                target += [*hidden, mark]
            case "one in front of each token":
                target += [x for token in hidden for x in (mark, token)]
            case _:
                target += [mark, *hidden]
        place = end
    source += [] if how == "rest lost" else list(ids[place:])
    match how:
        case "no last sentinel" | "sentinel behind its span":
            return source, target
        case "first sentinel again":
            return source, [*target, sentinels[0]]
        case "last of the list":
            return source, [*target, sentinels[-1]]
        case "last one repeated":
            return source, [*target, sentinels[len(spans) - 1]]
        case "whole text":
            return source, list(ids)
        case "rest in the target":
            target = []
            for position, token in enumerate(ids):
                if not any(start <= position < start + length for start, length in spans):
                    target.append(token)
            return source, target
        case "last one in the input, too":
            return [*source, sentinels[len(spans)]], [*target, sentinels[len(spans)]]
    return source, [*target, sentinels[len(spans)]]


def _reference(ids: list[int], spans: list[list[int]], sentinels: list[int]) -> Pair:
    if len(sentinels) <= len(spans):
        raise ValueError(f"{len(spans)} spans need {len(spans) + 1} sentinels, there are {len(sentinels)}")
    return _cut(ids, spans, sentinels)


def _draw(seed: int) -> list[Case]:
    import torch

    g = generator(seed)

    def case(part: str, spans: list[list[int]], n: int) -> Case:
        ids = (10 + torch.randint(0, 6, (n,), generator=g)).tolist()  # words occur again
        return Case(f"spans {spans} of {n} tokens", {"ids": ids, "spans": spans, "sentinels": [105, 104, 103, 102, 101]}, part=part)

    def draw(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=g))

    a, b = draw(1, 3), draw(8, 10)
    return [case("values", [[a, 3], [b, 2]], 14), case("values", [[2, 2], [6, 3], [11, 1]], 13 + a),
            case("any order", [[b, 3], [a, 2], [5, 1]], 15)]


def _fixed() -> list[Case]:
    return [Case("a span at either end", {"ids": [11, 12, 13, 14, 15, 16], "spans": [[0, 2], [5, 1]], "sentinels": [99, 98, 97]}),
            Case("a hidden piece that stood there before", {"ids": [5, 6, 7, 5, 6, 8, 5, 6], "spans": [[3, 2]], "sentinels": [99, 98]}),
            Case("a span longer than what follows", {"ids": [5, 5, 6, 6, 6, 7], "spans": [[4, 1], [0, 3]], "sentinels": [99, 98, 97]},
                 part="any order"),
            Case("no span and no sentinel: the closing one is missing", {"ids": [11, 12], "spans": [], "sentinels": []},
                 part="refusal", rejects=ValueError, mentions=("1",)),
            Case("nothing hidden", {"ids": [11, 12, 13], "spans": [], "sentinels": [99, 98]}),
            Case("too few sentinels", {"ids": list(range(10, 20)), "spans": [[1, 2], [4, 1], [7, 2]], "sentinels": [99, 98, 97]},
                 part="refusal", rejects=ValueError, mentions=("4",))]


SPANS = Exercise(
    id="12a.6", title="Hide spans behind sentinels", name="hide_spans", kind="function", stars=2, minutes=12,
    signature="hide_spans(ids, spans, sentinels) -> source, target", oracle=_oracle, reference=_reference, draw=_draw, fixed=_fixed,
    parts={"values": 2, "any order": 1, "refusal": 1}, outputs=("source", "target"),
    twins=(
        Twin("spans sorted by length", partial(_cut, how="shortest first"),
             "You go through the spans from the shortest to the longest. Their order is that of their starts in the text."),
        Twin("cut from the shortened text", _in_the_copy,
             "Each replacement shortens your copy, so the next span is no longer where its start says. Cut from the text as it came."),
        Twin("tokens found by value", _by_value,
             "You find the hidden tokens by their value, so equal ones elsewhere disappear too. Go by place."),
        Twin("one sentinel a token", partial(_cut, how="one sentinel a token"),
             "You put a sentinel in the place of every hidden token, as BERT does with its mask. A whole span becomes a single sentinel; "
             "the model has to find out its length."),
        Twin("always the same sentinel", partial(_cut, how="same sentinel"),
             "All of your gaps look alike. The target could not say which of them it is filling."),
        Twin("sentinels from the back", partial(_cut, how="sentinels backwards"),
             "You number the sentinels from the back. The first gap of the text gets the first sentinel."),
        Twin("sentinels counted down", partial(_cut, how="counted down"),
             "Your last gap has the first sentinel. The first gap of the text gets the first sentinel of the list, also if you cut from "
             "the back."),
        Twin("text copied from its start each time", partial(_cut, how="from the start each time"),
             "Before each span you copy the text from its very beginning. Go on where the last span ended."),
        Twin("sentinels from the list's end", partial(_cut, how="from the list's end"),
             "The first gap of the text gets the first sentinel of the list; yours gets the last."),
        Twin("sentinels numbered by the list of spans", partial(_cut, how="numbered by the list"),
             "Your cuts are right, but the sentinels follow the list of spans. The first gap of the text gets the first one."),
        Twin("begins with the second sentinel", partial(_cut, how="second sentinel first"),
             "You skip the first sentinel of the list; the first gap gets it."),
        Twin("gaps closed without a trace", partial(_cut, how="nothing left behind"),
             "Your input does not show where something is missing. (BART's deletion does that; T5 leaves a sentinel.)"),
        Twin("hidden tokens still in the input", partial(_cut, how="spans stay"),
             "The spans are still in your input, so the model can read off the answer."),
        Twin("target without sentinels", partial(_cut, how="no sentinels in the target"),
             "In your target the spans run into each other. Each is announced by its sentinel."),
        Twin("sentinel behind its span", partial(_cut, how="sentinel behind its span"),
             "The sentinel comes before what it hides: it says which gap is filled next."),
        Twin("sentinel behind its span, and one to close", partial(_cut, how="behind and closed"),
             "The sentinel comes before what it hides: it says which gap is filled next."),
        Twin("sentinel before every hidden token", partial(_cut, how="one in front of each token"),
             "A span is announced once, not once for each of its tokens."),
        Twin("last sentinel missing", partial(_cut, how="no last sentinel"),
             "Nothing says where the last span ends. One more sentinel closes the target."),
        Twin("first sentinel closes the target", partial(_cut, how="first sentinel again"),
             "You close the target with the first sentinel again. It has to end with a sentinel that has not been used yet."),
        Twin("last sentinel of the list closes the target", partial(_cut, how="last of the list"),
             "The list may be longer than needed. The sentinel that comes next, after the last one used, closes the target."),
        Twin("last span's sentinel closes the target", partial(_cut, how="last one repeated"),
             "You close the target with the sentinel of the last span. The next one of the list closes it."),
        Twin("closing sentinel in the input, too", partial(_cut, how="last one in the input, too"),
             "The input ends as the text does. Only the target needs a sentinel to end with."),
        Twin("whole text as the target", partial(_cut, how="whole text"),
             "That is BART's target. T5's holds only what was hidden, and is much shorter."),
        Twin("what stayed as the target", partial(_cut, how="rest in the target"),
             "Your target holds what the model can read anyway. It has to name what was hidden."),
        Twin("length taken for the end", partial(_cut, how="length taken for the end"),
             "The second number of a span is how many tokens it hides, not where it ends."),
        Twin("slice ends at the length", partial(_cut, how="slice to the length"),
             "A slice ids[start:length] takes the length for a place. The span ends at start + length."),
        Twin("rest of the text lost", partial(_cut, how="rest lost"), "The text after the last span is missing in your input."),
        Twin("cut in a text that has become shorter", _in_place,
             "Each sentinel shortens the text, so the next span is no longer where its start says. Cut from the back, or copy piece by "
             "piece."),
        Twin("one token too many hidden", partial(_cut, how="end belongs to it"),
             "Your spans are one token longer than asked for: the token after the last hidden one stays."),
        Twin("places counted from one", partial(_cut, how="counted from one"),
             "The first token has place 0; your spans begin one too early."),
        Twin("spans in the order of the list", partial(_cut, how="spans as they come"),
             "The list of spans need not be in the order of the text. The text decides which sentinel comes first."),
    ),
)
