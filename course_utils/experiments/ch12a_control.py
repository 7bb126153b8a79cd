"""The styles of the small CTRL of chapter 12a: a token in front of each text names the style. Source: Keskar et al. 2019, section 3.

Stored results: ``python benchmarks/family_others.py --only control``.
"""

from collections.abc import Callable

STYLES: dict[str, Callable[[str], str]] = {
    "capitals": str.upper,
    "small letters": str.lower,
    "Each Word": lambda text: " ".join(w[:1].upper() + w[1:].lower() for w in text.split(" ")),
}
