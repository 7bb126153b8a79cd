"""Exercise 02.3: a decoder that looks. The oracle goes sentence by sentence, with cell and attention written out in double precision."""

import torch
from torch import Tensor, nn

from ..common import Case, ModuleExercise, generator, integers, randn, sizes
from .additive_attention import AdditiveAttention


class AttentionDecoder(nn.Module):
    def __init__(self, symbols: int, width: int):
        super().__init__()
        self.embed = nn.Embedding(symbols + 1, width)
        self.attend = AdditiveAttention(width, width, width)
        self.cell = nn.GRUCell(2 * width, width)
        self.head = nn.Linear(width, symbols)

    def forward(self, before: Tensor, state: Tensor, annotations: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        words = self.embed(before)
        scores, maps = [], []
        for t in range(before.shape[1]):
            context, weights = self.attend(state[:, None], annotations, annotations, mask)
            step = torch.cat([words[:, t], context[:, 0]], dim=-1)
            state = self.cell(step, state)
            scores.append(self.head(state))
            maps.append(weights[:, 0])
        return torch.stack(scores, dim=1), torch.stack(maps, dim=1)


def oracle(init: dict, parameters: dict, inputs: dict) -> tuple[Tensor, Tensor]:
    p = {name: tensor.double() for name, tensor in parameters.items()}
    before, state, h, mask = (inputs[name] for name in ("before", "state", "annotations", "mask"))
    scores, maps = [], []
    for b in range(len(before)):
        s, rows = state[b].double(), h[b].double()
        for symbol in before[b]:
            e = torch.tanh(p["attend.w_q.weight"].mv(s) + rows @ p["attend.w_k.weight"].T) @ p["attend.v.weight"][0]
            share = torch.softmax(e if mask is None else torch.where(mask[b, 0], e, -torch.inf), 0)
            step = torch.cat([p["embed.weight"][symbol], share @ rows])
            from_step, from_state = p["cell.weight_ih"].mv(step) + p["cell.bias_ih"], p["cell.weight_hh"].mv(s) + p["cell.bias_hh"]
            (r, z, n), (u_r, u_z, u_n) = from_step.chunk(3), from_state.chunk(3)
            keep = torch.sigmoid(z + u_z)
            s = keep * s + (1 - keep) * torch.tanh(n + torch.sigmoid(r + u_r) * u_n)
            scores.append(p["head.weight"].mv(s) + p["head.bias"])
            maps.append(share)
    shape = before.shape
    return torch.stack(scores).view(*shape, -1).float(), torch.stack(maps).view(*shape, -1).float()


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    steps, places, width, symbols = sizes(g, 4, 3, 8)
    made = AttentionDecoder(symbols, width).state_dict()
    parameters = {name: 0.7 * randn(g, *tensor.shape) for name, tensor in made.items()}

    def case(label: str, batch: int, steps: int, part: str, mask: Tensor | None = None, **more) -> Case:
        given = {"before": integers(g, 0, symbols + 1, batch, steps), "state": randn(g, batch, width)}
        inputs = {**given, "annotations": randn(g, batch, places, width), "mask": mask}
        args = {"init": {"symbols": symbols, "width": width}, "parameters": parameters, "inputs": inputs}
        return Case(label, args, part, shape="(batch, step, symbol)", **more)

    every = (*(name for name in parameters if name != "embed.weight"), "state", "annotations")
    padding = torch.arange(places) < torch.tensor([places - 1, 2])[:, None, None]
    return [
        case(f"2 sources of {places} places, {steps} steps, width {width}, {symbols} symbols", 2, steps, "values", gradients=every),
        case("a single step", 2, 1, "values"),
        case("a batch of one", 1, steps, "values"),
        case("padded sources", 2, steps, "mask", padding),
    ]


EXERCISE = ModuleExercise(right=AttentionDecoder, helpers=(AdditiveAttention,), oracle=oracle, draw=draw, outputs=("scores", "weights"))
