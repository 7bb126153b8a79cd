"""Other expressions for those of a learner's code, each with what it would mean if the code were right with it."""

import ast
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .syntax import called, goes_into_a_list, number_of, reads_self, text_of

# Operations that are taken for one another.
BOTH_WAYS = (
    "sum mean, max min, amax amin, any all, argmax argmin, tril triu, ones zeros, log log2, sin cos, std var, "
    "repeat repeat_interleave, gather scatter"
)
CONFUSED = [
    *(pair for one, other in map(str.split, BOTH_WAYS.split(", ")) for pair in ((one, other), (other, one))),
    *(("log10", "log"), ("gt", "ge"), ("floor", "ceil"), ("tanh", "sigmoid"), ("append", "extend"), ("softmax", "log_softmax")),
    ("prod", "sum"),
    ("view", "reshape"),
]
SWAPPED = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add, ast.MatMult),
    ast.Div: (ast.Mult, ast.Sub),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.MatMult: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
}
COMPARED = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
EDGES = {(ast.Lt, ast.LtE), (ast.LtE, ast.Lt), (ast.Gt, ast.GtE), (ast.GtE, ast.Gt)}  # they differ in the case of equality alone
READ = (ast.Load, type(None))
CUTS = ("detach", "item", "tolist", "numpy", "data")
Replacement = tuple[int, ast.AST | None, str]  # what tells most comes first, the new node, and what it would mean


@dataclass(frozen=True)
class Place:
    """An expression of a learner's code, where it stands, and the names that could stand there as well."""

    node: Any
    owner: ast.AST
    field: str
    code: str
    own: set[str]  # variables of the function
    held: set[str]  # attributes of the module

    @property
    def text(self) -> str:
        """The expression as it is written."""
        return text_of(self.node, self.code) if isinstance(self.node, ast.expr) else ""


def replacements(node: ast.AST, owner: ast.AST, field: str, code: str, own: set[str], held: set[str]) -> Iterator[Replacement]:
    """Rank, new node and meaning for every edit of one expression: the rules of its kind, and what any expression may lack."""
    place = Place(node, owner, field, code, own, held)
    for kind, rule in RULES:
        if isinstance(node, kind):
            found = rule(place)
            if found is not None:
                yield from found
                break
    if isinstance(node, (ast.Name, ast.Call, ast.BinOp, ast.Attribute, ast.Subscript)) and isinstance(getattr(node, "ctx", None), READ):
        yield from _changed(node, owner, field, place.text)


def _number(place: Place) -> Iterator[Replacement] | None:
    value = number_of(place.node)
    if value is None or isinstance(place.owner, ast.UnaryOp) and isinstance(place.owner.op, ast.USub):
        return None
    return _other_numbers(value, place.owner, place.field, place.code, place.text)


def _choice(place: Place) -> Iterator[Replacement] | None:
    if not isinstance(place.node.value, bool):
        return None
    return iter([(1, ast.Constant(not place.node.value), f"{place.text} is the wrong choice of the two")])


def _sign(place: Place) -> Iterator[Replacement] | None:
    word = {ast.USub: "the minus", ast.Invert: "the `~`", ast.Not: "the `not`"}.get(type(place.node.op))
    if word is None:
        return None
    operand = place.node.operand
    return iter([(1, operand, f"{word} in front of {text_of(operand, place.code)} is too much")])


def _comparison(place: Place) -> Iterator[Replacement]:
    node = place.node
    for kind in COMPARED.get(type(node.ops[0]), ()) if len(node.ops) == 1 else ():
        edge = (type(node.ops[0]), kind) in EDGES
        why = "decides the case of equality wrongly" if edge else "asks for the opposite of what is wanted"
        yield 1, ast.Compare(node.left, [kind()], node.comparators), f"{place.text} {why}"


def _tests(place: Place) -> Iterator[Replacement]:
    node = place.node
    for part in node.values:
        rest = [other for other in node.values if other is not part]
        meaning = f"in {place.text} the part {text_of(part, place.code)} is too much"
        yield 1, rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest), meaning
    other = ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    yield 1, other, f"{place.text} joins its tests wrongly: think of `and` and `or`"


def _part(place: Place) -> Iterator[Replacement]:
    node = place.node
    if isinstance(node.ctx, ast.Load):
        more = any(isinstance(part, ast.Constant) and part.value is None for part in ast.walk(node.slice))
        yield 2, node.value, f"{place.text} {'adds an axis too many' if more else 'takes a part, where all of it is wanted'}"


