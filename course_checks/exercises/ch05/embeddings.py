"""Exercise 05.1: words and places as a module. The oracle multiplies by one-hot vectors."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..common import Case, ModuleExercise, generator, integers, randn, sizes


class Embeddings(nn.Module):
    def __init__(self, vocab_size: int, d_model: int, max_len: int):
        super().__init__()
        self.token = nn.Embedding(vocab_size, d_model)
        self.position = nn.Embedding(max_len, d_model)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)

    def forward(self, ids: Tensor, first: int = 0) -> Tensor:
        needed, max_len = first + ids.shape[1], self.position.num_embeddings
        if needed > max_len:
            raise ValueError(f"{needed} positions needed, but max_len is {max_len}")
        places = torch.arange(first, needed)
        words = self.token(ids)
        where = self.position(places)
        return self.norm(words + where)


def oracle(init: dict, parameters: dict, inputs: dict) -> Tensor:
    ids, first = inputs["ids"], inputs.get("first", 0)
    word = F.one_hot(ids, init["vocab_size"]).float()
    place = F.one_hot(torch.arange(ids.shape[1]) + first, init["max_len"]).float()
    total = word @ parameters["token.weight"] + (place @ parameters["position.weight"])[None]
    return F.layer_norm(total, (init["d_model"],), parameters["norm.weight"], parameters["norm.bias"], eps=1e-12)


def weights(g: torch.Generator, words: int, room: int, d: int) -> dict[str, Tensor]:
    shapes = {"token.weight": (words, d), "position.weight": (room, d), "norm.weight": (d,), "norm.bias": (d,)}
    return {name: randn(g, *shape) for name, shape in shapes.items()}


def arguments(parameters: dict[str, Tensor], ids: Tensor, **first: int) -> dict:
    (words, d_model), room = parameters["token.weight"].shape, len(parameters["position.weight"])
    init = {"vocab_size": words, "d_model": d_model, "max_len": room}
    return {"init": init, "parameters": parameters, "inputs": {"ids": ids, **first}}


def case(label: str, args: dict, part: str = "values", gradients: bool = True) -> Case:
    return Case(label, args, part, tuple(args["parameters"]) if gradients else (), shape="(batch, token, d_model)")


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    batch, n, d_model = sizes(g, 3, 3, 8)
    room, words = n + 4, n + 7
    parameters = weights(g, words, room, d_model)
    parameters["token.weight"] += 9 * torch.arange(d_model).remainder(2)  # no token of small variance: the epsilon has a case of its own
    ids = integers(g, 0, words, batch, n)
    ids[0, 0], ids[-1, -1] = 0, words - 1
    tiny = {**parameters, **{name: 1e-3 * parameters[name] for name in ("token.weight", "position.weight")}}
    return [
        case(f"{batch} sequences of {n} ids, table of {room} positions", arguments(parameters, ids, first=0)),
        case("the same, continuing at position 3", arguments(parameters, ids, first=3), "continuing"),
        case("tiny embeddings, where the epsilon shows", arguments(tiny, ids, first=0), gradients=False),
    ]


def fixed() -> list[Case]:
    parameters = weights(generator(7), 11, 9, 6)
    whole, last = torch.tensor([[0, 3, 10, 0, 5, 1, 2, 0, 7]]), torch.tensor([[4], [0], [10]])
    return [
        case("one sequence that fills the table, first left out", arguments(parameters, whole)),
        case("the last place of the table", arguments(parameters, last, first=8), "continuing", gradients=False),
    ]


EXERCISE = ModuleExercise(right=Embeddings, oracle=oracle, draw=draw, fixed=fixed)
