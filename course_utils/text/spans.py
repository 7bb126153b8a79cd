"""Names in a row of BIO tags, and how well they were found."""

from collections.abc import Sequence
from typing import NamedTuple


class Span(NamedTuple):
    kind: str
    first: int
    last: int  # the name's last word itself


def spans(tags: Sequence[str]) -> list[Span]:
    """The names in a sentence. An ``I-`` with no open name of its kind before it opens one, as in the CoNLL-2000 script."""
    found: list[Span] = []
    for i, tag in enumerate(tags):
        if tag == "O":
            continue
        if tag[:2] not in ("B-", "I-"):
            raise ValueError(f"tag {i} is {tag!r}; expected O, B-… or I-…")
        if tag[0] == "I" and found and found[-1].kind == tag[2:] and found[-1].last == i - 1:
            found[-1] = found[-1]._replace(last=i)
        else:
            found.append(Span(tag[2:], i, i))
    return found


def span_scores(wanted: Sequence[Sequence[str]], guessed: Sequence[Sequence[str]]) -> tuple[float, float, float]:
    """Precision, recall and F1 of whole names, kind and both ends; 0 where nothing can be divided. ValueError for other lengths."""
    if list(map(len, wanted)) != list(map(len, guessed)):
        raise ValueError(f"{len(wanted)} and {len(guessed)} sentences, or sentences of different lengths")
    pairs = [(set(spans(a)), set(spans(b))) for a, b in zip(wanted, guessed, strict=True)]
    right, total, said = sum(len(a & b) for a, b in pairs), sum(len(a) for a, _ in pairs), sum(len(b) for _, b in pairs)
    return right / said if said else 0.0, right / total if total else 0.0, 2 * right / (said + total) if said + total else 0.0
