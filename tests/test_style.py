"""What a linter and a line count can see."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_ruff_is_clean():
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format=concise", "."], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_rooms_keep_their_distance():
    """A room of course_utils imports nothing that is built on top of it."""
    above = {
        "models": ("text", "training", "show", "checks", "exercises", "experiments"),
        "text": ("models", "checks", "exercises", "experiments"),
        "training": ("checks", "exercises", "experiments"),
        "show": ("checks", "exercises", "experiments"),
        "checks": ("experiments",),
        "experiments": ("checks", "exercises"),
    }
    for room, others in above.items():
        for path in (ROOT / "course_utils" / room).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert "course_tools" not in text, f"{path.relative_to(ROOT)} reaches for the tools, which a hand-out leaves out"
            for other in others:
                assert f"course_utils.{other}" not in text and f"from ..{other}" not in text and f"from ...{other}" not in text, (
                    f"{path.relative_to(ROOT)} reaches up to {other}"
                )


def test_the_package_stays_small():
    """What a chapter imports, without the exercises, which are data: 10,491 lines at the end of the clean-up; six hundred more name
    mistakes since then, four hundred draw what stood as drawing code in the chapters, two hundred are the words and drawings of
    chapter 00b, thirty end the search for a reason in time, and seven hundred are the town gazette of chapters 09 and 10, with what is
    trained on it, and two hundred more its pairs and the gaps that stay where they are; a hundred and fifty count for chapter 11a, fifty
    are the sums of 11b, and two hundred are 12a's second judge, its ways of reading, its sketches and ModernBERT's block. Twelve hundred
    are chapter 13: six hundred for 13a (attention in blocks, what memory it takes, few bits, drafts, a server) and six hundred for 13b
    (features, linear attention, recall, long texts, handwritten digits)."""
    files = [path for path in (ROOT / "course_utils").rglob("*.py") if "exercises" not in path.parts]
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert sum(lines.values()) <= 14_300


@pytest.mark.parametrize("path", sorted((ROOT / "course_utils").rglob("*.py")), ids=lambda p: p.name)
def test_modules_stay_readable(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300


def test_the_project_names_no_machine_and_no_registry():
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode:
        pytest.skip("not a git checkout")
    start = r"(?<![\w}])/"  # of a folder of the machine, not of one of ours such as lab/tree/work
    words = [start + "root/", start + "work/", r"pypi\." + "org", r"files\.python" + "hosted"]
    for name in filter(None, tracked.stdout.split("\0")):
        path = ROOT / name
        if path.suffix in (".png", ".ico", ".safetensors") or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        assert not [w for w in words if re.search(w, text)], f"{name} names a machine path or a package registry"
