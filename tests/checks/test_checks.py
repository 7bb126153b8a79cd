"""The engine against what learners really do. Each mishap gets its own sentence; nothing is ever raised at them."""

import gc
import json
import linecache
import os
import subprocess
import sys
import threading
import time
import weakref
from dataclasses import replace

import numpy as np
import pytest
import torch
from made import gaussian_weights
from torch.nn import functional as F

from course_checks import check, comparison, engine, limits, panel, record
from course_checks import progress as show_progress
from course_checks.engine import CheckFailed, examine
from course_checks.lookup import catalogue, find, following
from course_utils.paths import ROOT
from tests.answers import right_ones, run

BY_ID = {exercise.id: exercise for exercise in catalogue()}
WEIGHTS, PREDICT, SCORES, ATTEND, MODULE = (BY_ID[i] for i in ("01.1", "01.2", "03.1", "03.2", "03.6"))
right = right_ones("03.2")[0]


def test_print_inside_is_a_remark_not_a_fault(capsys):
    def answer(query, keys, bandwidth):
        print("weights coming")
        return gaussian_weights(query, keys, bandwidth)

    result = examine(WEIGHTS, answer)
    assert result.passed
    assert "weights coming" in str(result)
    assert "weights coming" not in capsys.readouterr().out


def test_float64_passes_with_a_remark():
    result = examine(WEIGHTS, lambda query, keys, bandwidth: gaussian_weights(query.double(), keys.double(), bandwidth))
    assert result.passed
    assert "float64" in str(result)


def test_numpy_array():
    result = examine(WEIGHTS, lambda query, keys, bandwidth: gaussian_weights(query, keys, bandwidth).numpy())
    assert (result.stage, result.mistake) == ("type", "NumPy array instead of tensor")
    assert "numbers are right" in result.message


def test_tuple_instead_of_tensor():
    result = examine(WEIGHTS, lambda query, keys, bandwidth: (gaussian_weights(query, keys, bandwidth), 1.0))
    assert (result.stage, result.mistake) == ("type", "tuple instead of tensor")
    assert "Entry 0" in result.message


def test_only_one_of_two_results():
    result = examine(ATTEND, lambda *a, **k: right(*a, **k)[0])
    assert (result.stage, result.mistake) == ("type", "returns only one of the results")
    result = examine(ATTEND, lambda *a, **k: (*right(*a, **k), 0))
    assert (result.stage, result.mistake) == ("type", "wrong number of results")


def test_forgotten_return_and_print_instead():
    assert examine(WEIGHTS, lambda query, keys, bandwidth: None).mistake == "no return"

    def prints(query, keys, bandwidth):
        print(gaussian_weights(query, keys, bandwidth))

    assert examine(WEIGHTS, prints).mistake == "prints instead of returning"


def test_input_changed_in_place():
    def answer(query, key):
        query /= query.shape[-1] ** 0.5
        return query @ key.mT

    def on_data(query, key):
        query.data /= query.shape[-1] ** 0.5
        return query @ key.mT

    for damaging in (answer, on_data):
        result = examine(SCORES, damaging)
        assert result.mistake == "input changed in place"
        assert "query" in result.message


@pytest.mark.parametrize("swallow", [False, True])
def test_endless_loop_stops(monkeypatch, swallow):
    monkeypatch.setattr(engine, "LIMIT", 0.4)
    over = threading.Event()

    def answer(query, keys, bandwidth):
        while not over.is_set():
            try:
                sum(range(100))
            except Exception:
                if not swallow:
                    raise

    result = examine(WEIGHTS, answer)
    over.set()  # what could not be interrupted ends now
    assert result.mistake == "endless loop"
    assert result.stage == "raised"
    assert "line" in result.message


def test_of_an_endless_loop_a_line_of_the_answer_is_told(monkeypatch):
    """The function of another cell that it was calling just then is innocent."""
    monkeypatch.setattr(engine, "LIMIT", 0.4)
    space = {}
    for name, cell in (
        ("<ipykernel other>", "def helper():\n    for i in range(1000):\n        pass\n"),
        ("<ipykernel answer>", "def answer(query, keys, bandwidth):\n    while True:\n        helper()\n"),
    ):
        linecache.cache[name] = (len(cell), None, cell.splitlines(True), name)
        exec(compile(cell, name, "exec"), space)
    assert "`helper()`" in examine(WEIGHTS, space["answer"]).message


