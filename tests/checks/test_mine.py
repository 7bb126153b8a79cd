"""Right answers are kept so that they run by themselves, or refused with the reason; ``mine`` gives them back; one file holds them all."""

import errno
import inspect
import json
import linecache
import os
import re
import subprocess
import sys
from itertools import count

import pytest
import torch

from course_checks import check, kept, mine, record
from course_checks.engine import examine
from course_checks.lookup import find
from course_utils.mine import drawing, gather, whole
from course_utils.paths import ROOT
from course_utils.text.numbers import number_tokens

NUMBER = count(1)
HEAD = "import math\nimport torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"


class Notebook:
    """Cells that are run one after the other in one namespace, as a kernel does."""

    def __init__(self, *cells):
        self.space = {"__name__": "__main__", "check": check, "mine": mine}
        for source in (HEAD, *cells):
            self.run(source)

    def run(self, source):
        name = f"<ipython-input-{next(NUMBER)}-mine>"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        exec(compile(source, name, "exec", dont_inherit=True), self.space)
        return self.space.get("result")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A course of one's own, with nothing kept."""
    monkeypatch.delenv("COURSE_PROGRESS", raising=False)
    monkeypatch.setattr(record, "ROOT", tmp_path)
    monkeypatch.setattr(kept, "_loaded", {})
    monkeypatch.setattr(kept, "_given", {})
    return tmp_path


def norm(body="normal * weight + bias", first="", arguments="eps=1e-5"):
    """A right answer to 07a.1, with something else in it."""
    return (
        f"def layer_norm(x, weight, bias, {arguments}):\n    {first or 'pass'}\n    mean = x.mean(-1, keepdim=True)\n"
        "    variance = ((x - mean) ** 2).mean(-1, keepdim=True)\n    normal = (x - mean) / (variance + eps) ** 0.5\n"
        f"    return {body}\n"
    )


