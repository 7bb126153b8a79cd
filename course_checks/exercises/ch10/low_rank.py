"""Exercise 10.8: a change of low rank, added to a weight that stays as it is. Oracle: a sum of outer products in double precision."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from course_utils.models.lora import LowRank

from ...exercise import Case, Exercise, Twin, generator
from ..common import randn


def _oracle(init: dict, parameters: dict, inputs: dict | None) -> Tensor | str:
    if inputs is None:
        return "down random, up 0"
    down, up, weight = (x.double() for x in (parameters["down"], parameters["up"], inputs["weight"]))
    products = sum(torch.outer(up[:, k], down[k]) for k in range(init["rank"]))
    return (weight + products * init["alpha"] / init["rank"]).float()


class _Change(nn.Module):
    """The change with a switch for each usual mistake."""

    def __init__(self, d_out: int, d_in: int, rank: int, alpha: float, how: str):
        super().__init__()
        self.how, self.alpha, self.rank = how, alpha, rank
        start = torch.randn if how in ("both random", "turned starts") else torch.zeros
        self.up = nn.Parameter(start(d_out, rank))
        self.down = nn.Parameter(torch.zeros(rank, d_in) if how in ("both zero", "turned starts") else torch.randn(rank, d_in))
        self.width = d_in

    def forward(self, weight: Tensor) -> Tensor:
        product = self.up @ self.down
        match self.how:
            case "alpha alone":
                return weight + self.alpha * product
            case "rank alone":
                return weight + product / self.rank
            case "not scaled":
                return weight + product
            case "times rank":
                return weight + self.alpha * self.rank * product
            case "root":
                return weight + self.alpha / self.rank**0.5 * product
            case "width":
                return weight + self.alpha / self.width * product
            case "change only":
                return self.alpha / self.rank * product
            case "all scaled":
                return self.alpha / self.rank * (weight + product)
            case "subtracted":
                return weight - self.alpha / self.rank * product
            case "multiplied":
                return weight * (1 + self.alpha / self.rank * product)
            case "first only":
                return weight + self.alpha / self.rank * torch.outer(self.up[:, 0], self.down[0])
            case "up detached":
                return weight + self.alpha / self.rank * (self.up.detach() @ self.down)
            case "down detached":
                return weight + self.alpha / self.rank * (self.up @ self.down.detach())
        return weight + self.alpha / self.rank * product


def _change(how: str) -> type[nn.Module]:
    def __init__(self, d_out, d_in, rank, alpha):
        _Change.__init__(self, d_out, d_in, rank, alpha, how)
    return type("LowRank", (_Change,), {"__init__": __init__})


def _case(g: torch.Generator, d_out: int, d_in: int, rank: int, alpha: float, label: str) -> Case:
    parameters = {"down": randn(g, rank, d_in), "up": randn(g, d_out, rank)}
    return Case(label, {"init": {"d_out": d_out, "d_in": d_in, "rank": rank, "alpha": alpha}, "parameters": parameters,
                        "inputs": {"weight": randn(g, d_out, d_in)}}, shape="(d_out, d_in)", gradients=("down", "up"))


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    d_out, d_in = (int(torch.randint(low, low + 3, (), generator=g)) for low in (7, 10))
    return [_case(g, d_out, d_in, 3, 5.0, f"a matrix of {d_out} rows and {d_in} columns, rank 3, alpha 5"),
            _case(g, d_in, d_out, 2, 7.0, f"a matrix of {d_in} rows and {d_out} columns, rank 2, alpha 7")]


def _fixed() -> list[Case]:
    g = generator(8)
    sizes = {"d_out": 6, "d_in": 4, "alpha": 8.0}
    return [_case(g, 5, 3, 1, 2.0, "rank 1"), _case(g, 3, 5, 3, 2.5, "the largest rank that a matrix of 3 rows and 5 columns has"),
            Case("a new module", {"init": {**sizes, "rank": 2}, "parameters": {}, "inputs": None}, part="start"),
            *(Case(f"rank {rank} for a matrix of 6 rows and 4 columns", {"init": {**sizes, "rank": rank}, "parameters": {},
                   "inputs": {"weight": torch.zeros(6, 4)}}, part="refusals", rejects=ValueError, mentions=(str(rank),))
              for rank in (0, -3, 5))]


CHANGE = Exercise(
    id="10.8", title="A change of low rank", name="LowRank", kind="module", stars=2, minutes=12,
    signature="LowRank(d_out, d_in, rank, alpha)(weight) -> (d_out, d_in)", oracle=_oracle, reference=LowRank, draw=_draw, fixed=_fixed,
    parts={"values": 2, "start": 1, "refusals": 1},
    twins=(
        Twin("both start at random", _change("both random"),
             "If both matrices start at random, the first call already changes the weight and disturbs what was learned before. One of "
             "the two has to start so that the product is 0."),
        Twin("both start at zero", _change("both zero"),
             "If both matrices are 0, each one's gradient is multiplied by the other and is 0 too: nothing will ever be learned."),
        Twin("the starts exchanged", _change("turned starts"),
             "The product is 0 at first, but the docstring wants it the other way round: it says which of the two starts at random."),
        Twin("not divided by the rank", _change("alpha alone"),
             "You multiply by alpha alone. If you also divide by the rank, the change keeps about the same size for another rank."),
        Twin("alpha forgotten", _change("rank alone"), "You divide by the rank, but alpha, the strength of the change, is not used."),
        Twin("no scale at all", _change("not scaled"), "The product is added as it is. Two numbers of the constructor have not been used."),
        Twin("multiplied by the rank", _change("times rank"),
             "The rank belongs below the fraction line: a higher rank gives a smaller factor."),
        Twin("divided by the root", _change("root"), "You divide by the square root of the rank; here it is the rank itself."),
        Twin("divided by the width", _change("width"), "You divide by the number of columns. Use the rank, the narrow size."),
        Twin("the change alone", _change("change only"), "You return the change. Return the weight together with its change."),
        Twin("the weight scaled too", _change("all scaled"),
             "The factor belongs to the change only. The weight that was learned before must stay as it is."),
        Twin("subtracted", _change("subtracted"), "You subtract the change. It should be added instead."),
        Twin("multiplied by the change", _change("multiplied"), "You multiply the weight by something. The change is a sum, not a factor."),
        Twin("only the first column and row", _change("first only"),
             "You use one column of up and one row of down. A matrix product adds up as many such products as the rank says."),
        Twin("up cut from the gradient", _change("up detached"), "No gradient reaches up, so it stays 0, and so does the change."),
        Twin("down cut from the gradient", _change("down detached"), "No gradient reaches down: it keeps its random start for ever."),
    ),
)
