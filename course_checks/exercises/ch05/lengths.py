"""Exercise 05.4: predict how long the vectors are. The oracle adds up variances."""

from ..common import Case, Prediction


def oracle() -> dict[str, float]:
    """The root of the sum of squares: 512 entries of variance 1, or 256 pairs with sin² + cos² = 1."""
    normal, sinusoid, factor = 512**0.5, 256**0.5, 512**0.5
    return {
        "row of nn.Embedding(1000, 512)": normal,
        "row with entries of std 1/√512": 1.0,
        "that row times √512": factor,
        "sinusoidal row, d_model = 512": sinusoid,
        "nn.Embedding row times √512, in sinusoidal rows": normal * factor / sinusoid,
    }


EXERCISE = Prediction(oracle=oracle, draw=lambda seed: [Case("your five numbers", {})], rtol=0.05)
