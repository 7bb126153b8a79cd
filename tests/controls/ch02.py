"""Controls of chapter 02, Recurrent networks and soft alignment."""

from .control import Control

UNIFORM = """import torch
from course_utils.models import recurrent
recurrent.masked_softmax = lambda scores, mask=None: torch.full_like(scores, 1 / scores.shape[-1])
"""

CONTROLS = [
    Control("The gradient of an RNN changes at each step by the spectral radius times the mean slope.",
            "the slopes left out", "assert abs(factor - measured) < 0.05",
            "(radius * (1 - states**2).mean()).item()", "radius.item()"),
    Control("With a large U the gradient explodes.",
            "U as PyTorch starts it", "assert abs(factor - measured) < 0.05 and large < -2",
            "layer.weight_hh_l0 *= 4", "layer.weight_hh_l0 *= 1"),
    Control("Open forget gates let the gradient survive.",
            "forget gates half open", "assert 12 < rnn and 6 < gru",
            "layer.bias_ih_l0[width:2 * width] += 3.0", "layer.bias_ih_l0[width:2 * width] += 0.0"),
    Control("A decoder that chooses what to look at keeps more of a long source.",
            "every source position with the same weight", 'assert at12["attention"] > max(', before=UNIFORM),
    Control("The fixed decoder lacks practice, not only room.",
            "no further training", "assert told[3] > told[0] + 0.03",
            "train(patient, steps=900)", "train(patient, steps=1)"),
    Control("Writing freely is harder than being told the symbol before.",
            "told the symbol before", "assert all(free[i] < told[i] - 0.05",
            "scores = model(source, written)     # (batch, step, symbol)", "scores = model(source, source.flip(1))"),
    Control("A state of the decoder holds the symbols that are still to come.",
            "asked about another sequence's symbols", "assert first[0] > first[1] > 0.12",
            "wanted = F.one_hot(target, 10).float()", "wanted = F.one_hot(target.roll(1, 0), 10).float()"),
    Control("A bias inside the tanh lets an additive score see likeness.",
            "no bias", "assert biased[:, 0].min() > 0.9", 'bias="bias" in kind', "bias=False"),
    Control("Without a bias an additive score cannot see likeness.",
            "a bias for both", "assert plain[:, 0].max() < 0.12", 'bias="bias" in kind', "bias=True"),
    Control("Additive scores find the key.",
            "all scores 0", "assert biased[:, 0].min() > 0.9",
            "return self.v(torch.tanh(q + k))[..., 0]", "return 0 * self.v(torch.tanh(q + k))[..., 0]"),
    Control("An encoder's state depends on the sentence.",
            "the static vector in its place", "assert right[test].float().mean() > 0.95",
            "return static[:, 3], self.encoder(static)[0][:, 3]", "return static[:, 3], static[:, 3]"),
]
