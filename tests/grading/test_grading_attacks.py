"""Attacks on the grader. Each really attacks; its own grade and the reason are asserted, and nobody else's grade changes."""

from __future__ import annotations

import io
import json
import os
import struct
import sys
import zipfile

import pytest
from classroom import RIGHT, WRONG, cell, notebook, read_table, with_answer

from course_checks import catalogue
from course_tools.grading.__main__ import main
from course_tools.grading.bubblewrap import why_not
from course_tools.grading.marks import exercises_of, extra
from course_tools.grading.run_folder import RunFolder
from course_utils.paths import ROOT

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux"),
    pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}"),
]

WRITE_FRAME = """
import os, json, struct
head = json.dumps({"d": [["problems", {"l": []}], ["status", "observed"], ["seen", {"l": []}], ["line", ""], ["number", None]]}).encode()
for handle in range(3, 256):
    try:
        os.write(handle, struct.pack("!IQ", len(head), 0) + head)
    except OSError:
        pass
os._exit(0)
"""
# name: (source of the answer cell, stage, mistake, words of the message or the notes)
ATTACKS = {
    "redefines check": ("def check(*a, **k):\n    return True\n" + WRONG, "values", "normalised over the queries", ""),
    "patches torch": (
        "torch.allclose = torch.equal = torch.isclose = lambda *a, **k: True\ntorch.Tensor.__eq__ = lambda *a: True\n" + WRONG,
        "values",
        "normalised over the queries",
        "",
    ),
    "patches the observer": (
        "import course_checks.observe as o, course_checks.plain_data as i\n"
        "o.plain_data = i.plain_data = lambda v, depth=0: 'right'\n" + WRONG,
        "values",
        "normalised over the queries",
        "",
    ),
    "patches the observer as it runs": (
        WRONG.replace("    return", "    import course_checks.observe as o\n    o.plain_data = lambda v, depth=0: 'right'\n    return"),
        "raised",
        "tampering",
        "not an observation",
    ),
    "patches the protocol": (
        "import course_tools.grading.wire as w\nw.pack = w._pack = lambda *v: b''\n" + WRONG,
        "values",
        "normalised over the queries",
        "",
    ),
    "patches the protocol as it runs": (
        WRONG.replace("    return", "    import course_tools.grading.wire as w\n    w.pack = w._pack = lambda *v: b''\n    return"),
        "raised",
        None,
        "",
    ),
    "patches the worker": ("import course_tools.grading.worker as w, gc\nw.observed = w.is_ours = lambda *a: {}\n" + WRONG, None, None, ""),
    "input transformer": (
        "get_ipython().input_transformers_post.append(lambda lines: [l.replace('False', 'True') for l in lines])\n" + WRONG,
        "values",
        "normalised over the queries",
        "",
    ),
    "forges the protocol": (WRITE_FRAME, "raised", "tampering", "channel"),
    "kills its parents": (
        "import os, signal\nfor pid in (os.getppid(), 1, -1):\n    try:\n        os.kill(pid, signal.SIGKILL)\n"
        "    except OSError:\n        pass\n" + WRONG,
        "values",
        "normalised over the queries",
        "",
    ),
    "traces its parent": (
        "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "assert libc.ptrace(16, 1, 0, 0) == -1, 'attached'\nopen('/proc/1/mem', 'rb')\n" + RIGHT,
        "raised",
        None,
        "FileNotFoundError",
    ),
    "reads solutions": (
        f"import pathlib\nroot = pathlib.Path({str(ROOT)!r})\nfound = [name for name in ('solutions', 'course_utils', 'course_checks', "
        "'tests') if (root / name).exists()]\nassert found, 'nothing there'\n" + RIGHT,
        "raised",
        None,
        "nothing there",
    ),
    "searches the disk": (
        "import os\nfound = []\nfor d, inner, fs in os.walk('/'):\n"
        "    if d in ('/usr', '/proc') or d.endswith('-packages'):\n"
        "        inner[:] = [name for name in inner if 'course' in name]\n"
        "    found += [f for f in fs if f.startswith('01_kernel') or d.endswith('ch01') and 'course' in d]\n"
        "assert found, 'nothing found'\n" + RIGHT,
        "raised",
        None,
        "nothing found",
    ),
    "reads the catalogue": ("from course_checks.exercises.ch01 import EXERCISES\n" + RIGHT, "raised", None, "No module named"),
    "reads another chapter": ("from course_checks.exercises.ch03.order import EXERCISE\n" + RIGHT, "raised", None, "No module named"),
    "reads the mistakes": ("import course_checks.misconceptions\n" + RIGHT, "raised", None, "No module named"),
    "reads the launcher": ("import course_utils.launcher.setup\n" + RIGHT, "raised", None, "No module named"),
    "reads the judge": ("import course_checks.judge\n" + RIGHT, "raised", None, "No module named"),
    "reads the marks": ("import course_tools.grading.marks\n" + RIGHT, "raised", None, "No module named"),
    "asks for the reference": (
        "import course_checks as c\ngaussian_weights = {e.id: e for e in c.catalogue()}['01.1'].reference",
        "raised",
        None,
        "KeyError",
    ),
    "ends the process": ("import os\nos._exit(0)\n", "raised", "stopped by itself", "exit 0"),
    "crashes the process": ("import ctypes\nctypes.string_at(0)\n", "raised", "stopped by itself", "exit -11"),
    "fork bomb": ("import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass\n", "raised", None, ""),
    "memory bomb": ("hoard = []\nwhile True:\n    hoard.append(bytearray(b'x') * (64 << 20))\n" + RIGHT, "raised", None, ""),
    "memory in many processes": (
        "import os\nfor _ in range(6):\n    if os.fork() == 0:\n        hoard = [bytearray(b'x') * (300 << 20)]\n"
        "        while True: pass\nwhile True: pass\n",
        "raised",
        None,
        "",
    ),
    "endless loop": (
        "while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass\n",
        "raised",
        "endless loop",
        "",
    ),
    "endless loop in the answer": (
        "def gaussian_weights(query, keys, bandwidth):\n    while True:\n        try:\n            while True: pass\n"
        "        except BaseException:\n            pass\n",
        "raised",
        "endless loop",
        "",
    ),
    "prints 100 MB": (
        "for _ in range(100):\n    print('x' * 2**20)\nimport sys\nsys.stderr.write('y' * 10**8)\n" + WRONG,
        "values",
        "normalised over the queries",
        "",
    ),
    "returns 100 MB": ("def gaussian_weights(query, keys, bandwidth):\n    return [['x' * 10_000] * 1000] * 1000\n", None, None, ""),
    "returns a shell": (
        "class Tensor(torch.Tensor):\n    def __reduce__(self):\n        import os\n        return os.system, ('touch /tmp/owned',)\n"
        "def gaussian_weights(query, keys, bandwidth):\n    return Tensor(torch.ones(2))\n",
        "shape",
        None,
        "",
    ),
    "deletes files": (
        "import shutil, os\nfor place in ('/course', '/home', '/tmp', '/usr/sbin', os.path.dirname(os.__file__) + '/json'):\n"
        "    shutil.rmtree(place, ignore_errors=True)\n" + WRONG,
        "values",
        "normalised over the queries",
        "",
    ),
    "leaves a daemon": (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        while True:\n"
        "            try:\n                open('/tmp/alive', 'a').write('x')\n            except OSError: pass\n"
        "            time.sleep(0.01)\n    os._exit(0)\n" + WRONG,
        "values",
        "normalised over the queries",
        "",
    ),
    "calls the network": ("import socket\nsocket.create_connection(('1.1.1.1', 53), timeout=2)\n" + RIGHT, "raised", None, "Network"),
    "fills the disk": ("with open('/tmp/full', 'wb') as f:\n    while True:\n        f.write(b'x' * 2**20)\n" + RIGHT, "raised", None, ""),
    "imports the answer": (
        "from course_utils.models import kernels\n"
        + RIGHT.replace("gaussian_weights", "mine")
        + "gaussian_weights = kernels.gaussian_weights\n",
        "forbidden shortcut",
        "forbidden shortcut",
        "",
    ),
    "repeats one tensor": (
        "import sys, json, struct, os\nframe = sys._getframe()\nwhile 'seal' not in frame.f_locals:\n    frame = frame.f_back\n"
        "body = bytes(3 * 2**20)\nitem = {'t': ['float32', [786432], [1], 0]}\n"
        "head = json.dumps({'l': [item] * 2000}).encode()\n"
        "data = frame.f_locals['seal'] + struct.pack('!IQ', len(head), len(body)) + head + body\n"
        "while data:\n    data = data[os.write(frame.f_locals['writer'], data):]\nos._exit(0)\n",
        "raised",
        "tampering",
        "",
    ),
    "shared memory bomb": (
        "import mmap\nm = mmap.mmap(-1, 3 << 30)\nfor i in range(0, 3 << 30, 4096):\n    m[i] = 1\n" + RIGHT,
        "raised",
        None,
        "",
    ),
    "leaves files": (
        "for place in ('/', '/dev', '/etc', '/home', '/course', '/usr'):\n    try:\n        open(place + '/chunk.py', 'w')\n"
        "    except OSError:\n        continue\n    raise SystemError('written to ' + place)\n" + WRONG,
        "values",
        "normalised over the queries",
        "",
    ),
    "remembers seen draws": (
        "from course_checks import check\nseen = {0: torch.ones(4, 6) / 6}\n"
        "def gaussian_weights(query, keys, bandwidth):\n    return seen[0]\n",
        None,
        None,
        "",
    ),
}