def test_code_that_cannot_be_interrupted_is_abandoned():
    with pytest.raises(limits.Abandoned):
        limits.run_with_limit(lambda: time.sleep(4), 0.2)


def test_of_stopped_code_nothing_is_kept():
    """An endless loop may have filled gigabytes; they must not wait for the garbage collector."""
    made = []

    class Large:
        pass

    def endless():
        large = Large()
        made.append(weakref.ref(large))
        while True:
            pass

    gc.disable()
    try:
        limits.run_with_limit(endless, 0.2)
    except limits.TimeIsUp:
        pass
    finally:
        gc.enable()
    assert made[0]() is None


def test_redefined_names():
    space = {}
    exec("sum = 3\ndef f(query, keys, bandwidth):\n    return sum([query])\n", space)
    result = examine(WEIGHTS, space["f"])
    assert result.mistake == "redefined name"
    assert "del sum" in result.message
    result = examine(WEIGHTS, torch.ones(3))
    assert (result.stage, result.mistake) == ("type", "redefined name")
    assert "without parentheses" in result.message
    assert examine(MODULE, MODULE.reference(6, 4, 5)).mistake == "instance instead of class"


def test_answer_not_passed_or_unknown_exercise(capsys):
    assert check("03.2").stage == "not attempted"
    assert "03.2" in check("3.2", right).message
    assert capsys.readouterr().out.count("\n") >= 2


def test_forbidden_shortcut_by_any_name():
    def plain(query, key, value, mask=None):
        return F.scaled_dot_product_attention(query, key, value), key

    space = {"torch": torch}
    exec(
        "from torch.nn.functional import scaled_dot_product_attention as quick\n"
        "def f(query, key, value, mask=None):\n"
        "    try:\n        return quick(query, key, value), key\n    except Exception:\n        return None\n",
        space,
    )
    original = F.scaled_dot_product_attention
    for answer in (plain, space["f"]):
        result = examine(ATTEND, answer)
        assert (result.stage, result.points) == ("forbidden shortcut", 0), str(result)
    assert F.scaled_dot_product_attention is original
    assert space["quick"] is original


def test_gradient_cut():
    result = examine(SCORES, lambda query, key: SCORES.reference(query, key.detach()))
    assert (result.stage, result.mistake) == ("gradients", "gradient cut")
    assert "`key`" in result.message


def test_parts_earn_points_on_their_own():
    def unmasked(query, key, value, mask=None):
        weights = (query @ key.mT / query.shape[-1] ** 0.5).softmax(-1)
        return weights @ value, weights

    result = examine(ATTEND, unmasked)
    assert result.points == 3
    assert result.possible == 6
    assert result.mistake == "mask ignored"


def test_error_without_the_numbers():
    def vague(query, keys, bandwidth):
        if bandwidth <= 0:
            raise ValueError("bad bandwidth")
        return gaussian_weights(query, keys, bandwidth)

    result = examine(WEIGHTS, vague)
    assert result.mistake == "a number missing in the message"
    assert result.points == 3


def test_error_without_the_word():
    step = BY_ID["07b.3"]

    def vague(x, branch, norm_in, norm_out, place):
        if place not in ("post", "pre", "sandwich", "output"):
            raise ValueError("no such place for a norm")
        return step.reference(x, branch, norm_in, norm_out, place)

    assert examine(step, vague).mistake == "a word missing in the message"


def test_evaluation_mode():
    from course_checks.observe import observe

    class Drop(torch.nn.Dropout):
        def __init__(self):
            super().__init__(1.0)

        def forward(self, x):
            return super().forward(x)

    args = {"init": {}, "parameters": {}, "inputs": {"x": torch.ones(3)}}
    assert observe("module", Drop, args).value.sum() == 0
    assert observe("module", Drop, {**args, "mode": "train"}).value.sum() == 0
    assert observe("module", Drop, {**args, "mode": "eval"}).value.sum() == 3


