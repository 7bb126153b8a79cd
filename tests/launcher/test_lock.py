"""requirements.lock: complete, in step with the readable lists, with a wheel for every system. Nothing here asks the network."""

from __future__ import annotations

import re
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from course_tools import lock

PINS = lock.read_lock()
SYSTEMS = lock.systems()


def pinned(name: str, environment: dict[str, str], pins: list[lock.Pin] = PINS) -> list[lock.Pin]:
    return [pin for pin in pins if pin.name == canonicalize_name(name) and pin.applies(environment)]


def disagreements(requirements: list[Requirement], pins: list[lock.Pin]) -> list[str]:
    """Where the lock has not one pin, or one that the list does not allow, as sentences."""
    found = []
    for system in SYSTEMS:
        for environment in system.environments():
            for line in requirements:
                if line.marker and not line.marker.evaluate(environment):
                    continue
                versions = [pin.version for pin in pinned(line.name, environment, pins)]
                if len(versions) != 1 or not line.specifier.contains(versions[0]):
                    found.append(f"{system.name}: {line} is locked as {versions}")
    return found


def test_it_names_the_systems_that_the_course_promises():
    assert len(SYSTEMS) == 16
    assert {system.markers["sys_platform"] for system in SYSTEMS} == {"linux", "darwin", "win32"}
    assert {system.python for system in SYSTEMS} == {(3, 11), (3, 12), (3, 13), (3, 14)}
    assert all(len(system.tags) > 30 for system in SYSTEMS)


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_every_package_has_a_wheel(system):
    for environment in system.environments():
        needed = [pin for pin in PINS if pin.applies(environment)]
        assert len(needed) > 150
        assert [f"{pin.name} {pin.version}" for pin in needed if not pin.serves(system)] == []


def test_the_lists_and_the_lock_agree():
    assert disagreements(lock.wanted(), PINS) == []
    assert {"torch", "jupyterlab", "pytest", "sphinx", "nbgrader", "setuptools", "pip"} <= {line.name for line in lock.wanted()}


@pytest.mark.parametrize("line", ["numpy>=99", "nowhere", "docopt; sys_platform == 'linux'"])
def test_a_list_that_went_on_alone_is_noticed(line):
    assert len(disagreements([Requirement(line)], PINS)) >= 8


def test_a_system_without_a_wheel_is_noticed():
    pin = next(pin for pin in PINS if pin.name == "markupsafe")
    poorer = lock.Pin(pin.name, pin.version, "", {name: value for name, value in pin.wheels.items() if "win_amd64" not in name})
    lost = [f"markupsafe {pin.version} has no wheel for Windows amd64, Python 3.{minor}" for minor in range(11, 15)]
    assert lock.missing_wheels([poorer]) == lost
    assert len(lock.missing_wheels([lock.Pin("docopt", "0.6.2", "", {})])) == 16


def test_a_package_is_pinned_once_for_each_system():
    for environment in (values for system in SYSTEMS for values in system.environments()):
        names = [pin.name for pin in PINS if pin.applies(environment)]
        assert len(names) == len(set(names))


def test_nothing_that_is_installed_here_needs_an_unlocked_package():
    """Walks from the lists over the installed packages, as far as they are those of the lock."""
    environment = {"extra": ""}
    left, seen = list(lock.wanted()), set()
    while left:
        line = left.pop()
        name = canonicalize_name(line.name)
        if (name, *sorted(line.extras)) in seen or (line.marker and not line.marker.evaluate(environment)):
            continue
        seen.add((name, *sorted(line.extras)))
        pins = [pin for pin in PINS if pin.name == name and (not pin.marker or lock.Marker(pin.marker).evaluate())]
        assert len(pins) == 1, f"{name} is not locked, or twice"
        assert line.specifier.contains(pins[0].version, prereleases=True), f"{line}, but {pins[0].version} is locked"
        try:
            here = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # an extra that nobody has fetched
        if Version(here.version).public != pins[0].version:
            continue
        for text in here.requires or []:
            needed = Requirement(text)
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in ("", *line.extras)):
                needed.marker = None
                left.append(needed)
    assert len(seen) > 150


def test_it_is_written_as_it_is_read_and_holds_no_address():
    text = lock.LOCK.read_text(encoding="utf-8")
    assert text == lock.HEAD + "".join(map(str, PINS))
    assert not re.search(r"://|www\.|\.(org|com|io)\b", text.removeprefix(lock.HEAD))
    assert all(pin.wheels for pin in PINS)
    assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for pin in PINS for _, digest in pin.wheels.values())


def test_a_line_that_is_none_is_refused(tmp_path):
    path = tmp_path / "broken.lock"
    path.write_text(lock.HEAD + "numpy>=2\n", encoding="utf-8")
    with pytest.raises(ValueError, match="numpy>=2"):
        lock.read_lock(path)


def test_what_a_resolver_answers_becomes_pins():
    """Only what our systems can use: no source, no other processor, no thread-free Python, no other interpreter's packages."""

    def wheel(name: str) -> str:
        return f'{{ url = "scheme:somewhere/{name}", size = 7, hashes = {{ sha256 = "{"a" * 64}" }} }}'

    names = [
        "x-1-cp311-cp311-manylinux_2_28_x86_64.whl",
        "x-1-cp313-cp313t-win_amd64.whl",
        "x-1-cp39-abi3-macosx_11_0_arm64.whl",
        "x-1-cp312-cp312-musllinux_1_2_x86_64.whl",
        "x-1-cp314-cp314-manylinux_2_40_x86_64.whl",
        "x-1-cp310-cp310-win_amd64.whl",
    ]
    pins = lock.pins_of(f"""
[[packages]]
name = "X"
version = "1"
marker = "python_full_version >= '3.11' and sys_platform != 'emscripten'"
wheels = [{", ".join(map(wheel, names))}]

[[packages]]
name = "elsewhere"
version = "2"
marker = "sys_platform == 'emscripten'"
wheels = [{wheel("elsewhere-2-py3-none-any.whl")}]
""")
    assert [(pin.name, pin.marker) for pin in pins] == [("x", "sys_platform != 'emscripten'")]
    assert sorted(pins[0].wheels) == sorted([names[0], names[2], names[4]])


def test_the_lists_name_nothing_twice_with_two_bounds():
    project_lines = [str(line) for line in lock.wanted()]
    names = {}
    for line in map(Requirement, project_lines):
        names.setdefault(canonicalize_name(line.name), set()).add(str(line.specifier))
    assert {name: bounds for name, bounds in names.items() if len(bounds) > 1} == {}
