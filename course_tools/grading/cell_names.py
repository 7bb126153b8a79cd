"""What a cell of a notebook defines, uses and changes, read from its text; nothing is run."""

from __future__ import annotations

import ast
import re
import symtable
from dataclasses import dataclass, field

_MAGIC = re.compile(r"^[ \t]*%%(\w+)[^\n]*\n?")
_RUN_BODY = ("time", "capture", "prun")  # cell magics that run what stands below them, in the notebook's own namespace
WRITES = ("writefile", "file")  # cell magics that write what stands below them into a file
_HARMLESS = set(  # change nothing that is handed to them
    "print display check len range zip enumerate sum min max abs round sorted list tuple set dict str int float repr type "
    "isinstance".split()
)
_HIDDEN = {"exec", "eval", "globals", "vars", "locals", "setattr"}
_TIMED = re.compile(r"(?m)^([ \t]*)%time[ \t]+(?!$)")


@dataclass
class Names:
    """Names of one cell: those it gives a value, imports, looks up, changes in place; and what its functions set elsewhere."""

    defines: set[str] = field(default_factory=set)
    imported: set[str] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)
    touches: set[str] = field(default_factory=set)  # appends to, assigns an entry or an attribute of
    handed: set[str] = field(default_factory=set)  # hands to a function, which may change what is no function itself
    functions: set[str] = field(default_factory=set)  # of what it defines, by def
    sets: dict[str, set[str]] = field(default_factory=dict)  # function → names it declares global
    calls: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)  # modules that it imports: another cell may have written them
    blank: set[str] = field(default_factory=set)
    star: bool = False
    hidden: bool = False  # gives values to names that its text does not tell: exec, globals()
    shows: bool = False  # ends in an expression, which becomes _
    broken: str | None = None


def plain_python(source: str) -> str:
    """A cell as Python: what only a notebook understands becomes calls of ``get_ipython()``, as IPython itself translates it.

    ``%time x = f()`` and the body of ``%%time`` and ``%%capture`` are run in a notebook, and stay; the body of any other cell magic is
    no code of this notebook and becomes a comment; that of ``%%writefile`` is written, for cells that import it.
    """
    from IPython.core.inputtransformer2 import TransformerManager

    source = source.replace("\r\n", "\n").replace("\r", "\n")
    magic = _MAGIC.match(source)
    if magic and magic[1] not in (*_RUN_BODY, *WRITES):
        return "\n".join("# " + line for line in source.split("\n"))
    if magic and magic[1] in _RUN_BODY:
        source = "# " + source.lstrip()
    source = _TIMED.sub(r"\1", source)
    try:
        changed = TransformerManager().transform_cell(source)
    except (SyntaxError, ValueError, RecursionError):
        return source
    return changed if source.endswith("\n") else changed.removesuffix("\n")