def grade(folder, out, *more):
    assert main([str(folder), "--out", str(out), "--quiet", "--seed", "fixed", "--timeout", "10", "--memory", "1", *more]) in (0, 1)
    return {record.submission.student: record for record in RunFolder(out, True).records()}


def rows(out) -> dict[str, str]:
    text = (out / "gradebook.csv").read_text(encoding="utf-8-sig")
    return {line.split(",")[0]: line for line in text.splitlines()}


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """A small honest class and its gradebook, graded without any attacker."""
    folder, out = tmp_path_factory.mktemp("honest"), tmp_path_factory.mktemp("out") / "grades"
    for number in range(4):
        for kind, source in (
            ("right", RIGHT),
            ("wrong", WRONG),
            ("blank", "def gaussian_weights(query, keys, bandwidth):\n    raise NotImplementedError"),
        ):
            place = folder / f"{'abcd'[number]} {kind}"
            place.mkdir()
            (place / "01_kernel_regression.ipynb").write_bytes(with_answer(source))
    grade(folder, out)
    return folder, rows(out)


@pytest.fixture(scope="module")
def attacked(honest, tmp_path_factory):
    """The same class with every attacker among them."""
    folder, out = tmp_path_factory.mktemp("attacked"), tmp_path_factory.mktemp("out2") / "grades"
    for place in sorted(honest[0].iterdir()):
        (folder / place.name).mkdir()
        (folder / place.name / "01_kernel_regression.ipynb").write_bytes((place / "01_kernel_regression.ipynb").read_bytes())
    for number, (name, (source, *_)) in enumerate(ATTACKS.items()):
        place = folder / f"{'abcd'[number % 4]} {'nprx'[number % 3]} {name}"  # in the alphabet between the honest ones
        place.mkdir()
        (place / "01_kernel_regression.ipynb").write_bytes(with_answer(source))
    return {name[4:]: record for name, record in grade(folder, out).items()}, rows(out), out


