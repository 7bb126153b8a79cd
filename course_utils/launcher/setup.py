"""The private environment of the course: how `course.py` makes it, keeps it whole, and runs programs in it.

Standard library only, and no syntax newer than Python 3.6: an older Python must be able to read this
file, or it could not say that it is too old.
"""

import csv
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
STAMP = VENV / "course.json"  # written last: an environment without it is half-made
VENV_BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
VENV_PYTHON = VENV_BIN / ("python.exe" if os.name == "nt" else "python")
LOCK = ROOT / "requirements.lock"

OLDEST_PYTHON = (3, 11)
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
CUDA_SIZE = "2.7 GB to download, 5 GB on the disk"
CUDA_ROOM = 9e9  # bytes free while it is installed


class Problem(Exception):
    """Something the user can mend; the message says how."""


# ---------------------------------------------------------------- what went wrong, in plain words

RESUME = "Nothing is broken: start the same command again and it goes on from here."

KNOWN_FAILURES = (  # kind, what a program's output says, what we say
    (
        "disk",
        r"No space left on device|Errno 28\b|WinError 112|not enough space on the disk",
        "The disk is full: make room. The course needs about 3 GB in {root}\nand, while it installs, 1 GB for temporary files.\n{resume}",
    ),
    (
        "venv",
        r"ensurepip is not\s+available|No module named '?(venv|ensurepip)",
        "This Python cannot make environments: its 'venv' part is missing.\n"
        "On Debian and Ubuntu:  sudo apt install python{python}-venv   (or python3-venv)\n{resume}",
    ),
    (
        "path",
        r"Windows Long Path support|File ?name too long",
        "A path became too long for this system.\nMove the course to a folder with a short path, such as C:\\course, and start again.",
    ),
    (
        "rights",
        r"Permission denied|Read-only file system|Errno (13|30)\b|Access is denied|WinError 32",
        "The folder {root} cannot be written to.\nClose a JupyterLab that still runs from it, or copy the course to a folder of your own.",
    ),
    (
        "certificate",
        r"CERTIFICATE_VERIFY_FAILED|SSLCertVerificationError",
        "The internet answers, but its certificate is not trusted here. Either this computer's clock is wrong, or\n"
        "you are in a company network: then put the name of its certificate file into the variable PIP_CERT.\n{resume}",
    ),
    (
        "network",
        r"NewConnectionError|NameResolutionError|[Nn]ame resolution|Name or service not known"
        r"|getaddrinfo failed|nodename nor servname|Max retries exceeded|is unreachable"
        r"|[Tt]imed out|TimeoutError|ProxyError|Connection (refused|reset|aborted)"
        r"|connection broken|No route to host",
        "Setting up needs the internet, to fetch PyTorch and JupyterLab,\nand it could not be reached. Later starts need none.\n{resume}",
    ),
    (
        "hash",
        r"DO NOT MATCH THE HASHES",
        "A package that arrived is not the one that was tested (its hash differs). Either the download\n"
        "was broken, or a mirror repacks packages. Try again; --unlocked takes what the mirror has.",
    ),
    (
        "torch",
        r"(No matching distribution found for|satisfies the requirement) torch",
        "PyTorch has no package for this machine (Python {python}, {system}).\n"
        "Use a 64-bit Python 3.11 to 3.14 on Windows, Linux or a Mac with Apple silicon.",
    ),
)


def kind_of(output):
    """The first known kind of failure that this output of a program shows; None if there is none."""
    if shutil.disk_usage(str(ROOT)).free < 50e6:
        return "disk"  # tools often swallow the true reason
    return next((kind for kind, pattern, _ in KNOWN_FAILURES if re.search(pattern, output)), None)


def explain(output, doing):
    """Turn the output of a failed step into plain words; if it is unknown, show its last lines."""
    found = kind_of(output)
    for kind, _, message in KNOWN_FAILURES:
        if kind == found:
            python = "{}.{}".format(*sys.version_info[:2])
            system = f"{sys.platform}, {64 if sys.maxsize > 2**32 else 32} bit"
            return message.format(root=ROOT, resume=RESUME, python=python, system=system)
    tail = "\n".join("    " + line for line in output.strip().splitlines()[-15:])
    return f"This step failed: {doing}. Its last lines were:\n{tail}\n{RESUME}"


