"""A Python that has everything already: then nothing is installed. Standard library only, readable by an old Python, like setup.py."""

import os
import re
import subprocess
import sys
from pathlib import Path

from ..paths import ROOT
from .failures import Problem

HUB = "JUPYTERHUB_USER" in os.environ and not (hasattr(os, "geteuid") and os.geteuid() == 0)  # a student's terminal on a hub

LACKING = """
import re, sys
from importlib import metadata
for line in sys.argv[1:]:
    name, pin = re.match(r"([\\w.-]+)(?:==([\\w.]+))?", line).groups()
    try:
        version = metadata.version(name).split("+")[0]
    except metadata.PackageNotFoundError:
        version = ""
    if not version or pin not in (None, version):
        print(name)
"""


def named(venv_python, stamp):
    """The Python that COURSE_PYTHON names; on a hub also the shared one, or the one that runs us; else None."""
    name = os.environ.get("COURSE_PYTHON") or (HUB and (str(venv_python) if stamp.exists() else sys.executable))
    return Path(name) if name else None


def packages_of(extra):
    """What an extra of pyproject.toml asks for; one extra may name another."""
    import tomllib  # since Python 3.11: an older one has been refused by now

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = []
    for line in project["optional-dependencies"][extra]:
        other = re.match(re.escape(project["name"]) + r"\[(\w+)\]$", line)
        found += packages_of(other.group(1)) if other else [line]
    return found


def use(python, extras, env):
    """Raise Problem where `python` lacks a package of requirements.txt or of these extras; nothing is installed into it."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    wanted = [line for line in lines if line and not line.startswith("#")]
    wanted += [line for extra in extras for line in packages_of(extra)]
    try:
        done = subprocess.run([str(python), "-c", LACKING] + wanted, stdout=subprocess.PIPE, env=env, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Problem(f"The Python that COURSE_PYTHON names cannot be run: {python}\n({error})") from None
    missing = ", ".join(done.stdout.decode().split())
    if missing:
        advice = "Nothing is installed from a hub's terminal: ask whoever runs the hub for them." if HUB else "Install them there."
        raise Problem(f"This command needs packages that are not in {python}:\n  {missing}\n{advice}")
