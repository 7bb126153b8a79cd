"""Exercise 02.7: what grows with the length, predicted. The oracle counts for two lengths, one 8 times the other."""

from ..common import Case, Prediction


def layers(n: int, dilated: bool) -> int:
    """Layers of kernel 3 until an output at one end depends on the input at the other end, by following the taps."""
    reach, number = 0, 0
    while reach < n - 1:
        reach, number = reach + 2 * (3**number if dilated else 1), number + 1
    return number


def count(n: int) -> dict[str, int]:
    path = steps = 0
    for position in range(n):
        steps += 1  # each state waits for the one before
        path += position > 0
    return {
        "recurrent layer: steps that wait for each other": steps,
        "recurrent layer: path, first to last": path,
        "convolutions, kernel 3: path, first to last": layers(n, False),
        "dilations 1, 3, 9, …: path, first to last": layers(n, True),
        "self-attention: path, first to last": 1,
        "self-attention: scores to compute": sum(1 for _ in range(n) for _ in range(n)),
    }


def word(small: int, large: int) -> str:
    if small == large:
        return "constant"
    return "log n" if large / small < 2.5 else "n" if large / small < 12 else "n squared"


def oracle() -> dict[str, str]:
    small, large = count(64), count(512)
    return {name: word(small[name], large[name]) for name in small}


EXERCISE = Prediction(oracle=oracle, draw=lambda seed: [Case("your six words", {})], choices=("constant", "log n", "n", "n squared"))
