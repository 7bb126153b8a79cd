"""Small edits of a learner's code, each with what it would mean if the code were right after it."""

import ast
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .expressions import replacements
from .syntax import number_of, text_of


@dataclass
class Edit:
    """One edit: ``make`` changes the tree and returns what takes the change back."""

    rank: int  # what tells most comes first
    line: int
    meaning: str
    make: Callable[[], Callable[[], None]]


def edits(tree: ast.Module, code: str) -> list[Edit]:
    """Every edit of the functions and classes in ``tree``, those that tell most first; one at a time may be made."""
    found: list[Edit] = []
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        found += [
            *_of_expressions(function, code),
            *_of_all_axes(function),
            *_of_all_arguments(function, code),
            *_exchanged(function),
            *_of_statements(function, code),
        ]
    return sorted(found, key=lambda edit: (edit.rank, edit.line))


def put(owner: Any, field: str, index: int | None, new: Any) -> Callable[[], Callable[[], None]]:
    """Put ``new`` at one place of the tree, or a list of statements in place of one."""

    def make() -> Callable[[], None]:
        old = getattr(owner, field)
        if index is None:
            setattr(owner, field, new)
        else:
            setattr(owner, field, [*old[:index], *(new if isinstance(new, list) else [new]), *old[index + 1 :]])
        return lambda: setattr(owner, field, old)

    return make


