"""Exercise 06.4: the mean over real tokens. The oracle loops over tokens in double precision."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _mean_oracle(x: Tensor, mask: Tensor) -> Tensor:
    rows = []
    for sentence, real in zip(x, mask.tolist(), strict=True):
        tokens = [token.double() for token, keep in zip(sentence, real, strict=True) if keep]
        total = torch.zeros(x.shape[-1], dtype=torch.float64)
        for token in tokens:
            total = total + token / len(tokens)
        rows.append(total)
    return torch.stack(rows).float()


def _mean(x: Tensor, mask: Tensor, how: str = "right") -> Tensor:
    keep = mask[..., None]
    count = keep.sum(1)
    clean = x.masked_fill(~keep, 0.0)
    match how:
        case "full length":
            return clean.mean(1)
        case "sum":
            return clean.sum(1)
        case "everything":
            return x.mean(1)
        case "inverted":
            return x.masked_fill(keep, 0.0).sum(1) / (~keep).sum(1).clamp(min=1)
        case "features":
            return clean.mean(-1)
        case "one divisor":
            return clean.sum(1) / mask.sum()
        case "average length":
            return clean.sum(1) / (mask.sum() / len(mask))
        case "batch":
            return clean.sum((0, 1)) / mask.sum().clamp(min=1)
        case "times":
            return (x * keep).sum(1) / count.clamp(min=1)
        case "infinity":
            return (x.masked_fill(x.isnan(), 0.0) * keep).sum(1) / count.clamp(min=1)
        case "equal lengths":
            return x[mask].reshape(len(x), -1, x.shape[-1]).mean(1)
        case "nan":
            return clean.sum(1) / count
        case "plus one":
            return clean.sum(1) / (count + 1)
        case "right side":
            inside = torch.arange(x.shape[1])[:, None] < count[:, None]
            return x.masked_fill(~inside, 0.0).sum(1) / count.clamp(min=1)
        case "first":
            return x[:, 0]
        case "kept axis":
            return clean.sum(1, keepdim=True) / count[:, None].clamp(min=1)
    return clean.sum(1) / count.clamp(min=1)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    n = 5 + seed % 3
    x = torch.randn(3, n, 4, generator=g) + 1.0
    mask = torch.tensor([[1, 1, 1, 0, 0], [0, 1, 1, 1, 1], [1, 0, 1, 0, 0]]).bool()
    mask = torch.cat([mask, torch.ones(3, n - 5, dtype=torch.bool)], 1)
    dirty = x.clone()
    dirty[0, 3], dirty[1, 0], dirty[2, 4] = torch.nan, torch.inf, -torch.inf
    return [Case(f"3 sentences of {n} places, pads anywhere", {"x": x, "mask": mask}, gradients=("x",), shape="(batch, d)"),
            Case("NaN and infinities on the pads", {"x": dirty, "mask": mask}, part="dirty pads", gradients=("x",), shape="(batch, d)")]


def _fixed() -> list[Case]:
    x = torch.randn(2, 4, 3, generator=generator(4))
    return [Case("no pads at all, one sentence", {"x": x[:1], "mask": torch.ones(1, 4, dtype=torch.bool)}, gradients=("x",)),
            Case("one sentence of one token", {"x": x[:1, :1], "mask": torch.ones(1, 1, dtype=torch.bool)}, gradients=("x",)),
            Case("numbers around 1000", {"x": x + 1000, "mask": torch.tensor([[1, 1, 0, 1], [0, 1, 0, 0]]).bool()}, gradients=("x",)),
            Case("the second sentence has no token", {"x": x, "mask": torch.tensor([[1, 0, 1, 1], [0, 0, 0, 0]]).bool()},
                 part="no token", gradients=("x",), shape="(batch, d)")]


MEAN = Exercise(
    id="06.4", title="The mean over real tokens", name="masked_mean", kind="function", stars=2, minutes=10,
    signature="masked_mean(x, mask) -> (batch, d)", oracle=_mean_oracle, reference=_mean, draw=_draw, fixed=_fixed,
    parts={"values": 2, "dirty pads": 1, "no token": 1},
    twins=(
        Twin("divided by the full length", partial(_mean, how="full length"),
             "The pads are out of the sum but still in the count: short sentences come out too small."),
        Twin("sum instead of mean", partial(_mean, how="sum"), "You added the real tokens up and did not divide by their number."),
        Twin("pads averaged in", partial(_mean, how="everything"),
             "Your mean runs over all places, the pads included: the mask plays no part."),
        Twin("pads averaged, words left out", partial(_mean, how="inverted"),
             "This is the mean of the pads. The mask is True where there is a real token."),
        Twin("features averaged", partial(_mean, how="features"),
             "You averaged over the features and kept the tokens. Average over the axis of the tokens instead."),
        Twin("one divisor for all", partial(_mean, how="one divisor"),
             "You divided by the number of real tokens in the whole batch. Every sentence has its own number."),
        Twin("divided by the average length", partial(_mean, how="average length"),
             "You divide every sentence by the average number of tokens. Each sentence needs its own number."),
        Twin("whole batch in one mean", partial(_mean, how="batch"),
             "You averaged over the sentences too. The result has one row for every sentence."),
        Twin("multiplied by nought", partial(_mean, how="times"),
             "0 times NaN is NaN, and so is 0 times infinity. Replace what is on the pads instead of multiplying it by 0."),
        Twin("infinity times nought", partial(_mean, how="infinity"),
             "You replaced NaN, but infinity is still there, and 0 times infinity is NaN again. Replace everything that is on a pad."),
        Twin("equal lengths assumed", partial(_mean, how="equal lengths"),
             "You laid the real tokens of all sentences in one row and cut it into equal pieces. The sentences have different numbers of "
             "tokens, so some tokens land in the wrong sentence."),
        Twin("empty sentence gives NaN", partial(_mean, how="nan"),
             "For a sentence without a token you divide 0 by 0. Make sure that the divisor is never 0; the sum is already 0."),
        Twin("one too many in the divisor", partial(_mean, how="plus one"),
             "Adding 1 to every count avoids the count 0, but it makes all the other means too small."),
        Twin("pads assumed on the right", partial(_mean, how="right side"),
             "You took the first places of each sentence, as many as it has tokens. But the mask says which places are real."),
        Twin("first token instead of mean", partial(_mean, how="first"), "This is the first place of every sentence, not a mean."),
        Twin("axis of the tokens kept", partial(_mean, how="kept axis"),
             "The numbers are right, but the axis you averaged over is still there, with length 1."),
    ),
)
