"""Make both notebooks of a chapter from its text.

Usage::

    python -m course_tools.authoring.build [NN ...] [--check [--run]] [--force]

``solutions/NN_slug.md`` becomes ``solutions/NN_slug.ipynb`` (solved) and
``chapters/NN_slug.ipynb`` (blank answers), both executed; with them goes the chapter's companion,
``solutions/deeper/NN_slug.md``, if it has one (``03-deeper`` names it alone). A text that has not
changed is not run again, and where only words have changed the outputs stay. ``--check`` only reports,
``--check --run`` also runs everything and compares the text that is stored with the text that comes
out, ``--force`` runs again.
"""

from __future__ import annotations

import argparse
import sys
from itertools import zip_longest
from pathlib import Path
from time import perf_counter

from nbformat import NotebookNode

from course_utils.paths import ROOT

from . import faq
from .budgets import COMPANION_WORDS, beside, run_seconds
from .chapter import CHAPTER, SOLUTION, Chapter
from .clock import figures
from .errors import AuthoringError, BuildError
from .execute import CELL_TIMEOUT, execute
from .ledger import DEEPER, find_texts
from .predictions import told
from .source import read_chapter
from .stored import KINDS, changed_outputs, compare, edited_answers, notebook_path, other_text, read_stored, replace_both, with_new_text
from .uses import package_key


def check_chapter(path: Path, root: Path = ROOT) -> tuple[list[str], list[str]]:
    """Problems of the stored notebooks and the exercises filled in; runs and writes nothing."""
    report = compare(read_chapter(path), root)
    return report.problems, report.answered


def is_outdated(path: Path, root: Path = ROOT) -> bool:
    """Whether something that the chapter imports has changed since it was built: no fault yet, but a reason to build it again."""
    return compare(read_chapter(path), root).package_changed


def check_outputs(path: Path, root: Path = ROOT, timeout: float = CELL_TIMEOUT) -> list[str]:
    """Run both notebooks and name the cells whose stored text is not what came out; writes nothing."""
    chapter = read_chapter(path)
    lines = {cell.id: cell.line for cell in chapter.cells}
    found = []
    for kind in KINDS:
        stored = read_stored(notebook_path(chapter, kind, root))
        fresh = execute(chapter, kind, "", root, timeout)
        for identity, before, after in other_text(stored, fresh) if stored else []:
            was, now = _first_difference(before, after)
            found.append(f"{kind}, {chapter.name}:{lines[identity]} ({identity}): stored {was!r}, now {now!r}")
    return found


def _first_difference(before: str, after: str) -> tuple[str, str]:
    """The first pair of lines that differ."""
    pairs = zip_longest(before.splitlines(), after.splitlines(), fillvalue="(nothing)")
    return next(((a.strip()[:100], b.strip()[:100]) for a, b in pairs if a != b), (before[:100], after[:100]))


def build_chapter(path: Path, root: Path = ROOT, force: bool = False, timeout: float = CELL_TIMEOUT) -> list[str]:
    """Bring both notebooks up to date; an :class:`AuthoringError` leaves them as they were."""
    chapter = read_chapter(path)
    report = compare(chapter, root)
    if not report.stale and not force:
        return _unchanged(chapter, report.problems, report.package_changed, root)
    _refuse_to_overwrite(chapter, root)
    renewed = None if force else with_new_text(chapter, root)
    if renewed:
        replace_both({notebook_path(chapter, kind, root): nb for kind, nb in renewed.items()})
        return [f"{chapter.label} has a new text; its code was not run again", *_size(chapter, renewed)]
    package = package_key(chapter, root)
    fresh: dict[str, NotebookNode] = {}
    seconds: dict[str, float] = {}
    for kind in KINDS:
        started = perf_counter()
        fresh[kind] = execute(chapter, kind, package, root, timeout)
        seconds[kind] = perf_counter() - started
    changed = _changes(chapter, root, fresh, may_differ=report.stale or report.package_changed)
    _refuse_to_overwrite(chapter, root)  # somebody may have saved an answer while we were running
    replace_both({notebook_path(chapter, kind, root): nb for kind, nb in fresh.items()})
    limit = "" if chapter.is_companion else f" (on two quiet cores at most {run_seconds(chapter.number)} s)"
    took = f"solution {seconds[SOLUTION]:.1f} s{limit}, chapter {seconds[CHAPTER]:.1f} s"
    return [f"{chapter.label} built: {took}", *_size(chapter, fresh), *changed]


