"""Exercise 09.4: which tokens are hidden, and how. All random numbers are handed in; the oracle is a loop over single tokens."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator
from ..common import IGNORED, integers

MASK = 4


def _oracle(ids: Tensor, special: Tensor, chance: Tensor, fate: Tensor, anything: Tensor, mask_id: int) -> tuple[Tensor, Tensor]:
    shown, asked = [], []
    for row in zip(ids.tolist(), special.tolist(), chance.tolist(), fate.tolist(), anything.tolist(), strict=True):
        for token, is_special, selected, decision, other in zip(*row, strict=True):
            if is_special or selected >= 0.15:
                shown.append(token)
                asked.append(IGNORED)
                continue
            asked.append(token)
            shown.append(mask_id if decision < 0.8 else other if decision < 0.9 else token)
    return torch.tensor(shown).reshape(ids.shape), torch.tensor(asked).reshape(ids.shape)


def _mask(ids: Tensor, special: Tensor, chance: Tensor, fate: Tensor, anything: Tensor, mask_id: int, how: str = "right"):
    selected = (chance < {"80 percent": 0.8, "85 percent": 0.85, "ten percent": 0.1}.get(how, 0.15))
    if how == "special":
        pass
    elif how == "inverted":
        selected = selected & special
    else:
        selected = selected & ~special
    first, second = {"all masked": (1.0, 1.0), "no random": (0.8, 0.8), "none kept": (0.8, 1.0), "swapped": (0.8, 0.8),
                     "random twenty": (0.7, 0.9), "thresholds": (0.8, 0.1), "of all tokens": (0.12, 0.135)}.get(how, (0.8, 0.9))
    decision = chance / 0.15 if how == "chance again" else fate
    masked, random = selected & (decision < first), selected & (decision >= first) & (decision < second)
    match how:
        case "kept and random exchanged":
            random = selected & (decision >= 0.9)
        case "thresholds":
            random = selected & (decision < 0.1)
        case "overwritten":
            random = selected & (decision < 0.9)
    inputs = ids.masked_fill(masked, 0 if how == "zero" else mask_id)
    inputs = torch.where(random, anything, inputs)
    labels = ids.masked_fill(~selected, IGNORED)
    if how == "minus one":
        labels = ids.masked_fill(~selected, -1)
    match how:
        case "labels shown":
            labels = inputs.masked_fill(~selected, IGNORED)
        case "kept not asked":
            labels = ids.masked_fill(~(masked | random), IGNORED)
        case "only masked asked":
            labels = ids.masked_fill(~masked, IGNORED)
        case "all asked":
            labels = ids.clone()
        case "pad label":
            labels = ids.masked_fill(~selected, 0)
        case "unselected asked":
            labels = ids.masked_fill(selected, IGNORED)
        case "replace all":
            inputs = torch.where(~special & (fate >= 0.8) & (fate < 0.9), anything, ids.masked_fill(masked, mask_id))
    if how == "replace special too":
        inputs = torch.where((fate >= 0.8) & (fate < 0.9), anything, ids.masked_fill(masked, mask_id))
    return inputs, labels


def _args(g: torch.Generator, batch: int, n: int) -> dict:
    ids = integers(g, 5, 40, batch, n)
    special = torch.zeros(batch, n, dtype=torch.bool)
    ids[:, 0], special[:, 0] = 2, True
    for row in range(batch):
        end = n - 1 - 2 * row
        ids[row, end], ids[row, end + 1:], special[row, end:] = 3, 0, True
    chance = torch.rand(batch, n, generator=g)
    chance = torch.where(torch.rand(batch, n, generator=g) < 0.55, 0.15 * chance, chance)  # many selected, so that a draw shows everything
    fate = torch.rand(batch, n, generator=g)
    fate = torch.where(torch.rand(batch, n, generator=g) < 0.6, 0.65 + 0.35 * fate, fate)
    return {"ids": ids, "special": special, "chance": chance, "fate": fate, "anything": integers(g, 41, 60, batch, n), "mask_id": MASK}


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [Case("2 inputs of 60 tokens", _args(g, 2, 60)), Case("3 inputs of 50 tokens, more padding", _args(g, 3, 50))]


def _fixed() -> list[Case]:
    row = lambda *values: torch.tensor([values])  # noqa: E731
    double = lambda *values: torch.tensor([values], dtype=torch.float64)  # noqa: E731  float32 has no 0.9: the one it has is smaller
    edges = {"ids": row(2, 7, 8, 9, 10, 11, 3), "special": row(True, False, False, False, False, False, True), "mask_id": 29,
             "chance": double(0.0, 0.0, 0.15, 0.1499, 0.149, 0.02, 0.01), "fate": double(0.5, 0.79, 0.5, 0.8, 0.91, 0.9, 0.5),
             "anything": row(30, 31, 32, 33, 34, 36, 35)}
    quiet = {**edges, "chance": torch.full((1, 7), 0.5)}
    return [Case("numbers at the thresholds; [MASK] has the id 29", edges), Case("nothing is selected", quiet)]


def _twin(name: str, how: str, hint: str) -> Twin:
    return Twin(name, partial(_mask, how=how), hint)


MASKING = Exercise(
    id="09.4", title="80, 10, 10", name="mask_tokens", kind="function", stars=2, minutes=12,
    signature="mask_tokens(ids, special, chance, fate, anything, mask_id) -> inputs (batch, n), labels (batch, n)", oracle=_oracle,
    reference=_mask, draw=_draw, fixed=_fixed, parts={"values": 3}, outputs=("inputs", "labels"),
    forbidden=("course_utils.text.pretraining.mask_tokens",),
    twins=(
        _twin("every selected token becomes [MASK]", "all masked",
              "You hide all selected tokens. Some of them should become a random token, and some should stay."),
        _twin("no random tokens", "no random", "Between the two thresholds a selected token is replaced by one drawn at random."),
        _twin("no token is left as it was", "none kept",
              "Above the upper threshold a selected token stays as it is, but still has a label."),
        _twin("random and kept exchanged", "kept and random exchanged",
              "The middle range of fates means a random token. In the upper range the token stays as it is."),
        _twin("thresholds 0.8 and 0.1", "thresholds",
              "The three shares lie one after another between 0 and 1: the second threshold is the sum of the first two shares."),
        _twin("[MASK] overwritten by random tokens", "overwritten",
              "Your second step asks only for a fate below the upper threshold, so it overwrites the first step. Random tokens need "
              "both thresholds."),
        _twin("shares 70, 20, 10", "random twenty", "The first threshold is too low, so that too many tokens become random ones."),
        _twin("shares taken of all tokens", "of all tokens",
              "Your thresholds are the shares of all tokens. A fate decides about a token that has been selected already."),
        _twin("one random number for both", "chance again",
              "You decide with the number that selected the token. The other number says what becomes of the token."),
        _twin("special tokens are hidden too", "special", "The classification token, separators and pads are never selected."),
        _twin("only special tokens are hidden", "inverted", "True means special, and special tokens are never selected."),
        _twin("80 percent selected", "80 percent",
              "Four fifths of the selected tokens are hidden. The share of tokens that are selected is much smaller."),
        _twin("85 percent selected", "85 percent", "You select the larger part and leave the smaller; it is the other way round."),
        _twin("10 percent selected", "ten percent", "The threshold of the selection is too low."),
        _twin("the label is what is shown", "labels shown",
              "The label must be the original token. Yours is the token that the model is shown."),
        _twin("kept tokens are not asked for", "kept not asked",
              "A token that was selected and left alone has a label as well: the model cannot know that it was left alone."),
        _twin("only [MASK] places are asked for", "only masked asked",
              "Random and kept tokens are selected, too, and every selected token has a label."),
        _twin("all tokens are asked for", "all asked", "Only selected tokens have a label; all others are to be ignored by the loss."),
        _twin("ignored places have the label 0", "pad label",
              "Zero is an id like any other. The number for ignored places is negative; the docstring names it."),
        _twin("ignored places have the label -1", "minus one",
              "The loss skips one particular negative number, and it is not minus one. The docstring names it."),
        _twin("labels at the wrong places", "unselected asked", "Your labels are exactly at the places that were not selected."),
        _twin("replaced without being selected", "replace special too",
              "You replace by a random token wherever the fate says so, even special tokens. A fate counts for selected tokens only."),
        _twin("unselected tokens replaced", "replace all",
              "You also replace tokens that were never selected by random ones. A fate counts for selected tokens only."),
        _twin("pads in place of [MASK]", "zero", "Hidden tokens get the id that the caller names; yours get the id 0."),
    ),
)