def test_the_honest_get_what_they_deserve(honest):
    points = {name: row.split(",")[5] for name, row in honest[1].items() if name != "Student"}
    assert {name: float(p) for name, p in points.items()} == {
        f"{a} {kind}": 4.0 if kind == "right" else 0.0 for a in "abcd" for kind in ("right", "wrong", "blank")
    }


def test_nobody_elses_row_changes(honest, attacked):
    for name, row in honest[1].items():
        assert attacked[1][name] == row


@pytest.mark.parametrize("name", ATTACKS)
def test_attack_is_graded_and_named(attacked, name):
    source, stage, mistake, words = ATTACKS[name]
    record = attacked[0][name]
    assert not record.problem
    mark = record.marks["01.1"]
    assert mark.points == 0, mark
    assert mark.stage == (stage or mark.stage)
    assert not mark.passed
    assert mark.mistake == mistake if mistake else mark.message
    assert words in mark.message + " ".join(mark.notes), mark
    assert "judge stumbled" != mark.mistake


STOWED = "hoard = [F.scaled_dot_product_attention]\n"
# name: (what stands before it, a body that calls hoard[0](*a) in another thread)
THREADS = {
    "thread": (
        "import threading\n",
        "got = []; t = threading.Thread(target=lambda: got.append(hoard[0](*a))); t.start(); t.join(); return got[0]",
    ),
    "pool": ("from concurrent.futures import ThreadPoolExecutor as Pool\n", "return Pool(1).submit(hoard[0], *a).result()"),
    "pool that runs already": (
        "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(1)\npool.submit(int).result()\n",
        "return pool.submit(hoard[0], *a).result()",
    ),
    "thread that runs already": (
        "import threading, queue\nasked, given = queue.Queue(), queue.Queue()\ndef loop():\n    while True:\n"
        "        given.put(hoard[0](*asked.get()))\nthreading.Thread(target=loop, daemon=True).start()\n",
        "asked.put(a); return given.get()",
    ),
}


