"""Python text as text: its statements and names, imports in order, one name in place of another. Standard library only."""

from __future__ import annotations

import ast
import symtable
import sys
from collections.abc import Sequence


def first_line(statement: ast.stmt) -> int:
    """The line in which a statement begins, with its decorators, counted from 1."""
    return min([statement.lineno, *(line.lineno for line in getattr(statement, "decorator_list", ()))])


def text_of(statement: ast.stmt, source: str) -> str:
    """A statement of a source as it is typed, its decorators included."""
    if isinstance(statement, ast.Assign):  # others may stand in its line
        return ast.get_source_segment(source, statement) or ""
    return "\n".join(source.split("\n")[first_line(statement) - 1 : statement.end_lineno])


def global_names(text: str) -> list[str]:
    """Names that are looked up outside of functions and classes, in the order in which they stand."""

    def looked_up(table: symtable.SymbolTable) -> set[str]:
        top = table.get_type() == "module"
        found = {s.get_name() for s in table.get_symbols() if s.is_referenced() and (top or s.is_global())}
        return found.union(*(looked_up(child) for child in table.get_children()))

    wanted = looked_up(symtable.symtable(text, "text", "exec"))
    names = sorted((n.lineno, n.col_offset, n.id) for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name) and n.id in wanted)
    return list(dict.fromkeys(name for _, _, name in names))


def tidy(imports: Sequence[str], parts: Sequence[str]) -> str:
    """One module: imports in groups, each once, then constants side by side and definitions two lines apart."""
    lines = sorted(dict.fromkeys(imports), key=lambda line: (line.startswith("from"), line.lower()))
    groups = [[line for line in lines if _group(line) == number] for number in range(3)]
    text = "\n\n".join("\n".join(group) for group in groups if group)
    long = False
    for part in parts:
        definition = part.lstrip().startswith(("def ", "class ", "@", "async ", "# "))
        text += ("\n\n\n" if definition or long else "\n\n" if part is parts[0] else "\n") if text else ""
        text, long = text + part, definition
    return text + "\n"


def _group(line: str) -> int:
    """0: the standard library, 1: what is installed, 2: the course."""
    top = line.split()[1].split(".")[0]
    return 2 if top.startswith("course_") else 0 if top in sys.stdlib_module_names else 1


def unannotated(text: str) -> str:
    """A definition without the types of its arguments, variables and result: what a file without types can do without."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
            node.body = [ast.Assign([s.target], s.value, lineno=0) if isinstance(s, ast.AnnAssign) and s.value else s for s in node.body]
    return ast.unparse(tree)


def renamed(text: str, old: str, new: str) -> str:
    """The text with another name for what it defines or looks up as ``old``; a parameter or variable of that name stays."""
    spots: list[tuple[int, int]] = []
    tree = ast.parse(text)

    def visit(node: ast.AST) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) and old in _local(node):
            for outside in (*getattr(node, "decorator_list", ()), *node.args.defaults, *filter(None, node.args.kw_defaults)):
                visit(outside)
            return
        if isinstance(node, ast.Name) and node.id == old:
            spots.append((node.lineno, node.col_offset))
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == old and node in tree.body:
            spots.append((node.lineno, node.col_offset + (4 if isinstance(node, ast.FunctionDef) else 6)))
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(tree)
    lines = [line.encode() for line in text.split("\n")]  # columns are counted in bytes
    for line, column in sorted(spots, reverse=True):
        row = lines[line - 1]
        lines[line - 1] = row[:column] + new.encode() + row[column + len(old.encode()) :]
    return "\n".join(line.decode() for line in lines)


def _local(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """Parameters of a function, and names that its own lines give a value."""
    body = function.body if isinstance(function.body, list) else [function.body]
    stored = {n.id for part in body for n in ast.walk(part) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored | {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
