"""What a linter and a line count can see."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_ruff_is_clean():
    done = subprocess.run([sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format=concise", "."], cwd=ROOT,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_rooms_keep_their_distance():
    """A room of course_utils imports nothing that is built on top of it."""
    above = {"models": ("text", "training", "show", "checks", "exercises", "experiments"),
             "text": ("models", "checks", "exercises", "experiments"), "training": ("checks", "exercises", "experiments"),
             "show": ("checks", "exercises", "experiments"), "checks": ("experiments",), "experiments": ("checks", "exercises")}
    for room, others in above.items():
        for path in (ROOT / "course_utils" / room).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert "course_tools" not in text, f"{path.relative_to(ROOT)} reaches for the tools, which a hand-out leaves out"
            for other in others:
                assert f"course_utils.{other}" not in text and f"from ..{other}" not in text and f"from ...{other}" not in text, (
                    f"{path.relative_to(ROOT)} reaches up to {other}")


def code_lines(path: Path) -> int:
    """Lines of a module without blank lines, comments and docstrings."""
    text = path.read_text(encoding="utf-8")
    prose: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            prose.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return sum(bool(line.strip()) and not line.strip().startswith("#") and i not in prose for i, line in enumerate(text.splitlines(), 1))


def test_the_small_rooms_stay_small():
    lines = {room: sum(map(code_lines, (ROOT / "course_utils" / room).rglob("*.py"))) for room in ("models", "text", "training", "show")}
    assert sum(lines.values()) < 5_000, lines  # 3,500 held up to GPT; today's decoder and the family tree need the rest


@pytest.mark.parametrize("path", sorted((ROOT / "course_utils").rglob("*.py")), ids=lambda p: p.name)
def test_modules_stay_readable(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300


def test_the_project_names_no_machine_and_no_registry():
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode:
        pytest.skip("not a git checkout")
    words = ["/" + "root/", "/" + "work/", "pypi" + ".org", "files.python" + "hosted"]
    for name in filter(None, tracked.stdout.split("\0")):
        path = ROOT / name
        if path.suffix in (".png", ".safetensors") or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        assert not [w for w in words if w in text], f"{name} names a machine path or a package registry"
