"""``my_transformer.py``: every part of the machine that the reader has built, and the course's version of the others, in one file.

``my_transformer.txt`` beside this module is that file as the course would write it. Between ``# <04.4>`` and ``# </04.4>`` stands the
course's version of an answer; where the reader's own is kept in ``.course/mine/``, it takes that place, with the helpers that it brings
along. A helper that is there already is not written twice, one that only has the same name gets another. Nothing is run. Standard library.
"""

from __future__ import annotations

import ast
import contextlib
import re
import textwrap
import time
from pathlib import Path

from ..files import write_bytes
from ..paths import PACKAGE
from .text import global_names, renamed, text_of, tidy, unannotated

TEMPLATE = Path(__file__).with_name("my_transformer.txt")
PAGE = Path(__file__).with_name("page.txt")
BASE = """import itertools
import math
import sys
import time
from pathlib import Path
import torch
from torch import nn
from torch.nn import functional as F""".splitlines()
_BETWEEN = re.compile(r"(?ms)^# <([\w.]+)>\n(.*?)^# </\1>\n")


class Apart(Exception):
    """A kept answer that cannot stand in the file; the message says what it uses."""


def course_parts() -> dict[str, str]:
    """The course's version of every part of the machine, by exercise, in reading order."""
    return {match[1]: match[2].strip() for match in _BETWEEN.finditer(TEMPLATE.read_text(encoding="utf-8"))}


def by_itself(exercise: str) -> str:
    """The course's version of one part as a text that runs, after the parts that it uses."""
    parts, needed, todo = course_parts(), set[str](), [exercise]
    names = {name_of(text): key for key, text in parts.items()}
    while todo:
        needed.add(todo.pop())
        todo += [names[n] for key in needed for n in global_names(parts[key]) if n in names and names[n] not in needed]
    return tidy(BASE, [text for key, text in parts.items() if key in needed])


def name_of(part: str) -> str:
    """What a part of the template defines."""
    return next(node.name for node in ast.parse(part).body if isinstance(node, (ast.FunctionDef, ast.ClassDef)))


class _File:
    """The file as it grows: what every name of it stands for."""

    def __init__(self) -> None:
        self.parts = course_parts()
        self.names = {name_of(text): exercise for exercise, text in self.parts.items()}
        self.glue = _BETWEEN.sub("", TEMPLATE.read_text(encoding="utf-8"))
        self.imports = list(BASE)
        defined = (name for line in self.glue.split("\n") for name in re.findall(r"^(?:def |class )?(\w+)(?=[(:,]| = )", line))
        self.taken = {name: "" for name in defined} | {_bound(line): line for line in BASE}  # what each name stands for

    def own(self, exercise: str, kept: str) -> list[str]:
        """The reader's answer, behind the helpers that it brings along, as they stand in the file; :class:`Apart`."""
        main, texts = next(name for name, part in self.names.items() if part == exercise), list[str]()
        new_names: dict[str, str] = {}
        for text in _statements(kept, self.names):
            for old, new in new_names.items():
                text = renamed(text, old, new)
            name = _bound(text)
            if name != main and self.names.get(name) and _same(text, self.parts[self.names[name]]):
                continue  # another part of the machine, copied along
            if name != main and (name in self.names or name in self.taken and not _same(self.taken[name], text)):
                new = new_names[name] = f"{name}_{exercise.replace('.', '_')}"
                imported = text.startswith(("import ", "from "))
                text, name = re.sub(r" as \w+$", "", text) + f" as {new}" if imported else renamed(text, name, new), new
            if _same(self.taken.get(name, ""), text):
                continue
            self.taken[name] = text
            (self.imports if text.startswith(("import ", "from ")) else texts).append(text)
        return texts


def _statements(kept: str, parts: dict[str, str]) -> list[str]:
    """The statements of a kept answer, imports one by one; what the course's package gives is written out."""
    found: list[str] = []
    for node in ast.parse(kept).body:
        text = text_of(node, kept)
        if isinstance(node, ast.Expr):
            continue
        if isinstance(node, ast.Assign) and (asked := re.fullmatch(r'(\w+) = mine\("([\w.]+)"\)', text)):
            part = next((name for name, exercise in parts.items() if exercise == asked[2]), None)
            if part is None:
                raise Apart(f"your {asked[2]}")
            found += [f"{asked[1]} = {part}"] if asked[1] != part else []
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                found += _imported(node, alias, parts)
        else:
            found.append(text)
    return found


def _imported(node: ast.Import | ast.ImportFrom, alias: ast.alias, parts: dict[str, str]) -> list[str]:
    """One imported name as statements."""
    ending = f" as {alias.asname}" if alias.asname and alias.asname != alias.name else ""
    if isinstance(node, ast.Import):
        if alias.name.startswith("course_"):
            raise Apart(f"the module {alias.name}")
        return [f"import {alias.name}{ending}"]
    if not str(node.module).startswith("course_"):
        return [f"from {node.module} import {alias.name}{ending}"]
    if node.module == "course_checks":
        return []
    renaming = [f"{alias.asname} = {alias.name}"] if ending else []
    return renaming if alias.name in parts else [*_from_course(str(node.module), alias.name, parts), *renaming]


