"""Right answers to chapter 00b, written differently from its solution."""

import math

import torch
from torch import nn
from torch.nn import functional as F


def error_with_a_column(guess, target):
    return ((guess - target[:, None]) ** 2).mean()


def error_by_library(guess, target):
    return F.mse_loss(guess.squeeze(1), target)


def error_in_a_loop(guess, target):
    total = torch.zeros(())
    for g, t in zip(guess, target, strict=True):
        total = total + (g[0] - t) ** 2
    return total / len(target)


def softmax_by_logsumexp(scores, temperature=1.0):
    if temperature <= 0:
        raise ValueError("temperature " + str(temperature) + " is not above zero")
    scores = scores.double() / temperature
    return torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))


def softmax_row_by_row(scores, temperature=1.0):
    if not temperature > 0:
        raise ValueError(f"{temperature=}")
    rows = []
    for row in scores.reshape(-1, scores.shape[-1]):
        strength = ((row - row.max()) / temperature).exp()
        rows.append(strength / strength.sum())
    return torch.stack(rows).reshape(scores.shape)


def entropy_with_gather(logits, target):
    largest = logits.max(dim=1, keepdim=True).values
    total = largest[:, 0] + torch.exp(logits - largest).sum(dim=1).log()
    return (total - logits.gather(1, target[:, None])[:, 0]).sum() / len(target)


def entropy_with_one_hot(logits, target):
    happened = F.one_hot(target, logits.shape[1]).to(torch.float64)
    log_p = logits.double() - logits.double().logsumexp(1, keepdim=True)
    return -(happened * log_p).sum(-1).mean()


def entropy_in_a_loop(logits, target):
    return torch.stack([torch.logsumexp(row - row[t], 0) for row, t in zip(logits, target, strict=True)]).mean()


class EinsumRegression(nn.Module):
    def __init__(self, num_features, num_classes):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(num_classes))
        self.weight = nn.Parameter(torch.zeros((num_classes, num_features)))

    def forward(self, x):
        return torch.einsum("nd,kd->nk", x, self.weight) + self.bias[None, :]


class RegisteredRegression(nn.Module):
    def __init__(self, num_features, num_classes):
        super().__init__()
        self.register_parameter("weight", nn.Parameter(torch.empty(num_classes, num_features)))
        self.register_parameter("bias", nn.Parameter(torch.empty(num_classes)))
        nn.init.zeros_(self.weight)
        nn.init.zeros_(self.bias)

    def forward(self, x):
        return torch.addmm(self.bias, x, self.weight.mT)


def train_without_an_optimizer(new_model, x, target, x_held, steps, lr):
    model, losses = new_model(), []
    for _ in range(steps):
        loss = -torch.log_softmax(model(x), dim=-1)[torch.arange(len(x)), target].mean()
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(model.parameters(), gradients, strict=True):
                parameter -= lr * gradient
        losses.append(float(loss))
    model.train(False)
    return losses, model(x_held).detach()


def train_clearing_at_the_end(new_model, x, target, x_held, steps, lr):
    model = new_model()
    optimizer = torch.optim.SGD(model.parameters(), lr)
    criterion = nn.CrossEntropyLoss()
    losses = [math.nan] * steps
    for step in range(steps):
        model.train()
        loss = criterion(model(x), target)
        loss.backward()
        optimizer.step()
        model.zero_grad()
        losses[step] = loss.detach().item()
    model.eval()
    with torch.inference_mode():
        logits = model(x_held)
    return losses, logits.clone()


OPTIMISERS = {
    "plain descent: same path if the loss is multiplied by 100": "no",
    "Adam: same path if the loss is multiplied by 100": "yes",
    "momentum: moves although the gradient is 0": "yes",
    "clipping the norm: turns the step in another direction": "no",
    "AdamW: shrinks a weight whose gradient is 0": "yes",
    "Adam: first step longer where the gradient is larger": "no",
}

ANSWERS = {
    "00b.1": [error_with_a_column, error_by_library, error_in_a_loop],
    "00b.2": [softmax_by_logsumexp, softmax_row_by_row],
    "00b.3": [entropy_with_gather, entropy_with_one_hot, entropy_in_a_loop],
    "00b.4": [EinsumRegression, RegisteredRegression],
    "00b.5": [train_without_an_optimizer, train_clearing_at_the_end],
    "00b.6": [{key: word.upper() for key, word in OPTIMISERS.items()}, {key: word == "yes" for key, word in OPTIMISERS.items()}],
}