def test_long_lists_of_parameters_are_cut():
    class Nothing(torch.nn.Module):
        def __init__(self, d_model, num_heads, d_ff, num_layers):
            super().__init__()

    message = examine(BY_ID["07a.5"], Nothing).message
    assert message.count("`") < 12
    assert " more" in message


def test_module_mishaps():
    class Unnamed(torch.nn.Module):
        def __init__(self, d_model, d_k, d_v):
            super().__init__()
            self.q = torch.nn.Linear(d_model, d_k, bias=False)

        def forward(self, x, mask=None):
            return x

    result = examine(MODULE, Unnamed)
    assert result.stage == "type"
    assert "`w_k.weight`" in result.message
    assert "`q.weight`" in result.message

    class NoModule:
        def __init__(self, d_model, d_k, d_v):
            pass

    assert "nn.Module" in examine(MODULE, NoModule).message

    class Sizes(MODULE.reference):
        def __init__(self, d_model, d_k, d_v):
            super().__init__(d_model, d_v, d_k)

    assert "has shape" in examine(MODULE, Sizes).message


def test_the_learners_random_state_and_the_seed():
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    wrong = examine(WEIGHTS, lambda query, keys, bandwidth: torch.rand(len(query), len(keys)))
    assert torch.equal(before, torch.random.get_rng_state())
    assert wrong.seed is not None
    assert f"seed {wrong.seed}" in str(wrong)
    again = examine(WEIGHTS, lambda query, keys, bandwidth: torch.rand(len(query), len(keys)), seed=wrong.seed)
    assert torch.equal(again.finding.expected, wrong.finding.expected)


def test_generic_clues():
    def tripled(query, key):
        return 3 * SCORES.reference(query, key)

    assert "3 times" in str(examine(SCORES, tripled))
    assert "Averaged over axis 2" in str(
        examine(WEIGHTS, lambda query, keys, bandwidth: gaussian_weights(query, keys, bandwidth)[..., None] * torch.ones(2))
    )
    assert "only the shape is not" in str(
        examine(PREDICT, lambda query, keys, values, bandwidth: PREDICT.reference(query, keys, values, bandwidth)[:, None])
    )


def test_panel_in_three_formats():
    wrong = examine(SCORES, SCORES.misconceptions[0].answer, seed=3)
    text, html, markdown = str(wrong), wrong._repr_html_(), wrong._repr_markdown_()
    for shown in (text, html, markdown):
        assert "Not scaled" in shown
        assert "03.1" in shown
    assert "<table" in html
    assert "seed 3" in html
    assert "<script" not in html
    assert "<div class='course-panel failed'>" in html and "○○○○" in html and "30 of 30 wrong" in html
    nasty = panel.CheckResult("x", "<b>t</b>", False, 0, 1, "raised", "<img src=x onerror=alert(1)>")
    assert "<img" not in nasty._repr_html_()


def test_only_what_differs_is_written():
    def one_off(query, key):
        scores = SCORES.reference(query, key).clone()
        scores[..., 0, 1] += 1
        return scores

    html = examine(SCORES, one_off, seed=3).html()
    assert html.count("<td class=wrong>") == 1 and "<td class=wrong>+1</td>" in html and html.count("<td class=fine>·</td>") == 29
    assert "1 of 30 wrong" in html and html.count("<table") == 3


def test_a_right_prediction_has_its_reason():
    order = find("03.9")
    assert "Why: Token i takes its output with it" in str(examine(order, order.reference))
    assert examine(SCORES, SCORES.reference).why is None


def test_result_fields_and_truth():
    result = examine(SCORES, SCORES.reference)
    assert bool(result)
    assert result.use is SCORES.reference
    assert result.stage == "passed"
    assert result.points == result.possible == 4
    assert result.mistake is None
    assert result.hint is None


def test_strict_mode_raises(monkeypatch):
    monkeypatch.setenv("COURSE_STRICT", "1")
    monkeypatch.setenv("COURSE_PROGRESS", "off")
    with pytest.raises(CheckFailed, match="03.1"):
        check("03.1", SCORES.misconceptions[0].answer)
    assert check("03.1", lambda query, key: SCORES.reference(query, key)).passed