SCALED = norm("scaled(normal, weight, bias)")
ONE_CLASS = """class MultiHeadAttention(Base):
    def forward(self, query, key=None, value=None, mask=None):
        return self.attend(query, key, value, mask)
"""
KEPT = {  # cells, and what the text must or must not hold
    "a helper of another cell": (["def scaled(n, w, b):\n    return n * w + b", SCALED], ["def scaled"], ["nn", "math"]),
    "a helper of a helper, below it": (
        ["def scaled(n, w, b):\n    return plus(n * w, b)", "def plus(a, b):\n    return a + b", SCALED],
        ["def plus"],
        [],
    ),
    "a constant": (["ONE = 1.0", norm("normal * weight * ONE + bias")], ["ONE = 1.0"], []),
    "constants of a list and a dict": (["K = {'a': [1, 2]}", norm("normal * weight * K['a'][0] + bias")], ["K = {"], []),
    "a lambda in another cell": (["scaled = lambda n, w, b: n * w + b", SCALED], ["scaled = lambda"], []),
    "an answer that is a lambda": (
        [
            "layer_norm = lambda x, weight, bias, eps=1e-5: weight * ((x - x.mean(-1, keepdim=True))\n"
            "    / (x.var(-1, keepdim=True, correction=0) + eps).sqrt()) + bias"
        ],
        ["layer_norm = lambda"],
        [],
    ),
    "a decorator of torch": (["@torch.enable_grad()\n" + norm()], ["@torch.enable_grad()"], []),
    "a decorator of one's own": (
        [
            "import functools\ndef loud(f):\n    @functools.wraps(f)\n    def inner(*a, **k):\n        return f(*a, **k)\n    return inner",
            "@loud\n" + norm(),
        ],
        ["def loud", "@loud", "import functools"],
        [],
    ),
    "a decorator without wraps": (
        ["def loud(f):\n    def inner(*a, **k):\n        return f(*a, **k)\n    return inner", "@loud\n" + norm()],
        ["@loud"],
        [],
    ),
    "recursion": (
        ["def power(a, n):\n    return a if n == 1 else a * power(a, n - 1)", norm("power(normal, 1) * weight + bias")],
        ["def power"],
        [],
    ),
    "two that call each other": (
        [
            "def even(n):\n    return n == 0 or odd(n - 1)\ndef odd(n):\n    return n != 0 and even(n - 1)",
            norm("normal * weight + bias if even(4) else None"),
        ],
        ["def even", "def odd"],
        [],
    ),
    "nested functions": ([norm("inner(normal)", "def inner(n): return n * weight + bias")], ["def inner"], []),
    "numpy": (["import numpy as np", norm("normal * weight * float(np.float64(1)) + bias")], ["import numpy as np"], ["math"]),
    "an alias": (
        ["import torch.nn as n", norm("n.functional.relu(normal * 0) + normal * weight + bias")],
        ["from torch import nn as n"],
        [],
    ),
    "a partial": (
        ["from functools import partial\nscaled = partial(torch.add, alpha=1)", norm("scaled(normal * weight, bias)")],
        ["scaled = partial(torch.add"],
        [],
    ),
    "a closure that another function built": (
        ["def make(k):\n    def scaled(n, w, b):\n        return k * n * w + b\n    return scaled", "scaled = make(1.0)", SCALED],
        ["scaled = make(1.0)", "def make"],
        [],
    ),
    "an answer built by another function": (
        [
            "def make(k):\n    return lambda x: k * x",
            norm("normal * weight + bias").replace("def layer_norm", "def own"),
            "layer_norm = own",
        ],
        ["layer_norm = own"],
        ["make"],
    ),
    "pasted twice": ([norm("normal * weight"), norm(), "old = layer_norm", norm()], ["weight + bias"], ["old"]),
    "names that are not English": (
        ["größe = 1.0\ndef verschoben(zahl, b):\n    return zahl + b", norm("verschoben(normal * weight * größe, bias)")],
        ["größe = 1.0", "def verschoben"],
        [],
    ),
    "an exception of one's own": (
        ["class Odd(ValueError):\n    pass", norm(first="if not x.numel(): raise Odd('nothing')")],
        ["class Odd(ValueError)"],
        [],
    ),
    "a default that is a name": (["EPS = 1e-5", norm(arguments="eps=EPS")], ["EPS = 1e-05"], []),
    "an annotation": (["from torch import Tensor", norm().replace("(x,", "(x: Tensor,")], ["from torch import Tensor"], []),
    "a star import": (["from math import *", norm("normal * weight * cos(0) + bias")], ["from math import cos"], ["*\n"]),
    "a star import of torch": (["from torch import *", norm("add(normal * weight, bias)")], ["from torch import add"], []),
    "a small tensor": (
        ["shift = torch.tensor([0.0])", norm("normal * weight + bias + shift")],
        ["shift = torch.tensor([0.0], dtype=torch.float32)", "import torch"],
        [],
    ),
    "a class and a method": (
        [
            "class Tool:\n    def plus(self, a, b):\n        return a + b\n    @staticmethod\n    def same(a):\n        return a",
            norm("Tool.same(Tool().plus(normal * weight, bias))"),
        ],
        ["class Tool"],
        [],
    ),
    "another name": ([norm().replace("layer_norm", "my_norm"), "layer_norm = my_norm"], ["layer_norm = my_norm"], []),
    "a function of the course": (
        ["from course_utils.models.attention import masked_softmax", norm("normal * weight + bias + 0 * masked_softmax(normal)")],
        ["from course_utils.models.attention import masked_softmax"],
        [],
    ),
    "a tensor in a closure, made anew": (
        [
            "def make(t):\n    def scaled(n, w, b):\n        return n * w + b + t.sum()\n    return scaled",
            "scaled = make(torch.zeros(99))",
            SCALED,
        ],
        ["scaled = make(torch.zeros(99))"],
        [],
    ),
    "a cell with a check in it": (
        ["def scaled(n, w, b):\n    return n * w + b\n" + SCALED + "result = check('07a.1', layer_norm)"],
        ["def scaled"],
        ["check(", "result"],
    ),
}
REFUSED = {  # cells, and what the panel says
    "a tensor of another cell": (
        ["table = torch.zeros(5, 50)", norm("normal * weight + bias + table.sum()")],
        "`table`, which another cell computed",
    ),
    "a module of another cell": (["layer = nn.Identity()", norm("layer(normal) * weight + bias")], "`layer`, which another cell computed"),
    "a random tensor in a closure": (
        [
            "def make(t):\n    def scaled(n, w, b):\n        return n * w + b + 0 * t.sum()\n    return scaled",
            "scaled = make(torch.rand(99))",
            SCALED,
        ],
        "`scaled`, which was given another value since",
    ),
    "global": (["calls = 0", norm(first="global calls; calls = calls + 1")], "`calls`, which it changes"),
    "a file": ([norm(first="open('/dev/null').close()")], "a file"),
    "eval": ([norm("eval('normal * weight + bias')")], "`eval`"),
    "reassigned since: a default": (
        ["EPS = 1e-5", norm(arguments="eps=EPS"), "EPS = 3.0"],
        "`layer_norm`, which was given another value since",
    ),
    "reassigned since: the name of a recursion": (
        [
            "def power(a, n):\n    return a if n == 1 else a * power(a, n - 1)\nown = power",
            "power = lambda a, n: a",
            norm("own(normal, 2) * 0 + normal * weight + bias"),
        ],
        "`power`, which stands for something else",
    ),
    "a notebook's function": (["from IPython import get_ipython", norm(first="get_ipython()")], "what only a notebook has"),
    "a cell that a magic ran": (None, "whose definition stands in no cell"),
}


