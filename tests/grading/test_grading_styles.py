"""One right answer, written and spread over cells in many honest ways: what passes in the notebook counts in grading."""

from __future__ import annotations

import json
import os

from classroom import cell, needs_sandbox, notebook, noted_and_graded

pytestmark = needs_sandbox
FULL = os.environ.get("COURSE_FULL") == "1"

CHECK = cell('result = check("01.1", gaussian_weights)\ngaussian_weights = result.use', "01.1", "check")
HEAD = "def gaussian_weights(query, keys, bandwidth):\n"
REFUSE = "    if bandwidth <= 0:\n        raise ValueError(f'bandwidth={bandwidth}')\n"
LAST = "    return torch.softmax(-((query[:, None] - keys) ** 2) / (2 * bandwidth**2), dim=1)\n"


def answer(text: str) -> dict:
    return cell(text, "01.1")


def right(first: str = "", last: str = LAST, inside: str = "", after: str = "") -> dict:
    return answer(first + HEAD + REFUSE + inside + last + after)


def power(name: str) -> str:
    """The last line with ``name`` in place of the 2 of the power."""
    return LAST.replace("** 2", f"** {name}")


def deeper(text: str) -> str:
    return "    ".join(text.splitlines(True))


# name → cells; every one gets full marks in a notebook that is run from top to bottom
STYLES: dict[str, list[dict]] = {
    "plain": [right()],
    "!= on a line of its own": [right(inside="    ok = (\n        bandwidth\n        != 0\n    )\n    assert ok\n")],
    "% on a line of its own": [right(inside="    odd = (\n        7\n        % 2\n    )\n", last=power("(odd + 1)"))],
    "text with a magic in it": [right(inside='    note = """\n%matplotlib\n!ls\nwhat?\n"""\n    assert "%matplotlib" in note\n')],
    "display inside": [right(inside="    display(query)\n")],
    "display imported": [cell("from IPython.display import display"), right(inside="    display(query)\n")],
    "star import": [cell("from math import *"), right(last=power("(sqrt(4))"))],
    "star import of torch": [cell("from torch import *"), right(last=LAST.replace("torch.softmax", "softmax"))],
    "list filled in another cell": [cell("BITS = []"), cell("BITS.append(2)"), right(last=power("BITS[0]"))],
    "list filled below the answer": [cell("BITS = []"), right(last=power("BITS[0]")), cell("BITS.append(2)")],
    "list filled in a loop": [cell("BITS = []"), cell("for i in range(3):\n    BITS += [i]"), right(last=power("BITS[2]"))],
    "dict filled in another cell": [cell("CFG = {}"), cell("CFG['two'] = 2"), right(last=power("CFG['two']"))],
    "dict updated": [cell("CFG = {}"), cell("CFG.update(two=2)"), right(last=power("CFG['two']"))],
    "set default": [cell("CFG = {}"), cell("CFG.setdefault('two', 2)"), right(last=power("CFG['two']"))],
    "K += 1": [cell("K = 1"), cell("K += 1"), right(last=power("K"))],
    "K = K + 1": [cell("K = 1"), cell("K = K + 1"), right(last=power("K"))],
    "K += 1 twice": [cell("K = 0"), cell("K += 1"), cell("K += 1"), right(last=power("K"))],
    "K set again below": [cell("K = 1"), right(last=power("K")), cell("K = 2")],
    "method added later": [
        cell("class Box:\n    pass"),
        cell("def two(self):\n    return 2\nBox.two = two"),
        right(last=power("Box().two()")),
    ],
    "setattr on a class": [cell("class Box:\n    pass"), cell("setattr(Box, 'two', 2)"), right(last=power("Box.two"))],
    "attribute of an instance": [cell("class Box:\n    pass\nbox = Box()"), cell("box.two = 2"), right(last=power("box.two"))],
    "global set by a function": [cell("def set_up():\n    global K\n    K = 2"), cell("set_up()"), right(last=power("K"))],
    "global changed by a function": [cell("K = 1"), cell("def more():\n    global K\n    K += 1"), cell("more()"), right(last=power("K"))],
    "function that fills what it is handed": [
        cell("def fill(box):\n    box.append(2)"),
        cell("BITS = []"),
        cell("fill(BITS)"),
        right(last=power("BITS[0]")),
    ],
    "globals()": [cell("globals()['K'] = 2"), right(last=power("K"))],
    "exec": [cell("exec('K = 2')"), right(last=power("K"))],
    "builtin shadowed": [cell("def max(x):\n    return 2"), right(last=power("max(1)"))],
    "builtin shadowed below its use": [cell("abs = lambda x: 2"), right(last=power("abs(1)"))],
    "helper in the check cell": [right(last=power("two()")), cell("def two():\n    return 2\n" + CHECK["source"], "01.1", "check")],
    "helper below the answer": [right(last=power("two()")), cell("def two():\n    return 2")],
    "helper in the same cell": [right("def two():\n    return 2\n", power("two()"))],
    "helper of a helper": [cell("def one():\n    return 1"), cell("def two():\n    return 2 * one()"), right(last=power("two()"))],
    "answer in the check cell": [cell(HEAD + REFUSE + LAST + CHECK["source"], "01.1", "check")],
    "answer in both cells": [right(last="    return None\n"), cell(HEAD + REFUSE + LAST + CHECK["source"], "01.1", "check")],
    "timeit -o": [cell("t = %timeit -o sum(range(3))"), right(inside="    assert t.average > 0\n")],
    "timeit behind the answer": [right(after="q = torch.ones(2)\n%timeit -n 1 -r 1 gaussian_weights(q, q, 1.0)\n")],
    "time before a statement": [cell("%time K = 2"), right(last=power("K"))],
    "%%time": [cell("%%time\nK = 2"), right(last=power("K"))],
    "%%capture": [cell("%%capture\nK = 2"), right(last=power("K"))],
    "%%time over the answer": [answer("%%time\n" + HEAD + REFUSE + LAST)],
    "%%capture with a name": [answer("%%capture said\n" + HEAD + REFUSE + LAST)],
    "shell in the answer cell": [right(after="files = !echo x\n")],
    "shell command": [right(first="!true\n")],
    "shell with a variable": [right(first="name = 'x'\n!echo {name}\n")],
    "help in the answer cell": [right(after="gaussian_weights?\n")],
    "help in front": [right(first="?torch.softmax\n")],
    "magic in an if": [right(first="if True:\n    %pwd\n")],
    "magic at the end of the line": [right(first="x = %pwd\n")],
    "load_ext": [cell("%load_ext autoreload\n%autoreload 2"), right()],
    "%%html": [cell("%%html\n<b>notes to myself</b>"), right()],
    "%%writefile": [cell("%%writefile notes.txt\nnot python at all"), right()],
    "get_ipython": [cell("get_ipython().run_line_magic('matplotlib', 'inline')"), right()],
    "get_ipython as a test": [cell("try:\n    get_ipython()\n    K = 2\nexcept NameError:\n    K = 3"), right(last=power("K"))],
    "await at the top": [cell("async def two():\n    return 2"), cell("K = await two()"), right(last=power("K"))],
    "await with asyncio": [cell("import asyncio\nawait asyncio.sleep(0)\nK = 2"), right(last=power("K"))],
    "underscore": [cell("1 + 1"), cell("K = _"), right(last=power("K"))],
    "Out": [cell("TWO = 2\nIn and TWO"), right(last=power("TWO"))],
    "prompt copied": [answer(">>> " + HEAD + "... " + "... ".join((REFUSE + LAST).splitlines(True)))],
    "carriage returns": [answer((HEAD + REFUSE + LAST).replace("\n", "\r\n"))],
    "tabs": [answer((HEAD + REFUSE + LAST).replace("    ", "\t"))],
    "a blank first line": [answer("\n\n" + HEAD + REFUSE + LAST)],
    "indented as a whole": [answer("".join("    " + line for line in (HEAD + REFUSE + LAST).splitlines(True)))],
    "source as a list of lines": [cell("x = 0") | {"source": ["K = 1\n", "K = 2"]}, right(last=power("K"))],
    "semicolons": [right(first="a = 1; b = 2\n", last=power("b"))],
    "lambda": [
        cell("def refuse(b):\n    if b <= 0: raise ValueError(b)"),
        answer(
            "gaussian_weights = lambda query, keys, bandwidth: (refuse(bandwidth), torch.softmax(-((query[:, None] - keys) ** 2)"
            " / (2 * bandwidth**2), dim=1))[1]"
        ),
    ],
    "partial": [
        cell("import functools"),
        cell(HEAD.replace("gaussian_weights", "general").replace("bandwidth", "bandwidth, two") + REFUSE + power("two")),
        answer("gaussian_weights = functools.partial(general, two=2)"),
    ],
    "decorated": [
        cell("import functools\ndef plain(f):\n    @functools.wraps(f)\n    def g(*a, **k):\n        return f(*a, **k)\n    return g"),
        right(first="@plain\n"),
    ],
    "callable object": [
        answer("class G:\n    def __call__(self, query, keys, bandwidth):\n    " + deeper(REFUSE + LAST) + "gaussian_weights = G()\n")
    ],
    "static method": [
        answer("class G:\n    @staticmethod\n    def f(query, keys, bandwidth):\n    " + deeper(REFUSE + LAST) + "gaussian_weights = G.f\n")
    ],
    "closure": [
        answer(
            "def make(two):\n    def gaussian_weights(query, keys, bandwidth):\n    "
            + deeper(REFUSE + power("two"))
            + "    return gaussian_weights\ngaussian_weights = make(2)\n"
        )
    ],
    "typed": [
        answer(
            "from typing import Any\n" + HEAD.replace("query,", "query: torch.Tensor,").replace("):", ") -> torch.Tensor:") + REFUSE + LAST
        )
    ],
    "future annotations": [answer("from __future__ import annotations\n" + HEAD.replace("query,", "query: Unknown,") + REFUSE + LAST)],
    "walrus": [right(last="    if (two := 2) and True:\n        pass\n" + power("two"))],
    "match": [right(last="    match 2:\n        case two:\n            pass\n" + power("two"))],
    "nested function": [right(last="    def two():\n        return 2\n" + power("two()"))],
    "recursion": [cell("def two(n=0):\n    return n if n == 2 else two(n + 1)"), right(last=power("two()"))],
    "generator": [cell("def count():\n    yield 1\n    yield 2"), right(last=power("list(count())[-1]"))],
    "comprehension": [cell("TWO = max([i for i in range(3)])"), right(last=power("TWO"))],
    "dataclass": [cell("from dataclasses import dataclass\n@dataclass\nclass Cfg:\n    two: int = 2"), right(last=power("Cfg().two"))],
    "enum": [cell("from enum import IntEnum\nclass E(IntEnum):\n    TWO = 2"), right(last=power("int(E.TWO)"))],
    "namedtuple": [cell("from collections import namedtuple\nP = namedtuple('P', 'two')\np = P(2)"), right(last=power("p.two"))],
    "unpacking": [cell("one, (two, *rest) = 1, (2, 3)"), right(last=power("two"))],
    "for at the top": [cell("for two in range(3):\n    pass"), right(last=power("two"))],
    "with at the top": [cell("import contextlib\nwith contextlib.suppress(Exception):\n    two = 2"), right(last=power("two"))],
    "try at the top": [cell("try:\n    import nothing_of_the_kind\nexcept ImportError:\n    two = 2"), right(last=power("two"))],
    "if at the top": [cell("if torch.cuda.is_available():\n    two = 2\nelse:\n    two = 2"), right(last=power("two"))],
    "import in a function": [
        cell("def load():\n    global np\n    import numpy as np"),
        cell("load()"),
        right(last=power("int(np.sqrt(4))")),
    ],
    "import as": [cell("import numpy as n"), right(last=power("int(n.sqrt(4))"))],
    "from import as": [cell("from math import sqrt as root"), right(last=power("int(root(4))"))],
    "import below": [right(last=power("int(np.sqrt(4))")), cell("import numpy as np")],
    "answer twice, the last is right": [right(last="    return None\n"), right()],
    "name handed on": [answer(HEAD.replace("gaussian_weights", "mine") + REFUSE + LAST + "gaussian_weights = mine\n")],
    "prints": [right(inside="    print(query.shape, end='')\n")],
    "logging": [cell("import logging\nlog = logging.getLogger('me')"), right(inside="    log.warning('x')\n")],
    "warnings": [cell("import warnings"), right(inside="    warnings.warn('x')\n")],
    "own exception": [cell("class Bad(ValueError):\n    pass"), answer(HEAD + REFUSE.replace("ValueError", "Bad") + LAST)],
    "no_grad outside": [cell("torch.set_grad_enabled(True)"), right()],
    "double": [right(last=LAST.replace("query[:", "query.double()[:").rstrip() + ".to(query.dtype)\n")],
    "numpy inside": [cell("import numpy as np"), right(last=power("int(np.array(2))"))],
    "unused failing cell": [cell("1 / 0"), right()],
    "unused syntax error": [cell("def broken(:\n    pass"), right()],
    "note written as code": [cell("to do: ask about the bandwidth"), right()],
    "endless cell that nobody needs": [cell("if False:\n    while True:\n        pass"), right()],
    "plot cell": [cell("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"), right()],
    "seeded": [cell("torch.manual_seed(0)\ntwo = int(torch.randint(2, 3, (1,)))"), right(last=power("two"))],
    "del and again": [cell("two = 3\ndel two\ntwo = 2"), right(last=power("two"))],
    "asserts below": [right(after="assert gaussian_weights(torch.ones(2), torch.ones(3), 1.0).shape == (2, 3)\n")],
    "assert below that fails": [right(after="assert False, 'a test of mine that is wrong'\n")],
    "own tests in a cell below": [right(), cell("print(gaussian_weights(torch.ones(2), torch.ones(3), 1.0))")],
    "question mark in a comment": [right(inside="    # is this right?\n")],
    "emoji and umlauts": [right(inside="    größe = 2  # 🙂\n", last=power("größe"))],
    "very long line": [right(inside="    note = '" + "x" * 5000 + "'\n")],
    "main guard": [answer("if __name__ == '__main__':\n" + "".join("    " + line for line in (HEAD + REFUSE + LAST).splitlines(True)))],
    "input that is never asked": [cell("def ask():\n    return input()"), right()],
    "quit at the end": [right(), cell("# quit()")],
    "doctest": [answer(HEAD + '    """Weights.\n\n    >>> 1 + 1\n    2\n    """\n' + REFUSE + LAST)],
}


def book_of(cells: list[dict]) -> dict:
    asked = any("check(" in str(each["source"]) for each in cells)
    return json.loads(notebook(*cells, *([] if asked else [CHECK])))


def test_what_passes_in_the_notebook_counts(tmp_path):
    """Daily a third of the styles, all of them in ``test --full``."""
    styles = {name: cells for number, (name, cells) in enumerate(STYLES.items()) if FULL or number % 3 == 0}
    books = {name: ("01_kernel_regression.ipynb", book_of(cells)) for name, cells in styles.items()}
    wrong, lost = {}, {}
    for name, noted, marks in noted_and_graded(tmp_path, books):
        if noted.get("01.1") != 4:
            wrong[name] = noted
        if not (mark := marks.get("01.1")) or mark.points != 4:
            lost[name] = mark and (mark.points, mark.message, mark.notes)
    assert wrong == {}, "not right in a notebook"
    assert lost == {}, f"{len(lost)} of {len(books)} lose marks"
