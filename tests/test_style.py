"""What a linter, a formatter, a type checker and a line count can see: how large the house is, and which way its imports go."""

import ast
import os
import re
import subprocess
import sys

import pytest

from course_utils.paths import PACKAGE, ROOT

CHECKS = ROOT / "course_checks"
FOLDERS = ("benchmarks", "course_checks", "course_tools", "course_utils", "deploy", "docs", "tests")
IMPORT = """
import sys, time
start = time.process_time()
import course_utils
print(time.process_time() - start, *({"torch", "seaborn", "matplotlib", "numpy"} & set(sys.modules)))
"""


def python(*arguments):
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True)


def lines_of(*folders):
    """Lines of every Python file below these folders."""
    return {path: len(path.read_text(encoding="utf-8").splitlines()) for folder in folders for path in folder.rglob("*.py")}


def test_ruff_is_clean():
    """The rules stand in pyproject.toml."""
    done = python("-m", "ruff", "check", "--no-cache", "--output-format=concise", ".")
    assert done.returncode == 0, done.stdout


def test_everything_is_formatted():
    done = python("-m", "ruff", "format", "--no-cache", "--check", "--output-format=concise", ".")
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(os.environ.get("COURSE_FULL") != "1", reason="takes most of a minute: `course.py test --fast` and `--full` run it")
def test_types_fit():
    done = python("-m", "mypy")
    assert done.returncode == 0, done.stdout


def test_the_house_stays_small():
    """What a chapter imports, with the launcher; the engine and its exercises; all of it: one person can read it."""
    parts = {"course_utils": lines_of(PACKAGE), "course_checks": lines_of(CHECKS), "all": lines_of(*(ROOT / name for name in FOLDERS))}
    parts["all"] |= {path: len(path.read_text(encoding="utf-8").splitlines()) for path in ROOT.glob("*.py")}
    for name, most in (("course_utils", 11_000), ("course_checks", 13_250), ("all", 63_500)):
        lines = sum(parts[name].values())
        assert lines <= most, f"{name} has {lines:,} lines of Python, {lines - most:,} more than it may have: take some away"


BRANCHES = (ast.If, ast.For, ast.While, ast.IfExp, ast.comprehension, ast.ExceptHandler, ast.match_case)


def branches(function):
    """Ways in a function: statements, conditional expressions, loops of comprehensions, and each ``and`` and ``or``."""
    nodes = list(ast.walk(function))
    joined = sum(len(node.values) - 1 for node in nodes if isinstance(node, ast.BoolOp))
    return sum(isinstance(node, BRANCHES) for node in nodes) + joined + sum(len(getattr(node, "ifs", ())) for node in nodes)


def test_no_function_has_too_many_branches():
    files = [path for name in FOLDERS for path in (ROOT / name).rglob("*.py")]
    found = [(path.name, node) for path in files for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    many = [f"{name}: {node.name}" for name, node in found if isinstance(node, ast.FunctionDef) and branches(node) > 25]
    assert not many, f"more than 25 branches: {', '.join(many)}"


def test_modules_stay_readable():
    long = {str(path.relative_to(ROOT)): lines for path, lines in lines_of(PACKAGE, CHECKS).items() if lines > 300}
    assert long == {}


def test_packages_keep_their_distance():
    """A part of course_utils imports nothing that is built on top of it; course_checks nothing that only authors and instructors have."""
    above = {
        "launcher": ("models", "text", "training", "show", "experiments"),
        "models": ("text", "training", "show", "experiments", "launcher"),
        "text": ("models", "training", "show", "experiments", "launcher"),
        "training": ("show", "experiments", "launcher"),
        "show": ("text", "training", "experiments", "launcher"),
        "experiments": ("show", "launcher"),
    }
    for part, others in above.items():
        for path in (PACKAGE / part).rglob("*.py"):
            text, name = path.read_text(encoding="utf-8"), path.relative_to(ROOT)
            reached = [
                o for o in others if re.search(rf"(?m)^\s*(from|import) (course_utils\.|\.{{2,3}}){o}\b|from \.\.+ import .*\b{o}\b", text)
            ]
            assert not reached, f"{name} reaches up to {reached}"
    for folder, others in ((PACKAGE, "course_checks|course_tools"), (CHECKS, r"course_tools|course_utils\.experiments")):
        for path in folder.rglob("*.py"):
            found = re.search(rf"(?m)^\s*(from|import) ({others})\b.*", path.read_text(encoding="utf-8"))
            assert not found, f"{path.relative_to(ROOT)}: {found[0]}"


def test_importing_the_package_costs_nothing():
    """Less than 0.3 s of processor time, and neither PyTorch nor a drawing library."""
    spent, *loaded = python("-c", IMPORT).stdout.split()
    assert float(spent) < 0.3
    assert not loaded


def test_the_project_names_no_machine_and_no_registry():
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode:
        pytest.skip("not a git checkout")
    start = r"(?<![\w}])/"  # of a folder of the machine, not of one of ours such as lab/tree/work
    words = [start + "root/", start + "work/", r"pypi\." + "org", r"files\.python" + "hosted"]
    for name in filter(None, tracked.stdout.split("\0")):
        path = ROOT / name
        if path.suffix in (".png", ".webp", ".ico", ".woff", ".safetensors") or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        assert not [w for w in words if re.search(w, text)], f"{name} names a machine path or a package registry"