def _condition(place: Place) -> Iterator[Replacement]:
    node = place.node
    if node.ifs:
        meaning = f"`if {ast.unparse(node.ifs[0])[:60]}` leaves out what is needed"
        yield 0, ast.comprehension(node.target, node.iter, node.ifs[1:], node.is_async), meaning


def _bounds(place: Place) -> Iterator[Replacement]:
    node = place.node
    for bound in ("lower", "upper") if None in (node.lower, node.upper) else ():
        if getattr(node, bound) is not None:
            kept = {name: getattr(node, name) for name in ("lower", "upper", "step")} | {bound: None}
            yield 2, ast.Slice(**kept), f"the slice leaves out what is needed: {text_of(node, place.code)}"


def _variable(place: Place) -> Iterator[Replacement]:
    node = place.node
    if isinstance(node.ctx, ast.Load) and place.field != "func" and node.id in place.own and not goes_into_a_list(place.owner):
        meaning = f"{place.text} is the wrong one in {text_of(place.owner, place.code)}: another of your variables is meant"
        for other in sorted(place.own - {node.id}):
            yield 4, ast.Name(other, ast.Load()), meaning


def _attribute(place: Place) -> Iterator[Replacement]:
    node = place.node
    if node.attr == "T" and isinstance(node.ctx, ast.Load):
        yield 1, ast.Attribute(node.value, "mT", ast.Load()), f"{place.text} turns round all axes, and not only the last two"
    if reads_self(node) and place.field != "func":
        meaning = f"{place.text} is the wrong one there: another part of the module is meant"
        for other in sorted(place.held - {node.attr}):
            yield 4, ast.Attribute(node.value, other, ast.Load()), meaning


RULES: tuple[tuple[type | tuple[type, ...], Callable[[Place], Iterator[Replacement] | None]], ...] = (
    ((ast.Constant, ast.UnaryOp), _number),
    (ast.Constant, _choice),
    (ast.BinOp, lambda place: _of_operation(place.node, place.code)),
    (ast.UnaryOp, _sign),
    (ast.Compare, _comparison),
    (ast.BoolOp, _tests),
    (ast.Call, lambda place: _of_call(place.node, place.code)),
    (ast.Subscript, _part),
    (ast.comprehension, _condition),
    (ast.Slice, _bounds),
    (ast.Name, _variable),
    (ast.Attribute, _attribute),
)  # the first rule that has something to say of a node; None passes it on


def _changed(node: ast.expr, owner: ast.AST, field: str, text: str) -> Iterator[Replacement]:
    """What an expression may lack: a minus, a square, a root, an exchange of axes, a ``~``."""
    signed = isinstance(owner, ast.BinOp) and isinstance(owner.op, (ast.Mult, ast.Div, ast.Pow)) or isinstance(owner, ast.Return)
    if signed or field == "args" and called(owner) in ("exp", "pow", "softmax", "log_softmax", "sigmoid", "logsigmoid", "logsumexp"):
        yield 1, ast.UnaryOp(ast.USub(), node), f"a minus is missing in front of {text}"
    if isinstance(owner, ast.BinOp) and isinstance(owner.op, ast.MatMult) or isinstance(owner, ast.Return):
        yield 2, ast.Attribute(node, "mT", ast.Load()), f"{text} lies the wrong way round: its last two axes have to be exchanged"
    if isinstance(owner, ast.BinOp) and isinstance(owner.op, (ast.Mult, ast.Div)) and field == "right":
        yield 2, ast.BinOp(node, ast.Pow(), ast.Constant(2)), f"{text} has to be squared"
    if isinstance(owner, ast.BinOp) and isinstance(owner.op, (ast.Mult, ast.Div)) or isinstance(owner, ast.Return):
        yield 2, ast.BinOp(node, ast.Pow(), ast.Constant(0.5)), f"not {text} belongs there but its square root"
    if isinstance(owner, (ast.Call, ast.BoolOp, ast.BinOp)) and (isinstance(owner, ast.BoolOp) or field in ("args", "left", "right")):
        yield 3, ast.UnaryOp(ast.Invert(), node), f"{text} has True and False exchanged"


