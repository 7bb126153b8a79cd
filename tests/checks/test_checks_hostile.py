"""Answers that try to break the check, or to pass without being right; and settings a learner may have left behind."""

import io
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from made import gaussian_weights
from torch.nn import functional as F

from course_checks import check, engine, limits
from course_checks.engine import examine
from course_checks.lookup import catalogue
from course_checks.observation import Observation
from course_checks.observe import observe
from course_checks.plain_data import plain_data
from course_tools.grading import wire
from tests.answers import right_ones

BY_ID = {exercise.id: exercise for exercise in catalogue()}
attend = right_ones("03.2")[0]


@pytest.fixture(autouse=True)
def nothing_is_left_behind(monkeypatch):
    monkeypatch.setenv("COURSE_PROGRESS", "off")
    before = (sys.stdout, F.scaled_dot_product_attention, torch.get_default_dtype(), torch.is_grad_enabled())
    state = torch.random.get_rng_state()
    yield
    assert (sys.stdout, F.scaled_dot_product_attention, torch.get_default_dtype(), torch.is_grad_enabled()) == before
    assert torch.equal(state, torch.random.get_rng_state())


class Liar(torch.Tensor):
    """Says that it is close to everything."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return True if func.__name__ in ("allclose", "equal", "isclose") else super().__torch_function__(func, types, args, kwargs or {})


class Never(float):
    def __sub__(self, other):
        return 0.0

    def __eq__(self, other):
        return True

    __hash__ = float.__hash__


def test_lies_do_not_pass():
    liar = examine(BY_ID["01.1"], lambda query, keys, bandwidth: torch.zeros(len(query), len(keys)).as_subclass(Liar))
    assert not liar.passed
    assert liar.points == 0
    assert not examine(BY_ID["03.3"], {key: Never(3) for key in BY_ID["03.3"].reference}).passed
    unreal = examine(
        BY_ID["01.1"],
        lambda query, keys, bandwidth: torch.complex(gaussian_weights(query, keys, bandwidth), torch.ones(len(query), len(keys))),
    )
    assert not unreal.passed
    assert unreal.stage == "type"


def test_refusing_everything_earns_nothing():
    def refuse(x, num_heads):
        raise ValueError("30 4, 3 7, 10 4")

    assert examine(BY_ID["04.2"], refuse).points == 0


@pytest.mark.parametrize("size", [(8000, 8000), (10**6, 10**6)])
def test_a_huge_result_is_refused_without_being_copied(size):
    result = examine(BY_ID["01.1"], lambda query, keys, bandwidth: torch.zeros(1).expand(size))
    assert result.stage == "type"
    assert "too large" in result.message


def test_observations_are_plain():
    strange = [
        torch.zeros(2, 2).to_sparse(),
        torch.zeros(2, device="meta"),
        torch.complex(torch.ones(2), torch.ones(2)),
        object(),
        {1, 2},
        np.array(["a"]),
        np.array([object()]),
        10**400,
        "x" * 10**6,
        [0] * 10**6,
        lambda: 0,
    ]
    for value in strange:
        plain = plain_data(value)
        assert type(plain) in (dict, str, list)
        assert len(str(plain)) < 20_000
    assert type(plain_data(torch.nn.Parameter(torch.ones(2)))) is torch.Tensor
    assert type(plain_data(torch.ones(2).as_subclass(Liar))) is torch.Tensor
    assert type(plain_data(Never(3))) is float
    assert type(plain_data(np.float32(2))) is float
    assert type(plain_data({Never(1): "a"})) is dict


def seen_by_the_observer() -> list:
    """Observations of several kinds: right, raised, blank, a module that does not fit, gradients."""

    class Nothing(torch.nn.Module):
        pass

    def blank(x):
        raise NotImplementedError

    def shaky(x):
        print("so far")
        return 1 / 0

    x = {"x": torch.ones(2, 3)}
    module = {"init": {}, "parameters": {"w": torch.ones(2)}, "inputs": x}
    return [
        observe("function", lambda x: (x * 2, [1, "two", None]), x, ("x",)),
        observe("function", lambda x: x.detach(), x, ("x",)),
        observe("function", blank, x),
        observe("function", shaky, x),
        observe("module", Nothing, module),
        observe("module", lambda: 3, module),
        observe("value", {"entry": 3.5}, {}),
    ]


def test_an_observation_crosses_unchanged():
    with torch.random.fork_rng(devices=[]):
        observed = seen_by_the_observer()
    for seen in observed:
        back = Observation.from_plain(wire.read(io.BytesIO(wire.pack(seen.to_plain())).read))
        assert str(back) == str(seen)


@pytest.mark.parametrize(
    "key", ["status", "type", "value", "module", "gradients", "printed", "changed", "error", "again", "calls", "attached"]
)
def test_a_forged_observation_is_refused(key):
    with torch.random.fork_rng(devices=[]):
        good = seen_by_the_observer()[3].to_plain()  # raised, with an error
    without = {name: value for name, value in good.items() if name != key}
    with pytest.raises(KeyError):
        Observation.from_plain(without)
    wrong = {
        "status": "passed",
        "type": 3,
        "value": None,
        "module": "none",
        "gradients": {"x": 1},
        "printed": None,
        "changed": [3],
        "again": {"value": 1, "error": "none", "random": False},
        "calls": {"model": "once"},
        "attached": "all",
        "error": {**good["error"], "classes": ["ValueError", 3]},
    }
    if key != "value":
        with pytest.raises((TypeError, KeyError)):
            Observation.from_plain({**good, key: wrong[key]})
    with pytest.raises(TypeError):
        Observation.from_plain({**good, "error": None})
    with pytest.raises(TypeError):
        Observation.from_plain({**good, "type": "tensor", "value": "a tensor"})


NASTY = {
    "module marker": ("01.1", lambda query, keys, bandwidth: {"module": 1}),
    "object marker": ("03.7", {"object": "x"}),
    "huge number": ("03.3", {**BY_ID["03.3"].reference, "variance of q·k": 10**400}),
    "empty tensor": ("03.2", lambda query, key, value, mask=None: (torch.zeros(0, 3, 5), torch.zeros(0, 3, 4))),
    "sparse": ("01.1", lambda query, keys, bandwidth: torch.zeros(4, 6).to_sparse()),
    "generator": ("01.1", lambda query, keys, bandwidth: (x for x in keys)),
    "array of strings": ("01.1", np.array(["a"])),
    "set": ("03.7", {1, 2}),
    "long string": ("03.7", {key: "x" * 10**6 for key in BY_ID["03.7"].reference}),
    "exit": ("01.1", lambda query, keys, bandwidth: sys.exit(3)),
    "base exception": ("01.1", lambda query, keys, bandwidth: (_ for _ in ()).throw(BaseException("x"))),
    "builtin": ("01.1", len),
    "class": ("01.1", torch.nn.Linear),
}


@pytest.mark.parametrize("name", NASTY)
def test_the_check_never_raises_and_is_never_at_fault(name, capsys):
    result = check(*NASTY[name])
    assert not result.passed
    assert result.points == 0
    assert "fault of the course" not in result.message, result.message
    assert 0 < len(capsys.readouterr().out) < 5_000


def test_an_unreadable_exception():
    class Silent(Exception):
        def __str__(self):
            raise RuntimeError("no words")

    def answer(query, keys, bandwidth):
        raise Silent

    assert "without a readable message" in check("01.1", answer).message


def test_two_answers_and_odd_seeds():
    assert "one answer" in check("03.1", attend, attend).message
    assert examine(BY_ID["03.1"], BY_ID["03.1"].reference, seed=2**70).passed


def test_a_fault_of_the_course_is_admitted(monkeypatch):
    monkeypatch.setattr(engine, "judge", lambda *a, **more: 1 / 0)
    assert "fault of the course" in check("03.1", lambda query, key: query).message
    monkeypatch.setenv("COURSE_STRICT", "1")
    with pytest.raises(ZeroDivisionError):
        check("03.1", lambda query, key: query)


@pytest.mark.parametrize("exercise", catalogue(), ids=lambda e: e.id)
def test_settings_of_the_learner_do_not_matter(exercise):
    with torch.no_grad():
        assert examine(exercise, exercise.reference).passed
    with torch.inference_mode():
        assert examine(exercise, exercise.reference).passed
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert examine(exercise, exercise.reference).passed
    torch.set_default_dtype(torch.float64)
    try:
        assert examine(exercise, exercise.reference).passed
        assert torch.get_default_dtype() is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    torch.set_default_device("meta")
    try:
        assert examine(exercise, exercise.reference).passed
    finally:
        torch.set_default_device(None)


def test_an_abandoned_answer_leaves_the_session_usable(monkeypatch):
    monkeypatch.setattr(engine, "LIMIT", 0.2)
    monkeypatch.setattr(limits, "GRACE", 0.2)
    result = examine(BY_ID["03.2"], lambda query, key, value, mask=None: time.sleep(2.5))
    assert "Restart the kernel" in result.message
    x = torch.ones(1, 1, 2, 2)
    F.scaled_dot_product_attention(x, x, x)  # not forbidden any more
    time.sleep(2.5)  # until the answer has ended: it must not take anything back then either
    F.scaled_dot_product_attention(x, x, x)


@pytest.mark.skipif(sys.platform == "win32", reason="no signals to send to oneself on Windows")
def test_interrupting_a_check(monkeypatch):
    timer = threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()

    def slow(query, keys, bandwidth):
        while True:
            pass

    result = examine(BY_ID["01.1"], slow)
    assert "You stopped" in result.message
    assert not [t for t in threading.enumerate() if t.name == limits.ANSWER], "the answer goes on in the background"


@pytest.mark.skipif(sys.platform == "win32", reason="no signals to send to oneself on Windows")
def test_interrupting_what_cannot_be_interrupted():
    threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT)).start()
    ended = threading.Event()

    def sleepy(query, keys, bandwidth):
        time.sleep(4)
        ended.set()

    result = examine(BY_ID["01.1"], sleepy)
    assert "goes on in the background" in result.message
    assert not ended.is_set()  # nobody has waited for it
    ended.wait(20)


def _attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.scaled_dot_product_attention(query, key, value)


@pytest.mark.parametrize("how", ["jit", "thread", "pool", "mode off"])
def test_what_hides_a_shortcut_is_out_of_bounds(how):
    quick = {"f": F.scaled_dot_product_attention}
    with pytest.deprecated_call():
        compiled = torch.jit.script(_attend)

    def answer(query, key, value, mask=None):
        out = []
        if how == "jit":
            out.append(compiled(query, key, value))
        elif how == "thread":
            thread = threading.Thread(target=lambda: out.append(quick["f"](query, key, value)))
            thread.start()
            thread.join()
        elif how == "pool":
            with ThreadPoolExecutor() as pool:
                out.append(pool.submit(quick["f"], query, key, value).result())
        else:
            with torch._C.DisableTorchFunction():
                out.append(quick["f"](query, key, value))
        return out[0], key

    result = examine(BY_ID["03.2"], answer)
    assert (result.stage, result.points) == ("forbidden shortcut", 0)
    assert "hides from this check" in result.message
    x = torch.ones(1, 1, 2, 2)
    compiled(x, x, x)  # not forbidden any more


def test_a_progress_bar_is_no_shortcut():
    """tqdm starts a thread that watches its bars, once in a process."""
    from tqdm import tqdm

    def answer(query, key, value, mask=None):
        for _ in tqdm(range(2), disable=False):
            pass
        return BY_ID["03.2"].reference(query, key, value, mask)

    tqdm.monitor, tqdm.monitor_interval = None, 10
    assert examine(BY_ID["03.2"], answer).passed


@pytest.mark.parametrize("where", ["closure", "default", "object", "torch._C"])
def test_a_shortcut_is_found_wherever_it_is_kept(where):
    quick = F.scaled_dot_product_attention

    def closure(query, key, value, mask=None):
        return quick(query, key, value, mask), key

    def default(query, key, value, mask=None, f=quick):
        return f(query, key, value, mask), key

    def inner(query, key, value, mask=None):
        return torch._C._nn.scaled_dot_product_attention(query, key, value, mask), key

    class Caller:
        def __call__(self, query, key, value, mask=None):
            return quick(query, key, value, mask), key

    answer = {"closure": closure, "default": default, "object": Caller(), "torch._C": inner}[where]
    result = examine(BY_ID["03.2"], answer)
    assert (result.stage, result.points) == ("forbidden shortcut", 0)


def test_branches_left_blank():
    def half(query, key, value, mask=None):
        if mask is not None:
            raise NotImplementedError
        return attend(query, key, value)

    result = examine(BY_ID["03.2"], half)
    assert result.stage == "raised"
    assert "branch" in result.message
    entries = dict(BY_ID["01.3"].reference)
    entries["sum of a row"] = None
    assert "sum of a row" in examine(BY_ID["01.3"], entries).message
    entries["sum of a row"] = "1"
    assert "Choose from" in examine(BY_ID["01.3"], entries).message


def test_plain_words_for_what_pytorch_says():
    scores = BY_ID["03.1"]
    assert examine(scores, lambda query, key: torch.from_numpy(query.numpy() @ key.numpy().T)).mistake == "leaves PyTorch for NumPy"
    assert examine(scores, lambda q, k: q @ k.mT).mistake == "parameter renamed"
    assert examine(scores, lambda query, key: scores.reference(query, key).half()).mistake == "half precision"
    assert examine(BY_ID["03.2"], lambda query, key, value, mask=None: attend(query, key, value, mask)[::-1]).mistake == "results swapped"
    assert (
        examine(BY_ID["00b.3"], lambda logits, target: BY_ID["00b.3"].reference(logits, target).item()).mistake
        == "number instead of tensor"
    )

    def overwrites(query, key):
        out = scores.reference(query, key)
        weights = out.exp()
        weights[..., 0] = 0.0
        return weights

    assert examine(scores, overwrites).mistake == "result changed in place"