def _from_course(module: str, name: str, parts: dict[str, str]) -> list[str]:
    """A function of course_utils written out, after what it uses. :class:`Apart` where it is no function or class of a module."""
    path = PACKAGE.parent / (module.replace(".", "/") + ".py")
    try:
        source = path.read_text(encoding="utf-8")
    except OSError:
        raise Apart(f"{module}.{name}") from None
    found: list[str] = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom):
            base = ".".join(module.split(".")[: -node.level]) if node.level else ""
            node.module = ".".join(filter(None, (base, node.module)))
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _imported(node, alias, parts)
        elif _bound(text := text_of(node, source)) == name:
            text = unannotated(text)
            for used in global_names(text):
                if used != name and re.search(rf"(?m)^(?:def |class )?{used}\b|import .*\b{used}\b", source):
                    found += _from_course(module, used, parts)
            return [*found, text]
    raise Apart(f"{module}.{name}")


def _bound(statement: str) -> str:
    """The name that a statement gives a value."""
    node = ast.parse(statement).body[0]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return node.names[0].asname or node.names[0].name.split(".")[0]
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", node)
    target = target.elts[0] if isinstance(target, ast.Tuple) else target
    return getattr(target, "name", getattr(target, "id", ""))


def _same(left: str, right: str) -> bool:
    return bool(left) and ast.dump(ast.parse(left)) == ast.dump(ast.parse(right))


def assembled(kept: dict[str, str], whose: str) -> tuple[str, list[str]]:
    """The file, and the exercises that are the reader's own in it. ``kept``: texts of kept answers by exercise."""
    file, chosen, own = _File(), {}, []
    course = dict(file.parts)
    for exercise, text in list(kept.items()):  # what the reader's own parts look like, before any is placed
        with contextlib.suppress(Apart, SyntaxError):
            main = next((t for t in _statements(text, file.names) if _bound(t) == name_of(course[exercise])), None)
            file.parts[exercise] = main or course[exercise]
            kept = kept if main else {key: value for key, value in kept.items() if key != exercise}
    for exercise, part in course.items():
        said, helpers = f"the course's version of {exercise}; solve it and it will be yours", list[str]()
        try:
            if exercise in kept:
                *helpers, part = file.own(exercise, kept[exercise])
                day = re.search(r"as you solved it on ([^.\"]+)", kept[exercise])
                said = f"{exercise}: mine{f', {day[1]}' if day else ''}"
                own.append(exercise)
        except Apart as reason:
            said = f"the course's version of {exercise}: mine uses {reason}"
        except SyntaxError:
            pass
        chosen[exercise] = tidy([], [*helpers, f"# {said}\n{part}"]).strip()
    used = _used(chosen, file)
    text = _BETWEEN.sub(lambda m: f"\n\n{chosen[m[1]]}\n" if m[1] in used else "\n", TEMPLATE.read_text(encoding="utf-8"))
    imports = tidy([line for line in file.imports if re.search(rf"\b{_bound(line)}\b", text)], []).strip()
    own = [exercise for exercise in own if exercise in used]
    text = text.replace("{{HEAD}}", head(whose, own, [e for e in used if e not in own])).replace("{{IMPORTS}}", imports)
    text = re.sub(r"\n{3,}", "\n\n\n", text)
    return re.sub(r"(?m)\n+^(# =+ .*)\n+", r"\n\n\n\1\n\n\n", text), own


def _used(chosen: dict[str, str], file: _File) -> list[str]:
    """The parts that the rest of the file needs, directly or through others."""
    glue, found = file.glue.replace("{{HEAD}}", "").replace("{{IMPORTS}}", ""), set()
    todo = [name for name in global_names(glue) if name in file.names]
    while todo:
        exercise = file.names[todo.pop()]
        if exercise not in found:
            found.add(exercise)
            todo += [name for name in global_names(chosen[exercise]) if name in file.names]
    return [exercise for exercise in chosen if exercise in found]


def head(whose: str, own: list[str], others: list[str]) -> str:
    """The docstring of the file."""
    parts, count = course_parts(), len(own) + len(others)
    said = {0: f"All {count} parts are still the course's versions: each exercise that I solve becomes mine."}
    said[count] = f"All {count} parts are mine."
    rest = ", ".join(f"{exercise} {name_of(parts[exercise])}" for exercise in others)
    text = said.get(len(own), f"{len(own)} of {count} parts are mine; the course's versions say so: {rest}.")
    day = time.strftime("%d %B %Y").lstrip("0")
    return '"""A Transformer, built by {}.\n\n{}\n\nWritten on {}, with the course "Attention, from Kernels to GPT".\n\n{}\n"""'.format(
        whose,
        textwrap.fill(text, 110, break_on_hyphens=False),
        day,
        "    python my_transformer.py             trains a translator of numbers and a small GPT, a minute in all, and both write\n"
        "    python my_transformer.py page.txt    the GPT reads a page of yours instead of my_page.txt\n\n"
        "It needs Python and PyTorch, nothing else. Names of parts and sizes follow Vaswani et al. 2017.",
    )


def write(root: Path, whose: str) -> tuple[Path, list[str]]:
    """Write the file, and the page that it reads, into ``root``; what lay there before is kept beside it. OSError."""
    folder, kept = root / ".course" / "mine", {}
    for exercise in course_parts():
        with contextlib.suppress(OSError, UnicodeDecodeError):
            kept[exercise] = (folder / f"{exercise}.py").read_text(encoding="utf-8")
    text, own = assembled(kept, whose)
    compile(text, "my_transformer.py", "exec", dont_inherit=True)
    target = root / "my_transformer.py"
    if target.exists() and target.read_bytes() != text.encode():
        write_bytes(root / "my_transformer.before.py", target.read_bytes())
    write_bytes(target, text.encode())
    if not (root / "my_page.txt").exists():
        write_bytes(root / "my_page.txt", PAGE.read_bytes())
    return target, own
