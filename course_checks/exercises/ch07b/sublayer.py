"""Exercise 07b.3, find the bugs: four places for the norm of a branch. The oracle is the four formulas, in double precision."""

from collections.abc import Callable

from torch import Tensor

from ..common import Case, FunctionExercise, Registered, generator, randn
from .callables import first_norm, second_norm, some_branch

PLACES = ("post", "pre", "sandwich", "output")
Norm = Callable[[Tensor], Tensor]


def sublayer(x: Tensor, branch: Norm, norm_in: Norm, norm_out: Norm, place: str) -> Tensor:
    if place not in ("post", "pre", "sandwich", "output"):
        raise ValueError(f"place={place!r} is unknown")
    read = norm_in(x) if place in ("pre", "sandwich") else x
    said = branch(read)
    if place in ("sandwich", "output"):
        said = norm_out(said)
    if place == "post":
        return norm_out(x + said)
    return x + said


def oracle(x: Tensor, branch: Norm, norm_in: Norm, norm_out: Norm, place: str) -> Tensor:
    wide = x.double()
    formulas = {
        "post": second_norm(wide + some_branch(wide)),
        "pre": wide + some_branch(first_norm(wide)),
        "sandwich": wide + second_norm(some_branch(first_norm(wide))),
        "output": wide + second_norm(some_branch(wide)),
    }
    return formulas[place].float()


def arguments(x: Tensor, place: str) -> dict:
    functions = {"branch": Registered("some_branch"), "norm_in": Registered("first_norm"), "norm_out": Registered("second_norm")}
    return {"x": x, **functions, "place": place}


def case(x: Tensor, place: str, label: str) -> Case:
    return Case(f"{place}: {label}", arguments(x, place), part=place, gradients=("x",), shape="(…, d_model)", calls={"branch": 1})


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [case(1.5 * randn(g, 2, 3, 5) + 0.4, place, "2 sequences of 3 tokens of width 5") for place in PLACES]


def fixed() -> list[Case]:
    g = generator(3)
    bad = [(place, arguments(randn(g, 2, 4), place)) for place in ("middle", "POST")]
    return [
        *(case(randn(g, 1, 1, 4), place, "one token of one sequence") for place in PLACES),
        *(case(60 * randn(g, 3, 6), place, "a stream that has grown large") for place in PLACES),
        *(Case(f"place = {p!r}", args, "bad input", rejects=ValueError, mentions=(p,), shape="(…, d_model)") for p, args in bad),
    ]


EXERCISE = FunctionExercise(right=sublayer, oracle=oracle, draw=draw, fixed=fixed)
