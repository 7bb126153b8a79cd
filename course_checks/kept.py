"""Right answers are kept, self-contained, in ``.course/mine/``, and used by later chapters: ``MultiHeadAttention = mine("04.4")``."""

import contextlib
import linecache
import sys
import time
import types
from typing import Any

import torch

from course_utils.files import private_folder, write_bytes
from course_utils.mine.gather import Leans, gather

from . import record
from .exercise import Exercise
from .judge import judge
from .known import Known
from .lookup import find, in_chapter
from .observe import neutral_torch, observe_all
from .own_code import namespaces_of

QUICK = 0.3  # seconds: a check that took longer is repeated on one case only
_loading: list[str] = []  # exercises whose kept answers are being run just now, the outermost first
_loaded: dict[str, tuple[str, Any]] = {}  # text and value of what was used in this session
_given: dict[str, Any] = {}  # what mine gave last, by exercise
asked: set[str] = set()  # exercises that mine was asked for; check looks whether an answer did while it ran


def keep(exercise: Exercise, answer: Any, seconds: float) -> str:
    """Keep an answer that has passed, in ``seconds``. Returns what to tell the learner where that is not possible, else nothing."""
    if record.silent() or not exercise.runs:
        return ""
    try:
        text = self_contained(exercise, answer)
        if not _proved(exercise, _run(exercise.id, text)[exercise.name], seconds < QUICK):
            raise Leans("what earlier cells have changed")
        path = record.kept_file(exercise.id)
        private_folder(path.parent.parent)
        private_folder(path.parent)
        write_bytes(path, text.encode(), 0o600)
    except Leans as reason:
        instead = "your earlier answer" if exercise.id in record.kept_answers() else "its own version"
        return f"It leans on {reason}, so the course keeps {instead} for later chapters."
    except OSError as error:
        return f"It could not be kept for later chapters ({error.strerror or error}); its points are safe in this notebook."
    except Exception as error:  # the verdict stands, whatever happens here
        return f"It could not be kept for later chapters ({type(error).__name__})."
    return ""


def self_contained(exercise: Exercise, answer: Any) -> str:
    """An answer as the text of a module. :class:`Leans` where that is not possible."""
    spaces = namespaces_of(answer)
    space = spaces[0] if spaces else vars(sys.modules.get(getattr(answer, "__module__", "")) or sys.modules["__main__"])
    ours = {id(other.reference): other for other in in_chapter(exercise.id.split(".")[0]).values() if other.runs}

    def known(value: Any) -> str | None:
        """What ``mine`` gave, or ``result.use`` where an exercise was open."""
        found = ours[id(value)].id if id(value) in ours else next((key for key, given in _given.items() if given is value), None)
        return f'mine("{found}")' if found and found != exercise.id else None

    day = time.strftime("%d %B %Y").lstrip("0")
    return f'"""Exercise {exercise.id}, {exercise.title}, as you solved it on {day}."""\n\n' + gather(exercise.name, answer, space, known)


def _proved(exercise: Exercise, value: Any, quick: bool) -> bool:
    """Whether what was kept passes once more: the cases of one draw, or the first of them where a check is not ``quick``."""
    with neutral_torch(), torch.random.fork_rng(devices=[]):
        cases = exercise.cases((0,))[: None if quick else 1]
        seen = observe_all(exercise.kind, value, [(case.args, case.gradients) for case in cases], exercise.forbidden, 10.0)
        return judge(exercise, cases, seen, Known(), named=False).finding is None


def _run(exercise_id: str, text: str) -> dict[str, Any]:
    """The names that a kept text defines, in a module of its own, whose source ``inspect`` finds."""
    file = str(record.kept_file(exercise_id))
    module = types.ModuleType("mine_" + exercise_id.replace(".", "_"), text.split('"""')[1])
    module.__dict__.update(__file__=file, __mine__=True)
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    sys.modules[module.__name__] = module
    _loading.append(exercise_id)
    try:
        exec(compile(text, file, "exec", dont_inherit=True), module.__dict__)
    finally:
        _loading.pop()
    return module.__dict__


def mine(exercise_id: str) -> Any:
    """Your own answer to an exercise once it has passed, else the course's version; one line says whose it is.

    ``MultiHeadAttention = mine("04.4")``. While notebooks are built, tested or graded it is the course's version. LookupError, with the
    nearest id, for an exercise that does not exist; ValueError for a prediction, which is no code.
    """
    exercise = find(str(exercise_id))
    if not exercise.runs:
        raise ValueError(f"{exercise.id} {exercise.title!r} is a prediction: there is no code of yours to go on with")
    chapter = exercise.id.split(".")[0]
    value, whose = exercise.reference, f"the course's version; yours takes its place once {exercise.id} passes."
    if not record.silent() and exercise.id not in _loading:
        try:
            text = record.kept_file(exercise.id).read_text(encoding="utf-8")
            if _loaded.get(exercise.id, ("",))[0] != text:
                _loaded[exercise.id] = text, _run(exercise.id, text)[exercise.name]
            value, whose = _loaded[exercise.id][1], f"yours, from chapter {chapter}."
        except FileNotFoundError:
            with contextlib.suppress(OSError):
                if record.load().get(exercise.id, {}).get("passed"):
                    whose = f"the course's version; run your check of {exercise.id} again, and yours takes its place."
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            whose = f"the course's version; yours no longer runs ({type(error).__name__}). Run your check of {exercise.id} again."
    _given[exercise.id] = value
    asked.add(exercise.id)
    if not _loading:
        print(f"{exercise.name}: {whose}")
    return value
