"""Exercise 12a.5: one training step of a student. The oracle lets autograd differentiate, in double precision."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _oracle(weight: Tensor, x: Tensor, teacher: Tensor, temperature: float, rate: float) -> tuple[Tensor, Tensor]:
    with torch.enable_grad():
        w = weight.detach().double().requires_grad_()
        p = (teacher.double() / temperature).softmax(-1)
        log_p, log_q = (teacher.double() / temperature).log_softmax(-1), (x.double() @ w.T / temperature).log_softmax(-1)
        loss = temperature**2 * (p * (log_p - log_q)).sum(-1).mean()
        (slope,) = torch.autograd.grad(loss, w)
    return (w.detach() - rate * slope).float(), loss.detach().float()


def _step(weight: Tensor, x: Tensor, teacher: Tensor, temperature: float, rate: float, how: str = "right") -> tuple[Tensor, Tensor]:
    t, n = temperature, len(x)
    student = x @ weight.T
    mine, theirs = student / t, teacher / t
    match how:
        case "teacher only":
            mine = student
        case "student only":
            theirs = teacher
        case "not softened":
            mine, theirs = student, teacher
        case "multiplied":
            mine, theirs = student * t, teacher * t
        case "always 2":
            t = 2.0
            mine, theirs = student / 2, teacher / 2
    axis = 0 if how == "over the tokens" else -1
    log_p, log_q = theirs.log_softmax(axis), mine.log_softmax(axis)
    if how == "log of softmax":
        log_p = theirs.softmax(axis).log()
    p, q = log_p.exp(), log_q.exp()
    if how == "best guess":
        p = torch.nn.functional.one_hot(theirs.argmax(-1), theirs.shape[-1]).float()
        log_p = torch.zeros_like(p)
    loss = t**2 * (p * (log_p - log_q)).sum(-1).mean()
    slope = t * (q - p)  # of the loss of one token, by the student's logits
    if how == "step not softened":
        slope = student.softmax(-1) - teacher.softmax(-1)
    match how:
        case "no factor":
            loss, slope = loss / t**2, slope / t**2
        case "factor T":
            loss, slope = loss / t, slope / t
        case "chain rule":
            slope = slope * t
        case "step without the factor":
            slope = slope / t**2
        case "loss without the factor":
            loss = loss / t**2
        case "entropy left in":
            loss = -(t**2) * (p * log_q).sum(-1).mean()
        case "loss reversed":
            loss = t**2 * (q * (log_q - log_p)).sum(-1).mean()
        case "reversed":
            loss = t**2 * (q * (log_q - log_p)).sum(-1).mean()
            each = log_q - log_p
            slope = t * q * (each - (q * each).sum(-1, keepdim=True))
        case "squares":
            loss, slope = ((student - teacher) ** 2).sum(-1).mean(), 2 * (student - teacher)
        case "entries":
            loss, slope = loss / p.shape[-1], slope / p.shape[-1]
        case "summed":
            loss, slope = loss * n, slope * n
        case "summed step":
            slope = slope * n
    slope = slope.T @ x / n
    if how == "gradient":
        return slope, loss
    change = slope if how == "rate ignored" else rate * slope
    after = weight + change if how == "uphill" else weight - change
    if how == "loss afterwards":
        loss = t**2 * (p * (log_p - (x @ after.T / t).log_softmax(-1))).sum(-1).mean()
    if how == "not moved":
        after = weight.clone()
    if how == "bits":
        loss = loss / math.log(2)
    return (loss, after) if how == "exchanged" else (after, loss)


def _reference(weight: Tensor, x: Tensor, teacher: Tensor, temperature: float, rate: float) -> tuple[Tensor, Tensor]:
    if temperature <= 0:
        raise ValueError(f"temperature={temperature} must be positive")
    return _step(weight, x, teacher, temperature, rate)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(n: int, vocab: int, d: int, temperature: float, rate: float) -> Case:
        return Case(f"{n} tokens, {vocab} words, temperature {temperature}, rate {rate}", {
            "weight": 0.7 * torch.randn(vocab, d, generator=g), "x": torch.randn(n, d, generator=g),
            "teacher": 2 * torch.randn(n, vocab, generator=g), "temperature": temperature, "rate": rate})

    return [case(4, 7, 5, 3.0, 0.4), case(5, 6, 3, 1.5, 0.8), case(3, 8, 4, 4.0, 0.25)]


def _flat(temperature: float) -> dict:
    return {"weight": torch.zeros(2, 3), "x": torch.ones(1, 3), "teacher": torch.zeros(1, 2), "temperature": temperature, "rate": 0.1}


STEP = Exercise(
    id="12a.5", title="A step of the student", name="distillation_step", kind="function", stars=2, minutes=14,
    signature="distillation_step(weight, x, teacher, temperature, rate) -> weight, loss", oracle=_oracle, reference=_reference, draw=_draw,
    outputs=("weight", "loss"), parts={"values": 3, "edges": 1}, forbidden=("course_utils.experiments.ch12a_distil.distillation_loss",),
    fixed=lambda: [
        Case("temperature 0", _flat(0.0), part="edges", rejects=ValueError, mentions=("0",)),
        Case("temperature -2.5", _flat(-2.5), part="edges", rejects=ValueError, mentions=("-2.5",)),
        Case("a teacher that is certain, logits in the hundreds", {
            "weight": torch.tensor([[90.0, -20.0], [3.0, 40.0], [-60.0, 5.0]]), "x": torch.tensor([[1.0, 0.5], [-2.0, 1.0]]),
            "teacher": torch.tensor([[-60.0, 130.0, 250.0], [220.0, -30.0, 160.0]]), "temperature": 2.0, "rate": 0.5}, part="edges"),
        Case("one token", {"weight": torch.tensor([[0.3, -0.2], [0.1, 0.6], [-0.4, 0.2]]), "x": torch.tensor([[2.0, 1.0]]),
                           "teacher": torch.tensor([[1.0, -1.0, 0.5]]), "temperature": 2.5, "rate": 1.0})],
    twins=(
        Twin("no factor for the temperature", partial(_step, how="no factor"),
             "Loss and step lack the factor. Without it the step shrinks with the square of the temperature."),
        Twin("factor T", partial(_step, how="factor T"),
             "One factor T makes up for the division of the logits alone. Softened distributions also differ less."),
        Twin("division of the logits not differentiated", partial(_step, how="chain rule"),
             "The loss is right, the step too long: the logits were divided by the temperature, and the chain rule divides once more."),
        Twin("step without the factor", partial(_step, how="step without the factor"),
             "Your loss has the factor, your step has not. It is the gradient of this loss that moves the weights."),
        Twin("loss without the factor", partial(_step, how="loss without the factor"),
             "The step is right. The loss that you return lacks the factor."),
        Twin("teacher's entropy left in", partial(_step, how="entropy left in"),
             "The step is right. Your loss is a cross-entropy; it is not 0 when student and teacher agree."),
        Twin("divergence the other way round", partial(_step, how="reversed"),
             "You weight with the student's probabilities. Use the teacher's: they say which words matter."),
        Twin("loss the other way round", partial(_step, how="loss reversed"),
             "The step is right. Your loss weights the difference by the student's probabilities. Use the teacher's."),
        Twin("logarithm of the teacher's softmax", partial(_step, how="log of softmax"),
             "Where the teacher is certain, a probability rounds to 0, and its logarithm is minus infinity. Use a log-softmax."),
        Twin("logits compared", partial(_step, how="squares"), "You compare the logits by squares. Compare the softened distributions."),
        Twin("teacher's best guess as label", partial(_step, how="best guess"),
             "You use the teacher's best guess as a label. What it thinks of the other words is what the student should learn."),
        Twin("student's logits not divided", partial(_step, how="teacher only"),
             "Only the teacher is softened. Both are compared at the same temperature."),
        Twin("teacher's logits not divided", partial(_step, how="student only"),
             "Only the student is softened. Both are compared at the same temperature."),
        Twin("nothing softened", partial(_step, how="not softened"), "Neither the student nor the teacher is softened before the softmax."),
        Twin("step not softened", partial(_step, how="step not softened"),
             "The loss is right. Your step compares the distributions at temperature 1, as if nothing had been softened."),
        Twin("temperature multiplied", partial(_step, how="multiplied"),
             "You multiply by the temperature: distributions get sharper, and the teacher's small probabilities vanish."),
        Twin("temperature 2 for all", partial(_step, how="always 2"), "Your result does not depend on the argument temperature."),
        Twin("softmax over the tokens", partial(_step, how="over the tokens"),
             "Your probabilities add up to 1 over the tokens of the batch. They should add up to 1 over the vocabulary, the last axis."),
        Twin("mean over the vocabulary", partial(_step, how="entries"), "You average over the vocabulary too. Sum over it instead."),
        Twin("sum over the tokens", partial(_step, how="summed"), "You add up the tokens; the loss is their mean, and so is its gradient."),
        Twin("gradient summed over the tokens", partial(_step, how="summed step"),
             "The loss is a mean over the tokens. Your gradient is their sum."),
        Twin("step uphill", partial(_step, how="uphill"), "You add the gradient. That makes the loss larger."),
        Twin("rate ignored", partial(_step, how="rate ignored"), "Your step does not depend on the rate."),
        Twin("gradient instead of new weights", partial(_step, how="gradient"),
             "You return the gradient. Return the weights after the step."),
        Twin("weights not moved", partial(_step, how="not moved"), "The weights come back as they were: the step is missing."),
        Twin("loss after the step", partial(_step, how="loss afterwards"),
             "You return the loss of the new weights. Return the loss before the step."),
        Twin("results exchanged", partial(_step, how="exchanged"), "First the weights, then the loss: yours are the other way round."),
        Twin("bits", partial(_step, how="bits"), "The step is right and the loss is right in bits; nats are asked for."),
    ),
)
