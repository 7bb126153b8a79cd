"""One small edit that makes an answer right proves the place of its mistake."""

import ast
import linecache
import time

import pytest
import torch
from made import made, mistake

from course_checks.case import Case, refusal
from course_checks.edits import edits
from course_checks.engine import examine
from course_checks.exercise import Exercise
from course_checks.repair import SECONDS

X = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
CASES = [Case(f"case {i}", {"x": x}) for i, x in enumerate((X, X[:2] * 3, X[:1] - 1))]


def exercise(oracle, *misconceptions) -> Exercise:
    return made(oracle, CASES, *misconceptions)


def told(oracle, cell, **more):
    """What the check says of the cell's ``f``."""
    name = f"<cell {abs(hash(cell))}>"
    linecache.cache[name] = (len(cell), None, cell.splitlines(True), name)
    space = {"torch": torch, "__name__": "__main__"} | more
    exec(compile(cell, name, "exec"), space)
    return examine(exercise(oracle), space["f"], seed=0)


SOFT = "def f(x):\n    return torch.softmax(x, dim=-1)"


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        (SOFT, SOFT.replace("-1", "0"), "`dim=0` is the wrong axis"),
        (SOFT, SOFT.replace("softmax(x", "softmax(x * 3 / 5 + x.sin()"), ""),  # two edits away
        (SOFT, SOFT.replace("softmax(x", "softmax(x // 2"), "the second part, `2`, is too much"),
        (SOFT.replace("softmax(x", "softmax(x / 2"), SOFT.replace("softmax(x", "softmax(x // 2"), "`//` in `x // 2` rounds down"),
        (SOFT, SOFT.replace("softmax(x", "softmax(x.detach()"), ""),  # right: these cases ask for no gradient
        (SOFT, SOFT.replace("softmax(x", "softmax(x.clamp(max=0)"), "`.clamp(…)` is too much"),
        (SOFT.replace("softmax(x", "softmax(-x"), SOFT, "A minus is missing in front of `x`"),
        (
            "def f(x):\n    return (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True)",
            "def f(x):\n    m = x.mean(dim=0, keepdim=True)\n    return (x - m) / x.std(dim=0, keepdim=True)",
            "here and in the lines where it stands again",
        ),
        (
            "def f(x):\n    return x.cumsum(0)",
            "def f(x):\n    total = torch.zeros_like(x)\n    for i in range(len(x)):\n"
            "        total[i] = x[:i + 1].sum(0)\n        return total",
            "stands inside the loop",
        ),
        (
            "def f(x):\n    return x.sum()",
            "def f(x):\n    total = 0\n    for row in x:\n        total = row.sum()\n    return total",
            "overwrites what the rounds before have found",
        ),
        ("def f(x):\n    return x @ x.mT", "def f(x):\n    y = x.mT\n    return y @ x", "the two sides are exchanged"),
        ("def f(x):\n    return x.amax(-1)", "def f(x):\n    best = 0.0 * x[:, 0]\n    return x.amin(-1)", "`amin` is the wrong operation"),
        ("def f(x):\n    return x + 1", "def f(x):\n    y = x + 1\n    y = y * 2 + x\n    return y", "`y = y * 2 + x` is too much"),
        (
            "def f(x):\n    return x.relu()",
            "def f(x):\n    return torch.where(x < 0, x, 0 * x)",
            "Two of the arguments of `torch.where(x < 0, x, 0 * x)` are exchanged",
        ),
    ],
)
def test_the_place_is_named(right, wrong, says):
    space = {"torch": torch}
    exec(right, space)
    result = told(space["f"], wrong)
    if says:
        assert result.mistake.startswith("one place, in line ") and says in result.hint, str(result)
        assert "mended, your answer passes" in result.hint
    else:
        assert result.passed or not (result.mistake or "").startswith("one place"), str(result)


def test_a_tests_number_is_not_blamed_for_a_step_too_many():
    result = told(lambda x: x * 2, "def f(x):\n    if len(x) == 2:\n        return x\n    return x * 2")
    assert "The step `if len(x) == 2 …` is too much" in result.hint


