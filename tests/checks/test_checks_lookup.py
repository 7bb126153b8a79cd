"""Finding exercises: one chapter at a time, quickly, all or nothing, whatever interrupts it."""

import os
import subprocess
import sys
import textwrap

import pytest

from course_checks import check, exercises, lookup
from course_checks.case import CALLABLES

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the measurement forks, so that torch is imported once")


def run(code: str) -> list[list[str]]:
    """The words of each line that a fresh interpreter prints for ``code``, after torch and the checks are imported."""
    start = "import os, signal, sys, time\nimport torch\n"
    done = subprocess.run([sys.executable, "-c", start + textwrap.dedent(code)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return [line.split() for line in done.stdout.splitlines()]


def test_the_first_check_imports_its_own_chapter_and_is_quick():
    code = """
    started = time.process_time()
    from course_checks import check
    check("00.3", lambda query, key: query @ key.mT)
    print("seconds", time.process_time() - started)
    for name in sys.modules:
        if name.startswith("course_checks.exercises.ch") or name in ("torch._dynamo", "sympy"):
            print("module", name)
    """
    runs = [run(code) for _ in range(3)]
    assert {row[1].split(".")[2] for row in runs[0] if row[0] == "module"} == {"ch00"}
    assert min(float(row[1]) for rows in runs for row in rows if row[0] == "seconds") < 0.5


@needs_fork
def test_no_chapter_is_slow_to_import():
    """Nothing is built or measured at import, and neither PyTorch's compiler nor sympy comes in."""
    rows = run("""
    import course_checks
    from course_checks.lookup import chapters, in_chapter
    for chapter in chapters():
        if os.fork() == 0:
            started = time.process_time()
            in_chapter(chapter)
            heavy = [name for name in ("torch._dynamo", "sympy") if name in sys.modules]
            others = {name.split(".")[2] for name in sys.modules if name.startswith("course_checks.exercises.ch")} - {"ch" + chapter}
            print(chapter, time.process_time() - started, *heavy, *others, flush=True)
            os._exit(0)
        os.wait()
    """)
    assert [row[0] for row in rows] == lookup.chapters()
    for chapter, seconds, *others in rows:
        assert float(seconds) < 0.3, f"the exercises of {chapter} take {seconds} s to import"
        assert not others, f"the exercises of {chapter} import {others}"


@needs_fork
def test_an_interrupt_costs_nothing():
    """Ctrl-C at many moments of the first look, inside imports too: afterwards the catalogue is whole and its answers are judged."""
    rows = run("""
    from course_checks.engine import examine
    from course_checks.lookup import catalogue, find

    def interrupted(moment):
        hits = []
        def strike(event, args):
            if event == "import" and args[0] == moment and not hits:
                hits.append(signal.raise_signal(signal.SIGINT))
        if isinstance(moment, str):
            sys.addaudithook(strike)
        else:
            signal.signal(signal.SIGALRM, lambda *event: signal.raise_signal(signal.SIGINT))
            signal.setitimer(signal.ITIMER_REAL, moment)
        try:
            catalogue()
            caught = 0
        except KeyboardInterrupt:
            caught = 1
        signal.setitimer(signal.ITIMER_REAL, 0)
        exercise = find("08a.7")
        print(moment, caught, len(catalogue()), examine(exercise, exercise.reference).passed, flush=True)

    signal.signal(signal.SIGINT, signal.default_int_handler)
    parts = "ch00", "ch03.layer", "ch08b.callables", "ch12b.layer"
    imports = [*("course_checks.exercises." + part for part in parts), "course_utils.models.xlnet"]
    for moment in (0.002, 0.005, 0.01, 0.015, 0.02, 0.03, *imports):
        if os.fork() == 0:
            interrupted(moment)
            os._exit(0)
        os.wait()
    """)
    everything = str(len(lookup.catalogue()))
    assert len(rows) == 11
    assert sum(row[1] == "1" for row in rows) >= 8, rows  # most of them struck before the end
    assert all(row[2:] == [everything, "True"] for row in rows), rows


@pytest.fixture
def chapter(tmp_path, monkeypatch):
    """Makes chapter 99 of exercises with these (id, title) pairs."""
    monkeypatch.setattr(exercises, "__path__", [*exercises.__path__, str(tmp_path)])

    def make(*pairs: tuple[str, str]) -> None:
        (tmp_path / "ch99").mkdir()
        (tmp_path / "ch99" / "__init__.py").write_text(
            f"from types import SimpleNamespace\nEXERCISES = [SimpleNamespace(id=id, title=title) for id, title in {pairs!r}]\n"
        )

    yield make
    sys.modules.pop("course_checks.exercises.ch99", None)
    lookup._chapters.pop("99", None)
    if hasattr(exercises, "ch99"):
        del exercises.ch99


def test_two_exercises_with_one_id_are_an_error(chapter):
    chapter(("99.1", "First"), ("99.2", "Second"), ("99.1", "Third"))
    for _ in range(2):
        with pytest.raises(ValueError, match="two exercises have the id 99.1: 'First' and 'Third'"):
            lookup.catalogue()


def test_an_exercise_lies_in_its_chapter(chapter):
    chapter(("99.1", "First"), ("03.2", "Second"))
    with pytest.raises(ValueError, match="exercise 03.2 'Second' is in the folder of chapter 99"):
        lookup.catalogue()


def test_registered_callables_have_names_of_their_own():
    """Chapters are imported in any order: a second function of a name would replace the first."""
    lookup.catalogue()
    for name, module in list(sys.modules.items()):
        if name.startswith("course_checks.exercises.") and name.endswith(".callables"):
            for function in [value for value in vars(module).values() if getattr(value, "__name__", None) in CALLABLES]:
                assert CALLABLES[function.__name__] is function, f"{function.__name__} of {name} is also a name of another chapter"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("03.22", "Did you mean '03.2'?"),
        ("3.2", "Did you mean '03.2'?"),
        ("8a.3", "Did you mean '08a.3'?"),
        ("03.99", "There is no exercise '03.99'"),
        ("lasagne", "There are chapters 00, 00b"),
        ("", "There are chapters 00, 00b"),
    ],
)
def test_ids_that_do_not_exist(asked, words, capsys):
    result = check(asked, 1)
    assert result.stage == "type"
    assert words in result.message


def test_a_wrong_id_imports_one_chapter_at_most():
    rows = run("""
    from course_checks import check
    check("3.2", len), check("03.9", len), check("lasagne", len)
    print("modules", *sorted({name.split(".")[2] for name in sys.modules if name.startswith("course_checks.exercises.ch")}))
    """)
    assert rows[-1] == ["modules", "ch03"]
