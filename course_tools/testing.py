"""What ``python course.py test`` runs. Standard library only: the launcher asks before there is an environment."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXERCISES = "tests/test_exercises.py"
PLACES = ("tests", "chapters", "solutions")


def paths(numbers: list[str]) -> list[str]:
    """What pytest is given: everything there is, or what belongs to these chapters ("03", "08a")."""
    if not numbers:
        return [folder for folder in PLACES if (ROOT / folder).is_dir()]
    patterns = [EXERCISES]  # restricts itself: it reads COURSE_CHAPTERS
    for number in numbers:
        patterns += [f"tests/test*ch{number}*.py", f"chapters/{number}_*.ipynb", f"solutions/{number}_*.ipynb"]
    return [str(path.relative_to(ROOT)) for pattern in patterns for path in ROOT.glob(pattern)]


def commands(numbers: list[str], full: bool, rest: list[str]) -> list[tuple[list[str], dict[str, str]]]:
    """The runs of pytest, one after another: arguments, and variables to set."""
    env = {"COURSE_FULL": "1"} if full else {}
    if numbers:
        return [(paths(numbers) + rest, {**env, "COURSE_CHAPTERS": ",".join(numbers)})]
    parallel = [EXERCISES, "-n", "auto", "--maxprocesses", "4"]  # thousands of short tests, each on one thread
    return [(parallel + rest, {**env, "OMP_NUM_THREADS": "1"}), (paths([]) + ["--ignore", EXERCISES] + rest, env)]