def _size(chapter: Chapter, books: dict[str, NotebookNode]) -> list[str]:
    """A chapter's figures beside its budgets, of a companion its words; and predictions that its outputs answer."""
    counted = figures(chapter, books[SOLUTION])
    lines = [f"  {counted.words:,} words, at most {COMPANION_WORDS:,}"] if chapter.is_companion else beside(counted)
    return lines + [f"  {line}" for line in told(chapter, books[CHAPTER], books[SOLUTION])]


def _unchanged(chapter: Chapter, problems: list[str], package_changed: bool, root: Path) -> list[str]:
    stored = {kind: nb for kind in KINDS if (nb := read_stored(notebook_path(chapter, kind, root)))}
    lines = [f"{chapter.label} unchanged", *_size(chapter, stored)]
    lines += [f"  {problem}; build --force {chapter.label} restores it" for problem in problems]
    if package_changed:
        lines.append(_outdated(chapter.label))
    return lines


def _outdated(label: str) -> str:
    return f"  what {label} imports of the course has changed since it was built; run build --force {label}"


def _refuse_to_overwrite(chapter: Chapter, root: Path) -> None:
    """A learner's work in ``chapters/`` is never replaced."""
    path = notebook_path(chapter, CHAPTER, root)
    stored = read_stored(path)
    if stored is None:
        return
    name = chapter.notebook_in(CHAPTER)
    if "stubs" not in stored.metadata.get("course", {}):
        raise BuildError(f"{name} was not made by build; move it away, then build again")
    answered = edited_answers(stored)
    if answered:
        raise BuildError(
            f"{name} holds answers to {', '.join(answered)}, which would be lost.\n"
            "  Move the file away to keep them, or restore it (git checkout) to give them up;\n"
            "  then build again."
        )


def _changes(chapter: Chapter, root: Path, fresh: dict[str, NotebookNode], may_differ: bool) -> list[str]:
    """List the outputs that are new; an error where they had to stay as they were."""
    cells = {cell.id: cell for cell in chapter.cells}
    listed, forbidden = [], []
    for kind in KINDS:
        stored = read_stored(notebook_path(chapter, kind, root))
        for identity in changed_outputs(stored, fresh[kind]) if stored else []:
            cell = cells[identity]
            text = f"  {kind}, {chapter.name}:{cell.line} ({identity})"
            listed.append(f"{text}{', measured' if cell.measured else ''}: new output")
            if not cell.measured:
                forbidden.append(text)
    if forbidden and not may_differ:
        raise BuildError(
            f"{chapter.label}: same text, same package, yet other outputs in\n"
            + "\n".join(forbidden)
            + "\n  Make them repeatable (a seed, no times), or tag a cell that measures with"
            ' tags=["measured"].'
            "\n  After an upgrade of a library: delete both notebooks and build again."
        )
    return listed


def main(argv: list[str] | None = None) -> int:
    """The command; 1 when something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m course_tools.authoring.build", description=__doc__.splitlines()[0])
    parser.add_argument(
        "chapters", nargs="*", metavar="NN", help="only these chapters, for example 03 08a; 03-deeper is the companion alone"
    )
    parser.add_argument("--check", action="store_true", help="report notebooks that no longer belong to their text")
    parser.add_argument("--run", action="store_true", help="with --check: run the notebooks and compare their text, too")
    parser.add_argument("--force", action="store_true", help="run again; only cells tagged 'measured' may change")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    root = options.root.resolve()
    try:
        texts = find_texts(root)
    except AuthoringError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    unknown = [number for number in options.chapters if number not in texts]
    if unknown:
        print(f"error: no source for {', '.join(unknown)}; there are {', '.join(texts) or 'none'}", file=sys.stderr)
        return 1
    failed = False
    wanted = [label for word in options.chapters for label in (word, f"{word}-{DEEPER}") if label in texts]
    for label in dict.fromkeys(wanted or texts):
        path = texts[label]
        try:
            if options.check:
                problems, answered = check_chapter(path, root)
                if options.run:
                    problems = problems + check_outputs(path, root)
                failed |= _print_check(label, problems, answered)
                if is_outdated(path, root):
                    print(_outdated(label))
            else:
                print("\n".join(build_chapter(path, root, options.force)), flush=True)
        except AuthoringError as error:
            print(f"error: {error}", file=sys.stderr, flush=True)
            failed = True
        except KeyboardInterrupt:
            print(f"\nstopped; the notebooks of {label} are as they were", file=sys.stderr)
            return 130
    if not options.check and not failed and not faq.write(root):
        print("docs/faq.md: questions or answers have changed")
    return int(failed)


def _print_check(label: str, problems: list[str], answered: list[str]) -> bool:
    print(f"{label} {'differs' if problems else 'belongs to its source'}")
    for problem in problems:
        print(f"  {problem}")
    if answered:
        print(f"  (answers filled in: {', '.join(answered)})")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
