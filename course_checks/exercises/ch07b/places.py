"""Exercise 07b.4, find the bugs: four places for the norm of a branch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from torch import Tensor

from ...exercise import Case, Exercise, Registered, Twin, generator
from ..common import randn
from .callables import first_norm, second_norm, some_branch

PLACES = ("post", "pre", "sandwich", "output")
Norm = Callable[[Tensor], Tensor]


def _oracle(x: Tensor, branch: Norm, norm_in: Norm, norm_out: Norm, place: str) -> Tensor:
    """The four formulas, in double precision."""
    wide = x.double()
    return {"post": lambda: second_norm(wide + some_branch(wide)), "pre": lambda: wide + some_branch(first_norm(wide)),
            "sandwich": lambda: wide + second_norm(some_branch(first_norm(wide))),
            "output": lambda: wide + second_norm(some_branch(wide))}[place]().float()


def _sublayer(x: Tensor, branch: Norm, norm_in: Norm, norm_out: Norm, place: str, how: str = "right") -> Tensor:
    faults = set(how.split("+"))
    if place not in PLACES:
        raise ValueError(f"place={place!r} is unknown")
    if how == "names swapped":
        place = {"post": "pre", "pre": "post"}.get(place, place)
    if how == "sandwich and output swapped":
        place = {"sandwich": "output", "output": "sandwich"}.get(place, place)
    if how == "norms swapped":
        norm_in, norm_out = norm_out, norm_in
    if how == "one norm":
        norm_out = norm_in
    inside = place in ("pre", "sandwich") or (place == "output" and "output reads" in faults) or how == "post reads" and place == "post"
    read = norm_in(x) if inside else x
    said = branch(read)
    bare = place == "sandwich" and how == "sandwich bare" or place == "output" and how == "output bare"
    behind = place in ("sandwich", "output") and not bare or "always" in faults
    if how == "added before" and place in ("sandwich", "output"):
        return norm_out(x + said)
    if behind:
        said = norm_out(said)
    kept = read if "stream normed" in faults else x
    if how == "no residual":
        return norm_out(said) if place == "post" else said
    if place == "post":
        if how == "no post":
            return x + said
        return norm_out(x) + said if "post early" in faults else norm_out(x + said)
    if how == "closing norm" and place == "pre":
        return norm_out(kept + said)
    return kept + said


HANDED = "output reads+always+stream normed+post early"


def _untouched(x: Tensor, branch: Norm, norm_in: Norm, norm_out: Norm, place: str) -> Tensor:
    return _sublayer(x, branch, norm_in, norm_out, place, HANDED)


def _case(x: Tensor, place: str, label: str) -> Case:
    args = {"x": x, "branch": Registered("some_branch"), "norm_in": Registered("first_norm"), "norm_out": Registered("second_norm"),
            "place": place}
    return Case(label, args, part=place if place in PLACES else "bad input", gradients=("x",) if place in PLACES else (),
                shape="(…, d_model)", calls={"branch": 1} if place in PLACES else {})


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [_case(1.5 * randn(g, 2, 3, 5) + 0.4, place, f"{place}: 2 sequences of 3 tokens of width 5") for place in PLACES]


def _fixed() -> list[Case]:
    g = generator(3)
    bad = [_case(randn(g, 2, 4), place, f"place = {place!r}") for place in ("middle", "POST")]
    return [*(_case(randn(g, 1, 1, 4), place, f"{place}: one token of one sequence") for place in PLACES),
            *(_case(60 * randn(g, 3, 6), place, f"{place}: a stream that has grown large") for place in PLACES),
            *(replace(case, rejects=ValueError, mentions=(case.args["place"],)) for case in bad)]


WHERE = Exercise(
    id="07b.4", title="Find the bugs: four places for a norm", name="sublayer", kind="function", stars=2, minutes=12,
    signature="sublayer(x, branch, norm_in, norm_out, place) -> x's shape", oracle=_oracle, reference=_sublayer, draw=_draw, fixed=_fixed,
    parts={"post": 1, "pre": 1, "sandwich": 1, "output": 1, "bad input": 1},
    twins=(
        Twin("code as handed out", _untouched, "This is the code that was handed out. Compare it with the docstring, one place of the "
             "norm after the other.", untouched=True),
        Twin("stream normalised inside", partial(_sublayer, how="stream normed"),
             "In the pre form and in the sandwich you add the branch's output to the normalised tokens. Add it to the tokens as they "
             "came in: only the branch reads the normalised ones."),
        Twin("norm behind every branch", partial(_sublayer, how="always"),
             "You normalise the branch's output in every form. A string alone counts as true: each side of “or” needs its own comparison."),
        Twin("output form reads normed tokens", partial(_sublayer, how="output reads"),
             "In the output form the branch reads the stream as it is. Only what it returns is normalised."),
        Twin("post form norms too early", partial(_sublayer, how="post early"),
             "In the post form the norm comes after the addition and acts on the sum, not on the stream alone."),
        Twin("post form reads normed tokens", partial(_sublayer, how="post reads"),
             "In the post form the branch reads the stream as it is. The only norm acts on the sum."),
        Twin("the two norms swapped", partial(_sublayer, how="norms swapped"),
             "The first norm comes before the branch, the second one after it. You have exchanged them."),
        Twin("one norm used twice", partial(_sublayer, how="one norm"),
             "You use the first norm twice. The first is for what goes into the branch, the second for what comes out of it."),
        Twin("pre and post swapped", partial(_sublayer, how="names swapped"),
             "In the pre form the norm comes before the branch, in the post form after the addition. You have exchanged the two."),
        Twin("sandwich and output swapped", partial(_sublayer, how="sandwich and output swapped"),
             "A sandwich has a norm before and after the branch. The output form has only the one after it."),
        Twin("sandwich without its second norm", partial(_sublayer, how="sandwich bare"),
             "In the sandwich a second norm acts on what the branch returns, before the addition."),
        Twin("output form without a norm", partial(_sublayer, how="output bare"),
             "In the output form the branch's output goes through the second norm before it is added."),
        Twin("second norm after the addition", partial(_sublayer, how="added before"),
             "In the sandwich and in the output form the second norm acts on what the branch returns, before the addition."),
        Twin("post form without its norm", partial(_sublayer, how="no post"),
             "In the post form the sum goes through the second norm. You return the sum as it is."),
        Twin("residual left out", partial(_sublayer, how="no residual"),
             "In your answer the branch's output replaces the stream. It should be added to the stream."),
        Twin("norm after the pre form's sum", partial(_sublayer, how="closing norm"),
             "In the pre form nothing normalises the stream: its only norm is in front of the branch."),
    ),
)