def power(x, eps=0.5):
    return (x.square() + eps).sqrt()


REFUSAL = refusal("eps = -1", {"x": X, "eps": -1.0}, "-1")


@pytest.mark.parametrize(
    ("cases", "line", "says"),
    [
        (
            CASES,
            "eps=1e-9):\n    return (x * x + eps).sqrt()",
            "By default `eps` is 1e-09 here, and 0.5 in the stub. Everything else is right",
        ),
        ([*CASES, REFUSAL], "eps=0.5):\n    return (x * x - eps).sqrt()", "right, but for what must be refused, as with “eps = -1”."),
        (CASES, "eps=0.5):\n    y = x.mT * x\n    return (x * x + eps).sqrt()", "In `x.mT * x` the second part, `x`, is too much"),
    ],
)
def test_defaults_refusals_and_exceptions_do_not_hide_the_place(cases, line, says):
    cell, space = f"def power(x, {line}", {"torch": torch, "__name__": "__main__"}
    linecache.cache["<power>"] = (len(cell), None, cell.splitlines(True), "<power>")
    exec(compile(cell, "<power>", "exec"), space)
    assert says in str(examine(made(power, cases, name="power"), space["power"], seed=0))


def test_code_with_a_bug_handed_out_keeps_its_secret():
    def handed(x):
        return torch.softmax(x, dim=0)

    task = exercise(lambda x: torch.softmax(x, -1), mistake("the stub", handed, "look at the axis of it all", untouched=True))
    cell = "def f(x):\n    return torch.softmax(x, dim=0) + 0.001"
    linecache.cache["<bug>"] = (len(cell), None, cell.splitlines(True), "<bug>")
    space = {"torch": torch}
    exec(compile(cell, "<bug>", "exec"), space)
    assert not (examine(task, space["f"], seed=0).mistake or "").startswith("one place")


def test_no_search_through_calls_that_can_fill_the_memory():
    """With another size ``lstsq`` filled gigabytes, and a call into the library cannot be stopped."""
    wrong = SOFT.replace("-1", "0")
    right = lambda x: torch.softmax(x, -1)  # noqa: E731
    assert told(right, wrong).mistake.startswith("one place")
    assert told(right, wrong.replace("return", "torch.linalg.norm(x)\n    return")).mistake is None


def test_nothing_else_of_the_cell_runs_again():
    ran = []
    result = told(lambda x: x.sum(-1), "note()\ndef f(x):\n    return x.sum(0)\nnote()", note=lambda: ran.append(1))
    assert not result.passed and len(ran) == 2


def test_the_search_ends():
    """Also where an edit makes a loop endless."""
    cell = "def f(x):\n    i = 0\n    while i < 3:\n        i += 1\n    return x * 0.123 + i * x.sin()"
    began = time.process_time()  # what else the machine does is no fault of the search
    result = told(lambda x: x.exp().cumsum(0), cell)
    assert not result.passed and time.process_time() - began < 6 * SECONDS


def test_every_edit_can_be_taken_back():
    code = (
        "class f:\n    def forward(self, x, mask=None):\n        h = self.a(x) + self.b(x)\n"
        "        if mask is not None and not mask.all():\n            h = h.masked_fill(~mask, -1e9)\n"
        "        for i in range(2, 5):\n            h += x[:, 1:i] // 2\n        return -h.mean(dim=-1)"
    )
    tree = ast.parse(code)
    before, found = ast.unparse(tree), edits(tree, code)
    for edit in found:
        back = edit.make()
        ast.unparse(ast.fix_missing_locations(tree))
        back()
        assert ast.unparse(tree) == before
    assert len(found) > 60 and all(1 <= edit.line <= 8 and edit.meaning for edit in found)


def test_no_edit_puts_a_list_into_itself():
    """PyTorch does not survive such a list."""
    cell = (
        "def f(x):\n    rows, more = [], []\n    for row in x:\n        more.append(1.0)\n        rows.append(row.sum())\n"
        "    more[0] = rows[0]\n    return torch.tensor(more) + torch.stack(rows)"
    )
    assert not told(lambda x: x.exp().cumsum(0), cell).passed