def parsed(source: str) -> ast.Module:
    """The syntax tree; ``await`` may stand at the top, as in a notebook."""
    return compile(source, "cell", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def names_in(source: str) -> Names:
    """Names of a cell; one that does not parse says so in ``broken`` and defines what its text seems to define."""
    found = Names()
    try:
        tree = parsed(source)
        compile(source, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        table = symtable.symtable(re.sub(r"\bawait\b", "     ", source), "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        found.broken = f"{type(error).__name__}: {getattr(error, 'msg', error)}" + (f" (line {line})" if line else "")
        found.defines = {a or b for a, b in re.findall(r"^(?:def|class)\s+(\w+)|^(\w+)\s*=", source, re.M)}
        return found
    for statement in tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) and any(map(_raises_not_implemented, ast.walk(statement))):
            found.blank.add(statement.name)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            declared = {name for part in ast.walk(node) if isinstance(part, ast.Global) for name in part.names}
            if declared:
                found.sets[node.name] = declared
    for node in _walk_outside_functions(tree):
        _note(node, found)
    found.imported -= found.defines  # what is imported is nobody's answer, but other cells may need it
    found.uses = global_names(table) | ((found.touches | found.handed) & found.defines)  # K += 1 looks K up
    found.uses = found.uses.union(*found.sets.values())
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    found.hidden = bool(called & _HIDDEN)
    found.shows = bool(tree.body) and isinstance(tree.body[-1], ast.Expr)
    return found


def _note(node: ast.AST, found: Names) -> None:
    """Add what one node of the cell's own level does."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        found.defines.add(node.name)
        found.functions |= set() if isinstance(node, ast.ClassDef) else {node.name}
    elif isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        found.defines.add(node.id)
    elif isinstance(node, ast.Import | ast.ImportFrom):
        found.star |= any(alias.name == "*" for alias in node.names)
        found.imported |= {(alias.asname or alias.name).split(".")[0] for alias in node.names} - {"*"}
        found.files |= {
            file_of(name or "") for name in ([node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names])
        }
    elif isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
        found.touches |= _base(node)
    elif isinstance(node, ast.AugAssign):
        found.touches |= _base(node.target)
    elif isinstance(node, ast.Call):
        _note_call(node, found)


def _note_call(node: ast.Call, found: Names) -> None:
    """Add what a call does: whom it calls, what it is handed, and the file that ``%%writefile`` writes."""
    if isinstance(node.func, ast.Attribute) and node.func.attr == "run_cell_magic":
        _note_file([part.value for part in node.args if isinstance(part, ast.Constant) and isinstance(part.value, str)], found)
    if isinstance(node.func, ast.Name):
        found.calls.add(node.func.id)
        if node.func.id in _HARMLESS:
            return
    else:
        found.touches |= _base(node.func)
    for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
        found.handed |= _base(argument)


def file_of(module: str) -> str:
    """What stands for a file among the names of cells: no variable can have such a name."""
    return "file " + module.replace("/", ".").split(".")[0]


def _note_file(magic: list[str], found: Names) -> None:
    """Add the file that a cell writes, or with -a goes on with, so that a cell which imports it needs this one."""
    if len(magic) == 3 and magic[0] in WRITES and magic[1].split():
        found.defines.add(file_of(magic[1].split()[-1]))
        found.touches |= {file_of(magic[1].split()[-1])} if "-a" in magic[1].split() else set()


def _base(node: ast.AST) -> set[str]:
    """``x`` of ``x``, ``x.y``, ``x[0].y`` and ``*x``."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def global_names(table: symtable.SymbolTable) -> set[str]:
    """Names that are looked up in the notebook, not parameters or variables of a function."""
    top = table.get_type() == "module"
    found = {s.get_name() for s in table.get_symbols() if s.is_referenced() and (top or s.is_global())}
    return found.union(*(global_names(child) for child in table.get_children()))


def _raises_not_implemented(node: ast.AST) -> bool:
    if not isinstance(node, ast.Raise):
        return False
    target = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return isinstance(target, ast.Name) and target.id == "NotImplementedError"


def _walk_outside_functions(tree: ast.AST) -> list[ast.AST]:
    """Nodes that belong to the cell's own level: a name stored inside a function is not defined here."""
    found, todo = [], list(ast.iter_child_nodes(tree))
    while todo:
        node = todo.pop()
        found.append(node)
        if not isinstance(
            node,
            (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
        ):
            todo += ast.iter_child_nodes(node)
    return found


def without_checks(source: str) -> str:
    """A cell without the statements that ask for a check or use its result: grading asks for itself. What else stands there stays,
    on its line; of ``check("03.1", mine).use`` under another name than ``mine``, that the answer now has this name, too."""
    try:
        tree = parsed(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    lines = source.split("\n")
    results: set[str] = set()
    checked: dict[str, str] = {}  # the name of a result → what was handed to the check
    names: dict[int, str] = {}
    for statement in tree.body:
        inside = list(ast.walk(statement))
        asks = any(isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "check" for node in inside)
        uses = {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) or not (asks or uses & results):
            continue
        results |= {node.id for node in inside if asks and isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        for number in range(statement.lineno - 1, statement.end_lineno or statement.lineno):
            lines[number] = ""
        if kept := _handed_on(statement, checked):
            names[statement.lineno - 1] = kept
    for number, kept in names.items():
        lines[number] = kept
    return "\n".join(lines)


def _handed_on(statement: ast.stmt, checked: dict[str, str]) -> str:
    """What a statement about a check comes to when every answer passes: ``name = answer``, or nothing."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name) or len(statement.targets) > 1:
        return ""
    name, value = statement.targets[0].id, statement.value
    if answer := _handed_to_check(value):
        checked[name] = answer
    if not isinstance(value, ast.Attribute) or value.attr != "use":
        return ""
    answer = checked.get(value.value.id, "") if isinstance(value.value, ast.Name) else _handed_to_check(value.value)
    return f"{name} = {answer}" if answer not in ("", name) else ""


def _handed_to_check(node: ast.expr) -> str:
    """``mine`` of ``check("03.1", mine)``; empty for anything else."""
    asks = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "check" and len(node.args) == 2
    return ast.unparse(node.args[1]) if asks and isinstance(node, ast.Call) else ""