def test_forbidden_names_by_every_spelling(tmp_path):
    """Exercise 03.2 asks for what the fused function does."""
    shell = "def scaled_dot_product_attention(query, key, value, mask=None):\n    weights = torch.zeros(3)\n    return {}(query, key, value), weights"
    spellings = {
        "plain": shell.format("F.scaled_dot_product_attention"),
        "alias": "sneaky = F.scaled_dot_product_attention\n" + shell.format("sneaky"),
        "from": "from torch.nn.functional import scaled_dot_product_attention as s\n" + shell.format("s"),
        "getattr": shell.format("getattr(F, 'scaled_' + 'dot_product_attention')"),
        "importlib": "import importlib\n" + shell.format("importlib.import_module('torch.nn.functional').scaled_dot_product_attention"),
        "closure": "def make():\n    f = F.scaled_dot_product_attention\n    def inner(*a):\n        return f(*a)\n    return inner\nuse = make()\n"
        + shell.format("use"),
        "c": shell.format("torch._C._nn.scaled_dot_product_attention"),
        "aten": shell.format("torch.ops.aten.scaled_dot_product_attention"),
        "swallowed": "def scaled_dot_product_attention(query, key, value, mask=None):\n    try:\n"
        "        return F.scaled_dot_product_attention(query, key, value), query\n    except BaseException:\n        return query, query\n",
        "reference": "from course_utils.models.attention import scaled_dot_product_attention as ref\n" + shell.format("ref"),
        "imported": "from course_utils.models import attention\nscaled_dot_product_attention = attention.scaled_dot_product_attention",
        "course's own in a list": "from course_utils.models import attention\nhoard = [attention.scaled_dot_product_attention]\n"
        + shell.format("hoard[0]"),
        "jit": "@torch.jit.script\ndef use(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor):\n"
        "    return F.scaled_dot_product_attention(q, k, v)\n" + shell.format("use"),
        "jit on the answer": "from typing import Optional, Tuple\n@torch.jit.script\ndef scaled_dot_product_attention(query: torch.Tensor, "
        "key: torch.Tensor, value: torch.Tensor, mask: Optional[torch.Tensor] = None) -> "
        "Tuple[torch.Tensor, torch.Tensor]:\n    return F.scaled_dot_product_attention(query, key, value, mask), query\n",
        "mode taken away": "import torch.overrides as o\n" + STOWED + "def use(*a):\n    mode = o._pop_mode()\n    try:\n"
        "        return hoard[0](*a)\n    finally:\n        o._push_mode(mode)\n" + shell.format("use"),
        "math": shell.format("torch.ops.aten._scaled_dot_product_attention_math"),
        "private math": shell.format("torch._scaled_dot_product_attention_math"),
        "flash": shell.format("torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(*[torch.ones(1, 1, 2, 4)] * 3) or print"),
        "an overload": STOWED.replace("F.", "torch.ops.aten.").replace("]", ".default]") + shell.format("hoard[0]"),
    }
    for kind in ("DisableTorchFunction", "DisableTorchFunctionSubclass"):
        for name, before, manager in ((kind, "", f"torch._C.{kind}"), (f"{kind} in a list", f"hide = [torch._C.{kind}]\n", "hide[0]")):
            spellings[name] = STOWED + before + f"def use(*a):\n    with {manager}():\n        return hoard[0](*a)\n" + shell.format("use")
    for name, (before, call) in THREADS.items():
        spellings[name] = STOWED + before + f"def use(*a):\n    {call}\n" + shell.format("use")
    for name, source in spellings.items():
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "03_self_attention.ipynb").write_bytes(with_answer(source, "03.2"))
    records = grade(tmp_path / "class", tmp_path / "out")
    for name in spellings:
        mark = records[name].marks["03.2"]
        said = "no attribute 'default'" in mark.message if name == "an overload" else mark.stage == "forbidden shortcut"
        assert mark.points == 0 and said, (name, mark)