def _other_numbers(value: float, owner: ast.AST, field: str, code: str, text: str) -> Iterator[Replacement]:
    """Other numbers for one that is written out."""
    axis = owner.arg if isinstance(owner, ast.keyword) and owner.arg in ("dim", "axis") else ""
    if axis:
        meaning = f"`{axis}={value}` is the wrong axis"
    elif isinstance(owner, ast.Subscript):
        meaning = f"in {text_of(owner, code)} the index {text} picks the wrong one"
    else:
        meaning = f"the number {text} is wrong" + (f" in {text_of(owner, code)}" if isinstance(owner, ast.expr) else "")
    others: list[float]
    if isinstance(value, int):
        others = [value + 1, value - 1, -1, 0, 1, -2, 2, -value]
    else:
        others = [0.0, 1.0, -value, *([1 / value, value**2, math.sqrt(value)] if value > 0 else [])]
        if abs(value) < 1e-4:
            meaning = f"{text} is small, but not without effect in every case"
    if value == 0 or value <= -50:
        lowest = ast.parse("float('-inf')", mode="eval").body
        yield 0 if value else 3, lowest, f"{text} is a number like any other, and there may be some below it"
    for other in dict.fromkeys(others):
        if other != value:
            yield 0 if axis else 1, ast.Constant(other), meaning


def _of_operation(node: ast.BinOp, code: str) -> Iterator[Replacement]:
    """Edits of an operation with two sides."""
    left, right, text = node.left, node.right, text_of(node, code)
    if isinstance(node.op, ast.FloorDiv):
        yield 0, ast.BinOp(left, ast.Div(), right), f"`//` in {text} rounds down to whole numbers: an ordinary division is wanted"
    if isinstance(node.op, ast.Div):
        yield 1, ast.BinOp(left, ast.FloorDiv(), right), f"{text} keeps its decimals, where a whole number is wanted"
    if isinstance(node.op, (ast.Sub, ast.Div, ast.FloorDiv, ast.MatMult, ast.Pow)):
        yield 1, ast.BinOp(right, node.op, left), f"in {text} the two sides are exchanged"
    yield 1, left, f"in {text} the second part, {text_of(right, code)}, is too much"
    yield 1, right, f"in {text} the first part, {text_of(left, code)}, is too much"
    power = (ast.Pow,) if isinstance(node.op, ast.Mult) and number_of(right) in (2, 3) else ()  # a large one might never be computed
    for other in (*power, *SWAPPED.get(type(node.op), ())):
        yield 1, ast.BinOp(left, other(), right), f"in {text} the operation between the two is the wrong one"


def _of_call(node: ast.Call, code: str) -> Iterator[Replacement]:
    """Edits of a call: without it, another operation, arguments exchanged or left out."""
    name, text = called(node), text_of(node, code)
    plain = [a for a in node.args if not isinstance(a, ast.Starred)]
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    method = owner is not None and getattr(owner, "id", "") not in ("torch", "math", "F", "nn", "np", "self")
    if "dropout" in name:
        training = ast.parse("self.training", mode="eval").body
        told = ast.Call(node.func, node.args, [*(k for k in node.keywords if k.arg != "training"), ast.keyword("training", training)])
        yield 0, told, f"{text} drops numbers in evaluation mode too: it has to be told whether the module is training"
        yield 0, plain[0] if plain else node, f"nobody asked for {text}: it leaves the result to chance"
    elif method:
        why = f"`.{name}(…)` cuts the gradient" if name in CUTS else f"`.{name}(…)` is too much"
        yield 0 if name in CUTS else 2, owner, f"in {text} {why}"
    elif plain and name not in ("range", "super", "len"):
        yield 2, plain[0], f"`{name}(…)` is too much in {text}"
    for one, other in CONFUSED:
        if name == one:
            function = ast.Attribute(owner, other, ast.Load()) if owner is not None else ast.Name(other, ast.Load())
            yield 1, ast.Call(function, node.args, node.keywords), f"`{name}` is the wrong operation in {text}"
    for part in node.args if name in ("min", "max") and len(node.args) == 2 else ():
        entrywise = ast.Call(ast.parse(f"torch.{name}imum", mode="eval").body, node.args, [])
        yield 0, entrywise, f"{text} compares two whole tensors, and not entry with entry"
        yield 0, next(arg for arg in node.args if arg is not part), f"in {text} the part {text_of(part, code)} is too much"
    for i in range(len(node.args) - 1):
        args = [*node.args[:i], node.args[i + 1], node.args[i], *node.args[i + 2 :]]
        yield 1, ast.Call(node.func, args, node.keywords), f"two of the arguments of {text} are exchanged"
    for i, keyword in enumerate(node.keywords):
        rest = [*node.keywords[:i], *node.keywords[i + 1 :]]
        yield 1, ast.Call(node.func, node.args, rest), f"`{ast.unparse(keyword)}` is too much in {text}"
