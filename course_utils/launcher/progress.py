"""What a learner has solved, as kept in ``.course/progress.json``, and what comes next. Standard library only."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..files import move, private_folder, write_bytes
from ..paths import own_folder

Done = dict[str, dict[str, Any]]  # {exercise id: {"points": float, "passed": bool}}


def progress_file(root: Path) -> Path:
    """Where the progress in a course is kept: in the learner's own folder."""
    return own_folder(root) / ".course" / "progress.json"


def read(path: Path) -> Done:
    """What is done so far; a damaged file is set aside, not lost. OSError when it is there but cannot be read just now."""
    try:
        data = json.loads(path.read_bytes())
        return {str(key): {"points": float(entry["points"]), "passed": bool(entry["passed"])} for key, entry in data.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, KeyError, AttributeError):
        with contextlib.suppress(OSError):
            move(path, path.with_suffix(".damaged.json"))
        return {}


def write(path: Path, done: Done) -> None:
    """Put what is done in place, for its owner alone. OSError, and the old file as it was, where that is not possible."""
    private_folder(path.parent)
    write_bytes(path, json.dumps(done, indent=1, sort_keys=True).encode(), 0o600)


def what_next(exercises: Sequence[str], done: Done) -> str | None:
    """The exercise to try next: one begun and not finished, else the first open one behind the last one done; None when all are done."""
    passed = [bool(done.get(name, {}).get("passed")) for name in exercises]
    last = max((i for i, right in enumerate(passed) if right), default=-1)
    begun = [name for name in exercises if done.get(name, {}).get("points")]
    still = (name for name in (*begun, *exercises[last + 1 :], *exercises[: last + 1]) if not done.get(name, {}).get("passed"))
    return next(still, None)
