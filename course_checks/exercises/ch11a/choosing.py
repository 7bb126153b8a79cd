"""Exercise 11a.7: temperature, top-k and top-p. The oracle sorts each row as a list in double precision."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _oracle(logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None) -> Tensor:
    rows = []
    for row in logits.tolist():
        order = sorted(range(len(row)), key=lambda i, row=row: -row[i])
        if temperature == 0:
            rows.append([float(i == order[0]) for i in range(len(row))])
            continue
        order = order[:top_k or len(row)]
        weight = {i: math.exp((row[i] - row[order[0]]) / temperature) for i in order}
        total, kept, mass = sum(weight.values()), [], 0.0
        for i in order:
            if top_p is not None and mass >= top_p:
                break
            kept, mass = [*kept, i], mass + weight[i] / total
        rest = sum(weight[i] for i in kept)
        rows.append([weight[i] / rest if i in kept else 0.0 for i in range(len(row))])
    return torch.tensor(rows)


def _choose(logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None, how: str = "right") -> Tensor:
    vocab = logits.shape[-1]
    if temperature == 0:
        p = torch.nn.functional.one_hot(logits.argmax(-1), vocab).float()
        if how in ("sorted but for 0", "gathered"):
            return p
        if how == "nothing by nothing":
            return torch.full_like(logits, torch.nan)
        p = p.sort(-1, descending=True).values if how == "all sorted" else p
        return torch.full_like(logits, 1 / vocab) if how == "zero flattens" else p
    raw = logits
    if how not in ("ignored", "late", "on probabilities"):
        logits = logits * temperature if how == "multiplied" else logits / temperature**(0.5 if how == "root" else 1)
    if top_k is not None and how != "no top-k":
        k = min(vocab, max(1, top_k + {"one more": 1, "one less": -1}.get(how, 0)))
        if how == "over the batch":
            least = logits.flatten().topk(min(logits.numel(), k * len(logits))).values[-1]
        elif how == "first row's":
            least = logits[:1].topk(k).values[:, -1:]
        else:
            least = logits.topk(k).values[..., -1:]
        keep = logits >= least
        if how == "smallest":
            keep = logits <= logits.topk(k, largest=False).values[..., -1:]
        logits = logits.masked_fill(~keep, 0.0 if how == "logit zero" else -torch.inf)
    p = logits.softmax(0 if how == "axis" else -1)
    if how == "on probabilities":
        p = p ** (1 / temperature) if temperature > 1 else p / temperature
        p = p / p.sum(-1, keepdim=True) if temperature > 1 else p
    if how == "not renormalised" and top_k is not None:
        p = (raw / temperature).softmax(-1) * (p > 0)
    if top_p is not None and how != "no top-p":
        base = (raw / temperature).softmax(-1) if how == "p before k" else p
        ordered, place = base.sort(-1, descending=how != "ascending")
        before = ordered.cumsum(-1) - ordered
        drop = before >= top_p
        match how:
            case "before or at":
                drop = before > top_p
            case "crossing never kept":
                drop = ordered.cumsum(-1) > top_p if top_p < 1 else drop
            case "first row decides":
                drop = drop[:1].expand_as(drop) if top_p < 1 else drop
            case "below only":
                drop = ordered.cumsum(-1) >= top_p
            case "min-p":
                drop = ordered < top_p * ordered[:, :1]
            case "crossing dropped":
                drop = ordered.cumsum(-1) > top_p
                drop[:, 0] = False
            case "unsorted":
                drop, place = p.cumsum(-1) - p >= top_p, torch.arange(vocab).expand_as(p)
            case "threshold":
                drop = ordered < ordered[:, :1].clamp_max(top_p)
            case "one further":
                drop = before - ordered.roll(1, -1) >= top_p
                drop[:, 0] = False
            case "not put back":
                p, place = ordered, torch.arange(vocab).expand_as(p)
        p = p.masked_fill(torch.zeros_like(drop).scatter(-1, place, drop), 0.0)
        if how != "not renormalised":
            p = p / p.sum(-1, keepdim=True)
    if how == "late":
        p = (p.log() / temperature).softmax(-1)
    if how == "gathered":
        return p.sort(-1, descending=True).values.gather(-1, raw.sort(-1, descending=True).indices)
    if how in ("all sorted", "sorted but for 0"):
        return p.sort(-1, descending=True).values
    return p.log() if how == "logarithms" else p


def _reference(logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None) -> Tensor:
    if temperature < 0 or (top_k is not None and top_k < 1) or (top_p is not None and not 0 < top_p <= 1):
        raise ValueError(f"temperature={temperature}, top_k={top_k}, top_p={top_p}: out of range")
    return _choose(logits, temperature, top_k, top_p)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(part: str, rows: int, vocab: int, **settings) -> Case:
        label = ", ".join(f"{name.replace('_', '-')} {value}" for name, value in settings.items())
        return Case(f"{rows} × {vocab}: {label}", {"logits": 1.6 * torch.randn(rows, vocab, generator=g)} | settings, part=part,
                    shape="(batch, vocab)")

    return [case("temperature", 3, 7, temperature=0.5), case("temperature", 2, 6, temperature=1.7), case("top-k", 4, 9, top_k=3),
            case("top-k", 3, 8, temperature=2.0, top_k=4), case("top-p", 3, 10, top_p=0.8), case("top-p", 5, 8, top_p=0.35),
            case("all together", 3, 12, temperature=1.5, top_k=6, top_p=0.7),
            case("all together", 4, 11, temperature=0.7, top_k=5, top_p=0.8),
            case("temperature", 2, 5, temperature=0.0)]


def _fixed() -> list[Case]:
    logits = torch.tensor([[2.0, -1.0, 0.5, 1.2], [-3.0, -0.5, -2.0, -0.7]])
    half = torch.tensor([[0.0, math.log(2), 0.0, -300.0], [math.log(2), -300.0, 0.0, 0.0]])
    wide = torch.tensor([[120.0, -90.0, 119.0, 30.0, 118.5], [-150.0, -151.0, -149.5, -90.0, -90.5], [3.0, 260.0, -4.0, 0.0, 1.0]])
    return [Case("top-p 0.5 of 0.25, 0.5, 0.25", {"logits": half, "top_p": 0.5}, part="top-p", shape="(batch, vocab)"),
            Case("logits in the hundreds", {"logits": wide}, part="temperature", shape="(batch, vocab)"),
            Case("logits in the hundreds, top-k 3, top-p 0.8", {"logits": wide, "top_k": 3, "top_p": 0.8, "temperature": 0.8},
                 part="all together", shape="(batch, vocab)"),
            Case("one row", {"logits": logits[1:], "temperature": 0.6, "top_k": 3}, part="top-k", shape="(batch, vocab)"),
            Case("top_k = 0 at temperature 0", {"logits": logits, "temperature": 0.0, "top_k": 0}, part="refusal", rejects=ValueError,
                 mentions=("0",)),
            Case("top_p = -0.2", {"logits": logits, "top_p": -0.2}, part="refusal", rejects=ValueError, mentions=("-0.2",)),
            Case("top-k 1: all on the largest", {"logits": logits, "top_k": 1}, part="top-k", shape="(batch, vocab)"),
            Case("top-k 9 of 4 tokens", {"logits": logits, "top_k": 9}, part="top-k", shape="(batch, vocab)"),
            Case("top-p 1 changes nothing", {"logits": half, "top_p": 1.0}, part="top-p", shape="(batch, vocab)"),
            Case("a tiny top-p keeps one token", {"logits": logits, "top_p": 0.01}, part="top-p", shape="(batch, vocab)"),
            Case("nothing set", {"logits": logits}, part="temperature", shape="(batch, vocab)"),
            *(Case(f"{name} = {value}", {"logits": logits, name: value}, part="refusal", rejects=ValueError, mentions=(str(value),))
              for name, value in (("top_p", 1.5), ("top_p", 0.0), ("top_k", 0), ("temperature", -0.5)))]


CHOOSING = Exercise(
    id="11a.7", title="Temperature, top-k and top-p", name="next_probabilities", kind="function", stars=3, minutes=20,
    signature="next_probabilities(logits, temperature=1.0, top_k=None, top_p=None) -> (batch, vocab)", oracle=_oracle,
    reference=_reference, draw=_draw, fixed=_fixed, forbidden=("course_utils.training.sampling.next_distribution",),
    parts={"temperature": 1, "top-k": 1, "top-p": 2, "all together": 1, "refusal": 1},
    twins=(
        Twin("token that reaches the share lost", partial(_choose, how="crossing never kept"),
             "The token with which the sum reaches top_p stays. You drop it, so less than the share is kept, and sometimes nothing."),
        Twin("sorted, except at temperature 0", partial(_choose, how="sorted but for 0"),
             "Your probabilities are the right ones, from the largest to the smallest. Each belongs at the place of its token."),
        Twin("put back at wrong places", partial(_choose, how="gathered"),
             "The probabilities are right, but at the wrong tokens. A sort also returns where each value came from. Put it back there."),
        Twin("top-p of the first row for all", partial(_choose, how="first row decides"),
             "Every row keeps as many tokens as the first one does. Each row has a sum of its own."),
        Twin("multiplied by the temperature", partial(_choose, how="multiplied"),
             "A high temperature should flatten the distribution; yours sharpens it."),
        Twin("temperature ignored", partial(_choose, how="ignored"), "Your result is the same at every temperature but zero."),
        Twin("root of the temperature", partial(_choose, how="root"), "The logits are divided by the temperature itself, not by its root."),
        Twin("temperature after the filters", partial(_choose, how="late"),
             "The temperature changes how many tokens it takes to reach the share, so it comes first."),
        Twin("temperature on probabilities", partial(_choose, how="on probabilities"),
             "The temperature divides the logits, before the softmax; dividing probabilities leaves something that does not sum to 1."),
        Twin("temperature 0 flattens", partial(_choose, how="zero flattens"),
             "Temperature 0 is the limit of small temperatures: everything on the largest logit."),
        Twin("division by temperature 0", partial(_choose, how="nothing by nothing"),
             "You divide by temperature 0. Treat it as a case of its own: all probability belongs to the largest logit."),
        Twin("softmax over the batch", partial(_choose, how="axis"), "The probabilities of each row sum to 1 over the vocabulary."),
        Twin("one token too many kept", partial(_choose, how="one more"), "Your filter keeps one token more than top-k says."),
        Twin("one token too few kept", partial(_choose, how="one less"), "Your filter keeps one token less than top-k says."),
        Twin("top-k not applied", partial(_choose, how="no top-k"), "The argument top-k has no effect in your function."),
        Twin("top-k over the whole batch", partial(_choose, how="over the batch"),
             "Each row keeps its own largest tokens. Yours compares tokens of different rows."),
        Twin("first row's threshold for all", partial(_choose, how="first row's"),
             "The smallest kept logit of the first row is used for all rows; each row has its own."),
        Twin("the smallest kept", partial(_choose, how="smallest"), "You keep the least probable tokens and throw the others away."),
        Twin("removed tokens get logit 0", partial(_choose, how="logit zero"),
             "A logit of 0 is not a probability of 0: it may even be the largest. Which logit has probability 0?"),
        Twin("not renormalised", partial(_choose, how="not renormalised"),
             "What is left after a filter no longer sums to 1. Share it out among the tokens that were kept."),
        Twin("top-p not applied", partial(_choose, how="no top-p"), "The argument top-p has no effect in your function."),
        Twin("token that reaches the share dropped", partial(_choose, how="crossing dropped"),
             "Your kept tokens add up to less than the share. Keep the token that reaches it as well."),
        Twin("one more where the share is met exactly", partial(_choose, how="before or at"),
             "You keep one token too many when the sum is exactly top_p. The set is complete as soon as it reaches the share."),
        Twin("nothing left of a small share", partial(_choose, how="below only"),
             "You keep tokens as long as the sum stays below the share. The token that reaches it must stay too. If that is the "
             "first token, you keep nothing at all."),
        Twin("min-p instead of top-p", partial(_choose, how="min-p"),
             "You compare each token with the most probable one. That is min-p, another method. Top-p adds up probabilities."),
        Twin("one token beyond the share", partial(_choose, how="one further"),
             "You keep one token too many: the others reach the share without it. Compare the share with the sum before each token."),
        Twin("summed in the order of the vocabulary", partial(_choose, how="unsorted"),
             "The sum has to run from the most probable token down, not in the order of the ids."),
        Twin("summed from the smallest", partial(_choose, how="ascending"),
             "You begin with the least probable tokens. The smallest set that holds the share begins with the most probable."),
        Twin("share taken for a threshold", partial(_choose, how="threshold"),
             "The share is a sum over tokens, not the least probability a single token must have."),
        Twin("not put back in place", partial(_choose, how="not put back"),
             "Your result is sorted: column 0 is the most probable token, not token 0. Undo the sorting."),
        Twin("everything left sorted", partial(_choose, how="all sorted"),
             "Each row comes out in the order of its probabilities. Column 0 belongs to token 0: put the numbers back in place."),
        Twin("top-p before top-k", partial(_choose, how="p before k"),
             "You compute the share from all tokens. It refers to those that top-k has left, normalised to sum to 1."),
        Twin("logarithms returned", partial(_choose, how="logarithms"),
             "You return logarithms. Return the probabilities, between 0 and 1."),
    ),
)