def refuse_old_python(version):
    """Raise Problem if `version` (a tuple such as sys.version_info) is too old for the course."""
    if tuple(version[:2]) < OLDEST_PYTHON:
        raise Problem(
            "Python {}.{} or newer is needed, this is {}.{}.\n".format(*OLDEST_PYTHON, *version[:2])
            + "Get one from https://www.python.org/downloads/ and start this command with it."
        )


# ------------------------------------------------------------------------------- running programs


def child_environment():
    """The variables that programs in `.venv` see: ours, without what would lead them elsewhere."""
    env = dict(os.environ)
    for name in ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PIP_TARGET", "PIP_PREFIX"):
        env.pop(name, None)
    env["VIRTUAL_ENV"] = str(VENV)
    env["PATH"] = str(VENV_BIN) + os.pathsep + env.get("PATH", "")
    env["PIP_USER"] = "0"  # a personal "user = true" makes pip fail in an environment
    env["PIP_NO_INPUT"] = "1"
    env["PYTHONUTF8"] = "1"  # Windows: read text files as what they are
    # Idle threads of PyTorch sleep instead of spinning: beside any other busy program the small
    # models of the course run up to 50 times faster.
    env.setdefault("OMP_WAIT_POLICY", "passive")
    # The models of the course are so small that a second thread mostly waits for the first; and sums are the same everywhere.
    env.setdefault("OMP_NUM_THREADS", "1")
    env["JUPYTER_PREFER_ENV_PATH"] = "1"  # a personal kernel named python3 must not win
    return env


def run_quietly(command, label):
    """Run `command`, show `label` and the seconds it takes; return (exit code, its output)."""
    start, line = time.time(), f"  {label} ... "
    live = sys.stdout.isatty()
    print(line, end="", flush=True)
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    words = [str(part) for part in command]
    child = subprocess.Popen(words, cwd=str(ROOT), env=child_environment(), **pipes)
    while True:
        try:
            output = child.communicate(timeout=1)[0].decode("utf-8", "replace")
            break
        except subprocess.TimeoutExpired:
            if live:
                print(f"\r{line}{time.time() - start:.0f} s", end="", flush=True)
        except BaseException:  # Ctrl-C: leave no installer behind
            child.kill()
            child.wait()
            raise
    seconds = f"{time.time() - start:.0f} s" if child.returncode == 0 else "failed"
    print(f"\r{line}{seconds}   " if live else seconds, flush=True)
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


# What every kernel of the lab runs first: who begins in the middle of a chapter, or has stopped an import half-way, is told how to go
# on, and sees no traceback.
STARTUP = '''"""Written by course.py lab."""

import sys


def _told(shell, kind, error, traceback, tb_offset=None):
    if "partially initialized module" in str(error):
        head, text = "Restart the kernel.", ("An import was stopped half-way, and Python cannot take it up again. "
                                             "To mend it, choose \u201cRestart Kernel\u201d in the menu Kernel.")
    elif kind is NameError and "course_utils" not in sys.modules:
        head, text = "Not yet.", ("The kernel has just started and knows nothing yet: run the cells above first, from the top. "
                                  "Choose \u201cRun All Above Selected Cell\u201d in the menu Run.")
    else:
        return shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)
    from IPython.display import display

    box = "border-left:4px solid #7a8594;padding:.5em .9em;background:var(--jp-layout-color2,rgba(128,128,128,.08))"
    display({"text/html": f"<div style='{box}'><b>{head}</b> {text}</div>", "text/plain": text}, raw=True)


get_ipython().set_custom_exc((NameError, AttributeError, ImportError), _told)
'''


