"""Exercise 12b.6: numbers of orders, masks, pairs and parameters. The oracle enumerates and counts."""

import math
from functools import cache
from itertools import permutations

import torch

from course_utils.models.xlnet import XLNet, XLNetConfig, permutation_masks

from ..common import Case, Prediction
from .guessed_apart import oracle as apart

RIGHT = {
    "pairs that the content mask of 3→2→4→1 allows": 10,
    "pairs that its query mask allows": 6,
    "tokens that a token of 9 sees before its turn, on average over all orders": 4.0,
    "New York and Los Angeles, half each: probability of no city, both words guessed at once": 0.5,
    "four such cities, a quarter each: bits lost by guessing both words at once": 2.0,
    "parameters only the query stream has, width 768": 768,
}


@cache
def measure() -> dict[str, float]:
    content, query = permutation_masks(torch.tensor([2, 1, 3, 0]))
    seen = [order.index(4) for order in permutations(range(9))]
    two, four = torch.eye(2) / 2, torch.eye(4) / 4
    no_city, bits = (apart(two)[0] * (two == 0)).sum().item(), apart(four)[1].item() / math.log(2)
    model = XLNet(XLNetConfig(vocab_size=9, num_layers=1))
    model.encode(torch.zeros(1, 4, dtype=torch.long)).sum().backward()  # the content stream alone
    alone = sum(p.numel() for p in model.parameters() if p.grad is None)
    return dict(zip(RIGHT, (int(content.sum()), int(query.sum()), sum(seen) / len(seen), no_city, bits, alone), strict=True))


EXERCISE = Prediction(oracle=measure, reference=RIGHT, draw=lambda seed: [Case("your six numbers", {})], rtol=0.0, atol=0.02)