def test_distances_and_the_courses_own_function_by_every_spelling(tmp_path):
    """01.4 asks for what ``torch.cdist`` does, 01.1 for a function of the course; in each case the page names the proper thing."""
    distances = "def dot_product_scores(query, keys):\n    return -{}**2 / 2\n"
    threads = {
        name: "hoard = [torch.cdist]\n" + before + f"def use(*a):\n    {call}\n" + distances.format("use(query, keys)")
        for name, (before, call) in THREADS.items()
    }
    ours = "from course_utils.models import kernels\n"
    patched = "import course_tools.grading.worker as w\nw.is_ours = lambda a: False\n" + ours
    spellings = {
        "01.4": {
            **threads,
            "below": distances.format("torch._euclidean_dist(query, keys)"),
            "aten": distances.format("torch.ops.aten._cdist_forward(query, keys, 2.0, None)"),
            "another precision": distances.format("torch.cdist(query.half(), keys.half()).to(query.dtype)"),
            "an operation of its own": "lib = torch.library.Library('mine', 'DEF')\nlib.define('far(Tensor a, Tensor b) -> Tensor')\n"
            "lib.impl('far', torch.cdist, 'CompositeImplicitAutograd')\n" + distances.format("torch.ops.mine.far(query, keys)"),
            "as something ends": "import weakref\nhoard, got = [torch.cdist], []\nclass End: pass\nend = End()\n"
            "weakref.finalize(end, lambda: got.append(hoard[0](*asked)))\ndef use(*a):\n    global asked, end\n"
            "    asked, end = a, None\n    return got[-1]\n" + distances.format("use(query, keys)"),
            "in the thread that waits": "import os, signal, time\nhoard, got = [torch.cdist], []\n"
            "signal.signal(signal.SIGUSR2, lambda *a: got.append(hoard[0](*asked)))\ndef use(*a):\n    global asked\n    asked = a\n"
            "    os.kill(os.getpid(), signal.SIGUSR2)\n    time.sleep(0.2)\n    return got[-1]\n" + distances.format("use(query, keys)"),
            "pairs": "far = nn.PairwiseDistance(eps=0)\n" + distances.format("far(query[:, None], keys[None])"),
        },
        "01.1": {
            "imported": patched + "gaussian_weights = kernels.gaussian_weights\n",
            "in a list": patched + "hoard = [kernels.gaussian_weights]\ndef gaussian_weights(query, keys, bandwidth):\n"
            "    return hoard[0](query, keys, bandwidth)\n",
        },
    }
    for exercise, sources in spellings.items():
        for name, source in sources.items():
            (tmp_path / "class" / f"{exercise} {name}").mkdir(parents=True)
            (tmp_path / "class" / f"{exercise} {name}" / "01_kernel_regression.ipynb").write_bytes(with_answer(source, exercise))
    for name, record in grade(tmp_path / "class", tmp_path / "out").items():
        mark = record.marks[name.split()[0]]
        assert (mark.points, mark.stage) == (0, "forbidden shortcut"), (name, mark)
        assert any(word in mark.message for word in ("cdist", "threading", "pairwise_distance", "gaussian_weights")), (name, mark.message)


