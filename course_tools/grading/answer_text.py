"""An answer's text without what is a matter of taste: comments, docstrings, layout, the names of its variables. Runs inside the sandbox."""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize

SMALLEST = 40  # nodes of the syntax tree: what is shorter many write alike
LONGEST = 4_000  # characters of an answer that may be shown to others
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError)


def bare(source: str) -> str:
    """A cell as it is typed, without comments, docstrings and empty lines; nothing where that is too long, or cannot be read."""
    try:
        lines = source.split("\n") if len(source) <= 4 * LONGEST else []
        tree = ast.parse("\n".join(lines))
        tokens = list(tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline))
    except UNREADABLE:
        return ""
    cut = [(token.start, token.end) for token in tokens if token.type == tokenize.COMMENT]
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            ends = (node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or 0)
            start, end = ((row, len(lines[row - 1].encode()[:column].decode())) for row, column in ends)  # counted in bytes
            cut.append((start, end))
    for (row, column), (last, until) in sorted(cut, reverse=True):
        lines[row - 1 : last] = [lines[row - 1][:column] + lines[last - 1][until:], *[""] * (last - row)]
    text = "\n".join(line.rstrip() for line in lines if line.strip())
    return text if len(text) <= LONGEST else ""


def text_digest(source: str, name: str) -> str:
    """A digest of what defines ``name`` in a cell; empty where it is too short to tell, or cannot be read."""
    try:
        tree = ast.parse(source)
    except UNREADABLE:
        return ""
    own = [statement for statement in tree.body if getattr(statement, "name", None) == name]
    nodes = [node for statement in own for node in ast.walk(statement)]
    names: dict[str, str] = {}  # parameters and variables, in the order in which they come
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, ast.arg):
            node.annotation = None
            names.setdefault(node.arg, f"v{len(names)}")
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.setdefault(node.id, f"v{len(names)}")
    for node in nodes:
        if isinstance(node, ast.arg):
            node.arg = names[node.arg]
        elif isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
    try:
        text = "".join(ast.dump(statement) for statement in own)
    except RecursionError:
        return ""
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:16] if len(nodes) >= SMALLEST else ""
