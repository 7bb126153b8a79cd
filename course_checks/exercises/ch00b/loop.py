"""Exercise 00b.5: a training step, and the loop around it."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

from ...exercise import CALLABLES, Case, Exercise, Registered, Twin, generator
from ..common import cross_entropy, integers, randn, sizes
from . import callables  # noqa: F401  (registers the makers of models)


def _by_hand(new_model: Any, x: Tensor, target: Tensor, x_held: Tensor, steps: int, lr: float) -> tuple[list[float], Tensor]:
    """Gradient descent from the closed form of the gradient, probabilities minus what happened, in double precision."""
    model = (CALLABLES[new_model.name] if isinstance(new_model, Registered) else new_model)()
    weight, bias = model.weight.detach().double(), model.bias.detach().double()
    seen = x.double()
    if model.mutes:
        seen = seen * torch.tensor([2.0, 0.0]).double().repeat(x.shape[1])[: x.shape[1]]
    happened, losses = torch.eye(len(bias), dtype=torch.float64)[target], []
    for _ in range(steps):
        scores = seen @ weight.T + bias
        log_p = scores - torch.logsumexp(scores, 1, keepdim=True)
        losses.append(-(happened * log_p).sum(1).mean().item())
        wrong = (log_p.exp() - happened) / len(x)
        weight, bias = weight - lr * wrong.T @ seen, bias - lr * wrong.sum(0)
    return losses, (x_held.double() @ weight.T + bias).float()


def _train(new_model: Any, x: Tensor, target: Tensor, x_held: Tensor, steps: int, lr: float,
           how: str = "right") -> tuple[list[float], Tensor]:
    with torch.enable_grad():  # the engine asks for right results of changed inputs without gradients
        return _loop(new_model, x, target, x_held, steps, lr, how)


def _loop(new_model: Any, x: Tensor, target: Tensor, x_held: Tensor, steps: int, lr: float, how: str) -> tuple[list[float], Tensor]:
    if isinstance(new_model, Registered):
        new_model = CALLABLES[new_model.name]
    model, losses = new_model(), []
    makers = {"adam": torch.optim.Adam, "weight decay": partial(torch.optim.SGD, weight_decay=0.1),
              "momentum": partial(torch.optim.SGD, momentum=0.9)}
    make = makers.get(how, torch.optim.SGD)
    optimizer = make(model.parameters(), lr=lr)
    if how == "never in training mode":
        model.eval()
    for step in range(steps - (how == "one step less") + (how == "one step more")):
        if how == "new model":
            model = new_model()
            optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        if how not in ("not cleared", "never moves"):
            optimizer.zero_grad()
        logits = model(x_held[: len(x)] if how == "trained on held-out" and len(x_held) >= len(x) else x)
        if how == "softmax":
            logits = torch.softmax(logits, -1)
        loss = cross_entropy(logits, target, reduction="sum" if how == "sum" else "mean")
        if how == "one word at a time":
            loss = cross_entropy(logits[step % len(x)][None], target[step % len(x)][None])
        if how != "never moves":
            (-loss if how == "climbs" else loss).backward()
            optimizer.step()
        if how == "after the step":
            with torch.no_grad():
                loss = cross_entropy(model(x), target)
        losses.append(loss.item())
        if how == "left after one step":
            break
    if how != "in training mode":
        model.eval()
    with torch.no_grad():
        result = model(x if how == "training words" else x_held)
    match how:
        case "probabilities":
            result = torch.softmax(result, -1)
        case "classes":
            result = result.argmax(-1)
        case "running mean":
            losses = [sum(losses[: i + 1]) / (i + 1) for i in range(len(losses))]
    return losses, result


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    makers = ("four_features_three_classes", "three_features_five_classes")
    cases = []
    for maker, (d, k), part in (*zip(makers, ((4, 3), (3, 5)), ("values",) * 2, strict=True), ("other_in_training", (5, 4), "held out")):
        n, m = sizes(g, 2, 6, 12)
        steps = 4 + int(torch.randint(4, (), generator=g))
        label = f"{steps} steps on {n} words, {m} held out" + (", a model that differs in training mode" if part == "held out" else "")
        cases.append(Case(label, {"new_model": Registered(maker), "x": randn(g, n, d), "target": integers(g, 0, k, n),
                                  "x_held": randn(g, m, d), "steps": steps, "lr": 0.3 + 0.4 * torch.rand((), generator=g).item()},
                          part=part, calls={"new_model": 1}))
    return cases


def _fixed() -> list[Case]:
    g = generator(5)
    return [Case("a single step", {"new_model": Registered("four_features_three_classes"), "x": randn(g, 5, 4),
                                   "target": torch.tensor([0, 2, 1, 1, 0]), "x_held": randn(g, 2, 4), "steps": 1, "lr": 0.5},
                 calls={"new_model": 1})]


LOOP = Exercise(
    id="00b.5", title="A training step, and the loop around it", name="train", kind="function", stars=2, minutes=15,
    signature="train(new_model, x, target, x_held, steps, lr) -> (losses, held_logits)",
    oracle=_by_hand, reference=_train, draw=_draw, fixed=_fixed, parts={"values": 4, "held out": 2}, outputs=("losses", "held_logits"),
    rtol=1e-3, atol=1e-4, forbidden=("course_utils.training.loop.fit",),
    twins=(
        Twin("gradients never cleared", partial(_train, how="not cleared"),
             "The first step is right, the later ones are not: each backward pass adds its gradients to those that are there already. "
             "Clear them once in every step."),
        Twin("the weights never move", partial(_train, how="never moves"),
             "Your loss is the same at every step. When the optimiser steps, the gradients of this very loss must be there: clear, "
             "compute the loss, go backward, step, in this order."),
        Twin("climbs instead of descends", partial(_train, how="climbs"),
             "Your loss grows. A step goes against the gradient, and the optimiser sees to that by itself."),
        Twin("softmax before the loss", partial(_train, how="softmax"),
             "The cross-entropy of PyTorch takes logits and does the softmax itself. With yours, it is taken twice."),
        Twin("summed loss", partial(_train, how="sum"),
             "You add up the surprises of all words, so the step grows with their number. The loss is their mean."),
        Twin("loss noted after the step", partial(_train, how="after the step"),
             "You compute the loss again after the update. Note the loss whose gradient made the step."),
        Twin("held-out words judged in training mode", partial(_train, how="in training mode"),
             "A model may behave differently in training, with dropout for example. Before it is tested, it has to be told that training "
             "is over."),
        Twin("trained in evaluation mode", partial(_train, how="never in training mode"),
             "You put the model into evaluation mode before the loop. It should train in training mode, and a new "
             "model is already in that mode."),
        Twin("tested on the training words", partial(_train, how="training words"),
             "You return the logits of the words that the model was trained on. The held-out words are another argument."),
        Twin("trained on the held-out words", partial(_train, how="trained on held-out"),
             "Your loss is computed on the held-out words. Then nothing is left to test on."),
        Twin("a new model at every step", partial(_train, how="new model"),
             "You make a new model inside the loop, so that every step begins where the first began."),
        Twin("another optimiser", partial(_train, how="adam"),
             "Adam was used. The task asks for plain gradient descent, whose results can be calculated by hand."),
        Twin("momentum added", partial(_train, how="momentum"),
             "Your optimiser also has momentum: the first step is right, the later ones go too far. Plain gradient descent is asked for."),
        Twin("weight decay added", partial(_train, how="weight decay"),
             "Your optimiser also shrinks the weights. Plain gradient descent is asked for."),
        Twin("one step too few", partial(_train, how="one step less"), "You take one step less than you were asked for."),
        Twin("one step too many", partial(_train, how="one step more"), "You take one step more than you were asked for."),
        Twin("returns inside the loop", partial(_train, how="left after one step"),
             "You stop after the first step. Look at the indentation of the return."),
        Twin("one word at a time", partial(_train, how="one word at a time"),
             "You use a single word in every step. The loss is the mean over all words."),
        Twin("probabilities returned", partial(_train, how="probabilities"),
             "You return probabilities. Return the logits, as they come out of the model."),
        Twin("classes returned", partial(_train, how="classes"), "You return the best class of each word. The logits are asked for."),
        Twin("running mean of the losses", partial(_train, how="running mean"),
             "You note the mean of all losses so far. Each step has a loss of its own."),
    ),
)
