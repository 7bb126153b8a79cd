"""The private environment of the course: how `course.py` makes it, keeps it whole, and runs programs in it.

Standard library only, no syntax newer than Python 3.6: an older Python must be able to read this, or it could not say that it is too old.
"""

import csv
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

from ..paths import ROOT
from . import ready, waiting
from .failures import RESUME, Problem, explain, kind_of
from .ready import packages_of

VENV = ROOT / ".venv"
STAMP = VENV / "course.json"  # written last: an environment without it is half-made
VENV_BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
VENV_PYTHON = VENV_BIN / ("python.exe" if os.name == "nt" else "python")
READY = ready.named(VENV_PYTHON, STAMP)  # a Python that has everything, or None: then `.venv` is made
VENV_PYTHON, VENV_BIN = (READY, READY.parent) if READY else (VENV_PYTHON, VENV_BIN)
LOCK = ROOT / "requirements.lock"

CPU_INDEX = "https://download.pytorch.org/whl/cpu"
CUDA_SIZE = "2.7 GB to download, 5 GB on the disk"
EXTRAS = {"dev": "the tools to build, test and print the course", "pretrained": "chapter 10's pre-trained encoder", "grading": "nbgrader"}


def child_environment():
    """The variables that programs in `.venv` see: ours, without what would lead them elsewhere."""
    env = dict(os.environ)
    for name in ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PIP_TARGET", "PIP_PREFIX", "VIRTUAL_ENV"):
        env.pop(name, None)
    env.update({"PYTHONPATH": str(ROOT)} if READY else {"VIRTUAL_ENV": str(VENV)})  # `.venv` itself says where the course lies
    env["PATH"] = str(VENV_BIN) + os.pathsep + env.get("PATH", "")
    env["PIP_USER"] = "0"  # a personal "user = true" makes pip fail in an environment
    env["PIP_NO_INPUT"] = "1"
    env["PYTHONUTF8"] = "1"  # Windows: read text files as what they are
    env.setdefault("OMP_WAIT_POLICY", "passive")  # idle threads sleep: beside a busy program small models run up to 50 times faster
    env.setdefault("OMP_NUM_THREADS", "1")  # a second thread would mostly wait for the first; and sums are the same everywhere
    env["JUPYTER_PREFER_ENV_PATH"] = "1"  # a personal kernel named python3 must not win
    return env


def run_quietly(command, label):
    """Run `command`, show `label`, how far it is and the seconds it takes; return (exit code, its output)."""
    start, line = time.time(), f"  {label} ... "
    live = sys.stdout.isatty()
    print(line, end="", flush=True)
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    child = subprocess.Popen([str(part) for part in command], cwd=str(ROOT), env=child_environment(), **pipes)
    try:
        output = waiting.follow(child, line, installed_packages)
    except BaseException:  # Ctrl-C: leave no installer behind
        child.kill()
        child.wait()
        raise
    seconds = f"{time.time() - start:.0f} s" if child.returncode == 0 else "failed"
    print(f"\r{line}{seconds:40}" if live else seconds, flush=True)
    return child.returncode, output


def run_visibly(command, env, folder=ROOT):
    """Run `command` in this terminal and return its exit code; Ctrl-C stops it first, then us."""
    child = subprocess.Popen([str(part) for part in command], cwd=str(folder), env=env)
    try:
        return child.wait()
    except KeyboardInterrupt:  # the terminal has told the child too: let it finish its last lines
        try:
            return child.wait(timeout=10)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            child.terminate()
            return child.wait()


def become(command, env, folder=ROOT):
    """Let `command` take our place in `folder`, so that Ctrl-C and signals go straight to it."""
    if os.name == "nt":  # Windows has no exec that keeps the console: wait for it instead
        return run_visibly(command, env, folder)
    sys.stdout.flush()
    os.chdir(str(folder))
    os.execve(str(command[0]), [str(part) for part in command], env)


def torch_pin():
    """The line `torch==...` of requirements.txt."""
    return re.search(r"(?m)^torch==[\w.]+", (ROOT / "requirements.txt").read_text(encoding="utf-8")).group()


def fingerprint(unlocked=False):
    """A hash of everything that decides what `.venv` must hold."""
    parts = [(ROOT / name).read_bytes() for name in ("requirements.txt", "pyproject.toml")]
    parts += [b"unlocked" if unlocked else LOCK.read_bytes()]
    parts += ["{}.{}".format(*sys.version_info[:2]).encode(), str(ROOT).encode("utf-8", "replace")]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def read_stamp():
    """What the last finished setup noted about itself; {} if there was none."""
    try:
        return json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def is_ready(extras=(), torch=None, unlocked=False):
    """Whether `.venv` is finished: reads the stamp, asks no other program."""
    stamp = read_stamp()
    same = stamp.get("key") == fingerprint(unlocked) and torch in (None, stamp.get("torch"))
    return same and set(extras) <= set(stamp.get("extras", ())) and VENV_PYTHON.exists()


