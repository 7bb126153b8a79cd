"""Exercise 06.2: what each test of an explanation shows. The oracle is a fixed table; the chapter runs the tests."""

from ..common import Case, Prediction

TESTS = ("unseen text", "a table of counts", "the likeliest letter", "400 steps", "another answer", "another answer, with mask")


def oracle() -> dict[str, str]:
    return {test: "worse" if test in ("a table of counts", "another answer") else "as before" for test in TESTS}


CHOICES = ("as before", "better", "worse")
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your six words", {}, "changes")], choices=CHOICES)