def test_running_the_check_cell_twice_does_not_pass_with_our_version():
    """`f = check("03.1", f).use` rebinds the learner's name to the reference; it must not earn points the second time."""
    first = check("03.1", SCORES.misconceptions[0].answer)
    second = check("03.1", first.use)
    assert not second.passed
    assert (second.points, second.stage, second.message) == (first.points, first.stage, first.message)
    assert "the same answer as before" in str(second)
    assert "own version" in str(second)


NOTEBOOK = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
ask, head = 'check("01.1", gaussian_weights)', "(query, keys, bandwidth):\\n    return "
cells = ["from course_checks import check", "def gausian_weights" + head + "1", "def gaussian_weights" + head + "query -",
         "def gaussian_weights" + head + "query - keys", "def gaussian_weights" + head + "(query",
         "print(unknown)\\ncheck('01.1', unknown)", "def f():\\n    return check(gaussian_wights)\\nf()",
         "check(\\n    '01.1',\\n    nothing_like_it,\\n)"]
for cell in [part for cell in cells for part in (cell, ask)]:
    print("CELL")
    shell.run_cell(cell)
"""


def test_names_that_do_not_exist_are_explained():
    """Not run, misspelt, a cell that Python could not read: each is told as what it is."""
    done = subprocess.run(
        [sys.executable, "-c", NOTEBOOK],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "COURSE_PROGRESS": "off", "PYTHONPATH": str(ROOT)},
    )
    cells = done.stdout.split("CELL\n")[1:]
    assert "has not been run" in cells[1], done.stdout + done.stderr
    assert "you have defined `gausian_weights`" in cells[3]
    assert "Python stopped at line 2 with SyntaxError" in cells[5]
    assert "SyntaxError" not in cells[7]
    assert "of before: when its cell was last run, Python stopped at line 2" in cells[9]
    for number in (1, 3, 14):
        assert "○ 01.1" in cells[number] and "Traceback" not in cells[number] + done.stderr, "a panel instead of the traceback"
    for number in (10, 12):  # not the line of a check, and not the answer of one: as ever
        assert "Traceback (most recent call last)" in cells[number] and "○" not in cells[number]


def test_progress_is_kept_best_and_survives_damage(monkeypatch, tmp_path):
    store = record
    monkeypatch.delenv("COURSE_PROGRESS", raising=False)
    monkeypatch.setattr(store, "ROOT", tmp_path)
    store.record("03.1", 4, True)
    store.record("03.1", 1, False)
    assert store.load()["03.1"] == {"points": 4, "passed": True}
    assert "✓" in str(show_progress())
    assert "4 of" in str(show_progress())
    store.progress_file().write_text("{ not json")
    assert store.load() == {}
    assert (tmp_path / ".course" / "progress.damaged.json").exists()
    store.record("03.2", 3, False)
    assert json.loads(store.progress_file().read_text())["03.2"]["points"] == 3
    assert not list((tmp_path / ".course").glob("*.tmp"))
    monkeypatch.setenv("COURSE_PROGRESS", "off")
    store.record("03.3", 2, True)
    assert "03.3" not in store.load()


def test_progress_suggests_and_forgets(monkeypatch, tmp_path):
    monkeypatch.delenv("COURSE_PROGRESS", raising=False)
    monkeypatch.setattr(record, "ROOT", tmp_path)
    ids = [exercise.id for exercise in catalogue()]
    assert show_progress().next()[0] == ids[0]
    record.record("03.1", 4, True)
    assert show_progress().next()[0] == "03.2"  # not chapter 00: who has come so far goes on
    record.record("03.3", 1, False)
    assert show_progress().next()[0] == "03.3"  # begun
    assert "1 of" in str(show_progress()).splitlines()[-1]
    assert "Next: <a href='03_self_attention.ipynb#exercise-03.3'>03.3 Predict" in show_progress()._repr_html_()
    record.record("04.1", 2, True)
    left = show_progress(reset="03")
    assert "03.1" not in record.load()
    assert record.load()["04.1"]["passed"]
    assert left.next()[0] == "04.2"
    kept = json.loads((tmp_path / ".course" / "progress.before_reset.json").read_text())
    assert set(kept) == {"03.1", "03.3", "04.1"}
    with pytest.raises(ValueError, match="'3' is no chapter; choose one of 00, 00b"):
        show_progress(reset="3")
    for exercise in catalogue():
        record.record(exercise.id, exercise.points, True)
    assert show_progress().next() is None
    assert "All done" in str(show_progress())
    assert show_progress(reset=True).next()[0] == ids[0]
    assert record.load() == {}


def test_numpy_scalar_answers():
    result = examine(BY_ID["03.3"], {key: np.float32(value) for key, value in BY_ID["03.3"].reference.items()})
    assert result.passed


def test_lists_of_another_length_inside_a_tuple():
    exercise = replace(WEIGHTS, oracle=lambda query, keys, bandwidth: ([1.0, 2.0], [3.0]), outputs=("first", "second"))
    assert examine(exercise, lambda query, keys, bandwidth: ([1.0, 2.0], [3.0])).earned["values"] == 2
    result = examine(exercise, lambda query, keys, bandwidth: ([1.0], [3.0]))
    assert result.stage == "shape"
    assert result.message == "Your first holds 1 entry; expected 2."


# ---------------------------------------------------------------- after a right answer

EINSUM = """
def attention_scores(query, key):
    return torch.einsum("...nd,...md->...nm", query, key) / key.shape[-1] ** 0.5
