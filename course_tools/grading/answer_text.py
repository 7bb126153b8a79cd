"""An answer's text without what is a matter of taste: comments, docstrings, layout, the names of its variables. Runs inside the sandbox."""

from __future__ import annotations

import ast
import hashlib

SMALLEST = 40  # nodes of the syntax tree: what is shorter many write alike


def text_digest(source: str, name: str) -> str:
    """A digest of what defines ``name`` in a cell; empty where it is too short to tell, or cannot be read."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
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