ASK = "def ask(q, k):\n    import torch\n    return torch.cdist(torch.tensor(q), torch.tensor(k)).tolist()\n"
SERVE = """
import json, os
here, there = os.pipe()
back, out = os.pipe()
def serve():
    with os.fdopen(here) as lines:
        for line in lines:
            os.write(out, (json.dumps(ask(*json.loads(line))) + "\\n").encode())
    os._exit(0)
answers = os.fdopen(back)
def far(*a):
    os.write(there, (json.dumps(a) + "\\n").encode())
    return json.loads(answers.readline())
"""
PROGRAM = "import sys, json, torch\nfor line in sys.stdin:\n    q, k = json.loads(line)\n"
PROGRAM += "    print(json.dumps(torch.cdist(torch.tensor(q), torch.tensor(k)).tolist()), flush=True)\n"
START = f"""
import json, subprocess, sys
def start():
    return subprocess.Popen([sys.executable, "-c", {PROGRAM!r}], stdin=-1, stdout=-1, text=True)
def far(*a):
    global child
    child = child or start()
    print(json.dumps(a), file=child.stdin, flush=True)
    return json.loads(child.stdout.readline())
"""
POOL = "import multiprocessing\nfrom concurrent.futures import ProcessPoolExecutor\n"
POOL += "pool = ProcessPoolExecutor(1, multiprocessing.get_context('fork'))\npool.submit(int).result()\n"
POOL += "def far(*a):\n    return pool.submit(ask, *a).result()\n"
KEPT = "import os, ctypes\nos.kill = lambda *a: None\nctypes.CDLL(None).syscall.errcheck = lambda *a: 0\nimport course_tools.grading.worker as w\n"
KEPT += "import platform, signal\nsignal.SIGKILL, platform.machine = 0, lambda: ''\nos.environ['COURSE_UNSAFE_GRADING'] = '1'\n"
KEPT += "w._alone = w.refuse_processes = lambda *a: None\n"
FILTER = """
import ctypes, struct
lines = [(0x20, 0, 0, 0), (0x15, 0, 1, 62), (6, 0, 0, 0x50000), (0x15, 0, 1, 317), (6, 0, 0, 0x50000), (6, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(lines), ctypes.addressof(code)))
libc = ctypes.CDLL(None)
libc.prctl(22, 2, program), libc.syscall(317, 1, 1, program)
"""
# Other processes that know what is forbidden here: name: what stands before the answer.
PROCESSES = {
    "a pool": ASK + POOL,
    "a fork": ASK + SERVE + "if os.fork() == 0:\n    serve()\n",
    "a daemon": ASK + SERVE + "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        serve()\n    os._exit(0)\n",
    "a daemon that forks for ever": ASK
    + SERVE
    + "if os.fork() == 0:\n    import select\n    while not select.select([here], [], [], 0)[0]:\n        if os.fork():\n"
    "            os._exit(0)\n    serve()\n",
    "a program": START + "child = start()\n",
    "a program that the answer starts": START + "child = None\n",
    "a fork of the answer": ASK + SERVE.replace("    return json", "    if os.fork() == 0:\n        serve()\n    return json"),
    "a pool, and nobody to end it": ASK + POOL + KEPT,
    "a pool, and a filter that says it was ended": ASK + POOL + FILTER,
    "a fork, and a thread that goes on forking": ASK + SERVE + "import threading\ndef again():\n    while True:\n        try:\n"
    "            if os.fork() == 0:\n                serve()\n        except OSError:\n            pass\n"
    "        import time; time.sleep(0.05)\nthreading.Thread(target=again, daemon=True).start()\n",
}


def test_no_other_process_does_what_is_forbidden(tmp_path):
    """What the cells have started ends before the answer is observed, and then nothing more can be started."""
    for name, before in PROCESSES.items():
        (tmp_path / "class" / name).mkdir(parents=True)
        answer = "def dot_product_scores(query, keys):\n    return -torch.tensor(far(query.tolist(), keys.tolist()))**2 / 2\n"
        (tmp_path / "class" / name / "01_kernel_regression.ipynb").write_bytes(with_answer(before + answer, "01.4"))
    for name, record in grade(tmp_path / "class", tmp_path / "out").items():
        mark = record.marks["01.4"]
        assert mark.points == 0 and mark.stage in ("raised", "forbidden shortcut"), (name, mark)


def test_the_observer_is_put_back_as_it_was(tmp_path):
    """A cell that patches what compares inputs does not hide that the answer changes them."""
    spoils = RIGHT.replace("    return", "    keys.mul_(2.0)\n    keys = keys / 2\n    return")
    patches = {
        "name": "o._equal = lambda *a: True\n",
        "code": "o._equal.__code__ = (lambda left, right: True).__code__\n",
        "plain": "o.prepare = lambda value: value\n",
    }
    for name, patch in patches.items():
        (tmp_path / "class" / name).mkdir(parents=True)
        source = "import course_checks.observe as o\n" + patch + spoils
        (tmp_path / "class" / name / "01_kernel_regression.ipynb").write_bytes(with_answer(source))
    for name, record in grade(tmp_path / "class", tmp_path / "out").items():
        assert record.marks["01.1"].mistake == "input changed in place", (name, record.marks["01.1"])


