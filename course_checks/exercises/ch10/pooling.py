"""Exercise 10.3: the mean of the real tokens. The oracle goes sentence by sentence in double precision."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _oracle(hidden: Tensor, mask: Tensor) -> Tensor:
    rows = [sum((token.double() for token, keep in zip(sentence, real, strict=True) if keep), torch.zeros(hidden.shape[-1]).double())
            / max(1, int(real.sum())) for sentence, real in zip(hidden, mask, strict=True)]
    return torch.stack(rows).float() + 0 * hidden.sum()


def _pool(hidden: Tensor, mask: Tensor, how: str = "right") -> Tensor:
    mask = {"inverted": ~mask, "first mask": mask[:1].expand_as(mask), "all": torch.ones_like(mask)}.get(how, mask)
    weight = mask[..., None].to(hidden.dtype)  # (batch, n, 1)
    count = weight.sum(1).clamp_min(1)
    match how:
        case "no class token":
            weight = torch.cat([torch.zeros_like(weight[:, :1]), weight[:, 1:]], 1)
            count = weight.sum(1).clamp_min(1)
        case "no special":
            last = (mask.sum(1) - 1).clamp_min(0)
            weight = weight * (torch.arange(mask.shape[1]) != last[:, None])[..., None]
            count = weight.sum(1).clamp_min(1)
        case "by length":
            count = torch.full_like(count, mask.shape[1])
        case "sum":
            count = torch.ones_like(count)
        case "root":
            count = count**0.5
        case "nan":
            count = weight.sum(1)
        case "plus one":
            count = weight.sum(1) + 1
        case "whole batch":
            count = weight.sum().clamp_min(1)
        case "over sentences":
            return (hidden * weight).sum(0) / weight.sum(0).clamp_min(1)
        case "class token":
            return hidden[:, 0] * mask.any(1, keepdim=True)
        case "last token":
            return hidden[torch.arange(len(hidden)), (mask.sum(1) - 1).clamp_min(0)] * mask.any(1, keepdim=True)
        case "max":
            return hidden.masked_fill(~mask[..., None], -torch.inf).amax(1)
        case "from the front":
            weight = (torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True))[..., None].to(hidden.dtype)
        case "both special":
            weight = torch.cat([torch.zeros_like(weight[:, :1]), weight[:, 1:-1], torch.zeros_like(weight[:, :1])], 1)
            count = weight.sum(1).clamp_min(1)
        case "all sentences":
            return ((hidden * weight).sum((0, 1)) / weight.sum()).expand(len(hidden), -1)
        case "mended late":
            return ((hidden * weight).sum(1) / weight.sum(1)).nan_to_num(0.0)
        case "unit":
            return torch.nn.functional.normalize((hidden * weight).sum(1), dim=-1)
        case "softmax":
            return (hidden * mask.to(hidden.dtype).softmax(1)[..., None]).sum(1) * mask.any(1, keepdim=True)
        case "features":
            return (hidden * weight).mean(-1)
        case "no grad":
            return ((hidden * weight).sum(1) / count).detach() + 0 * hidden.sum()
    return (hidden * weight).sum(1) / count


def _draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(label: str, part: str, lengths: list[int], n: int, d: int) -> Case:
        mask = torch.arange(n) < torch.tensor(lengths)[:, None]
        return Case(label, {"hidden": torch.randn(len(lengths), n, d, generator=g), "mask": mask}, part=part, gradients=("hidden",),
                    shape="(batch, d_model)")

    return [case("2 sentences of 4 tokens, no padding", "values", [4, 4], 4, 5),
            case("3 sentences of 2, 6 and 3 tokens", "padding", [2, 6, 3], 6, 4)]


def _fixed() -> list[Case]:
    g = generator(3)
    gap = torch.tensor([[True, False, True, True, False], [True, True, True, True, True]])
    return [Case("padding in the middle", {"hidden": torch.randn(2, 5, 3, generator=g), "mask": gap}, part="padding",
                 gradients=("hidden",), shape="(batch, d_model)"),
            Case("the second sentence is all padding", {"hidden": torch.randn(2, 4, 3, generator=g),
                                                        "mask": torch.arange(4) < torch.tensor([[3], [0]])}, part="empty sentence",
                 gradients=("hidden",), shape="(batch, d_model)")]


POOL = Exercise(
    id="10.3", title="The mean of the real tokens", name="mean_pool", kind="function", stars=1, minutes=6,
    signature="mean_pool(hidden, mask) -> (batch, d_model)", oracle=_oracle, reference=_pool, draw=_draw, fixed=_fixed,
    parts={"values": 1, "padding": 1, "empty sentence": 1}, forbidden=("course_utils.models.bert.mean_pool",),
    twins=(
        Twin("sentences averaged", partial(_pool, how="over sentences"),
             "You average over the sentences, place by place. Average over the axis of the tokens instead."),
        Twin("padding counts as well", partial(_pool, how="all"), "Pads have hidden states too. You average over them; leave them out."),
        Twin("divided by the padded length", partial(_pool, how="by length"),
             "The sum leaves out the pads, but you divide by the padded length. Each sentence has a count of its own."),
        Twin("mask inverted", partial(_pool, how="inverted"), "True marks a real token; you average the pads."),
        Twin("first sentence's mask for all", partial(_pool, how="first mask"),
             "Every sentence has a mask of its own; keep the batch axis."),
        Twin("sum instead of mean", partial(_pool, how="sum"), "You return the sum over the tokens. Divide it by the number of tokens."),
        Twin("softmax of the mask", partial(_pool, how="softmax"),
             "A softmax of ones and zeros leaves every pad a weight. Multiply by the mask itself and divide by its sum."),
        Twin("divided by the root", partial(_pool, how="root"), "The number of tokens itself is the divisor, not its square root."),
        Twin("divided by one too many", partial(_pool, how="plus one"),
             "One is added to every count. Only a sentence without tokens needs protection."),
        Twin("counted over the whole batch", partial(_pool, how="whole batch"),
             "You divide by the real tokens of all sentences together; each sentence has its own count."),
        Twin("not a number for an empty sentence", partial(_pool, how="nan"),
             "An empty sentence gives 0 divided by 0, which is not a number. The docstring says what it should give."),
        Twin("mended after the division", partial(_pool, how="mended late"),
             "The result is repaired, but its gradient still goes back through the division by zero. Keep the divisor from "
             "being 0 instead."),
        Twin("pads expected at the end", partial(_pool, how="from the front"),
             "You count the real tokens and take as many from the front. Pads may be anywhere: use the mask, place by place."),
        Twin("averaged over all sentences", partial(_pool, how="all sentences"),
             "Your sentences share one mean. Choosing real tokens out of the whole batch forgets which sentence each came from."),
        Twin("length 1 instead of the mean", partial(_pool, how="unit"),
             "You make a vector of length 1. The mean is the sum divided by the number of real tokens."),
        Twin("first token only", partial(_pool, how="class token"), "This is the state of the first token. All real tokens count here."),
        Twin("last token only", partial(_pool, how="last token"), "This is the state of the last real token. All real tokens count here."),
        Twin("class token left out", partial(_pool, how="no class token"),
             "The first token is a real token as well; the mask says which are."),
        Twin("closing token left out", partial(_pool, how="no special"), "The last real token counts as well; go by the mask alone."),
        Twin("both ends left out", partial(_pool, how="both special"),
             "The docstring includes the special tokens. Besides, the last column is the closing token of the longest sentences only."),
        Twin("maximum instead of mean", partial(_pool, how="max"), "This takes the largest entry of each feature. The mean is asked for."),
        Twin("mean over the features", partial(_pool, how="features"),
             "You average the numbers inside a token. The mean goes over the tokens of a sentence."),
        Twin("gradient cut", partial(_pool, how="no grad"), "The numbers are right, but no gradient flows back into the hidden states."),
    ),
)
