"""Exercise 12a.7: a block-sparse mask. The oracle asks of every pair of tokens whether one of the three reasons lets it pass."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _oracle(n: int, block: int, reach: int, chosen: list[int], extra: list[list[int]]) -> Tensor:
    mask = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        for j in range(n):
            a, b = i // block, j // block
            mask[i, j] = abs(a - b) <= reach or a in chosen or b in chosen or [a, b] in extra
    return mask


def _mask(n: int, block: int, reach: int, chosen: list[int], extra: list[list[int]], how: str = "right") -> Tensor:
    if how == "block counted as number":
        block = n // block
    m = n // block
    place = torch.arange(m)
    distance = place[:, None] - place
    near = distance.abs() <= reach
    match how:
        case "one side":
            near = (distance >= 0) & (distance <= reach)
        case "reach in all":
            near = distance.abs() <= reach // 2
        case "reach in tokens":
            near = distance.abs() * block <= reach
        case "reach too small":
            near = distance.abs() < reach
        case "round the end":
            near = near | ((m - distance.abs()) <= reach)
        case "begins below 0":  # small[a, a - reach:a + reach + 1]: empty where the slice begins at a negative number
            near = near & (place[:, None] >= reach)
        case "no window":
            near = distance == 0
    seen, sees = torch.zeros(m, m, dtype=torch.bool), torch.zeros(m, m, dtype=torch.bool)
    seen[:, chosen], sees[chosen] = True, True
    pairs = torch.zeros(m, m, dtype=torch.bool)
    for a, b in extra:
        pairs[a, b] = True
    match how:
        case "only seen":
            sees = near
        case "only see":
            seen = near
        case "global among themselves":
            seen = sees = seen & sees
        case "no global":
            seen = sees = near
        case "transposed":
            pairs = pairs.T
        case "both ways":
            pairs = pairs | pairs.T
        case "no extra":
            pairs = near
    whole = near & (seen | sees | pairs) if how == "all reasons at once" else near | seen | sees | pairs
    if how == "causal":
        whole = whole & (distance >= 0)
    if how == "inverted":
        whole = ~whole
    if how == "tiled":
        return whole.repeat(block, block)
    mask = whole.repeat_interleave(block, 0).repeat_interleave(block, 1)
    if how == "window of tokens":
        tokens = torch.arange(n)
        window = near.repeat_interleave(block, 0).repeat_interleave(block, 1)
        rest = (seen | sees | pairs).repeat_interleave(block, 0).repeat_interleave(block, 1)
        assert window.shape == rest.shape
        return ((tokens[:, None] - tokens).abs() <= reach * block) | rest
    if how == "numbers of tokens":  # a block's number used as a token's
        mask = near.repeat_interleave(block, 0).repeat_interleave(block, 1)
        mask[chosen], mask[:, chosen] = True, True
        for a, b in extra:
            mask[a, b] = True
    if how == "causal tokens":
        return mask.tril()
    if how == "diagonal open":
        return mask & ~torch.eye(n, dtype=torch.bool)
    if how == "numbers":
        return mask.float()
    return mask


def _reference(n: int, block: int, reach: int, chosen: list[int], extra: list[list[int]]) -> Tensor:
    if n % block:
        raise ValueError(f"n={n} is not a multiple of block={block}")
    return _mask(n, block, reach, chosen, extra)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(part: str, m: int, block: int, reach: int, chosen: list[int], extra: list[list[int]]) -> Case:
        return Case(f"{m} blocks of {block}, reach {reach}, global {chosen}, extra {extra}",
                    {"n": m * block, "block": block, "reach": reach, "chosen": chosen, "extra": extra}, part=part, shape="(n, n)")

    a, b = (int(x) for x in torch.randint(0, 2, (2,), generator=g))
    return [case("window", 9, 3 - a, 1, [], []), case("window", 10 + a, 3, 4, [], []), case("global", 8 + b, 3, 1, [3 + a, 6], []),
            case("extra", 9, 2 + b, 1, [8 * a], [[2, 6], [3, 5 + a], [7, 4]]), case("extra", 9, 2, 2, [], [[1 + a, 6], [8, 2 + b]])]


def _fixed() -> list[Case]:
    return [Case("11 tokens in blocks of 4", {"n": 11, "block": 4, "reach": 1, "chosen": [], "extra": []}, part="refusal",
                 rejects=ValueError, mentions=("11", "4")),
            Case("a single block", {"n": 3, "block": 3, "reach": 1, "chosen": [0], "extra": []}, part="global", shape="(n, n)")]


BLOCKS = Exercise(
    id="12a.7", title="A mask of blocks", name="block_mask", kind="function", stars=2, minutes=12,
    signature="block_mask(n, block, reach, chosen, extra) -> (n, n)", oracle=_oracle, reference=_reference, draw=_draw, fixed=_fixed,
    parts={"window": 1, "global": 1, "extra": 1, "refusal": 1},
    twins=(
        Twin("window on one side", partial(_mask, how="one side"),
             "Your blocks look back but not ahead. An encoder's window reaches to both sides."),
        Twin("reach on both sides together", partial(_mask, how="reach in all"),
             "The reach is counted on each side, not over both of them."),
        Twin("reach counted in tokens", partial(_mask, how="reach in tokens"),
             "You count the reach in tokens. It says how many blocks away a block may be."),
        Twin("window one block short", partial(_mask, how="reach too small"),
             "Your window is one block short. A block exactly `reach` blocks away still belongs to it."),
        Twin("window goes round the end", partial(_mask, how="round the end"),
             "Your first block sees the last one as a neighbour. A text is no ring. Negative indices count from the end."),
        Twin("first blocks have no window", partial(_mask, how="begins below 0"),
             "Your first blocks see nothing near them. A slice with a negative start counts from the end, so here it is empty."),
        Twin("own block alone", partial(_mask, how="no window"),
             "Your blocks see only themselves. They should see their neighbours up to reach."),
        Twin("window counted in tokens", partial(_mask, how="window of tokens"),
             "Your window slides along with each token. Here all tokens of a block share one window, that of their block."),
        Twin("global blocks only seen", partial(_mask, how="only seen"),
             "Everybody sees your global blocks, but they themselves see only their window. They have to read the whole text "
             "before they can pass anything on."),
        Twin("global blocks only see", partial(_mask, how="only see"),
             "Your global blocks see everything, but far blocks do not see them. So they cannot pass on what they read."),
        Twin("global blocks among themselves", partial(_mask, how="global among themselves"),
             "A global block sees all blocks, not only the other global ones."),
        Twin("global blocks left out", partial(_mask, how="no global"), "The chosen blocks make no difference in your mask."),
        Twin("extra pairs turned round", partial(_mask, how="transposed"),
             "In each extra pair the block that looks comes first. Rows are queries."),
        Twin("extra pairs in both directions", partial(_mask, how="both ways"),
             "An extra pair is a one-way street: the first block sees the second."),
        Twin("extra pairs left out", partial(_mask, how="no extra"), "The extra pairs make no difference in your mask."),
        Twin("all reasons at once", partial(_mask, how="all reasons at once"),
             "One reason is enough: a pair in the window needs nothing else."),
        Twin("causal", partial(_mask, how="causal"),
             "Your mask does not let a token look ahead. An encoder reads in both directions."),
        Twin("causal, token by token", partial(_mask, how="causal tokens"),
             "Your mask does not let a token look ahead. An encoder reads in both directions."),
        Twin("numbers of blocks taken for tokens", partial(_mask, how="numbers of tokens"),
             "Global blocks and extra pairs are given by numbers of blocks; you opened single tokens with these numbers."),
        Twin("mask inverted", partial(_mask, how="inverted"), "True means that a token may attend. Your mask is the other way round."),
        Twin("pattern tiled", partial(_mask, how="tiled"),
             "You repeat the small mask side by side. Each of its entries has to become a square of its own."),
        Twin("size of a block taken for their number", partial(_mask, how="block counted as number"),
             "You take `block` for the number of blocks. It is the number of tokens in a block."),
        Twin("tokens do not see themselves", partial(_mask, how="diagonal open"),
             "A token may attend to itself: its own block lies at distance 0."),
        Twin("numbers instead of booleans", partial(_mask, how="numbers"),
             "A boolean mask is asked for, True where attention is permitted."),
    ),
)
