"""Other expressions for those of a learner's code, each with what it would mean if the code were right with it."""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Iterator

# Operations that are taken for one another.
CONFUSED = [
    ("sum", "mean"),
    ("mean", "sum"),
    ("max", "min"),
    ("min", "max"),
    ("amax", "amin"),
    ("amin", "amax"),
    ("any", "all"),
    ("all", "any"),
    ("argmax", "argmin"),
    ("argmin", "argmax"),
    ("tril", "triu"),
    ("triu", "tril"),
    ("ones", "zeros"),
    ("zeros", "ones"),
    ("log", "log2"),
    ("log2", "log"),
    ("log10", "log"),
    ("sin", "cos"),
    ("cos", "sin"),
    ("std", "var"),
    ("var", "std"),
    ("repeat", "repeat_interleave"),
    ("repeat_interleave", "repeat"),
    ("gather", "scatter"),
    ("scatter", "gather"),
    ("gt", "ge"),
    ("floor", "ceil"),
    ("tanh", "sigmoid"),
    ("append", "extend"),
    ("softmax", "log_softmax"),
    ("prod", "sum"),
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


@functools.lru_cache(maxsize=4)
def _lines_of(code: str) -> list[bytes]:
    """The lines of a learner's code; ast.get_source_segment would split it again for every node."""
    return [line.encode() for line in code.split("\n")]


def text_of(node: ast.AST, code: str) -> str:
    """The code of a node in one line, cut."""
    lines = _lines_of(code)[node.lineno - 1 : node.end_lineno] if getattr(node, "end_lineno", None) else [ast.unparse(node).encode()]
    if getattr(node, "end_lineno", None):
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
    text = b" ".join(b" ".join(lines).split()).decode()
    return f"`{text if len(text) <= 60 else text[:57] + ' …'}`"


def _own(node: ast.AST) -> bool:
    """Whether a node reads an attribute of ``self``."""
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and getattr(node.value, "id", "") == "self"


def _name(call: ast.AST) -> str:
    """The name of what is called."""
    function = call.func if isinstance(call, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _kept(owner: ast.AST) -> bool:
    """Whether what stands here goes into a list: PyTorch does not survive one that holds itself."""
    if isinstance(owner, ast.Assign):
        return not isinstance(owner.targets[0], ast.Name)
    lists = isinstance(owner, (ast.List, ast.Tuple, ast.Dict))
    return lists or _name(owner) in ("append", "insert", "extend", "add", "setdefault", "update")


def number_of(node: ast.AST) -> int | float | None:
    """The number that a node writes out, with its minus."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = number_of(node.operand)
        return None if value is None else -value
    return node.value if isinstance(node, ast.Constant) and type(node.value) in (int, float) else None


def replacements(
    node: ast.AST, owner: ast.AST, field: str, code: str, own: set[str], held: set[str]
) -> Iterator[tuple[int, ast.AST | None, str]]:
    """Rank, new node and meaning for every edit of one expression."""
    text = text_of(node, code) if isinstance(node, ast.expr) else ""
    value = number_of(node)
    if value is not None and not (isinstance(owner, ast.UnaryOp) and isinstance(owner.op, ast.USub)):
        yield from _other_numbers(value, owner, field, code, text)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield 1, ast.Constant(not node.value), f"{text} is the wrong choice of the two"
    elif isinstance(node, ast.BinOp):
        yield from _of_operation(node, code)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Invert, ast.Not)):
        word = {"USub": "the minus", "Invert": "the `~`", "Not": "the `not`"}[type(node.op).__name__]
        yield 1, node.operand, f"{word} in front of {text_of(node.operand, code)} is too much"
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        for kind in COMPARED.get(type(node.ops[0]), ()):
            edge = (type(node.ops[0]), kind) in EDGES
            why = "decides the case of equality wrongly" if edge else "asks for the opposite of what is wanted"
            yield 1, ast.Compare(node.left, [kind()], node.comparators), f"{text} {why}"
    elif isinstance(node, ast.BoolOp):
        for part in node.values:
            rest = [other for other in node.values if other is not part]
            yield 1, rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest), f"in {text} the part {text_of(part, code)} is too much"
        other = ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        yield 1, other, f"{text} joins its tests wrongly: think of `and` and `or`"
    elif isinstance(node, ast.Call):
        yield from _of_call(node, code)
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        more = any(isinstance(part, ast.Constant) and part.value is None for part in ast.walk(node.slice))
        yield 2, node.value, f"{text} {'adds an axis too many' if more else 'takes a part, where all of it is wanted'}"
    elif isinstance(node, ast.comprehension) and node.ifs:
        meaning = f"`if {ast.unparse(node.ifs[0])[:60]}` leaves out what is needed"
        yield 0, ast.comprehension(node.target, node.iter, node.ifs[1:], node.is_async), meaning
    elif isinstance(node, ast.Slice) and None in (node.lower, node.upper):
        for bound in ("lower", "upper"):
            if getattr(node, bound) is not None:
                kept = {name: getattr(node, name) for name in ("lower", "upper", "step")} | {bound: None}
                yield 2, ast.Slice(**kept), f"the slice leaves out what is needed: {text_of(node, code)}"
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and field != "func" and node.id in own and not _kept(owner):
        for other in sorted(own - {node.id}):
            yield (
                4,
                ast.Name(other, ast.Load()),
                (f"{text} is not the right thing in {text_of(owner, code)}: another of your variables is meant"),
            )
    elif _own(node) and field != "func":
        for other in sorted(held - {node.attr}):
            yield (
                4,
                ast.Attribute(node.value, other, ast.Load()),
                (f"{text} is not the right thing there: another part of the module is meant"),
            )
    if isinstance(node, (ast.Name, ast.Call, ast.BinOp, ast.Attribute, ast.Subscript)) and isinstance(getattr(node, "ctx", None), READ):
        yield from _changed(node, owner, field, text)


def _changed(node: ast.expr, owner: ast.AST, field: str, text: str) -> Iterator[tuple[int, ast.AST, str]]:
    """What an expression may lack: a minus, a square, a root, an exchange of axes, a ``~``."""
    signed = isinstance(owner, ast.BinOp) and isinstance(owner.op, (ast.Mult, ast.Div, ast.Pow)) or isinstance(owner, ast.Return)
    if signed or field == "args" and _name(owner) in ("exp", "pow", "softmax", "log_softmax", "sigmoid", "logsigmoid", "logsumexp"):
        yield 1, ast.UnaryOp(ast.USub(), node), f"a minus is missing in front of {text}"
    if isinstance(owner, ast.BinOp) and isinstance(owner.op, ast.MatMult) or isinstance(owner, ast.Return):
        yield 2, ast.Attribute(node, "mT", ast.Load()), f"{text} lies the wrong way round: its last two axes have to be exchanged"
    if isinstance(owner, ast.BinOp) and isinstance(owner.op, (ast.Mult, ast.Div)) and field == "right":
        yield 2, ast.BinOp(node, ast.Pow(), ast.Constant(2)), f"{text} has to be squared"
    if isinstance(owner, ast.BinOp) and isinstance(owner.op, (ast.Mult, ast.Div)) or isinstance(owner, ast.Return):
        yield 2, ast.BinOp(node, ast.Pow(), ast.Constant(0.5)), f"not {text} belongs there but its square root"
    if isinstance(owner, (ast.Call, ast.BoolOp, ast.BinOp)) and (isinstance(owner, ast.BoolOp) or field in ("args", "left", "right")):
        yield 3, ast.UnaryOp(ast.Invert(), node), f"{text} has True and False exchanged"


def _other_numbers(value: float, owner: ast.AST, field: str, code: str, text: str) -> Iterator[tuple[int, ast.AST, str]]:
    """Other numbers for one that is written out."""
    axis = isinstance(owner, ast.keyword) and owner.arg in ("dim", "axis")
    if axis:
        meaning = f"`{owner.arg}={value}` is the wrong axis"
    elif isinstance(owner, ast.Subscript):
        meaning = f"in {text_of(owner, code)} the index {text} picks the wrong one"
    else:
        meaning = f"the number {text} is wrong" + (f" in {text_of(owner, code)}" if isinstance(owner, ast.expr) else "")
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


def _of_operation(node: ast.BinOp, code: str) -> Iterator[tuple[int, ast.AST, str]]:
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


def _of_call(node: ast.Call, code: str) -> Iterator[tuple[int, ast.AST, str]]:
    """Edits of a call: without it, another operation, arguments exchanged or left out."""
    name, text = _name(node), text_of(node, code)
    plain = [a for a in node.args if not isinstance(a, ast.Starred)]
    method = isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") not in ("torch", "math", "F", "nn", "np", "self")
    if "dropout" in name:
        training = ast.parse("self.training", mode="eval").body
        yield (
            0,
            ast.Call(node.func, node.args, [*(k for k in node.keywords if k.arg != "training"), ast.keyword("training", training)]),
            (f"{text} drops numbers in evaluation mode too: it has to be told whether the module is training"),
        )
        yield 0, plain[0] if plain else node, f"nobody asked for {text}: it leaves the result to chance"
    elif method:
        why = f"`.{name}(…)` cuts the gradient" if name in CUTS else f"`.{name}(…)` is too much"
        yield 0 if name in CUTS else 2, node.func.value, f"in {text} {why}"
    elif plain and name not in ("range", "super", "len"):
        yield 2, plain[0], f"`{name}(…)` is too much in {text}"
    for one, other in CONFUSED:
        if name == one:
            dotted = isinstance(node.func, ast.Attribute)
            function = ast.Attribute(node.func.value, other, ast.Load()) if dotted else ast.Name(other, ast.Load())
            yield 1, ast.Call(function, node.args, node.keywords), f"`{name}` is the wrong operation in {text}"
    for part in node.args if name in ("min", "max") and len(node.args) == 2 else ():
        other = next(arg for arg in node.args if arg is not part)
        yield 0, other, f"in {text} the part {text_of(part, code)} is too much"
    for i in range(len(node.args) - 1):
        args = [*node.args[:i], node.args[i + 1], node.args[i], *node.args[i + 2 :]]
        yield 1, ast.Call(node.func, args, node.keywords), f"two of the arguments of {text} are exchanged"
    for i, keyword in enumerate(node.keywords):
        rest = [*node.keywords[:i], *node.keywords[i + 1 :]]
        yield 1, ast.Call(node.func, node.args, rest), f"`{ast.unparse(keyword)}` is too much in {text}"
