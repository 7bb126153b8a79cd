"""Ablations of chapter 02, Recurrent networks and soft alignment."""

from .ablation import Ablation

UNIFORM = """import torch
from course_utils.models import recurrent
recurrent.masked_softmax = lambda scores, mask=None: torch.full_like(scores, 1 / scores.shape[-1])
"""

ABLATIONS = [
    Ablation(
        "The gradient of an RNN changes at each step by sqrt(n) std(U) times the root mean square of the slopes.",
        "the slopes left out",
        "assert abs(predicted - measured) < 0.05",
        "rms = slope.pow(2).mean().sqrt()",
        "rms = 1.0 + 0 * slope.mean()",
    ),
    Ablation(
        "The squares of the slopes add up, so that a few steep ones decide.",
        "the plain mean of the slopes",
        "assert abs(predicted - measured) < 0.05",
        "rms = slope.pow(2).mean().sqrt()",
        "rms = slope.mean()",
    ),
    Ablation(
        "The rule holds for a U whose entries are drawn independently.",
        "a U of one direction, as large",
        "assert abs(predicted - measured) < 0.05",
        "            layer.weight_hh_l0 *= 4",
        "            u = layer.weight_hh_l0\n            u.copy_(4 * u.std() * torch.outer(torch.randn(width), torch.randn(width)))",
    ),
    Ablation(
        "With a large U the gradient explodes.",
        "U as PyTorch starts it",
        "assert with_mean < 1 < measured and large < -2",
        "layer.weight_hh_l0 *= 4",
        "layer.weight_hh_l0 *= 1",
    ),
    Ablation(
        "Open forget gates let the gradient survive.",
        "forget gates half open",
        "assert 12 < rnn and 6 < gru",
        "layer.bias_ih_l0[width:2 * width] += 3.0",
        "layer.bias_ih_l0[width:2 * width] += 0.0",
    ),
    Ablation(
        "A decoder that chooses what to look at keeps more of a long source.",
        "every source position with the same weight",
        'assert at12["attention"] > max(',
        before=UNIFORM,
    ),
    Ablation(
        "The fixed decoder lacks practice, not only room.",
        "no further training",
        "assert told[3] > told[0] + 0.03",
        "train(patient, steps=450)",
        "train(patient, steps=1)",
    ),
    Ablation(
        "Writing freely is harder than being told the symbol before.",
        "told the symbol before",
        "assert all(free[i] < told[i] - 0.05",
        "scores = model(source, written)     # (batch, step, symbol)",
        "scores = model(source, source.flip(1))",
    ),
    Ablation(
        "A state of the decoder holds the symbols that are still to come.",
        "asked about another sequence's symbols",
        'assert ahead["fixed"].min() > 0.3',
        "    for t in range(length):\n        fitted",
        "    fit_on, target = fit_on.roll(1, 0), torch.cat([target[:2000], target[2000:].roll(1, 0)])\n"
        "    for t in range(length):\n        fitted",
    ),
    Ablation(
        "From step 2 on the decoder with attention carries less of the future, because it looks things up.",
        "a decoder that gets one vector in its place",
        'assert (ahead["fixed"] - ahead["attention"])[2:].min() > 0.08',
        'known = {kind: read_out(models[kind]) for kind in ("fixed", "attention")}',
        'known = {"fixed": read_out(models["fixed"]), "attention": read_out(models["context"])}',
    ),
    Ablation(
        "The start state knows the first symbol of the source because one direction of the encoder ends there.",
        "the state that read from right to left deleted",
        'assert known["attention"][0, 7] > 0.7',
        "        states = model.states(source, target)[0]  # (sequence, step, width)",
        "        old = model.encoder.forward\n"
        "        def deaf(x):\n"
        "            states, last = old(x)\n"
        "            return states, torch.stack([last[0], last[1] * (model.kind != 'attention')])\n"
        "        model.encoder.forward = deaf\n"
        "        states = model.states(source, target)[0]\n"
        "        model.encoder.forward = old",
    ),
    Ablation(
        "A bias inside the tanh lets an additive score see likeness.",
        "no bias",
        'assert all(share[f"{name}: {ADD}"].min() > 0.9 for name in cases)',
        'bias="bias" in kind',
        "bias=False",
    ),
    Ablation(
        "Without a bias an additive score cannot see likeness.",
        "a bias for both",
        "assert share[plain].max() < 0.12",
        'bias="bias" in kind',
        "bias=True",
    ),
    Ablation(
        "Additive scores find the key.",
        "all scores 0",
        'assert all(share[f"{name}: {ADD}"].min() > 0.9 for name in cases)',
        "return self.v(torch.tanh(q + k))[..., 0]",
        "return 0 * self.v(torch.tanh(q + k))[..., 0]",
    ),
    Ablation(
        "A bare product misses keys because it lacks the length of the key.",
        "all keys of one length",
        'assert share["width 8: product"].max() < 0.85',
        "if equal:",
        "if True:",
    ),
    Ablation(
        "One number times the squared length of the key repairs the product.",
        "the term left out",
        'assert share[f"width 8: {LENGTH}"].min() > 0.9',
        "scores + self.c * length if",
        "scores + 0 * length if",
    ),
    Ablation(
        "It is the length that the product lacks.",
        "another number of the key, its first entry squared",
        'assert share[f"width 8: {LENGTH}"].min() > 0.9',
        "length = key.pow(2).sum(-1) ",
        "length = key[..., 0].pow(2) ",
    ),
    Ablation(
        "An encoder's state depends on the sentence.",
        "the static vector in its place",
        "assert right[test].float().mean() > 0.95",
        "return static[:, 3], self.encoder(static)[0][:, 3]",
        "return static[:, 3], static[:, 3]",
    ),
    Ablation(
        "Where the words have another order than the digits, the weights jump.",
        "words in the order of the digits",
        "assert min(jumps for _, jumps in german) > 0.9",
        "words = [bare(spelled(n, language)) for n in numbers]",
        'words = [bare(spelled(n, "en")) for n in numbers]',
    ),
]