# What the lab changes of JupyterLab's settings: no news (no pop-up, no request to the network); no question at every start whether it
# must be built anew; in the list of files the names of the chapters instead of the times of their last change; and long lines of code
# go on in the next line of a narrow window, where their end could not be seen.
SETTINGS = {
    "page_config": {
        "disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True},
        "buildAvailable": False,
        "buildCheck": False,
    },
    "default_setting_overrides": {
        "@jupyterlab/filebrowser-extension:browser": {"showLastModifiedColumn": False},
        "@jupyterlab/notebook-extension:tracker": {"codeCellConfig": {"lineNumbers": False, "lineWrap": True}},
    },
}


def lab_files(folder):
    """Write the settings, and the file that kernels run first, under `folder`; returns the variables that lead Jupyter to them.

    None of them where nothing can be written.
    """
    texts = {Path("jupyter", "labconfig", name + ".json"): json.dumps(values) for name, values in SETTINGS.items()}
    texts[Path("ipython", "profile_default", "startup", "course.py")] = STARTUP
    try:
        for name, text in texts.items():
            target = Path(folder) / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or target.read_text(encoding="utf-8") != text:
                target.write_text(text, encoding="utf-8")
    except OSError:
        return {}
    theirs = [os.environ["JUPYTER_CONFIG_PATH"]] if os.environ.get("JUPYTER_CONFIG_PATH") else []
    return {"IPYTHONDIR": str(Path(folder) / "ipython"), "JUPYTER_CONFIG_PATH": os.pathsep.join([str(Path(folder) / "jupyter"), *theirs])}


LOCAL = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # what runs on this machine is behind no proxy


def running_server(runtime):
    """What the JupyterLab that was started from this folder says of itself, as long as it runs; else None."""
    for path in sorted(Path(runtime).glob("jpserver-*.json")):
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            with LOCAL.open(found["url"] + "api", timeout=2) as answer:
                answer.read()
            return found
        except (OSError, ValueError, KeyError):
            continue
    return None


def start_kernel(found, path):
    """Let a server start the kernel of the notebook `path` while the browser loads JupyterLab, which takes over what runs."""
    if not path:
        return
    body = {"path": path, "name": path.rpartition("/")[2], "type": "notebook", "kernel": {"name": "python3"}}
    head = {"Authorization": "token " + found["token"], "Content-Type": "application/json"}
    try:
        with LOCAL.open(urllib.request.Request(found["url"] + "api/sessions", json.dumps(body).encode(), head), timeout=20) as answer:
            answer.read()
    except OSError:
        pass  # then JupyterLab starts it, as ever


