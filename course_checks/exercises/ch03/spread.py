"""Exercise 03.3: how large a dot product is, predicted. The variances of independent products add up."""

from ..common import Case, Prediction


def oracle(d_k: int = 64) -> dict[str, float]:
    spread = d_k**0.5
    return {"variance of q·k": d_k, "std of q·k": spread, "std of q·k / sqrt(d_k)": 1.0, "std of q·k / d_k": spread / d_k}


EXERCISE = Prediction(file=__file__, oracle=oracle, draw=lambda seed: [Case("your four numbers for d_k = 64", {})], rtol=0.05)
