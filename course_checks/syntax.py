"""Looking at a learner's code: its text, the numbers it writes out, what it calls."""

import ast
import functools


@functools.lru_cache(maxsize=4)
def _lines_of(code: str) -> list[bytes]:
    """The lines of a learner's code; ast.get_source_segment would split it again for every node."""
    return [line.encode() for line in code.split("\n")]


def text_of(node: ast.AST, code: str) -> str:
    """The code of a node in one line, cut."""
    if isinstance(node, (ast.expr, ast.stmt, ast.arg, ast.keyword)) and getattr(node, "end_lineno", None):
        lines = _lines_of(code)[node.lineno - 1 : node.end_lineno]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
    else:
        lines = [ast.unparse(node).encode()]
    text = b" ".join(b" ".join(lines).split()).decode()
    return f"`{text if len(text) <= 60 else text[:57] + ' …'}`"


def reads_self(node: ast.AST) -> bool:
    """Whether a node reads an attribute of ``self``."""
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and getattr(node.value, "id", "") == "self"


def called(call: ast.AST) -> str:
    """The name of what is called."""
    function = call.func if isinstance(call, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def goes_into_a_list(owner: ast.AST) -> bool:
    """Whether what stands here goes into a list: PyTorch does not survive one that holds itself."""
    if isinstance(owner, ast.Assign):
        return not isinstance(owner.targets[0], ast.Name)
    lists = isinstance(owner, (ast.List, ast.Tuple, ast.Dict))
    return lists or called(owner) in ("append", "insert", "extend", "add", "setdefault", "update")


def number_of(node: ast.AST) -> int | float | None:
    """The number that a node writes out, with its minus."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = number_of(node.operand)
        return None if value is None else -value
    written = node.value if isinstance(node, ast.Constant) else None
    return written if isinstance(written, (int, float)) and not isinstance(written, bool) else None
