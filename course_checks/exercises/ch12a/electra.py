"""Exercise 12a.1: ELECTRA's loss, handed out with three faults. The oracle adds up token by token in double precision."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from ...exercise import Case, Exercise, Twin, generator


def _oracle(logits: Tensor, original: Tensor, spoiled: Tensor, chosen: Tensor, mask: Tensor) -> Tensor:
    losses = []
    for row, before, after, real in zip(logits.double(), original.tolist(), spoiled.tolist(), mask.tolist(), strict=True):
        for score, a, b, counts in zip(row, before, after, real, strict=True):
            if counts:
                losses.append(torch.logaddexp(score.new_zeros(()), -score if a != b else score))
    return torch.stack(losses).mean().float()


def _loss(logits: Tensor, original: Tensor, spoiled: Tensor, chosen: Tensor, mask: Tensor, label: str = "replaced", where: str = "real",
          squash: bool = False, mean: str = "counted", how: str = "right") -> Tensor:
    same = spoiled == original
    labels = {"replaced": ~same, "chosen": chosen, "original": same, "lucky": chosen & same}[label].to(logits.dtype)
    counted = {"real": mask, "chosen": chosen, "all": torch.ones_like(mask), "replaced": ~same,
               "others": mask & ~chosen, "padding": ~mask}[where]
    scores = logits.sigmoid() if squash else logits
    losses = F.binary_cross_entropy_with_logits(scores, labels, reduction="none")
    match how:
        case "after the sigmoid":
            losses = F.binary_cross_entropy(logits.sigmoid(), labels, reduction="none")
        case "small number":
            p = logits.sigmoid()
            losses = -(labels * (p + 1e-6).log() + (1 - labels) * (1 - p + 1e-6).log())
        case "tiny number":
            p = logits.sigmoid()
            losses = -(labels * (p + 1e-9).log() + (1 - labels) * (1 - p + 1e-9).log())
        case "replaced alone":
            losses = -labels * F.logsigmoid(logits)
        case "squared":
            losses = (logits.sigmoid() - labels) ** 2
        case "balanced":  # both answers get the same weight, however rare one of them is
            yes, no = counted & (labels == 1), counted & (labels == 0)
            return (losses[yes].mean() + losses[no].mean()) / 2
        case "bits":
            losses = losses / math.log(2)
        case "negated":
            losses = -losses
        case "times 50":
            losses = 50 * losses
    total = (losses * counted).sum()
    match mean:
        case "sum":
            return total
        case "sentences":
            return total / len(logits)
        case "chosen":
            return total / chosen.sum()
        case "all":
            return total / mask.numel()
        case "rows":
            return ((losses * counted).sum(1) / counted.sum(1)).mean()
    return total / counted.sum()


def _draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(batch: int, n: int, lengths: list[int]) -> Case:
        mask = torch.arange(n) < torch.tensor(lengths)[:, None]
        original = torch.where(mask, torch.randint(5, 30, (batch, n), generator=g), 0)
        chosen = torch.zeros(batch, n, dtype=torch.bool)
        for row, length in enumerate(lengths):
            chosen[row, torch.randperm(length, generator=g)[:3]] = True
        spoiled = torch.where(chosen, torch.randint(30, 40, (batch, n), generator=g), original)
        for row in range(batch):  # one guess of the generator in each sentence is right
            place = chosen[row].nonzero()[0, 0]
            spoiled[row, place] = original[row, place]
        return Case(f"{batch} sentences of {lengths} tokens", {
            "logits": 1.5 * torch.randn(batch, n, generator=g), "original": original, "spoiled": spoiled, "chosen": chosen, "mask": mask},
            gradients=("logits",), shape="()")

    return [case(2, 7, [7, 5]), case(3, 8, [8, 6, 5]), case(4, 9, [9, 4, 7, 6])]


BUG = Exercise(
    id="12a.1", title="Find the bugs: replaced or original", name="replaced_loss", kind="function", stars=2, minutes=10,
    signature="replaced_loss(logits, original, spoiled, chosen, mask) -> ()", oracle=_oracle, reference=_loss, draw=_draw,
    parts={"values": 3, "edges": 1},
    fixed=lambda: [Case("logits in the hundreds", {
        "logits": torch.tensor([[150.0, -210.0, 190.0, -120.0], [-160.0, 180.0, 90.0, 0.0]]),
        "original": torch.tensor([[7, 8, 9, 5], [6, 6, 8, 0]]), "spoiled": torch.tensor([[7, 8, 4, 3], [6, 9, 8, 0]]),
        "chosen": torch.tensor([[False, True, True, True], [False, True, False, False]]),
        "mask": torch.tensor([[True, True, True, True], [True, True, True, False]])}, part="edges", gradients=("logits",), shape="()"),
        Case("every guess of the generator was right", {
        "logits": torch.tensor([[0.5, -2.0, 1.0]]), "original": torch.tensor([[7, 8, 9]]), "spoiled": torch.tensor([[7, 8, 9]]),
        "chosen": torch.tensor([[False, True, False]]), "mask": torch.tensor([[True, True, True]])}, part="edges", gradients=("logits",),
        shape="()")],
    twins=(
        Twin("a tiny number in the logarithm", partial(_loss, how="tiny number"),
             "You add a number inside the logarithm. So the loss cannot exceed some twenty nats, however wrong the answer is. Computed "
             "from the logits themselves, it has no such limit."),
        Twin("still the handed-out bugs", partial(_loss, label="chosen", where="chosen", squash=True),
             "Write down one sentence with one chosen token that came back unchanged. What should its label be, and which tokens count?",
             untouched=True),
        Twin("wrong labels and wrong places", partial(_loss, label="chosen", where="chosen"),
             "You use the logits rightly now. But the label is not whether a token was chosen, and not only chosen tokens count."),
        Twin("wrong labels and sigmoid twice", partial(_loss, label="chosen", squash=True),
             "The places are right now. Two faults are left: one in the labels, one in what the loss function is given."),
        Twin("wrong places and sigmoid twice", partial(_loss, where="chosen", squash=True),
             "The labels are right now. Two faults are left: which tokens count, and what the loss function is given."),
        Twin("labels say chosen", partial(_loss, label="chosen"),
             "The generator sometimes guesses the original. Such a token was chosen, but it has not changed: it counts as an original."),
        Twin("loss on chosen tokens alone", partial(_loss, where="chosen"),
             "You ask about the chosen tokens only. ELECTRA asks about every real token; that is its advantage."),
        Twin("sigmoid twice", partial(_loss, squash=True),
             "You apply the sigmoid first. The loss function takes logits and applies the sigmoid itself."),
        Twin("sigmoid and logarithm apart", partial(_loss, how="after the sigmoid"),
             "For large logits the sigmoid rounds to 0 or 1, and then its logarithm is wrong. A loss that is given the logits does both "
             "steps in one."),
        Twin("small number in the logarithm", partial(_loss, how="small number"),
             "A small number inside the logarithm hides how wrong a sure answer is. A loss that is given the logits needs no such help."),
        Twin("padding counts", partial(_loss, where="all"), "Padding is asked about as well. Only real tokens count."),
        Twin("labels the other way round", partial(_loss, label="original"),
             "Your label 1 means “original”. Here a high logit says that the token was replaced, so 1 has to mean that too."),
        Twin("lucky guesses are the replaced ones", partial(_loss, label="lucky"),
             "You mark the chosen tokens that came back the same. Which of the chosen tokens are not originals?"),
        Twin("loss on replaced tokens alone", partial(_loss, where="replaced"),
             "Only replaced tokens count in yours; a model that always says “replaced” would be perfect."),
        Twin("chosen tokens left out", partial(_loss, where="others"),
             "You leave the chosen tokens out, and with them every replaced one."),
        Twin("padding alone", partial(_loss, where="padding"),
             "You kept the padding and dropped the real tokens: mask is True for real tokens."),
        Twin("sum instead of mean", partial(_loss, mean="sum"), "The mean over real tokens is asked for; yours is a sum."),
        Twin("divided by the sentences", partial(_loss, mean="sentences"), "You divide by the number of sentences; count tokens."),
        Twin("divided by the chosen tokens", partial(_loss, mean="chosen"),
             "You add up the losses of all real tokens and divide by the number of chosen ones."),
        Twin("divided by padding too", partial(_loss, mean="all"), "Padding adds nothing to your sum, but is counted where you divide."),
        Twin("mean of the sentences' means", partial(_loss, mean="rows"),
             "You average within each sentence first, so tokens of short sentences weigh more. All real tokens weigh the same."),
        Twin("both answers weighted alike", partial(_loss, how="balanced"),
             "You give the rare replaced tokens as much weight as all originals together. Each token has the same weight."),
        Twin("one half of the cross-entropy", partial(_loss, how="replaced alone"),
             "Originals cost nothing in your loss, so a model that always says “replaced” would be perfect. The other half of the "
             "cross-entropy is missing."),
        Twin("squared error", partial(_loss, how="squared"), "Yours is a squared error of probabilities; a cross-entropy is asked for."),
        Twin("bits", partial(_loss, how="bits"), "Your loss is right in bits; nats are asked for."),
        Twin("sign lost", partial(_loss, how="negated"), "A loss is small when the answer is right; yours is negative."),
        Twin("weight 50 inside", partial(_loss, how="times 50"),
             "The weight of 50 belongs to the sum with the generator's loss, not in here."),
    ),
)
