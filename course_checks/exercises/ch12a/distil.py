"""Exercise 12a.2: a student learns from a teacher's probabilities. The oracle sums over the vocabulary in double precision."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from ...exercise import Case, Exercise, Twin, generator


def _oracle(student: Tensor, teacher: Tensor, labels: Tensor, temperature: float, share: float) -> Tensor:
    losses = []
    for mine, theirs, label in zip(student.double(), teacher.detach().double(), labels.tolist(), strict=True):
        p = (theirs / temperature).exp() / (theirs / temperature).exp().sum()
        q = (mine / temperature).exp() / (mine / temperature).exp().sum()
        soft = sum(a * (a.log() - b.log()) for a, b in zip(p, q, strict=True))
        hard = mine.exp().sum().log() - mine[label]
        losses.append(share * temperature**2 * soft + (1 - share) * hard)
    return torch.stack(losses).mean().float()


def _loss(student: Tensor, teacher: Tensor, labels: Tensor, temperature: float, share: float, how: str = "right") -> Tensor:
    t = 2.0 if how == "always 2" else temperature
    teacher = teacher if how == "teacher trained" else teacher.detach()
    mine, theirs = student / (1 if how == "student not cooled" else t), teacher / (1 if how == "teacher not cooled" else t)
    if how == "temperature multiplied":
        mine, theirs = student * t, teacher * t
    q, p = mine.log_softmax(-1), theirs.softmax(-1).log() if how == "log of softmax" else theirs.log_softmax(-1)
    if how == "reversed":
        q, p = p, q
    soft = (p.exp() * (p - q)).sum(-1).mean()
    match how:
        case "cross-entropy":
            soft = -(p.exp() * q).sum(-1).mean()
        case "small number":
            soft = (p.exp() * torch.log((p.exp() + 1e-9) / (q.exp() + 1e-9))).sum(-1).mean()
        case "entries":
            soft = (p.exp() * (p - q)).mean()
        case "sum":
            soft = (p.exp() * (p - q)).sum()
        case "squared":
            soft = ((theirs - mine) ** 2).mean()
        case "probabilities":
            soft = ((p.exp() - q.exp()) ** 2).sum(-1).mean()
        case "probabilities divided":
            p, q = teacher.softmax(-1), student.softmax(-1)
            soft = (p / t * (p.log() - q.log())).sum(-1).mean()
        case "log forgotten":
            soft = (p.exp() * (p - q.exp())).sum(-1).mean()
        case "no log-softmax":
            soft = F.kl_div(mine, p.exp(), reduction="batchmean")
        case "logarithms as target":
            soft = F.kl_div(q, p, reduction="batchmean")
        case "over the tokens":
            p, q = theirs.log_softmax(0), mine.log_softmax(0)
            soft = (p.exp() * (p - q)).sum(-1).mean()
        case "best only":
            soft = -q.gather(-1, p.argmax(-1, keepdim=True)).mean()
    hard = F.cross_entropy(mine if how == "labels at T" else teacher if how == "teacher judged" else student, labels)
    if how == "labels without a softmax":
        hard = F.nll_loss(student, labels)
    factor = {"no factor": 1.0, "factor T": t, "divided": 1 / t**2, "root": t**0.5}.get(how, t**2)
    if how == "factor on both":
        hard = hard * t**2
    if how == "shares exchanged":
        share = 1 - share
    if how == "added":
        return t**2 * soft + hard
    if how == "label share not reduced":
        return share * t**2 * soft + hard
    if how == "no labels":
        return share * t**2 * soft
    total = share * factor * soft + (1 - share) * hard
    return total / math.log(2) if how == "bits" else total


def _reference(student: Tensor, teacher: Tensor, labels: Tensor, temperature: float, share: float) -> Tensor:
    if temperature <= 0:
        raise ValueError(f"temperature={temperature} must be positive")
    return _loss(student, teacher, labels, temperature, share)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(n: int, vocab: int, temperature: float, share: float) -> Case:
        return Case(f"{n} tokens, temperature {temperature}, share {share}", {
            "student": 1.5 * torch.randn(n, vocab, generator=g), "teacher": 2 * torch.randn(n, vocab, generator=g),
            "labels": torch.randint(0, vocab, (n,), generator=g), "temperature": temperature, "share": share},
            gradients=("student", "teacher"), shape="()")

    return [case(4, 7, 2.0, 0.7), case(5, 6, 3.0, 0.4), case(3, 8, 4.0, 0.75)]


DISTIL = Exercise(
    id="12a.2", title="A teacher's probabilities", name="distil", kind="function", stars=2, minutes=12,
    signature="distil(student, teacher, labels, temperature, share) -> ()", oracle=_oracle, reference=_reference, draw=_draw,
    forbidden=("course_utils.experiments.ch12a_distil.distillation_loss",), parts={"values": 3, "edges": 1},
    fixed=lambda: [
        Case("temperature 0", {"student": torch.zeros(1, 2), "teacher": torch.zeros(1, 2), "labels": torch.tensor([1]), "temperature": 0.0,
                               "share": 0.5}, part="edges", rejects=ValueError, mentions=("0",)),
        Case("temperature -1.5", {"student": torch.zeros(1, 2), "teacher": torch.zeros(1, 2), "labels": torch.tensor([1]),
                                  "temperature": -1.5, "share": 0.5}, part="edges", rejects=ValueError, mentions=("-1.5",)),
        Case("a teacher that is certain, logits in the hundreds", {
            "student": torch.tensor([[80.0, -10.0, 0.0], [1.0, 150.0, -120.0]]), "labels": torch.tensor([2, 0]), "temperature": 1.5,
            "teacher": torch.tensor([[-60.0, 130.0, 250.0], [220.0, -30.0, 160.0]]), "share": 0.5}, gradients=("student", "teacher"),
            shape="()"),
        Case("one token, the teacher alone", {"student": torch.tensor([[1.0, 2.0, -0.5]]), "teacher": torch.tensor([[0.5, 0.0, 3.0]]),
                                              "labels": torch.tensor([0]), "temperature": 3.0, "share": 1.0}, part="edges",
             gradients=("student",), shape="()"),
        Case("labels alone", {"student": torch.tensor([[1.0, 2.0, -0.5]]), "teacher": torch.tensor([[0.5, 0.0, 3.0]]),
                              "labels": torch.tensor([0]), "temperature": 2.0, "share": 0.0}, part="edges", gradients=("student",),
             shape="()")],
    twins=(
        Twin("a small number in the logarithms", partial(_loss, how="small number"),
             "You add a small number inside the logarithms. So the loss of a token cannot exceed some twenty nats. A log-softmax "
             "does both steps at once and needs no such number."),
        Twin("no factor for the temperature", partial(_loss, how="no factor"),
             "At a high temperature the gradient of the soft part shrinks, and the labels take over. A factor keeps its size."),
        Twin("temperature 2 for all", partial(_loss, how="always 2"),
             "Your result does not depend on the temperature. Use the argument; 2 is only the value in the chapter."),
        Twin("logarithm of the teacher's softmax", partial(_loss, how="log of softmax"),
             "Where the teacher is certain, a probability rounds to 0, and its logarithm is minus infinity. Use a log-softmax."),
        Twin("factor T", partial(_loss, how="factor T"),
             "The temperature shrinks the gradient twice: the logits are divided by it, and the probabilities differ less."),
        Twin("factor divides", partial(_loss, how="divided"), "Your factor shrinks the soft part further. It should enlarge it."),
        Twin("factor is a root", partial(_loss, how="root"), "Your factor is too small for what the temperature takes away."),
        Twin("factor on both parts", partial(_loss, how="factor on both"),
             "The labels' part is computed at temperature 1 and needs no factor."),
        Twin("student's logits not divided", partial(_loss, how="student not cooled"),
             "Only the teacher is softened. Both are compared at the same temperature."),
        Twin("teacher's logits not divided", partial(_loss, how="teacher not cooled"),
             "Only the student is softened. Both are compared at the same temperature."),
        Twin("temperature multiplied", partial(_loss, how="temperature multiplied"),
             "You multiply by the temperature: distributions get sharper, and the teacher's small probabilities vanish."),
        Twin("divergence the other way round", partial(_loss, how="reversed"),
             "You weight with the student's probabilities. Use the teacher's: they say which words matter."),
        Twin("teacher's entropy left in", partial(_loss, how="cross-entropy"),
             "Yours is a cross-entropy: gradients are right, but it is not 0 when student and teacher agree."),
        Twin("teacher trained too", partial(_loss, how="teacher trained"),
             "A gradient flows into the teacher, so the teacher would move towards its student. Detach the teacher's logits first."),
        Twin("probabilities divided", partial(_loss, how="probabilities divided"),
             "You divide probabilities by the temperature. That softens nothing. Divide the logits, before the softmax."),
        Twin("logarithm of the student missing", partial(_loss, how="log forgotten"),
             "You subtract the student's probabilities from logarithms. (F.kl_div, too, takes the student's *log*-probabilities.)"),
        Twin("logits taken for logarithms", partial(_loss, how="no log-softmax"),
             "What you take for the student's logarithms are still logits. A log-softmax has to come first, also before F.kl_div."),
        Twin("logarithms as the target", partial(_loss, how="logarithms as target"),
             "You hand the teacher's logarithms to a function that expects probabilities and takes their logarithm again. The result is "
             "nan. Tell F.kl_div that its target is in logarithms."),
        Twin("labels' part without a softmax", partial(_loss, how="labels without a softmax"),
             "Your labels' part reads logits as if they were logarithms of probabilities. A log-softmax is missing there."),
        Twin("softmax over the tokens", partial(_loss, how="over the tokens"),
             "Your probabilities add up to 1 over the tokens of the batch. They should add up to 1 over the vocabulary, the last axis."),
        Twin("mean over the vocabulary", partial(_loss, how="entries"),
             "You average over the vocabulary too. Sum over the vocabulary and average over the tokens only."),
        Twin("sum over tokens", partial(_loss, how="sum"), "The soft part is summed over the tokens, the labels' part averaged."),
        Twin("logits compared", partial(_loss, how="squared"), "You compare the logits by squares. Compare the softened distributions."),
        Twin("probabilities squared", partial(_loss, how="probabilities"),
             "You compare probabilities by squares. Use the divergence, which compares them by their ratios."),
        Twin("teacher's best guess as label", partial(_loss, how="best only"),
             "You use the teacher's best guess as a label. What it thinks of the other words is what the student should learn."),
        Twin("labels at the temperature", partial(_loss, how="labels at T"),
             "You soften the labels' part as well. The student learns its labels at temperature 1."),
        Twin("teacher judged by the labels", partial(_loss, how="teacher judged"),
             "Your labels' part scores the teacher. Score the student, because only the student learns."),
        Twin("shares exchanged", partial(_loss, how="shares exchanged"), "The share is that of the teacher; yours goes to the labels."),
        Twin("both parts in full", partial(_loss, how="added"), "You add both parts in full; the share divides the weight between them."),
        Twin("labels keep their full weight", partial(_loss, how="label share not reduced"),
             "Your labels keep their full weight. They should get only what the teacher's share leaves."),
        Twin("labels forgotten", partial(_loss, how="no labels"), "Your loss does not depend on the labels."),
        Twin("bits", partial(_loss, how="bits"), "Your loss is right in bits; nats are asked for."),
    ),
)