def site_packages():
    """The folder of `.venv` that holds its packages."""
    folders = {"base": str(VENV), "platbase": str(VENV)}
    return Path(sysconfig.get_path("purelib", "nt_venv" if os.name == "nt" else "posix_venv", folders))


def installed_packages():
    """{name: version} of the packages in `.venv`."""
    found = (re.match(r"(.+)-([^-]+)\.dist-info$", path.name) for path in site_packages().glob("*.dist-info"))
    return {match.group(1): match.group(2) for match in found if match}


def damaged():
    """{name: a file of it that is missing or has another size} of the packages that set-up noted; half a second for 44,000 files."""
    found, site = {}, str(site_packages())
    now = installed_packages()  # another version than we noted was the user's own wish
    for name, version in read_stamp().get("packages", {}).items():
        record = os.path.join(site, f"{name}-{now.get(name, version)}.dist-info", "RECORD")
        try:
            with open(record, encoding="utf-8", newline="") as file:
                for path, _, size in csv.reader(file):
                    if size and not path.startswith("..") and os.stat(os.path.join(site, path)).st_size != int(size):
                        found[name] = path
                        break
        except (OSError, ValueError) as error:
            path = getattr(error, "filename", None)
            found[name] = os.path.relpath(path, site) if path else record
    return found


def venv_works():
    """Whether `.venv` holds a Python of our version with pip in it."""
    check, quiet = f"import sys, pip; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})", subprocess.DEVNULL
    try:
        return subprocess.call([str(VENV_PYTHON), "-c", check], env=child_environment(), stdout=quiet, stderr=quiet) == 0
    except OSError:
        return False


def must_run(command, label, doing):
    """`run_quietly`; raise Problem if it fails."""
    code, output = run_quietly(command, label)
    if code:
        raise Problem(explain(output, doing))