def serve(command, env, log, runtime, announce, repair):
    """Run a Jupyter server with its many lines in the file `log`; call `announce` with what it says of itself once it answers.

    While it starts, the environment is looked through; where files are missing the server waits until `repair` has brought them
    back. Returns its exit code. One Ctrl-C stops it, wherever it was typed.
    """

    def begin():
        with log.open("wb") as lines:
            return subprocess.Popen([str(part) for part in command], cwd=str(ROOT), env=env, stdout=lines, stderr=subprocess.STDOUT)

    def stop(number, frame):
        child.terminate()
        raise KeyboardInterrupt

    log.parent.mkdir(parents=True, exist_ok=True)
    child, told, stopped = begin(), False, False
    before = signal.signal(signal.SIGTERM, stop)
    try:
        if damaged():
            child.kill()
            child.wait()
            repair()
            child = begin()
        known = Path(runtime) / f"jpserver-{child.pid}.json"
        while child.poll() is None:
            if not told and known.exists():
                try:
                    found = json.loads(known.read_text(encoding="utf-8"))
                except ValueError:  # half written
                    continue
                told = True
                announce(found)
            time.sleep(0.1)
    except KeyboardInterrupt:  # a terminal has told the child too; nobody else has
        stopped = True
        interrupt = child.terminate if os.name == "nt" else lambda: child.send_signal(signal.SIGINT)
        for wait, harder in ((1, interrupt), (5, child.terminate), (10, child.kill)):  # now and then it hangs when all is done
            try:
                child.wait(timeout=wait)
                break
            except (subprocess.TimeoutExpired, KeyboardInterrupt):
                harder()
        child.wait()
    finally:
        signal.signal(signal.SIGTERM, before)
    if child.returncode and not told and not stopped:
        print("JupyterLab did not start. Its last lines were:", file=sys.stderr)
        print("\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]), file=sys.stderr)
    return child.returncode


# -------------------------------------------------------------------------- what it must hold


def torch_pin():
    """The line `torch==...` of requirements.txt."""
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    return re.search(r"^torch==[\w.]+", text, re.MULTILINE).group()


def packages_of(extra):
    """What an extra of pyproject.toml asks for; one extra may name another."""
    import tomllib  # since Python 3.11: an older one has been refused by now

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = []
    for line in project["optional-dependencies"][extra]:
        other = re.match(re.escape(project["name"]) + r"\[(\w+)\]$", line)
        found += packages_of(other.group(1)) if other else [line]
    return found


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
    return (
        stamp.get("key") == fingerprint(unlocked)
        and set(extras) <= set(stamp.get("extras", ()))
        and torch in (None, stamp.get("torch"))
        and VENV_PYTHON.exists()
    )


def site_packages():
    """The folder of `.venv` that holds its packages."""
    folders = {"base": str(VENV), "platbase": str(VENV)}
    return Path(sysconfig.get_path("purelib", "nt_venv" if os.name == "nt" else "posix_venv", folders))


def installed_packages():
    """{name: version} of the packages in `.venv`."""
    found = (re.match(r"(.+)-([^-]+)\.dist-info$", path.name) for path in site_packages().glob("*.dist-info"))
    return {match.group(1): match.group(2) for match in found if match}


def damaged():
    """{name: a file of it that is missing or has another size} of the packages that set-up noted.

    Half a second for the 44,000 files of a developer, so it is done at every start.
    """
    found, site = {}, str(site_packages())
    now = installed_packages()  # another version than we noted was the user's own wish
    for name, version in read_stamp().get("packages", {}).items():
        version = now.get(name, version)
        record = os.path.join(site, f"{name}-{version}.dist-info", "RECORD")
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


# ------------------------------------------------------------------------------- making and mending


def venv_works():
    """Whether `.venv` holds a Python of our version with pip in it."""
    check = f"import sys, pip; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    command, quiet = [str(VENV_PYTHON), "-c", check], subprocess.DEVNULL
    try:
        return subprocess.call(command, env=child_environment(), stdout=quiet, stderr=quiet) == 0
    except OSError:
        return False


def install(label, *what):
    """Let the environment's own pip install `what`, wheels only; return (exit code, output)."""
    pip = [VENV_PYTHON, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--only-binary", ":all:"]
    return run_quietly(pip + list(what), label)


def must_install(label, *what):
    """`install`; raise Problem if it fails."""
    code, output = install(label, *what)
    if code:
        raise Problem(explain(output, "installing " + label.split(" ", 1)[1]))


def install_pip(unlocked=False):
    """The pip that was tested, in the place of the one that came with Python."""
    if unlocked:
        must_install("2/4 pip", "--upgrade", "pip")
    else:  # the old one may not look into constraints for hashes
        lines = re.search(r"(?ms)^pip==.*?(?=^    #)", LOCK.read_text(encoding="utf-8")).group()
        (VENV / "pip.txt").write_text(lines, encoding="ascii")
        must_install("2/4 pip", "-r", VENV / "pip.txt")


def has_gpu():
    """Whether there is an NVIDIA GPU, as far as one can tell without PyTorch."""
    return os.path.exists("/dev/nvidia0") or bool(shutil.which("nvidia-smi"))


def choose_torch(wanted):
    """Return ("cpu" or "default", why). Only Linux has a choice; without a GPU it needs no CUDA."""
    if not sys.platform.startswith("linux"):
        return "default", "the usual one for this system"
    if wanted:
        return wanted, "as asked"
    return ("default", "there is an NVIDIA GPU") if has_gpu() else ("cpu", "no NVIDIA GPU here")


def install_torch(wanted, constraints, *how):
    """Install PyTorch; return the build that was taken. Tries hard before it fetches CUDA for nothing."""
    build, why = choose_torch(wanted)
    if build == "cpu":
        # "+cpu" exists on PyTorch's own index, and wherever pip's settings lead: a mirror, a folder of
        # wheels (find-links). What PyTorch itself needs comes later, with the rest, from the lock.
        patience = ["--retries", "4", "--timeout", "15"]
        what = [torch_pin() + "+cpu", "--no-deps", "--extra-index-url", CPU_INDEX]
        code, output = install(f"3/4 PyTorch, the CPU build ({why}; 0.2 GB)", *what, *patience, *how)
        if code == 0:
            return "cpu"
        if kind_of(output) in ("disk", "path", "rights"):
            raise Problem(explain(output, "installing PyTorch"))
        sorry = f"The CPU build could not be fetched from {CPU_INDEX}\n"
        if wanted:
            raise Problem(sorry + "Try again later, or give pip a wheel of it: set PIP_FIND_LINKS to the folder with the wheel.")
        if shutil.disk_usage(str(ROOT)).free < CUDA_ROOM:
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
    constraints = [] if unlocked else ["-c", LOCK]
    if is_ready(extras, torch, unlocked):
        broken = damaged() if look else {}
        if not broken:
            return
        if venv_works():
            mend(broken, constraints)
            return
        print("The environment's own Python or pip no longer works, so the environment is made again.")
    before = read_stamp()
    print(f"Setting up the course in {VENV}\n(once; a few minutes, most of it downloading)")

    # The base Python, not an activated environment's: ours must not depend on that one.
    python = getattr(sys, "_base_executable", None) or sys.executable
    other_torch = torch and before.get("torch") not in (None, torch)  # its libraries must go with it
    if other_torch or not venv_works():
        code, output = run_quietly([python, "-m", "venv", "--clear", VENV], "1/4 making .venv")
        if code:
            raise Problem(explain(output, "making .venv"))
    install_pip(unlocked)
    build = install_torch(torch, constraints)

    # What was there before stays: a learner who has fetched an extra keeps it.
    extras = sorted(set(extras) | set(before.get("extras", ())))
    more = [line for extra in extras for line in packages_of(extra)]
    newest = ["--upgrade", "--upgrade-strategy", "eager"] if unlocked else []
    must_install("4/4 JupyterLab and the rest", "-r", "requirements.txt", *(more + constraints + newest))

    # The course itself is not installed: the environment is told where it lies. A relative path, since
    # Python reads this file in the system's encoding, and the folder may have any name.
    (site_packages() / "course.pth").write_text(os.path.relpath(str(ROOT), str(site_packages())), encoding="ascii")

    stamp = {"key": fingerprint(unlocked), "extras": extras, "torch": torch or build, "packages": installed_packages()}
    STAMP.write_text(json.dumps(stamp), encoding="utf-8")
    if build == "default" and not torch and choose_torch(None)[0] == "cpu":
        print(f"PyTorch came as the build for NVIDIA GPUs ({CUDA_SIZE}), though none was found here:\n"
              "the small build could not be fetched. To change it later:  python course.py lab --torch cpu")  # fmt: skip


def mend(broken, constraints):
    """Install again what has lost files; raise Problem, with the packages' names, where that fails."""
    stamp, lost = read_stamp(), ", ".join(f"{name} ({path})" for name, path in sorted(broken.items())[:5])
    lost += f" and {len(broken) - 5} more" if len(broken) > 5 else ""
    print(f"Some files in {VENV} are missing or damaged: {lost}.\nTheir packages are installed again.")
    how = ["--ignore-installed", "--no-deps"]
    names = ["{}=={}".format(*item) for item in sorted(stamp["packages"].items()) if item[0] in set(broken) - {"torch", "pip"}]
    try:
        if "pip" in broken:  # it cannot install itself; Python carries one
            for path in site_packages().glob("pip*"):
                shutil.rmtree(str(path), ignore_errors=True)
            code, output = run_quietly([VENV_PYTHON, "-m", "ensurepip"], "1/1 Python's own pip")
            if code:
                raise Problem(explain(output, "restoring pip"))
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
