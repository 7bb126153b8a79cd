"""The wheel: what is in it, what it asks for, and that it works where no course lies around it."""

import os
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata

import pytest
from packaging.version import Version

from course_utils.paths import ROOT

try:
    BUILDER = Version(metadata.version("setuptools"))
except metadata.PackageNotFoundError:
    BUILDER = Version("0")
# The developer's tools bring it. No network is asked for it here.
pytestmark = pytest.mark.skipif(BUILDER < Version("77"), reason=f"building needs setuptools 77 or newer, here is {BUILDER}")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from a copy: the builder leaves folders beside its sources."""
    folder = tmp_path_factory.mktemp("source")
    for name in ("course_utils", "course_checks", "course_tools"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "LICENSE", "LICENSE-TEXT"):
        shutil.copy(ROOT / name, folder)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "--no-index", "-w", "dist", "."]
    subprocess.run(command, cwd=folder, check=True)
    (found,) = (folder / "dist").glob("*.whl")
    return found


@pytest.fixture(scope="module")
def elsewhere(wheel, tmp_path_factory):
    """A folder with the unpacked wheel, and an empty one to work in."""
    folder = tmp_path_factory.mktemp("installed")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder


def run(elsewhere, code, cwd=None):
    """A fresh Python that finds the packages in the wheel, and nowhere else."""
    empty = elsewhere / "empty"
    empty.mkdir(exist_ok=True)
    head = f"import sys; sys.path.insert(0, {str(elsewhere / 'site')!r})\nimport course_checks, course_utils\n"
    head += f"assert course_checks.__file__.startswith({str(elsewhere)!r}) and course_utils.__file__.startswith({str(elsewhere)!r})\n"
    env = {name: value for name, value in os.environ.items() if not name.startswith(("COURSE_", "PYTHONPATH"))}
    return subprocess.run([sys.executable, "-c", head + code], cwd=cwd or empty, env=env, capture_output=True, text=True)


def test_it_holds_the_packages_with_their_pages_and_no_tools(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"course_utils", "course_checks", "attention_from_kernels_to_gpt"}
    for package in ("course_utils", "course_checks"):
        wanted = {path.relative_to(ROOT).as_posix() for path in (ROOT / package).rglob("*.py")}
        assert wanted <= set(names)
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "course_checks").rglob("*.md")}
    assert pages and pages <= set(names)


def test_it_makes_no_learner_of_whoever_installs_it(wheel):
    archive = zipfile.ZipFile(wheel)
    (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
    asked = [line for line in archive.read(name).decode().splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line]
    assert any("torch==" in line for line in asked)
    assert not any(word in line for line in asked for word in ("jupyterlab", "nbval", "statsmodels", "pytest"))


def test_a_check_and_progress_where_there_is_no_course(elsewhere):
    right = "import math\ndef attention_scores(query, key):\n    return query @ key.mT / math.sqrt(query.shape[-1])\n"
    path = elsewhere / "answer.py"
    path.write_text(right)
    code = f"""
sys.path.insert(0, {str(elsewhere)!r})
from answer import attention_scores
result = course_checks.check("03.1", attention_scores)
assert result.stage == "passed" or result.points > 0, result
print(course_checks.progress())
try:
    course_checks.progress(restart="03")
except ValueError as error:
    print("ValueError:", error)
"""
    done = run(elsewhere, code)
    assert done.returncode == 0, done.stderr
    assert "chapter 03" in done.stdout and "ValueError: there is no course in" in done.stdout


def test_a_chapter_is_begun_again_in_the_folder_of_a_course(elsewhere, tmp_path):
    (tmp_path / "chapters").mkdir()
    shutil.copy(ROOT / "chapters" / "03_self_attention.ipynb", tmp_path / "chapters")
    (tmp_path / "course.py").write_text("")
    done = run(elsewhere, "course_checks.progress(restart='03')", cwd=tmp_path / "chapters")
    assert done.returncode == 0, done.stderr
    assert "fresh copy of chapter 03" in done.stdout and (tmp_path / "work" / "03_self_attention.ipynb").is_file()
