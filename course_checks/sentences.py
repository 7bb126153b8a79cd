"""The sentences a learner reads when an answer is not a plain wrong number."""

import inspect
import os
import re
from pathlib import Path
from typing import Any

import torch

from .case import Case
from .compare import plain
from .exercise import Exercise
from .observation import Error, Misfit, Observation
from .shortcuts import HIDING


def is_blank(value: Any) -> bool:
    """An entry nobody has filled in: None, ``...``, "?" or "" or an empty container."""
    if value is None or isinstance(value, str) and value.strip() in ("", "?", "..."):
        return True
    return value in ({"object": "ellipsis"}, {}, [])


def brief(value: Any, like: Any = None) -> str:
    """A learner's value, short enough for a sentence; a list is shown as the tuple it was, where one is asked for (``like``)."""
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        value = value.item()
    if isinstance(value, list) and isinstance(like, (tuple, list)):
        value = tuple(value)
    text = f"{value:.6g}" if isinstance(value, float) else repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def quoted(key: str) -> str:
    """The key of an entry in quotation marks, unless it has some of its own."""
    return key if "“" in key else f"“{key}”"


def does(name: str, one: str, many: str) -> str:
    """The verb that goes with the name of a result: ``weights do``, ``loss does``."""
    return many if len(name) > 1 and name.endswith("s") and not name.endswith(("ss", "bias", "us")) else one


def wrong_numbers(name: str, got: Any, want: Any) -> str:
    """One number is named; of many the panel shows an excerpt."""
    if isinstance(want, torch.Tensor) and want.numel() != 1:
        return f"Your {name} {does(name, 'does', 'do')} not have the expected numbers"
    return f"Your {name} {does(name, 'is', 'are')} {brief(got)}; expected {brief(want)}"


# What Python and PyTorch say: a pattern, perhaps a mistake's name, and what it means here.
EXCEPTIONS = re.findall(r"(?m)^- `(.+)`: (?:\*\*(.+)\*\*: )?(.+)$", Path(__file__).with_name("exceptions.md").read_text(encoding="utf-8"))


def on_purpose(error: Error) -> bool:
    """Whether the learner's own line raises, or asserts."""
    return re.search(r"(^|[:;]\s*)(raise|assert)\b", error.line) is not None


def raised(error: Error, exercise: Exercise, case: Case) -> tuple[str, str | None, str | None]:
    """Message, mistake and hint for an answer that stopped with an exception, with the learner's own line."""
    where = f" in line {error.number} of your cell: `{error.line}`" if error.line else ""
    first = re.split(r", but expected one of:|\n", error.message)[0]
    text = f"Your code stopped{where} with {error.type}{': ' * bool(first)}{first}"
    if error.hidden:
        return (
            f"{text}\nA variable named `{error.hidden}` hides Python's own `{error.hidden}`: run `del {error.hidden}`, then run the "
            "cell again and give that variable another name.",
            "redefined name",
            None,
        )
    said = f"{error.line}  {error.message}"
    mistake, words = next((found[1:] for found in EXCEPTIONS if re.search(found[0], said)), ("", ""))
    if mistake:
        return f"{text}\n{words.format(signature=exercise.signature)}", mistake, None
    if on_purpose(error) and error.type != "NotImplementedError":
        return (
            f"This input is allowed, but your own test refuses it{where}\nIt said: {error.type}: {error.message}",
            "refuses good input",
            "Compare the condition of your test with the docstring: it is true for an input for which it should be false.",
        )
    text += f"\n{words}" if words else ""
    if "NoneType" in error.message and (left_out := _left_out(exercise, case)):
        text += f"\nIn this case {' and '.join(left_out)} {'is' if len(left_out) == 1 else 'are'} None: one may leave that out."
    if re.search(r"size|shape|dimension|broadcast|mat1|indices|unpack|element|out of bounds", error.message, re.I) and (
        sizes := _sizes(case)
    ):
        text += f"\nThe sizes of this input: {sizes}."
    return text, None, None


def _left_out(exercise: Exercise, case: Case) -> list[str]:
    """What an answer is called without in a case: it has to do with None there."""
    right, given = getattr(exercise.right, "forward", exercise.right), case.args.get("inputs", case.args) or {}
    defaults = {name: parameter.default for name, parameter in inspect.signature(right).parameters.items()}
    return [f"`{name}`" for name, default in defaults.items() if given.get(name, default) is None]