@pytest.mark.parametrize("name", KEPT)
def test_kept_by_itself(name):
    cells, holds, lacks = KEPT[name]
    result = Notebook(*cells).run("result = check('07a.1', layer_norm)")
    assert result.passed and not result.remarks, str(result)
    text = record.kept_file("07a.1").read_text(encoding="utf-8")
    assert all(part in text for part in holds), text
    assert not any(part in text for part in lacks), text
    done = subprocess.run([sys.executable, "-c", text + "\nprint(layer_norm.__name__)"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_reason(name):
    cells, reason = REFUSED[name]
    if cells is None:
        book = Notebook()
        exec(compile(norm(), "<timed exec>", "exec", dont_inherit=True), book.space)
    else:
        book = Notebook(*cells)
    result = book.run("result = check('07a.1', layer_norm)")
    assert result.passed and result.points == result.possible
    assert len(result.remarks) == 1 and reason in result.remarks[0] and "\n" not in result.remarks[0]
    assert "the course keeps its own version" in result.remarks[0]
    assert record.kept_answers() == set()


def test_a_file_of_ones_own(folder, monkeypatch):
    (folder / "my_tools.py").write_text("def same(x):\n    return x\n")
    monkeypatch.syspath_prepend(folder)
    result = Notebook("from my_tools import same", norm("same(normal) * weight + bias")).run("result = check('07a.1', layer_norm)")
    assert "`my_tools`, a file of your own" in result.remarks[0]


def test_a_good_version_outlives_a_newer_one_that_cannot_be_kept():
    book = Notebook(norm())
    book.run("result = check('07a.1', layer_norm)")
    before = record.kept_file("07a.1").read_text()
    book.run("table = torch.zeros(99)")
    book.run(norm("normal * weight + bias + table.sum()"))
    result = book.run("result = check('07a.1', layer_norm)")
    assert "your earlier answer" in result.remarks[0] and record.kept_file("07a.1").read_text() == before


def test_nothing_is_written_while_notebooks_are_built(monkeypatch, folder, capsys):
    monkeypatch.setenv("COURSE_PROGRESS", "off")
    result = Notebook(norm()).run("result = check('07a.1', layer_norm)")
    assert result.passed and not list(folder.iterdir())
    assert mine("07a.1") is find("07a.1").reference
    assert capsys.readouterr().out.endswith("layer_norm: the course's version; yours takes its place once 07a.1 passes.\n")


def test_keeping_leaves_the_random_numbers_alone():
    book = Notebook(norm())
    torch.manual_seed(7)
    before = torch.get_rng_state()
    book.run("check('07a.1', layer_norm)")
    assert torch.equal(torch.get_rng_state(), before) and record.kept_answers() == {"07a.1"}


def test_mine_gives_it_back(capsys):
    assert mine("07a.1") is find("07a.1").reference
    Notebook("def scaled(n, w, b):\n    return n * w + b", SCALED).run("check('07a.1', layer_norm)")
    capsys.readouterr()
    own = mine("07a.1")
    assert capsys.readouterr().out == "layer_norm: yours, from chapter 07a.\n"
    assert inspect.getsource(own) == SCALED and own.__module__ == "mine_07a_1"
    assert "scaled" in own.__globals__ and "check" not in own.__globals__
    assert mine("07a.1") is own
    assert examine(find("07a.1"), own).passed


def test_an_answer_made_of_what_mine_gave_asks_for_it_again():
    answer = (ROOT / "solutions" / "07a_transformer_block.md").read_text(encoding="utf-8")
    answer = answer.split('"07a.4", "role": "answer"}\n')[1].split("### STUB")[0].replace("    ### BEGIN SOLUTION\n", "")
    result = Notebook('MultiHeadAttention = mine("04.4")', answer).run("result = check('07a.4', EncoderBlock)")
    assert result.passed, str(result)
    assert 'MultiHeadAttention = mine("04.4")' in record.kept_file("07a.4").read_text()
    assert mine("07a.4")(12, 3, 24)(torch.zeros(2, 5, 12)).shape == (2, 5, 12)


def test_result_use_of_an_open_exercise_is_asked_for_again():
    book = Notebook("def split_heads(x, num_heads):\n    raise NotImplementedError", "split_heads = check('04.2', split_heads).use")
    book.run("def merge_heads(x):\n    split_heads\n    return x.transpose(1, 2).flatten(2)")
    assert not book.run("result = check('04.3', merge_heads)").remarks
    assert 'split_heads = mine("04.2")' in record.kept_file("04.3").read_text()


@pytest.mark.parametrize("text", ["import nothing_of_this_name", "def other(): pass", "def layer_norm(", "raise SystemExit", ""])
def test_a_damaged_file_costs_one_line(text, capsys):
    record.kept_file("07a.1").parent.mkdir(parents=True)
    record.kept_file("07a.1").write_text(text)
    assert mine("07a.1") is find("07a.1").reference
    assert "yours no longer runs" in capsys.readouterr().out


def test_a_wrong_id_is_said():
    with pytest.raises(LookupError, match=r"Did you mean '04\.4'"):
        mine("04.44")
    with pytest.raises(ValueError, match="prediction"):
        mine("04.1")


def test_a_full_disk_changes_no_verdict(monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(kept, "write_bytes", full)
    result = Notebook(norm()).run("result = check('07a.1', layer_norm)")
    assert result.passed and "could not be kept for later chapters (No space left on device)" in result.remarks[0]


def test_killed_while_it_writes(folder):
    """The file is the old one or the new one."""
    Notebook(norm()).run("check('07a.1', layer_norm)")
    path = record.kept_file("07a.1")
    before = path.read_bytes()
    code = "import os, pathlib; os.fsync = lambda handle: os._exit(9); from course_utils.files import write_bytes; "
    code += f"write_bytes(pathlib.Path({str(path)!r}), b'x' * 9, 0o600)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 9
    assert path.read_bytes() == before and path.stem in record.kept_answers() == {"07a.1"}
    if os.name != "nt":
        assert path.stat().st_mode & 0o077 == 0 and path.parent.stat().st_mode & 0o077 == 0


def test_reset_forgets_what_is_kept_and_leaves_it_aside(folder):
    Notebook(norm()).run("check('07a.1', layer_norm)")
    record.reset("07a")
    assert record.kept_answers() == set()
    assert (folder / ".course" / "mine" / "before_reset" / "07a.1.py").exists()


# ---------------------------------------------------------------- the machine and its file


def test_the_parts_of_the_file_are_right_answers():
    for exercise in whole.course_parts():
        space = {"__name__": "part"}
        exec(compile(whole.by_itself(exercise), exercise, "exec", dont_inherit=True), space)
        result = examine(find(exercise), space[find(exercise).name])
        assert result.passed, str(result)


def trained(path, folder):
    """What the file reaches in a few steps, in a Python of its own that knows nothing of the course."""
    code = (
        "import sys, importlib.util as u\ns = u.spec_from_file_location('m', sys.argv[1])\n"
        "m = u.module_from_spec(s)\ns.loader.exec_module(m)\n"
        "m.torch.set_num_threads(1); print(m.translate_numbers(steps=2), *m.read_and_write(sys.argv[2], steps=2))\n"
        "assert not [name for name in sys.modules if name.startswith('course_')]"
    )
    done = subprocess.run([sys.executable, "-c", code, path, folder / "my_page.txt"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "of 100 numbers" in done.stdout and "a table of pairs" in done.stdout


def solved(*exercises):
    """Answers kept as ``check`` would: the course's right answers, as somebody may have typed them."""
    for exercise in exercises:
        record.kept_file(exercise).parent.mkdir(parents=True, exist_ok=True)
        text = re.sub(r'(?m)^    """', '    """Mine. ', whole.by_itself(exercise))
        record.kept_file(exercise).write_text(f'"""Exercise {exercise}, as you solved it on 1 May 2026."""\n\n{text}', encoding="utf-8")


@pytest.mark.parametrize("own", [[], ["03.1", "04.4", "07a.5", "11a.6"], list(whole.course_parts())], ids=["nothing", "some", "all"])
def test_the_file_trains_whoever_wrote_its_parts(own, folder):
    solved(*own)
    path, found = whole.write(folder, "Ada")
    text = path.read_text(encoding="utf-8")
    assert found == own and "built by Ada" in text and "{{" not in text
    assert text.count(": mine, 1 May 2026") == len(own)
    names = [line.split("(")[0] for line in text.splitlines() if line.startswith(("def ", "class "))]
    assert len(names) == len(set(names))
    trained(path, folder)


def test_helpers_of_one_name_keep_apart(folder):
    """Two answers bring a `scaled` along each, and mean different things; both take a function of the course's package with them."""
    head = "import torch\nfrom course_utils.text.merging import join\n\ndef scaled(n):\n    return join([], ('', ''), '') or {}\n\n"
    for exercise, value in (("07a.1", "n"), ("08a.7", "n * 1")):
        main = whole.course_parts()[exercise].replace("    return ", "    scaled(1)\n    return ")
        solved("07a.4")
        record.kept_file(exercise).write_text(head.format(value) + main, encoding="utf-8")
    path, own = whole.write(folder, "Ada")
    text = path.read_text(encoding="utf-8")
    assert {"07a.1", "08a.7"} <= set(own)
    assert text.count("def join(") == 1 and "def scaled(" in text and "def scaled_08a_7(" in text and "    scaled_08a_7(1)" in text
    trained(path, folder)


def test_odd_files_cost_nobody_the_command(folder):
    """An answer under another name, one that takes a function of the course with an import of its own, files that are damaged."""
    solved("07a.1", "06.1")
    parts = whole.course_parts()
    record.kept_file("04.3").write_text(
        parts["04.3"].replace("def merge_heads", "def lay_side_by_side") + "\nmerge_heads = lay_side_by_side\n"
    )
    record.kept_file("08a.7").write_text(f"import torch\nfrom course_utils.training.schedules import noam\n{parts['08a.7']}\n    noam\n")
    record.kept_file("11a.4").write_text(f"import torch\nfrom course_utils.nowhere import thing\n{parts['11a.4']}\n    thing\n")
    record.kept_file("11a.6").write_text("def something_else():\n    pass\n")
    record.kept_file("11a.7").write_text("def windows(:\n")
    record.kept_file("11a.2").write_bytes(b"\xff\xfe\x00")
    path, own = whole.write(folder, "Ada")
    text = path.read_text(encoding="utf-8")
    assert own == ["04.3", "06.1", "07a.1", "08a.7"] and "merge_heads = lay_side_by_side" in text
    assert "# the course's version of 11a.4: mine uses course_utils.nowhere.thing" in text and "something_else" not in text
    trained(path, folder)


def test_an_older_file_is_kept(folder):
    whole.write(folder, "Ada")
    (folder / "my_transformer.py").write_text("# my own changes\n")
    whole.write(folder, "Ada")
    assert (folder / "my_transformer.before.py").read_text() == "# my own changes\n"


def test_the_command(folder, monkeypatch, capsys):
    import course

    monkeypatch.setattr(course, "ROOT", folder)
    (folder / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    solved("03.1")
    assert course.main(["mine", "--name", "Ada Lovelace"]) == 0
    assert "my_transformer.py: 1 of 23 parts are yours (03.1).\nLet it train" in capsys.readouterr().out
    assert "built by Ada Lovelace" in (folder / "my_transformer.py").read_text(encoding="utf-8")


def test_the_numbers_of_the_file_are_those_of_the_course():
    space = {"__name__": "file"}
    exec(compile(whole.assembled({}, "Ada")[0], "file", "exec", dont_inherit=True), space)
    for n in (*range(1000), 1001, 2345, 9999):
        assert space["german"](n) == number_tokens(n, "de") and space["english"](n) == number_tokens(n, "en")


def test_the_drawing_counts_what_is_kept():
    parts = list(whole.course_parts())
    for text in (drawing.as_html(set()), drawing.as_text(set())):
        assert all(part in text for part in parts) and "{" not in text.split("</style>")[-1]
    assert drawing.sentence(set(), set()) == f"0 of {len(parts)} parts of the machine are yours; the next one is 03.1 attention_scores."
    own = {"03.1", "04.4", "99.9"}
    assert drawing.sentence(own, {"03.1", "04.2"}).startswith(f"2 of {len(parts)} parts of the machine are yours; the next one is 03.2 ")
    assert "Passed, but not kept: 04.2" in drawing.sentence(own, {"03.1", "04.2"})
    assert drawing.as_text(own).count("■ 04.4") == 3 and "□ 04.2" in drawing.as_text(own)
    assert drawing.as_html(own).count('class="own blue"') == 3  # 03.1, 04.4 and the legend
    assert "your own: 03.1 attention_scores, 04.4 MultiHeadAttention" in drawing.as_html(own)
    assert drawing.sentence(set(parts), set()).startswith(f"All {len(parts)} parts of the machine are yours.")


def test_gather_runs_nothing_twice_that_is_no_definition():
    """A cell that prints, trains or draws is not run again: only definitions are."""
    book = Notebook("ran = []", "ran.append(1)\ndef scaled(n, w, b):\n    return n * w + b\nran.append(2)", SCALED)
    gather.gather("layer_norm", book.space["layer_norm"], book.space)
    assert book.space["ran"] == [1, 2]


# ---------------------------------------------------------------- grading


CALLS = """M = mine("04.4"); f = mine('06.1'); mine("07a.1"); mine("99.1"); mine("01.2")"""
ASKED = json.dumps({"source": [CALLS]}).encode()


def test_in_grading_it_is_the_courses_version_of_other_chapters(monkeypatch):
    """The judge sends text and runs none of it; inside, ``mine`` runs it. An answer of the chapter that is graded is never sent."""
    from course_tools.grading.judging import task_for, versions_for
    from course_tools.grading.marks import Limits
    from course_tools.grading.worker import is_ours

    monkeypatch.setattr(kept, "_run", None)
    monkeypatch.setattr(kept, "keep", None)
    versions = versions_for(find("07a.4"), ASKED)
    assert set(versions) == {"04.4", "06.1", "01.2"} and all(type(text) is str for pair in versions.values() for text in pair)
    assert task_for(find("07a.4"), "secret", Limits(), notebook=ASKED).versions == versions
    inside = {"__name__": "course_checks"}
    exec((ROOT / "course_tools" / "grading" / "inside" / "checks.py").read_text(encoding="utf-8"), inside)
    inside["VERSIONS"].update(versions)
    assert examine(find("04.4"), inside["mine"]("04.4")).passed
    assert inside["mine"]("01.2") is find("01.2").reference
    assert is_ours(inside["mine"]("04.4")) and is_ours(inside["mine"]("06.1"))  # handed in as it is, it wins nothing


def test_export_leaves_kept_answers_at_home(folder):
    """A hand-in is the notebooks: what is kept is made of them."""
    from course_utils.launcher.export import export

    Notebook(norm()).run("check('07a.1', layer_norm)")
    with pytest.raises(ValueError, match="no exercise is answered"):
        export(folder / "a.zip", "Ada", folder)


def test_what_mine_gives_is_no_answer_to_its_own_exercise() -> None:
    ours = mine("04.4")

    class More(ours):  # type: ignore[misc, valid-type]
        pass

    def fetched(query, key, value, mask=None):  # type: ignore[no-untyped-def]
        return mine("03.2")(query, key, value, mask)

    for exercise, answer in (("04.4", ours), ("04.4", More), ("03.2", fetched)):
        result = check(exercise, answer)
        assert not result.passed and result.points == 0, exercise
    assert "out of bounds" in result.message and result.stage == "forbidden shortcut"
