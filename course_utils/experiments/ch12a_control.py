"""The styles of chapter 12a's small CTRL (``benchmarks/family_others.py --only control``). Source: Keskar et al. 2019, section 3."""

from collections.abc import Callable

STYLES: dict[str, Callable[[str], str]] = {
    "capitals": str.upper,
    "small letters": str.lower,
    "Each Word": lambda text: " ".join(w[:1].upper() + w[1:].lower() for w in text.split(" ")),
}
