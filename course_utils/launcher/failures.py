"""What went wrong, in plain words. Standard library only, readable by an old Python, like setup.py."""

import re
import shutil
import sys

from ..paths import ROOT

OLDEST_PYTHON = (3, 11)


class Problem(Exception):
    """Something the user can mend; the message says how."""


RESUME = "Nothing is broken: start the same command again and it goes on from here."

KNOWN_FAILURES = {  # kind: what a program's output says, and what we say
    "disk": (
        r"No space left on device|Errno 28\b|WinError 112|not enough space on the disk",
        "The disk is full: make room. The course needs about 3 GB in {root}\nand, while it installs, 1 GB for temporary files.\n{resume}",
    ),
    "venv": (
        r"ensurepip is not\s+available|No module named '?(venv|ensurepip)",
        "This Python cannot make environments: its 'venv' part is missing.\n"
        "On Debian and Ubuntu:  sudo apt install python{python}-venv   (or python3-venv)\n{resume}",
    ),
    "path": (
        r"Windows Long Path support|File ?name too long",
        "A path became too long for this system.\nMove the course to a folder with a short path, such as C:\\course, and start again.",
    ),
    "rights": (
        r"Permission denied|Read-only file system|Errno (13|30)\b|Access is denied|WinError 32",
        "The folder {root} cannot be written to.\nClose a JupyterLab that still runs from it, or copy the course to a folder of your own.",
    ),
    "certificate": (
        r"CERTIFICATE_VERIFY_FAILED|SSLCertVerificationError",
        "The internet answers, but its certificate is not trusted here. Either this computer's clock is wrong, or\n"
        "you are in a company network: then put the name of its certificate file into the variable PIP_CERT.\n{resume}",
    ),
    "network": (
        r"NewConnectionError|NameResolutionError|[Nn]ame resolution|Name or service not known"
        r"|getaddrinfo failed|nodename nor servname|Max retries exceeded|is unreachable"
        r"|[Tt]imed out|TimeoutError|ProxyError|Connection (refused|reset|aborted)"
        r"|connection broken|No route to host",
        "Setting up needs the internet, to fetch PyTorch and JupyterLab,\nand it could not be reached. Later starts need none.\n{resume}",
    ),
    "hash": (
        r"DO NOT MATCH THE HASHES",
        "A package that arrived is not the one that was tested (its hash differs). Either the download\n"
        "was broken, or a mirror repacks packages. Try again; --unlocked takes what the mirror has.",
    ),
    "torch": (
        r"(No matching distribution found for|satisfies the requirement) torch",
        "PyTorch has no package for this machine (Python {python}, {system}).\n"
        "Use a 64-bit Python 3.11 to 3.14 on Windows, Linux or a Mac with Apple silicon.",
    ),
}


def kind_of(output):
    """The first known kind of failure that this output of a program shows; None if there is none."""
    if shutil.disk_usage(str(ROOT)).free < 50e6:
        return "disk"  # tools often swallow the true reason
    return next((kind for kind, (pattern, _) in KNOWN_FAILURES.items() if re.search(pattern, output)), None)


def explain(output, doing):
    """Turn the output of a failed step into plain words; if it is unknown, show its last lines."""
    kind = kind_of(output)
    if kind:
        python, system = "{}.{}".format(*sys.version_info[:2]), f"{sys.platform}, {64 if sys.maxsize > 2**32 else 32} bit"
        return KNOWN_FAILURES[kind][1].format(root=ROOT, resume=RESUME, python=python, system=system)
    tail = "\n".join("    " + line for line in output.strip().splitlines()[-15:])
    return f"This step failed: {doing}. Its last lines were:\n{tail}\n{RESUME}"


def refuse_old_python(version):
    """Raise Problem if `version` (a tuple such as sys.version_info) is too old for the course."""
    if tuple(version[:2]) < OLDEST_PYTHON:
        raise Problem(
            "Python {}.{} or newer is needed, this is {}.{}.\n".format(*OLDEST_PYTHON, *version[:2])
            + "Get one from https://www.python.org/downloads/ and start this command with it."
        )
