"""Exercise 06.2: what each test of an explanation shows. The oracle is a fixed table; the chapter runs the tests."""

from ..common import Case, Prediction


def oracle() -> dict[str, str]:
    return {
        "unseen text": "as before",
        "a table of counts": "worse",
        "the likeliest letter": "as before",
        "400 steps": "as before",
        "another answer": "worse",
        "another answer, with mask": "as before",
    }


CHOICES = ("as before", "better", "worse")
EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your six words", {}, "changes")], choices=CHOICES)