def _places(root: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Owner, field, index and node of every expression below ``root``, but for those of nested functions."""
    for field, value in ast.iter_fields(root):
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(node, ast.AST) or isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Raise)):
                continue
            if field in ("returns", "annotation"):
                continue
            if isinstance(node, (ast.expr, ast.keyword, ast.comprehension)):
                yield root, field, index, node
            yield from _places(node)


def _of_expressions(function: ast.FunctionDef, code: str) -> Iterator[Edit]:
    own = {a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)} - {"self"}
    own |= {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    held = {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "self"}
    tested = {id(part) for node in ast.walk(function) if isinstance(node, (ast.If, ast.IfExp)) for part in ast.walk(node.test)}
    which = _which(function, code)
    for owner, field, index, node in _places(function):
        for rank, new, meaning in replacements(node, owner, field, code, own, held):
            rank = 5 if id(node) in tested and number_of(node) is not None else rank  # a test for another number is one for no case at all
            line = getattr(node, "lineno", None) or getattr(owner, "lineno", None)  # the `for … if …` of a comprehension has none
            line = line or min((part.lineno for part in ast.walk(node) if hasattr(part, "lineno")), default=function.lineno)
            meaning = which.get(id(node), "") + meaning if isinstance(new, (ast.Name, ast.Attribute)) else meaning
            yield Edit(rank, line, meaning, put(owner, field, index, new))


def _which(function: ast.FunctionDef, code: str) -> dict[int, str]:
    """ "the second " for a name that stands several times in its line."""
    found: dict[tuple[int, str], list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            found.setdefault((node.lineno, text_of(node, code)), []).append(node)
    counts = ("the first ", "the second ", "the third ", "the fourth ")
    return {
        id(node): counts[i]
        for same in found.values()
        if 1 < len(same) <= len(counts)
        for i, node in enumerate(sorted(same, key=lambda node: node.col_offset))
    }


def _of_all_axes(function: ast.FunctionDef) -> Iterator[Edit]:
    """The same axis in several calls, all at once: a mean and a variance go along one axis."""
    axes = [keyword for keyword in ast.walk(function) if isinstance(keyword, ast.keyword) and keyword.arg in ("dim", "axis")]
    for value in dict.fromkeys(number_of(keyword.value) for keyword in axes):
        same = [keyword for keyword in axes if number_of(keyword.value) == value]
        for other in (-1, 0, 1, -2, 2) if value is not None and len(same) > 1 else ():
            meaning = f"`{same[0].arg}={value}` is the wrong axis, here and in the lines where it stands again"
            yield Edit(1, same[0].value.lineno, meaning, _put_all([(keyword, "value", ast.Constant(other)) for keyword in same]))


def _of_all_arguments(function: ast.FunctionDef, code: str) -> Iterator[Edit]:
    """The same argument in several calls, left out of all at once."""
    found: dict[str, list[tuple[ast.Call, ast.keyword]]] = {}
    for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
        for keyword in call.keywords:
            found.setdefault(text_of(keyword, code), []).append((call, keyword))
    for text, places in found.items():
        if len(places) > 1:
            rest = [(call, "keywords", [other for other in call.keywords if other is not keyword]) for call, keyword in places]
            meaning = f"{text} is too much, here and in the lines where it stands again"
            yield Edit(2, places[0][0].lineno, meaning, _put_all(rest))


def _exchanged(function: ast.FunctionDef) -> Iterator[Edit]:
    """Two arguments, or two parts of a module, exchanged wherever they stand."""
    arguments = [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs) if a.arg != "self"]
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id in arguments]
    parts = [node for node in ast.walk(function) if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "self"]
    for nodes, field in ((names, "id"), (parts, "attr")):
        for one, other in itertools.combinations(sorted({getattr(node, field) for node in nodes}), 2):
            both = [node for node in nodes if getattr(node, field) in (one, other)]
            turned = [(node, field, other if getattr(node, field) == one else one) for node in both]
            meaning = f"`{one}` and `{other}` are exchanged, there and wherever they stand"
            yield Edit(4, min(node.lineno for node in both), meaning, _put_all(turned))


def _put_all(places: list[tuple[Any, str, Any]]) -> Callable[[], Callable[[], None]]:
    def make() -> Callable[[], None]:
        back = [put(owner, field, None, new)() for owner, field, new in places]

        def undo_all() -> None:
            for undo in back:
                undo()

        return undo_all

    return make


def _of_statements(function: ast.FunctionDef, code: str) -> Iterator[Edit]:
    for owner in ast.walk(function):
        for field in ("body", "orelse"):
            body = getattr(owner, field, None)
            if not isinstance(body, list) or isinstance(owner, (ast.FunctionDef, ast.ClassDef)) and owner is not function:
                continue
            for i, node in enumerate(body):
                for rank, new, meaning in _other_statements(node, owner, body[i + 1 :], code):
                    yield Edit(rank, node.lineno, meaning, put(owner, field, i, new))
                if isinstance(node, (ast.For, ast.While)) and isinstance(node.body[-1], ast.Return):
                    loop = type(node)(**{name: getattr(node, name) for name in node._fields} | {"body": node.body[:-1] or [ast.Pass()]})
                    meaning = f"{text_of(node.body[-1], code)} stands inside the loop, which ends after its first round"
                    yield Edit(0, node.body[-1].lineno, meaning, put(owner, field, i, [loop, node.body[-1]]))
                if all(isinstance(step, (ast.Assign, ast.AugAssign)) for step in body[i : i + 2]) and i + 1 < len(body):
                    yield Edit(4, node.lineno, "this line and the next stand in the wrong order", _exchange(owner, field, i))


def _exchange(owner: Any, field: str, index: int) -> Callable[[], Callable[[], None]]:
    def make() -> Callable[[], None]:
        old = getattr(owner, field)
        setattr(owner, field, [*old[:index], old[index + 1], old[index], *old[index + 2 :]])
        return lambda: setattr(owner, field, old)

    return make


def _other_statements(node: ast.stmt, owner: ast.AST, later: list[ast.stmt], code: str) -> Iterator[tuple[int, list[ast.stmt], str]]:
    """Rank, what stands in place of a statement, and meaning."""
    text = text_of(node, code)
    if isinstance(node, ast.AugAssign):
        load = ast.parse(ast.unparse(node.target), mode="eval").body
        new = ast.Assign([node.target], ast.BinOp(load, node.op, node.value))
        yield 0, [new], f"{text} writes into a tensor that others still need: make a new one"
        yield 1, [ast.Assign([node.target], node.value)], f"{text} is joined with what is there, where it should take its place"
    if isinstance(node, ast.Assign) and isinstance(owner, (ast.For, ast.While)) and isinstance(node.targets[0], ast.Name):
        yield 0, [ast.AugAssign(node.targets[0], ast.Add(), node.value)], f"{text} overwrites what the rounds before have found"
    if isinstance(node, ast.With):
        yield 0, node.body, f"{text_of(node.items[0].context_expr, code)} cuts the gradient"
    if isinstance(node, ast.If):
        yield 1, [*node.body], f"the test `if {ast.unparse(node.test)[:60]}` is too much: what stands below it is always needed"
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.For, ast.If)) or isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        what = f"the step `if {ast.unparse(node.test)[:60]} …`" if isinstance(node, ast.If) else text
        rank = 0 if isinstance(node, ast.If) else 3  # before a test is turned into one that never holds
        yield rank, [] if later or not isinstance(owner, (ast.For, ast.While, ast.If, ast.With)) else [ast.Pass()], f"{what} is too much"
