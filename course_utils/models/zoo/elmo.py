"""ELMo: two LSTM language models, one in each direction, mixed as features. Source: Peters et al. 2018, section 3."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Elmo(nn.Module):
    """``layers(ids)``: ids ``(batch, n)`` -> ``num_layers + 1`` tensors ``(batch, n, 2 · width)``; both directions share the token table
    and the output layer and nothing else: their states never meet before the task."""

    def __init__(self, vocab_size: int, width: int, num_layers: int = 2):
        super().__init__()
        if min(vocab_size, width, num_layers) < 1:
            raise ValueError(f"vocab_size={vocab_size}, width={width} and num_layers={num_layers} must be at least 1")
        self.token, self.output = nn.Embedding(vocab_size, width), nn.Linear(width, vocab_size)
        self.forwards, self.backwards = (
            nn.ModuleList(nn.LSTM(width, width, batch_first=True) for _ in range(num_layers)) for _ in range(2)
        )

    def directions(self, ids: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """States of every layer, read from the left and from the right, ``(batch, n, width)`` each; layer 0 is the token table."""
        found = []
        for stack, turn in ((self.forwards, False), (self.backwards, True)):
            x = self.token(ids)
            states = [x]
            for lstm in stack:
                x = lstm(x.flip(1) if turn else x)[0]
                x = x.flip(1) if turn else x
                x = x + states[-1] if len(states) > 1 else x  # a way around every layer but the first
                states.append(x)
            found.append(states)
        return found[0], found[1]

    def layers(self, ids: Tensor) -> list[Tensor]:
        """What a task mixes: both directions side by side, layer by layer."""
        return [torch.cat(both, dim=-1) for both in zip(*self.directions(ids), strict=True)]

    def loss(self, ids: Tensor) -> Tensor:
        """Mean nats of both directions together: each token from those before it, and from those behind it."""
        left, right = (states[-1] for states in self.directions(ids))
        ahead = F.cross_entropy(self.output(left[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        return (ahead + F.cross_entropy(self.output(right[:, 1:]).flatten(0, 1), ids[:, :-1].flatten())) / 2