def test_broken_files_cost_their_owner_alone(honest, tmp_path):
    folder = tmp_path / "class"
    for place in sorted(honest[0].iterdir()):
        (folder / place.name).mkdir(parents=True)
        (folder / place.name / "01_kernel_regression.ipynb").write_bytes((place / "01_kernel_regression.ipynb").read_bytes())

    def put(student: str, name: str, data: bytes) -> None:
        (folder / student).mkdir(exist_ok=True)
        (folder / student / name).write_bytes(data)

    put("json", "01.ipynb", b'{"cells": [')
    put("binary", "01.ipynb", os.urandom(1000))
    put("nested", "01.ipynb", b"[" * 100_000)
    put("list", "01.ipynb", b"[]")
    put("odd cells", "01.ipynb", json.dumps({"cells": [1, None, {"cell_type": "code", "source": 3, "metadata": 4}]}).encode())
    put("no cells", "01.ipynb", b"{}")
    with open(folder / "json" / "huge.ipynb", "wb") as file:
        file.truncate(200 * 2**20)
    old = {"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": "import torch\n" + RIGHT, "metadata": {}}]}]}
    put("format three", "01_kernel_regression.ipynb", json.dumps(old).encode())
    os.symlink("/etc/passwd", folder / "list" / "link.ipynb")
    os.symlink("/", folder / "linked folder")
    put("deep \x1b[31m\u202e red\n=1+1", "01.ipynb", with_answer(RIGHT))
    put("=HYPERLINK(1)", "01.ipynb", with_answer(RIGHT))
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("01.ipynb", b"0" * (30 * 2**20))
        archive.writestr("../../outside.ipynb", with_answer(RIGHT))
        archive.writestr("/absolute.ipynb", with_answer(RIGHT))
        link = zipfile.ZipInfo("link.ipynb")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    put("bomber", "all.zip", bomb.getvalue())
    put("half", "half.zip", bomb.getvalue()[: len(bomb.getvalue()) // 2])
    lied = bytearray(with_zip("01.ipynb", with_answer(RIGHT)))
    where = lied.find(b"PK\x01\x02")
    lied[where + 24 : where + 28] = struct.pack("<I", 10)  # claims to unpack to 10 bytes
    put("liar", "lie.zip", bytes(lied))
    put("impostor", "a right_666_1_01_kernel_regression.ipynb", with_answer(WRONG))
    put("parcel", "parcel.zip", with_zip("b wrong/01_kernel_regression.ipynb", with_answer(RIGHT)))
    put("parcel", "box.zip", with_zip("inner.zip", b"PK"))
    put("collector", "01_kernel_regression.ipynb", notebook(*(cell("x = 1", e.id) for e in catalogue())))
    (folder / "json" / "timestamp.txt").write_text("2026-99-99 10:00")

    out = tmp_path / "out"
    assert main([str(folder), "--out", str(out), "--quiet", "--seed", "fixed"]) == 1
    table = {row["Student"]: row for row in read_table(out / "gradebook.csv")}
    deserved = {name: row.split(",")[5] for name, row in honest[1].items() if name != "Student"}
    assert {name: table[name]["01.1 (4)"] for name in deserved} == deserved
    text = (out / "gradebook.csv").read_text(encoding="utf-8-sig")
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "'=HYPERLINK(1)" in text
    assert [table[name]["01.1 (4)"] for name in ("format three", "parcel", "impostor")] == ["4", "4", "0"]
    # of the whole chapter: nobody said that less was assigned
    most = sum(e.points for key, e in exercises_of(("01",)).items() if not extra(key))
    assert all(table[name]["Percent"] == f"{100 * float(points) / most:.1f}" for name, points in deserved.items())
    report = (out / "report.html").read_text(encoding="utf-8")
    said = "not readable as JSON; holds no object; no cells; 200 MB is more; symbolic link; unpacked: not read; leads out of the zip; "
    for words in (said + "not a readable zip; zip file: not opened").split("; "):
        assert words in report, words
    assert not (tmp_path / "outside.ipynb").exists()
    assert sorted(p.name for p in (out / "feedback").iterdir()) == sorted({p.name for p in (out / "feedback").iterdir()})


def with_zip(name: str, data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, data)
    return out.getvalue()


def test_html_of_a_submission_is_harmless(tmp_path):
    source = "def gaussian_weights(query, keys, bandwidth):\n    raise ValueError('<script>alert(1)</script>')\n"
    place = tmp_path / "class" / "<img src=x onerror=alert(1)>"
    place.mkdir(parents=True)
    (place / "01_kernel_regression.ipynb").write_bytes(notebook(cell(source, "01.1")))
    grade(tmp_path / "class", tmp_path / "out")
    for page in [*(tmp_path / "out" / "feedback").iterdir(), tmp_path / "out" / "report.html"]:
        text = page.read_text(encoding="utf-8")
        assert "<script" not in text
        assert "<img" not in text
