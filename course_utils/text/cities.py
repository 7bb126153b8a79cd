"""A small language of our own in which two words belong together: "we flew to New York in spring".

Eight cities have names of two words. Neither word, nor the rest of the sentence, settles the other; the season shifts how probable a
city is. All probabilities are known, so that what a model has learned can be held against the truth.
"""

import torch
from torch import Tensor

_NAMES = ("New York", "New Orleans", "Los Angeles", "Los Alamos", "Hong Kong", "San Francisco", "San Diego", "Las Vegas")
CITIES = dict(zip(_NAMES, (6, 2, 5, 1, 4, 3, 2, 1), strict=True))  # how popular each is
WARM = ("New Orleans", "Los Angeles", "Los Alamos", "San Diego", "Las Vegas")  # three times as popular in winter, the others in summer
WHO, DID, SEASONS = ("we", "they", "you", "people"), ("flew", "drove", "moved", "went"), ("spring", "summer", "autumn", "winter")
WORDS = ("[MASK]", "to", "in", *WHO, *DID, *SEASONS, *dict.fromkeys(word for city in CITIES for word in city.split()))
IDS = {word: i for i, word in enumerate(WORDS)}
FIRST, SECOND, LENGTH = 3, 4, 7  # where the city stands, and how long a sentence is


def city_probabilities() -> Tensor:
    """``(seasons, cities)``: how often people travel where in each season; rows sum to 1."""
    high = {city: "winter" if city in WARM else "summer" for city in CITIES}
    rows = [[weight * (3 if season == high[city] else 1) for city, weight in CITIES.items()] for season in SEASONS]
    table = torch.tensor(rows, dtype=torch.float32)
    return table / table.sum(1, keepdim=True)


def names() -> Tensor:
    """Ids of both words of every city, ``(cities, 2)``."""
    return torch.tensor([[IDS[word] for word in city.split()] for city in CITIES])


def travel(count: int, generator: torch.Generator | None = None) -> Tensor:
    """Random sentences as ids, ``(count, 7)``."""
    who, did, season = (torch.randint(4, (count,), generator=generator) for _ in range(3))
    city = names()[torch.multinomial(city_probabilities()[season], 1, generator=generator)[:, 0]]  # (count, 2)
    return _sentences(who, did, city, season)


def gaps() -> tuple[Tensor, Tensor]:
    """All 64 sentences with ``[MASK] [MASK]`` in place of the city, ``(64, 7)``, and the truth: how probable each pair of words is there,
    ``(64, words, words)``."""
    who, did, season = (axis.flatten() for axis in torch.meshgrid(*[torch.arange(4)] * 3, indexing="ij"))
    joint = torch.zeros(len(who), len(WORDS), len(WORDS))
    joint[:, *names().T] = city_probabilities()[season]
    return _sentences(who, did, torch.zeros(len(who), 2, dtype=torch.long), season), joint


def decode(ids: Tensor) -> str:
    """The words of one sentence, ``(n,)``."""
    return " ".join(WORDS[i] for i in ids.tolist())


def _sentences(who: Tensor, did: Tensor, city: Tensor, season: Tensor) -> Tensor:
    to, into = (torch.full_like(who, IDS[word]) for word in ("to", "in"))
    return torch.stack((who + IDS[WHO[0]], did + IDS[DID[0]], to, *city.T, into, season + IDS[SEASONS[0]]), 1)