def pip_install(*what):
    """The command with which the environment's own pip installs `what`, wheels only."""
    return [VENV_PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--only-binary", ":all:"] + waiting.PIP + list(what)


def must_install(label, *what):
    """Install `what`; raise Problem if that fails."""
    must_run(pip_install(*what), label, "installing " + label.split(" ", 1)[1])


def install_pip(unlocked=False):
    """The pip that was tested, in the place of the one that came with Python."""
    if unlocked:
        must_install("2/4 pip", "--upgrade", "pip")
    else:  # the old one may not look into constraints for hashes
        lines = re.search(r"(?ms)^pip==.*?(?=^    #)", LOCK.read_text(encoding="utf-8")).group()
        (VENV / "pip.txt").write_text(lines, encoding="ascii")
        must_install("2/4 pip", "-r", VENV / "pip.txt")


def choose_torch(wanted):
    """Return ("cpu" or "default", why). Only Linux has a choice; without a GPU it needs no CUDA."""
    if not sys.platform.startswith("linux"):
        return "default", "the usual one for this system"
    if wanted:
        return wanted, "as asked"
    gpu = os.path.exists("/dev/nvidia0") or shutil.which("nvidia-smi")  # as far as one can tell without PyTorch
    return ("default", "there is an NVIDIA GPU") if gpu else ("cpu", "no NVIDIA GPU here")


def install_torch(wanted, constraints, *how):
    """Install PyTorch; return the build that was taken. Tries hard before it fetches CUDA for nothing."""
    build, why = choose_torch(wanted)
    if build == "cpu":
        # "+cpu" exists on PyTorch's own index, and wherever pip's settings lead: a mirror, a folder of wheels (find-links).
        # The lock has no hash of it: this is the one package that is taken on the word of its index, by its version and over
        # https. What PyTorch itself needs comes later, with the rest, from the lock.
        what = [torch_pin() + "+cpu", "--no-deps", "--extra-index-url", CPU_INDEX, "--retries", "4", "--timeout", "15"]
        code, output = run_quietly(pip_install(*what, *how), f"3/4 PyTorch, the CPU build ({why}; 0.2 GB)")
        if code == 0:
            return "cpu"
        if kind_of(output) in ("disk", "path", "rights"):
            raise Problem(explain(output, "installing PyTorch"))
        sorry = f"The CPU build could not be fetched from {CPU_INDEX}\n"
        if wanted:
            raise Problem(sorry + "Try again later, or give pip a wheel of it: set PIP_FIND_LINKS to the folder with the wheel.")
        if shutil.disk_usage(str(ROOT)).free < 9e9:  # bytes that it needs while it is installed
            raise Problem(sorry + f"The other build ({CUDA_SIZE}) does not fit on this disk. {RESUME}")
        print("  " + sorry + f"  The build for NVIDIA GPUs comes instead: {CUDA_SIZE}. It works without a GPU too.\n"
              "  To try the small one again, press Ctrl-C and start again.")  # fmt: skip
        build, why = "default", "large"
    must_install(f"3/4 PyTorch, the {build} build ({why})", torch_pin(), *constraints, *how)
    return build


def set_up(extras=(), torch=None, unlocked=False, look=True):
    """Make, complete or mend `.venv`; `extras` are those of pyproject.toml, such as "dev".

    What comes is what `requirements.lock` says, or, `unlocked`, the newest that the lists allow. Without `look` nothing is mended.
    """
    if READY:
        return ready.use(READY, extras, child_environment())
    constraints = [] if unlocked else ["-c", LOCK]
    if is_ready(extras, torch, unlocked):
        broken = damaged() if look else {}
        if not broken:
            return
        if venv_works():
            return mend(broken, constraints)
        print("The environment's own Python or pip no longer works, so the environment is made again.")
    before = read_stamp()
    added = " and ".join(EXTRAS[extra] for extra in sorted(set(extras) - set(before.get("extras", ()))))
    if added and before.get("key") == fingerprint(unlocked):
        print(f"The course is set up. This command needs more, which is added in {VENV}\n(once; a minute or two): {added}.")
    else:
        print(f"Setting up the course in {VENV}\n(once; a few minutes, most of it downloading)")

    # The base Python, not an activated environment's: ours must not depend on that one.
    python = getattr(sys, "_base_executable", None) or sys.executable
    other_torch = torch and before.get("torch") not in (None, torch)  # its libraries must go with it
    if other_torch or not venv_works():
        must_run([python, "-m", "venv", "--clear", VENV], "1/4 making .venv", "making .venv")
    install_pip(unlocked)
    build = install_torch(torch, constraints)

    # What was there before stays: a learner who has fetched an extra keeps it.
    extras = sorted(set(extras) | set(before.get("extras", ())))
    more = [line for extra in extras for line in packages_of(extra)]
    newest = ["--upgrade", "--upgrade-strategy", "eager"] if unlocked else []
    must_install("4/4 JupyterLab and the rest", "-r", "requirements.txt", *(more + constraints + newest))

    # The course itself is not installed: the environment is told where it lies. A relative path, since Python reads this file in the
    # system's encoding, and the folder may have any name.
    (site_packages() / "course.pth").write_text(os.path.relpath(str(ROOT), str(site_packages())), encoding="ascii")

    stamp = {"key": fingerprint(unlocked), "extras": extras, "torch": torch or build, "packages": installed_packages()}
    STAMP.write_text(json.dumps(stamp), encoding="utf-8")
    if build == "default" and not torch and choose_torch(None)[0] == "cpu":
        print(f"PyTorch came as the build for NVIDIA GPUs ({CUDA_SIZE}), though none was found here:\n"
              "the small build could not be fetched. To change it later:  python course.py lab --torch cpu")  # fmt: skip


def mend(broken, constraints):
    """Install again what has lost files; raise Problem, with the packages' names, where that fails."""
    stamp, how = read_stamp(), ["--ignore-installed", "--no-deps"]
    lost = ", ".join(f"{name} ({path})" for name, path in sorted(broken.items())[:5])
    lost += f" and {len(broken) - 5} more" if len(broken) > 5 else ""
    print(f"Some files in {VENV} are missing or damaged: {lost}.\nTheir packages are installed again.")
    names = [f"{name}=={stamp['packages'][name]}" for name in sorted(set(broken) - {"torch", "pip"})]
    try:
        if "pip" in broken:  # it cannot install itself; Python carries one
            for path in site_packages().glob("pip*"):
                shutil.rmtree(str(path), ignore_errors=True)
            must_run([VENV_PYTHON, "-m", "ensurepip"], "1/1 Python's own pip", "restoring pip")
            install_pip(not constraints)
        if names:
            must_install("1/1 " + ", ".join(names), *(names + constraints + how))
        if "torch" in broken:
            install_torch(stamp["torch"], constraints, *how)
    except Problem as problem:
        reason = str(problem).replace("\n" + RESUME, "")
        raise Problem(
            f"The set-up is broken: {lost}.\n{reason}\nStart the same command again when that is mended. If it does not help,\n"
            f"delete the folder {VENV}: the next start makes it again (this needs the internet)."
        ) from None