"""


def test_a_right_answer_is_shown_beside_the_courses(monkeypatch, tmp_path):
    result = examine(SCORES, run("03.1", EINSUM, "with einsum"))
    shown = result.compare()
    assert "return torch.einsum" in shown.own and "return query @ key" in shown.ours
    assert "einsum names the axes" in shown.sentence and "ms" in shown.sentence
    assert "return torch.einsum" in repr(shown) and "&quot;...nd" in shown._repr_html_()
    assert "<span class=other>    return query @ key" in shown._repr_html_() and "<span>def attention" in shown._repr_html_()
    assert '"""' not in shown.own + shown.ours, "without docstrings"
    assert "First get it right" in examine(SCORES, SCORES.misconceptions[0].answer).compare().sentence
    monkeypatch.setattr(comparison, "ROOT", tmp_path)
    assert "without its solutions" in result.compare().sentence


def test_a_chapter_is_begun_again_from_the_notebook(tmp_path, monkeypatch, capsys):
    import course_checks.record as record

    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "03_x.ipynb").write_bytes((ROOT / "chapters" / "03_self_attention.ipynb").read_bytes())
    monkeypatch.setattr(record, "ROOT", tmp_path)
    for said in ("fresh copy of chapter 03. Where", "Yours lies in"):
        show_progress(restart="03")
        assert said in capsys.readouterr().out
    with pytest.raises(ValueError, match="no chapter 99"):
        show_progress(restart="99")


def test_the_exercise_behind_it_is_named(monkeypatch, capsys):
    monkeypatch.setenv("COURSE_PROGRESS", "off")
    result = check("03.1", run("03.1", EINSUM, "with einsum"))
    assert result.following[0] == "Exercise 03.2 Scaled dot-product attention"
    assert result.following[1] in result._repr_html_() and "Next: Exercise 03.2" in capsys.readouterr().out
    assert result.following[1] == "#exercise-03.2"
    notebook = json.loads((ROOT / "chapters" / "03_self_attention.ipynb").read_text(encoding="utf-8"))
    assert any("".join(cell["source"]).startswith('<a id="exercise-03.2"></a>\n\n### Exercise 03.2 ') for cell in notebook["cells"])
    assert following(find("03.7")) == ("chapter 04 multi head attention", "04_multi_head_attention.ipynb")
    assert following(find("12b.5")) == ("chapter 13a fast attention", "13a_fast_attention.ipynb")
    assert following(find("12b.6")) == ("chapter 13a fast attention", "../13a_fast_attention.ipynb")  # in a companion
    assert following(find("13b.6")) is None