def _sizes(case: Case) -> str:
    """The shapes of a case's tensors, to hold against PyTorch's complaint."""
    inputs = case.args.get("inputs", case.args) or {}
    return ", ".join(f"{name} {tuple(value.shape)}" for name, value in inputs.items() if isinstance(value, torch.Tensor))


_NUMBER = re.compile(r"(?<!\w)(?<!(?<!\.)\.)-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def _numbers(text: str) -> list[float]:
    """The numbers in a text, whatever stands between them: ``[1 0 1]`` and ``1 → 0 → 1`` hold the same."""
    text = re.sub(r"(?<=\d)\s*[x×]\s*(?=\d)", " × ", text.replace("−", "-"))
    return [float(number) for number in _NUMBER.findall(text)]


def mentions(message: str, wanted: str) -> bool:
    """Whether an error's message names what it should: a word, or numbers in this order, in any spelling."""
    numbers = _numbers(wanted)
    if not numbers:
        return wanted.lower() in message.lower()
    said = _numbers(message)
    if min(numbers) >= 0:
        said = [abs(number) for number in said]  # "eps=-0.5" names 0.5
    return any(said[i : i + len(numbers)] == numbers for i in range(len(said)))


def too_long(limit: float, number: int | None, line: str, kind: str) -> str:
    """What is said of an answer that the clock has stopped, in this line of its cell."""
    where = f", at line {number} of your cell: `{line}`" if line else ""
    why = "A claim is run four times in this time." if kind == "claim" else "The inputs here are tiny."
    return f"Stopped after {limit:g} s{where}. Is there a loop that never ends, or one that is far too long? {why}"


def forbidden(name: str, exercise: Exercise) -> str:
    """What is said of a forbidden shortcut."""
    if name in HIDING:
        return (
            f"`{HIDING[name]}` hides from this check what your code calls, so it is out of bounds in an exercise with forbidden "
            "functions. Call your operations directly."
        )
    return (
        f"`{name}` does the whole job, and is out of bounds here: the exercise is to build `{exercise.name}` from smaller "
        "operations. You may use it again in every later cell."
    )


def _some(names: tuple[str, ...], most: int = 3) -> str:
    """The first names, and how many there are beside them."""
    listed = ", ".join(f"`{name}`" for name in names[:most])
    return listed if len(names) <= most else f"{listed} and {len(names) - most} more"


def module_problem(problem: Misfit, exercise: Exercise) -> str:
    """What is said of a module that cannot take the parameters of the test, or of a result that can do nothing in a case."""
    if problem.problem not in ("not a module", "names", "sizes"):
        return problem.problem
    if problem.problem == "not a module":
        return f"`{exercise.name}(…)` does not make a torch.nn.Module. Derive the class from nn.Module and call super().__init__() first."
    if problem.problem == "sizes":
        return f"Parameter `{problem.name}` has shape {problem.got}; expected {problem.want}."
    parts = []
    if problem.missing:
        parts.append(f"it lacks {_some(problem.missing)}")
    if problem.extra:
        parts.append(f"it has {_some(problem.extra)}, which should not be there")
    text = f"The parameters of your module are not those that the docstring names: {' and '.join(parts)}."
    if problem.missing and not problem.extra:
        text += (
            " (A plain tensor is not a parameter: wrap it in nn.Parameter or use a layer, in __init__ and not in forward. A layer "
            "that has two names counts once.)"
        )
    return text


def value_problem(got: Any, kind: str, expected: Any, choices: tuple[str, ...]) -> tuple[str, str, str | None] | None:
    """Stage, message and mistake when a value exercise is blank or not filled in as asked."""
    if is_blank(got) or isinstance(got, dict) and got and all(map(is_blank, got.values())):
        return "not attempted", "Not attempted yet: fill in the blanks above, run that cell, then run this one again.", None
    if kind.startswith(("function", "class")):
        return "type", f"You passed a {kind}; this exercise asks for a value.", "wrong type"
    if not isinstance(expected, dict):
        return None
    if not isinstance(got, dict) or kind != "dict":
        return "type", f"You passed a {kind}; expected the dictionary of the cell above with its blanks filled in.", "wrong type"
    if set(got) != set(expected):
        lost = sorted(set(expected) - set(got)) or sorted(set(got) - set(expected))
        return "type", f"The keys of the dictionary have changed: look at {brief(lost[0])}.", "wrong type"
    for key, want in expected.items():
        if is_blank(got[key]):
            return "not attempted", f"Entry {quoted(key)} is still blank.", None
        if isinstance(want, (tuple, list)) and not isinstance(got[key], list):
            quotes = " (Without quotes?)" if isinstance(got[key], str) else ""
            return "type", f"Entry {quoted(key)}: {brief(got[key])} is not a tuple such as (2, 3).{quotes}", "wrong type"
        if isinstance(want, str) and (not isinstance(got[key], str) or choices and plain(got[key]) not in map(plain, choices)):
            allowed = " Choose from: " + ", ".join(f"“{word}”" for word in sorted(choices)) + "." if choices else ""
            return "type", f"Entry {quoted(key)}: {brief(got[key])} is not one of the words asked for.{allowed}", "wrong type"
        if isinstance(want, (int, float)) and not isinstance(want, bool) and not is_number(got[key]):
            quotes = " (Without quotes?)" if isinstance(got[key], str) else ""
            return "type", f"Entry {quoted(key)}: {brief(got[key])} is not a number.{quotes}", "wrong type"
    return None


def is_number(value: Any) -> bool:
    """Whether a plain value is one number: a Python number or a tensor of one element."""
    if isinstance(value, torch.Tensor):
        return value.numel() == 1
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def remarks(seen: Observation, exercise: Exercise, case: Case) -> list[str]:
    """Things worth saying about a right answer."""
    notes = []
    if seen.printed.strip() and seen.value is not None:
        first = seen.printed.strip().splitlines()[0][:60]
        notes.append(f"Your code printed something on the way (“{first}”). That does no harm.")
    given = case.args.get("inputs", case.args) if isinstance(case.args, dict) else {}
    floats = [v for v in given.values() if isinstance(v, torch.Tensor) and v.is_floating_point()]
    if exercise.runs and floats and isinstance(seen.value, torch.Tensor) and seen.value.dtype == torch.float64:
        notes.append("Your result is float64. That is right, but it takes twice the memory of the float32 that went in.")
    return notes


def other_nesting(names: tuple[str, ...], got: Any, want: Any) -> str:
    """Where the entries lie in other lists than they should."""
    if isinstance(got, list) and isinstance(want, list) and len(names) == len(got) == len(want):
        name, mine, wanted = next((n, g, w) for n, g, w in zip(names, got, want, strict=True) if g != w)
        if isinstance(mine, int) and isinstance(wanted, int):
            return f"Your {name} {does(name, 'holds', 'hold')} {mine} {'entry' if mine == 1 else 'entries'}; expected {wanted}."
    if isinstance(got, int) and isinstance(want, int):
        return f"Your result holds {got} {'entry' if got == 1 else 'entries'}; expected {want}."
    return f"Your result divides its entries among its lists in another way than expected: {got} entries instead of {want}."


def other_texts(got: list[str], expected: list[str]) -> str:
    """Where two lists of texts part: the first entry that differs, from shortly before its first letter that does."""
    at = next((i for i, (one, other) in enumerate(zip(got, expected, strict=False)) if one != other), min(len(got), len(expected)))
    text = (
        ""
        if len(got) == len(expected)
        else f"Your result holds {len(got)} {'entry' if len(got) == 1 else 'entries'}; expected {len(expected)}. "
    )
    if max(map(len, map(repr, (got, expected)))) <= 60:
        return f"{text}Your result is {got}; expected {expected}."
    mine, wanted = (texts[at] if at < len(texts) else "" for texts in (got, expected))
    cut = max(0, len(os.path.commonprefix([mine, wanted])) - 20) if max(len(mine), len(wanted)) > 55 else 0
    mine, wanted = (brief(f"{'…' * bool(cut)}{words[cut:]}") if words else "not there" for words in (mine, wanted))
    return f"{text}The first that differs is entry {at}: yours is {mine}; expected {wanted}."


def wrong_entries(got: Any, expected: Any, wrong: list[str]) -> str:
    """Which entries of a value exercise are wrong, without telling the right ones."""
    if not isinstance(expected, dict):
        return f"The measurement does not say {brief(got)}."
    listed = "; ".join(f"{quoted(key)}: you wrote {brief(got[key], expected[key])}" for key in wrong)
    return f"{len(expected) - len(wrong)} of {len(expected)} right. Not these: {listed}."
