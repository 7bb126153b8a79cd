"""Whether one small edit makes a wrong answer right: that proves the place of the mistake. Like ``observe``, it runs a learner's code."""

import ast
import inspect
import linecache
import time
from collections.abc import Iterator
from typing import Any

from .again import observe_again
from .case import Case
from .edits import Edit, edits, put
from .exercise import Exercise
from .judge import Finding, Trial, judge
from .kinds import KINDS
from .known import Known
from .limits import TimeIsUp
from .observe import Recorder, TooLong, limited, observe, observe_all
from .own_code import functions_of, namespaces_of
from .shortcuts import ForbiddenShortcut

SECONDS = 0.5  # of the processor, for the search
# With another size such a call can fill gigabytes, and nothing can stop it: an answer that makes one is not searched.
HEAVY = {"linalg", "lstsq", "svd", "pinverse", "kron", "cdist", "cartesian_prod"}


def one_place(
    exercise: Exercise, answer: Any, cases: list[Case], finding: Finding, took: float, refuses: bool = True
) -> tuple[str, str] | None:
    """Mistake and sentence, where one small edit of the answer makes it right in every case; None where none is found.
    Unless the answer ``refuses`` what it should, that may be missing in the end, too. ``took`` is what the answer itself needed for all
    cases, in seconds: an edit can make a loop endless, and is not waited for.

    Not in an exercise that hands out code with a bug: there finding the place is the task. Nor for a claim, which is the learner's own.
    """
    if not KINDS[exercise.kind].again:
        return None
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
    search = _Search(exercise, answer, cases, finding, tree, [*_defaults(exercise, tree), *edits(tree, code)], took)
    try:
        while (found := search.next()) is not None:
            began = time.process_time()
            rest = search.rest(found[1])
            search.left -= time.process_time() - began
            if rest is None or rest.case.rejects is not None and not refuses:
                meaning = f"{found[0].meaning[0].upper()}{found[0].meaning[1:]}"
                but = f"but for what must be refused, as with “{rest.case.label}”" if rest else ""
                text = f"{meaning}. Everything else is right{f', {but}.' if but else ': with that place mended, your answer passes.'}"
                return f"one place, in line {found[0].line}", text
    except TooLong:  # an edit can make a loop endless
        pass
    return None


def _defaults(exercise: Exercise, tree: ast.Module) -> Iterator[Edit]:
    """The stub's defaults, where the answer has others: code from elsewhere brings its own."""
    parts = (
        [getattr(exercise.right, name, exercise.right) for name in ("__init__", "forward")]
        if exercise.kind == "module"
        else [exercise.right]
    )
    stubs = {part.__name__: inspect.signature(part).parameters for part in parts}
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name in stubs):
        names = function.args.args[-len(function.args.defaults) :] if function.args.defaults else []
        for i, (argument, default) in enumerate(zip(names, function.args.defaults, strict=True)):
            ours = stubs[function.name].get(argument.arg)
            if (
                ours
                and isinstance(default, ast.Constant)
                and isinstance(ours.default, (bool, int, float))
                and ours.default != default.value
            ):
                meaning = f"by default `{argument.arg}` is {default.value!r} here, and {ours.default} in the stub"
                yield Edit(0, argument.lineno, meaning, put(function.args, "defaults", i, ast.Constant(ours.default)))


class _Search:
    """Goes through the edits, on the case that failed first."""

    def __init__(
        self, exercise: Exercise, answer: Any, cases: list[Case], finding: Finding, tree: ast.Module, todo: list[Edit], took: float
    ):
        self.exercise, self.answer, self.cases, self.finding, self.tree, self.todo = exercise, answer, cases, finding, tree, iter(todo)
        self.space = namespaces_of(answer)[0]
        self.left, self.limit, self.once = SECONDS, min(4 * SECONDS, SECONDS + 5 * took), SECONDS + 5 * took / len(cases)
        self.known = Known()
        self.known.expected(exercise, finding.case)  # now: inside the search the oracle's functions may be forbidden
        self.forbidden = {name.split(".")[-1] for name in exercise.forbidden if name.startswith("torch.")} - {
            "forward"
        }  # what an edit may put

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

        limited(work, self.answer, self.exercise.forbidden, self.once, lambda: edit_began)
        return box[0] if box else None

    def rest(self, changed: Any) -> Finding | None:
        """What is wrong with a changed answer, also when it is called again; last of all what it does not refuse as it should."""
        asked = self.exercise.kind, changed, [(case.args, case.gradients) for case in self.cases], self.exercise.forbidden, self.limit
        seen = observe_all(*asked)
        found = judge(self.exercise, self.cases, seen, self.known, named=False).finding
        if found is not None and found.case.rejects is None:
            return found
        return judge(self.exercise, self.cases, observe_again(*asked, seen, False), self.known, named=False).finding

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
