"""Write ``requirements.lock``: every package the course can need, pinned for every system it runs on.

    .venv/bin/python -m course_tools.lock        (Windows: .venv\\Scripts\\python)

The readable lists stay the source: ``requirements.txt``, and the extras and the build system in ``pyproject.toml``. uv resolves
them once for all systems; where it is not installed, it is fetched into a temporary folder. Only wheels count: nothing of the
course is ever built. The lock names for each package the wheels seen, so that a test can ask it, without the network, whether
a system is left out. It holds no address: pip takes the files from wherever it is told to, and compares the hashes.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

from course_utils.paths import ROOT

LOCK = ROOT / "requirements.lock"
PYTHONS = ((3, 11), (3, 12), (3, 13), (3, 14))
GLIBC = 28  # Linux: glibc 2.28 or newer, which PyTorch asks for
MACOS = (14, 0)
USEFUL = re.compile(r"any|(manylinux\w*|linux)_(x86_64|aarch64)|macosx_\d+_\d+_(arm64|universal2)|win_amd64")  # or newer
HEAD = """\
# Every package that the course can need, with its hashes: learner and developer, Linux, macOS and Windows, Python 3.11 to 3.14.
# Written by  python -m course_tools.lock  from requirements.txt and pyproject.toml; do not edit. The launcher gives it to pip
# as constraints (pip install -c requirements.lock ...). Below a package: the wheels seen, and their sizes in bytes.
# One package is installed without a hash: on Linux without a GPU, PyTorch's CPU build, which only PyTorch's own index has.
"""


@dataclass(frozen=True)
class System:
    """A system the course runs on: what its markers say, and which wheels it takes."""

    name: str
    python: tuple[int, int]
    markers: dict[str, str]
    platforms: tuple[str, ...]

    @cached_property
    def tags(self) -> set[Tag]:
        """What pip would accept here, down to the oldest glibc and macOS that we name."""
        interpreter = "cp{}{}".format(*self.python)
        return {*cpython_tags(self.python, [interpreter], self.platforms), *compatible_tags(self.python, interpreter, self.platforms)}

    def environments(self) -> Iterator[dict[str, str]]:
        """The markers' values, of the first and of a late release of this Python."""
        for patch in (0, 99):
            version = "{}.{}".format(*self.python)
            full = f"{version}.{patch}"
            yield {
                **self.markers,
                "python_version": version,
                "python_full_version": full,
                "implementation_version": full,
                "implementation_name": "cpython",
                "platform_python_implementation": "CPython",
                "platform_release": "",
                "platform_version": "",
                "extra": "",
            }


def _linux(machine: str) -> tuple[str, ...]:
    old = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
    found = []
    for minor in range(GLIBC, 4, -1):
        found += [f"manylinux_2_{minor}_{machine}"] + ([f"{old[minor]}_{machine}"] if minor in old else [])
    return (*found, f"linux_{machine}")


@cache
def systems() -> tuple[System, ...]:
    """Everything that the lock promises to serve."""

    def markers(system: str, machine: str) -> dict[str, str]:
        platform = {"Linux": "linux", "Darwin": "darwin", "Windows": "win32"}[system]
        return {
            "platform_system": system,
            "sys_platform": platform,
            "platform_machine": machine,
            "os_name": "nt" if system == "Windows" else "posix",
        }

    kinds = [
        ("Linux x86_64", markers("Linux", "x86_64"), _linux("x86_64")),
        ("Linux aarch64", markers("Linux", "aarch64"), _linux("aarch64")),
        ("macOS arm64", markers("Darwin", "arm64"), tuple(mac_platforms(MACOS, "arm64"))),
        ("Windows amd64", markers("Windows", "AMD64"), ("win_amd64",)),
    ]
    return tuple(
        System("{}, Python {}.{}".format(name, *python), python, values, platforms)
        for name, values, platforms in kinds
        for python in PYTHONS
    )


@dataclass(frozen=True)
class Pin:
    """A line of the lock: ``wheels`` maps a file's name to its size and its hash."""

    name: str
    version: str
    marker: str
    wheels: dict[str, tuple[int, str]]

    def applies(self, environment: dict[str, str]) -> bool:
        """Whether it counts for these values of the markers."""
        return not self.marker or Marker(self.marker).evaluate(environment)

    def serves(self, system: System) -> bool:
        """Whether one of the wheels runs there."""
        return any(parse_wheel_filename(name)[3] & system.tags for name in self.wheels)

    def __str__(self) -> str:
        marker = f" ; {self.marker}" if self.marker else ""
        hashes = [f"--hash=sha256:{digest}" for _, digest in self.wheels.values()]
        names = [f"    # {name} {size}" for name, (size, _) in self.wheels.items()]
        return " \\\n    ".join([f"{self.name}=={self.version}{marker}", *hashes]) + "\n" + "\n".join(names) + "\n"


