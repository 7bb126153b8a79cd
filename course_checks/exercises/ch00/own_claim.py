"""Exercise 00.8: a claim, an assertion that tests it, and the change that breaks it. Judged is what the two runs do, and the text."""

import ast
import inspect
from typing import Any

import torch

from ...changes import PageError, read_change
from ...claims import changed_source
from ..common import Case, ClaimExercise

MOST = 6  # lines that a change may take away or add
HOLDS, FALLS = ["the claim holds"], ["the assertion fails"]


def claim():
    """Divided by the root of d, the scores of wide vectors leave no key with nearly all of the weight."""
    query, key = torch.randn(100, 256), torch.randn(50, 256)
    scores = query @ key.mT / 256**0.5
    weights = scores.softmax(dim=1)
    assert weights.max(dim=1).values.mean() < 0.5
    return """
    - scores = query @ key.mT / 256**0.5
    + scores = query @ key.mT
    """


def oracle(seed: int, changed: bool) -> dict[str, str]:
    text = inspect.getsource(claim)
    change = text.split('"""')[-2]
    number = 1 + next(i for i, line in enumerate(text.split("\n")) if line.strip().startswith("assert"))
    stopped = {"stopped": "AssertionError", "line": str(number)} if changed else {"stopped": "", "line": ""}
    return {"source": text, "change": change, "problem": "", **stopped}


def effect(seen: Any, case: Case) -> list[str]:
    """What a claim has shown in a case. ValueError, with the reason, where it has shown nothing."""
    if not isinstance(seen, dict) or not all(
        isinstance(seen.get(name), str) for name in ("source", "change", "problem", "stopped", "line")
    ):
        raise ValueError("A claim is a function without arguments that returns its change.")
    tree = _tree(seen["source"], "The text of your function cannot be read. Define it with def, in a cell of its own, at the left margin.")
    if not case.args["changed"]:
        return _as_it_stands(seen, tree, case)
    return _with_its_change(seen, tree)


def _as_it_stands(seen: dict[str, str], tree: ast.Module, case: Case) -> list[str]:
    if seen["stopped"]:
        again = "With other random numbers your" if case.args["seed"] else "Your"
        raise ValueError(f"{again} own assertion fails, before anything is changed. Then the claim does not hold as it stands.")
    if len((ast.get_docstring(tree.body[0]) or "").split()) < 4:  # type: ignore[arg-type]
        raise ValueError("Nobody can tell what is claimed. Say it in one sentence, in the docstring.")
    if not _asserts(tree):
        raise ValueError("Nothing is asserted, so nothing is tested.")
    if not any(isinstance(node, (ast.Call, ast.BinOp)) for node in ast.walk(tree)):
        raise ValueError("Nothing is computed, so the assertion compares what you have typed.")
    return HOLDS


def _with_its_change(seen: dict[str, str], tree: ast.Module) -> list[str]:
    if not seen["change"].strip():
        raise ValueError("The function returns no change. It has to return lines that begin with a minus, and with a plus below them.")
    if seen["problem"] == "form":
        raise ValueError("Every line of the change has to begin with a minus or a plus and a space, the minus first.")
    if seen["problem"] == "syntax":
        raise ValueError("With the change the function is no Python any more. Look at the lines with a plus.")
    try:
        changed = changed_source(seen["source"], seen["change"])
    except PageError:
        raise ValueError("The change does not fit: each line with a minus has to stand in the function, whole and exactly once.") from None
    after = _tree(changed, "With the change the function is no Python any more. Look at the lines with a plus.")
    if sorted(map(ast.dump, _asserts(after))) != sorted(map(ast.dump, _asserts(tree))):
        raise ValueError("The change alters the assertion. Change what it tests, and leave the assertion as it is.")
    if max(len(lines) for edit in _all_edits(seen["change"]) for lines in edit) > MOST:
        raise ValueError(f"The change is longer than {MOST} lines. Take away one cause and leave everything else as it is.")
    if not seen["stopped"]:
        raise ValueError("With the change the assertion still holds: it does not depend on what you took away.")
    number = int(seen["line"]) if seen["line"].isdecimal() and len(seen["line"]) < 6 else 0
    if seen["stopped"] != "AssertionError" or not any(node.lineno <= number <= (node.end_lineno or 0) for node in _asserts(after)):
        raise ValueError("With the change the function stops before it reaches an assertion of its own. That says nothing about the claim.")
    return FALLS


def _tree(source: str, otherwise: str) -> ast.Module:
    """The function, parsed: ValueError for what is none."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(otherwise) from None
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
        raise ValueError(otherwise)
    return tree


def _asserts(tree: ast.Module) -> list[ast.Assert]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]


def _all_edits(change: str) -> tuple:
    return read_change(inspect.cleandoc(change)).edits


def fixed() -> list[Case]:
    return [
        Case("your claim as it stands", {"seed": 0, "changed": False}, "holds"),
        Case("your claim as it stands, with other random numbers", {"seed": 1, "changed": False}, "holds"),
        Case("your claim with its change", {"seed": 0, "changed": True}, "falls"),
    ]


EXERCISE = ClaimExercise(right=claim, oracle=oracle, draw=lambda seed: [], fixed=fixed, effect=effect)
