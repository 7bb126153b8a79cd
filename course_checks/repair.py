"""Whether one small edit makes a wrong answer right: that proves the place of the mistake. Like ``observe``, it runs a learner's code."""

import ast
import linecache
import time
from typing import Any

from .again import observe_again
from .case import Case
from .edits import Edit, edits
from .exercise import Exercise
from .judge import Finding, Trial, judge
from .known import Known
from .limits import TimeIsUp
from .observe import Recorder, TooLong, limited, observe, observe_all
from .own_code import functions_of, namespaces_of
from .shortcuts import ForbiddenShortcut

SECONDS = 0.5  # of the processor, for the search
# With another size such a call can fill gigabytes, and nothing can stop it: an answer that makes one is not searched.
HEAVY = {"linalg", "lstsq", "svd", "pinverse", "kron", "cdist", "cartesian_prod"}


def one_place(exercise: Exercise, answer: Any, cases: list[Case], finding: Finding, took: float) -> tuple[str, str] | None:
    """Mistake and sentence, where one small edit of the answer makes it right in every case; None where none is found.
    ``took`` is what the answer itself needed for all cases, in seconds: an edit can make a loop endless, and is not waited for.

    Not in an exercise that hands out code with a bug: there finding the place is the task.
    """
    functions = functions_of(answer)
    code = "".join(linecache.getlines(functions[0].__code__.co_filename)) if functions else ""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return None
    tree.body = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom))]
    names = {getattr(node, "name", "") for node in tree.body}
    if exercise.name not in names or any(misconception.untouched for misconception in exercise.misconceptions):
        return None
    if HEAVY & {getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(tree)}:
        return None
    search = _Search(exercise, answer, cases, finding, tree, edits(tree, code), took)
    try:
        while (found := search.next()) is not None:
            if search.always_right(found[1]):
                meaning = f"{found[0].meaning[0].upper()}{found[0].meaning[1:]}"
                text = f"{meaning}. Everything else is right: with that place mended, your answer passes."
                return f"one place, in line {found[0].line}", text
    except TooLong:  # an edit can make a loop endless
        pass
    return None


class _Search:
    """Goes through the edits, on the case that failed first."""

    def __init__(
        self, exercise: Exercise, answer: Any, cases: list[Case], finding: Finding, tree: ast.Module, todo: list[Edit], took: float
    ):
        self.exercise, self.answer, self.cases, self.finding, self.tree, self.todo = exercise, answer, cases, finding, tree, iter(todo)
        self.space = namespaces_of(answer)[0]
        self.left, self.limit = SECONDS, min(4 * SECONDS, 1.2 * SECONDS + 5 * took)
        self.known = Known()
        self.known.expected(exercise, finding.case)  # now: inside the search the oracle's functions may be forbidden
        self.forbidden = {name.split(".")[-1] for name in exercise.forbidden}

    def next(self) -> tuple[Edit, Any] | None:
        """The next edit that makes the failing case right, and the answer with it."""
        box: list[tuple[Edit, Any]] = []

        edit_began = time.monotonic()

        def work(recorder: Recorder) -> None:
            nonlocal edit_began
            began = time.thread_time()  # what else the machine does must not decide about a reason
            for edit in self.todo:
                edit_began = time.monotonic()
                if time.thread_time() - began > self.left:
                    return
                changed = self._with(edit)
                if changed is not None and self._right(changed, recorder):
                    self.left -= time.thread_time() - began
                    box.append((edit, changed))
                    return

        limited(work, self.answer, self.exercise.forbidden, self.limit, lambda: edit_began)
        return box[0] if box else None

    def always_right(self, changed: Any) -> bool:
        """Whether a changed answer is right in every case, also when it is called again."""
        asked = self.exercise.kind, changed, [(case.args, case.gradients) for case in self.cases], self.exercise.forbidden, self.limit
        seen = observe_all(*asked)
        if judge(self.exercise, self.cases, seen, self.known, named=False).finding is not None:
            return False
        return judge(self.exercise, self.cases, observe_again(*asked, seen), self.known, named=False).finding is None

    def _with(self, edit: Edit) -> Any:
        """The answer with one edit; None where that is no code, or uses what the exercise forbids."""
        back = edit.make()
        try:
            if self.forbidden and any(getattr(n, "attr", getattr(n, "id", "")) in self.forbidden for n in ast.walk(self.tree)):
                return None
            ast.fix_missing_locations(self.tree)
            space = dict(self.space)
            exec(compile(self.tree, "<one edit>", "exec"), space)
            return space[self.exercise.name]
        except (TimeIsUp, ForbiddenShortcut):
            raise
        except BaseException:
            return None
        finally:
            back()

    def _right(self, changed: Any, recorder: Recorder) -> bool:
        case = self.finding.case
        seen = observe(self.exercise.kind, changed, case.args, case.gradients, recorder)
        recorder.used.clear()
        return Trial(self.exercise, case, self.finding.index, self.exercise.judged(seen, case), self.known).finding() is None