def read_lock(path: Path = LOCK) -> list[Pin]:
    """The pins of the lock. ValueError where a line is not of the form that ``write`` gives it."""
    pins: list[Pin] = []
    hashes: list[str] = []
    for line in path.read_text(encoding="utf-8").removeprefix(HEAD).splitlines():
        if match := re.fullmatch(r"([\w-]+)==([\w.+!]+)(?: ; (.+?))? \\", line):
            pins.append(Pin(match[1], match[2], match[3] or "", {}))
            hashes = []
        elif match := re.fullmatch(r"    --hash=sha256:([0-9a-f]{64})(?: \\)?", line):
            hashes.append(match[1])
        elif (match := re.fullmatch(r"    # (\S+\.whl) (\d+)", line)) and pins and len(pins[-1].wheels) < len(hashes):
            pins[-1].wheels[match[1]] = (int(match[2]), hashes[len(pins[-1].wheels)])
        else:
            raise ValueError(f"{path.name}: not a line of a lock: {line!r}")
    return pins


def wanted(root: Path = ROOT) -> list[Requirement]:
    """What the readable lists ask for: the learner's packages, every extra, the build system, and pip itself."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    learner = [line.split("#")[0].strip() for line in (root / "requirements.txt").read_text(encoding="utf-8").splitlines()]
    extras = [line for lines in project["project"]["optional-dependencies"].values() for line in lines]
    own = canonicalize_name(project["project"]["name"])  # one extra may name another
    found = [Requirement(line) for line in [*filter(None, learner), *extras, *project["build-system"]["requires"], "pip"]]
    return [line for line in found if canonicalize_name(line.name) != own]


def _useful(wheel: str) -> bool:
    """Whether some system of ours, however new, may take this wheel."""
    return any((tag.interpreter, tag.abi) in _abis() and USEFUL.fullmatch(tag.platform) for tag in parse_wheel_filename(wheel)[3])


@cache
def _abis() -> set[tuple[str, str]]:
    return {(tag.interpreter, tag.abi) for system in systems() for tag in system.tags}


def _simple(marker: str) -> str:
    """A marker without what is always true here."""
    always = f"python_full_version >= '{PYTHONS[0][0]}.{PYTHONS[0][1]}'"
    return "" if marker == always else marker.removeprefix(f"{always} and ")


def pins_of(pylock: str) -> list[Pin]:
    """The pins of a standard lock file (PEP 751), without what no system of ours needs."""
    found = []
    environments = [values for system in systems() for values in system.environments()]
    for package in tomllib.loads(pylock)["packages"]:
        wheels = {}
        for wheel in package.get("wheels", []):
            name = wheel.get("name") or wheel["url"].rsplit("/", 1)[1]
            if _useful(name):
                wheels[name] = (wheel["size"], wheel["hashes"]["sha256"])
        pin = Pin(canonicalize_name(package["name"]), package["version"], _simple(package.get("marker", "")), dict(sorted(wheels.items())))
        if any(pin.applies(values) for values in environments):
            found.append(pin)
    return sorted(found, key=lambda pin: (pin.name, Version(pin.version)))


def missing_wheels(pins: Iterable[Pin]) -> list[str]:
    """What is pinned for a system that has no wheel of it, as sentences."""
    return [
        f"{pin.name} {pin.version} has no wheel for {system.name}"
        for pin in pins
        for system in systems()
        if any(pin.applies(values) for values in system.environments()) and not pin.serves(system)
    ]


def resolve(folder: Path) -> list[Pin]:
    """Ask uv; the files that it needs lie in ``folder``."""
    uv = shutil.which("uv")
    if not uv:
        venv.create(folder / "venv", with_pip=True)
        python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        subprocess.run([python, "-m", "pip", "install", "-q", "--only-binary", ":all:", "uv"], check=True)
        uv = str(python.parent / "uv")
    (folder / "wanted.in").write_text("\n".join(map(str, wanted())), encoding="utf-8")
    # No settings of this machine, its own indexes and wheels among them, may reach the lock.
    env = {name: value for name, value in os.environ.items() if not name.startswith(("UV_", "PIP_"))}
    oldest = "{}.{}".format(*PYTHONS[0])
    words = f"--quiet --no-config --universal --python-version {oldest} --only-binary :all: --format pylock.toml -o pylock.toml wanted.in"
    subprocess.run([uv, "pip", "compile", *words.split()], cwd=folder, env=env, check=True)
    return pins_of((folder / "pylock.toml").read_text(encoding="utf-8"))


def main(argv: list[str] | None = None) -> int:
    """Write the lock; 1 when a system is left without a wheel."""
    argparse.ArgumentParser(prog="python -m course_tools.lock", description=__doc__.splitlines()[0]).parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        pins = resolve(Path(folder))
    problems = missing_wheels(pins)
    if problems:
        print("\n".join(problems) + "\nBound the package in requirements.txt or pyproject.toml, or do without it.", file=sys.stderr)
        return 1
    LOCK.write_text(HEAD + "".join(map(str, pins)), encoding="utf-8", newline="\n")
    print(f"{LOCK.name}: {len(pins)} pins, {sum(len(pin.wheels) for pin in pins)} wheels")
    return 0


if __name__ == "__main__":
    sys.exit(main())
