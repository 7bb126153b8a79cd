"""The kinds of answers, a function, a module, a prediction and a claim: how each is opened and called on a case's arguments.

A sandbox knows a kind by its name alone, and so does what crosses to it. Nothing here knows an exercise.
"""

from functools import partial
from typing import Any

import torch

from .claims import outcome
from .observation import Misfit
from .plain_data import kind_of

Args = dict[str, Any]


class Function:
    """A case's arguments are the function's, by name."""

    name = "function"
    groups: tuple[str, ...] = ("",)  # keys of a case's arguments under which inputs lie; "": they are the inputs
    again = True  # whether an answer is called again, to see what it keeps
    repeats_first = False  # whether the first two cases are called twice in a row, when an answer is called again

    def instead(self, answer: Any) -> str:
        """What was passed, in a learner's words, when it cannot be an answer at all; empty when it can."""
        return "" if callable(answer) and not isinstance(answer, (type, torch.Tensor)) else kind_of(answer)

    def inputs(self, args: Args) -> Args:
        """What the call itself is given."""
        return args

    def open(self, answer: Any, args: Args) -> Any:
        """What is called: the answer itself, or what it makes of the case."""
        return answer

    def problem(self, opened: Any, args: Args) -> Misfit | None:
        """Why what was opened cannot take the case's parameters, None when it can."""
        return None

    def load(self, opened: Any, args: Args) -> dict[str, Any]:
        """Make it ready for the case; returns parameters by which one can differentiate."""
        return {}

    def called(self, opened: Any, args: Args) -> Any:
        """What is called with the inputs."""
        return opened

    def start(self, opened: Any, args: Args) -> str | None:
        """What a new module starts with, where the case asks for nothing else."""
        return None

    def likeness(self, args: Args) -> str:
        """Cases with the same text can be given to one opened answer, one after the other."""
        return ""

    def fixed_mode(self, cases: list[Args]) -> bool:
        """Whether training and evaluation must do the same."""
        return False


class Module(Function):
    """A case holds ``init``, ``parameters``, ``inputs`` (None: how does it start?), and perhaps ``mode`` and ``method``."""

    name = "module"
    groups = ("inputs", "parameters")
    repeats_first = True

    def instead(self, answer: Any) -> str:
        return "" if isinstance(answer, type) else kind_of(answer)

    def inputs(self, args: Args) -> Args:
        return args["inputs"] or {}

    def open(self, answer: Any, args: Args) -> Any:
        return answer(**args["init"])

    def problem(self, opened: Any, args: Args) -> Misfit | None:
        if not isinstance(opened, torch.nn.Module):
            return Misfit("not a module")
        wanted = args["parameters"]
        own = _parameters(opened, wanted)
        if set(own) != set(wanted):
            return Misfit("names", missing=tuple(sorted(set(wanted) - set(own))), extra=tuple(sorted(set(own) - set(wanted))))
        for name, tensor in wanted.items():
            shape = (sum(len(part) for part in own[name]), *own[name][0].shape[1:]) if isinstance(own[name], tuple) else own[name].shape
            if shape != tensor.shape:
                return Misfit("sizes", name=name, got=str(tuple(shape)), want=str(tuple(tensor.shape)))
        return None

    def load(self, opened: Any, args: Args) -> dict[str, Any]:
        own = _parameters(opened, args["parameters"])
        with torch.no_grad():
            for name, tensor in args["parameters"].items():
                parts = own[name] if isinstance(own[name], tuple) else (own[name],)
                for part, rows in zip(parts, tensor.chunk(len(parts)), strict=True):
                    part.copy_(rows)
        opened.train(args.get("mode") != "eval")
        return own

    def called(self, opened: Any, args: Args) -> Any:
        return getattr(opened, args["method"]) if "method" in args else opened

    def start(self, opened: Any, args: Args) -> str | None:
        return starts(opened) if args["inputs"] is None and isinstance(opened, torch.nn.Module) else None

    def likeness(self, args: Args) -> str:
        return f"{args['init']} {[(name, tuple(tensor.shape)) for name, tensor in args['parameters'].items()]}"

    def fixed_mode(self, cases: list[Args]) -> bool:
        return not any("mode" in args for args in cases)


class Value(Function):
    """Words or numbers: nothing is called."""

    name = "value"
    groups, again = (), False

    def instead(self, answer: Any) -> str:
        return ""


class Claim(Function):
    """A claim is run as a case says, as it stands or with its change; it is given nothing."""

    name = "claim"
    groups, again = (), False

    def inputs(self, args: Args) -> Args:
        return {}

    def called(self, opened: Any, args: Args) -> Any:
        return partial(outcome, opened, **args)


KINDS: dict[str, Function] = {kind.name: kind for kind in (Function(), Module(), Value(), Claim())}


def _parameters(module: torch.nn.Module, wanted: Args) -> dict[str, Any]:
    """Parameters by name. Where a case has ``w_qkv``, the three matrices of a learner's own attention are as good: a tuple of them."""
    own: dict[str, Any] = dict(module.named_parameters())
    for name in wanted:
        apart = [name.replace("w_qkv", f"w_{part}") for part in "qkv"]
        if name not in own and set(apart) <= set(own):
            own[name] = tuple(own.pop(part) for part in apart)
    return own


def starts(module: torch.nn.Module) -> str:
    """Each parameter of a new module, by name, and whether it starts at random or at one number: ``"bias 0, weight random"``."""
    found = {name: torch.unique(value.detach()) for name, value in sorted(module.named_parameters())}
    return ", ".join(f"{name} {f'{numbers.item():g}' if len(numbers) == 1 else 'random'}" for name, numbers in found.items())
