"""Chapter 12a: texts in which somebody counts, and BART's noises, which a model learns to undo.

A text is four numbers in a row, ``"ninety nine . one hundred . …"``: a model that can count can undo every noise.
The models are trained and the results stored by ``python benchmarks/family_others.py --only denoising fewshot``.
Sources: Lewis et al. 2020, section 2.2; Raffel et al. 2020, section 3.1.4.
"""

from collections.abc import Callable
from random import Random

from ..text import noise
from ..text.numbers import number_tokens
from ..text.vocabulary import Vocabulary

LIMIT, NUMBERS = 1_000, 4
MASK, END = "<mask>", "."
SENTINELS = tuple(f"<{i}>" for i in range(8))


def count(start: int, language: str = "en") -> list[str]:
    """Four numbers from ``start`` on, a full stop behind each."""
    return [token for n in range(start, start + NUMBERS) for token in (*number_tokens(n, language), END)]


def vocabulary(languages: tuple[str, ...] = ("en",)) -> Vocabulary:
    """All words of these languages below 1,000, the full stop, the mask and the sentinels."""
    words = {token for language in languages for n in range(LIMIT) for token in number_tokens(n, language)}
    return Vocabulary([[END, MASK, *SENTINELS, *sorted(words)]])


def noises(words: Vocabulary, share: float = 0.3) -> dict[str, Callable[[list[int], Random], list[int]]]:
    """BART's five ways to spoil a text, each ``(ids, rng) -> ids``."""
    mask, end = words.ids[MASK], words.ids[END]
    return {
        "masking": lambda ids, rng: noise.mask_tokens(ids, share, mask, rng),
        "deletion": lambda ids, rng: noise.delete_tokens(ids, share, rng),
        "infilling": lambda ids, rng: noise.infill(ids, share, mask, rng),
        "sentences shuffled": lambda ids, rng: noise.shuffle_sentences(ids, end, rng),
        "rotation": lambda ids, rng: noise.rotate(ids, rng),
    }
