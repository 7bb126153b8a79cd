#!/usr/bin/env python3
"""Start, test, build and hand out the course "Attention, from Kernels to GPT".

    python course.py lab            open the course in JupyterLab
    python course.py test           run every test and every notebook
    python course.py book           make a site to read, and a PDF
    python course.py handout DIR    write what a class receives
    python course.py grade CLASS --out GRADES    grade what it hands in

The first start makes a private environment in the folder `.venv` (once, a few minutes, needs the
internet). Nothing outside this folder is changed: to undo everything, delete `.venv`.
"""

# Standard library only, and no syntax newer than Python 3.6: an older Python must be able to read
# this file, or it could not say that it is too old.
import argparse
import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "course.json"  # written last: an environment without it is half-made
VENV_BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
VENV_PYTHON = VENV_BIN / ("python.exe" if os.name == "nt" else "python")

OLDEST_PYTHON = (3, 11)
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
NOTEBOOK_FOLDERS = ("chapters", "solutions")

HANDOUT_FOLDERS = ("course_utils", os.path.join("docs", "images"), os.path.join("benchmarks", "results"))
HANDOUT_FILES = (
    "course.py", "conftest.py", "requirements.txt", "environment.yml",
    "pyproject.toml", "LICENSE", "LICENSE-TEXT", ".gitignore",
)  # fmt: skip
HANDOUT_README_CUTS = ("## Teaching with it", "## Where the numbers come from", "## Taking part")
HANDOUT_LEAVES_OUT = ("__pycache__", ".ipynb_checkpoints", ".course")


class Problem(Exception):
    """Something the user can mend; the message says how."""


# ---------------------------------------------------------------- what went wrong, in plain words

RESUME = "Nothing is broken: start the same command again and it goes on from here."

KNOWN_FAILURES = (
    (
        r"No space left on device|Errno 28\b|WinError 112|not enough space on the disk",
        "The disk is full: make room. The course needs about 3 GB in {root}\n"
        "and, while it installs, 1 GB for temporary files.\n{resume}",
    ),
    (
        r"ensurepip is not\s+available|No module named '?(venv|ensurepip)",
        "This Python cannot make environments: its 'venv' part is missing.\n"
        "On Debian and Ubuntu:  sudo apt install python{python}-venv   (or python3-venv)\n{resume}",
    ),
    (
        r"Windows Long Path support|File ?name too long",
        "A path became too long for this system.\n"
        "Move the course to a folder with a short path, such as C:\\course, and start again.",
    ),
    (
        r"Permission denied|Read-only file system|Errno (13|30)\b|Access is denied|WinError 32",
        "The folder {root} cannot be written to.\n"
        "Close a JupyterLab that still runs from it, or copy the course to a folder of yours.",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLCertVerificationError",
        "The internet answers, but its certificate is not trusted here: a wrong clock, or a\n"
        "company network (name its certificate file in the variable PIP_CERT).\n{resume}",
    ),
    (
        r"NewConnectionError|NameResolutionError|[Nn]ame resolution|Name or service not known"
        r"|getaddrinfo failed|nodename nor servname|Max retries exceeded|is unreachable"
        r"|[Tt]imed out|TimeoutError|ProxyError|Connection (refused|reset|aborted)"
        r"|connection broken|No route to host",
        "The first start needs the internet once, to fetch PyTorch and JupyterLab,\n"
        "and it could not be reached.\n{resume}",
    ),
    (
        r"(No matching distribution found for|satisfies the requirement) torch",
        "PyTorch has no package for this machine (Python {python}, {system}).\n"
        "Use a 64-bit Python 3.11 to 3.14 on Windows, Linux or a Mac with Apple silicon.",
    ),
)


def explain(output, doing):
    """Turn the output of a failed step into plain words; if it is unknown, show its last lines."""
    if shutil.disk_usage(str(ROOT)).free < 50e6:
        output = "No space left on device"  # tools often swallow the true reason
    python = "{}.{}".format(*sys.version_info[:2])
    system = f"{sys.platform}, {64 if sys.maxsize > 2**32 else 32} bit"
    for pattern, message in KNOWN_FAILURES:
        if re.search(pattern, output):
            return message.format(root=ROOT, resume=RESUME, python=python, system=system)
    tail = "\n".join("    " + line for line in output.strip().splitlines()[-15:])
    return f"This step failed: {doing}. Its last words:\n{tail}\n{RESUME}"


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


# -------------------------------------------------------------------------------- the environment


def torch_pin():
    """The line `torch==...` of requirements.txt."""
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    return re.search(r"^torch==[\w.]+", text, re.MULTILINE).group()


def fingerprint():
    """A hash of everything that decides what `.venv` must hold."""
    parts = [(ROOT / name).read_bytes() for name in ("requirements.txt", "pyproject.toml")]
    parts += ["{}.{}".format(*sys.version_info[:2]).encode(), str(ROOT).encode("utf-8", "replace")]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def read_stamp():
    """What the last finished setup noted about itself; {} if there was none."""
    try:
        return json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def is_ready(dev, torch):
    """Whether `.venv` is complete: reads the stamp, asks no other program."""
    stamp = read_stamp()
    return (
        stamp.get("key") == fingerprint()
        and (stamp.get("dev") or not dev)
        and torch in (None, stamp.get("torch"))
        and VENV_PYTHON.exists()
    )


def choose_torch(wanted):
    """Return ("cpu" or "default", why). Linux without a GPU needs no gigabytes of CUDA."""
    if wanted:
        return wanted, "as asked"
    if not sys.platform.startswith("linux"):
        return "default", "the usual one for this system"
    if os.path.exists("/dev/nvidia0") or shutil.which("nvidia-smi"):
        return "default", "there is an NVIDIA GPU"
    try:  # not a bare socket: this goes through a proxy, if one is set
        urllib.request.urlopen(CPU_INDEX + "/torch/", timeout=3).close()
    except urllib.error.HTTPError:
        pass  # it answers
    except (OSError, ValueError):
        return "default", "the index of CPU builds does not answer"
    return "cpu", "no NVIDIA GPU here"


def venv_works():
    """Whether `.venv` holds a Python of our version with pip in it."""
    check = "import sys, pip; sys.exit(sys.version_info[:2] != {})".format(sys.version_info[:2])
    command, quiet = [str(VENV_PYTHON), "-c", check], subprocess.DEVNULL
    try:
        return subprocess.call(command, env=child_environment(), stdout=quiet, stderr=quiet) == 0
    except OSError:
        return False


def install(label, *what):
    """Let the environment's own pip install `what`; return (exit code, output)."""
    pip = [VENV_PYTHON, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    return run_quietly(pip + list(what), label)


def set_up(dev, torch=None):
    """Make or complete `.venv`; with `dev` the tools for tests and building too."""
    if is_ready(dev, torch):
        return
    before = read_stamp().get("torch")
    print(f"Setting up the course in {VENV}\n(once; a few minutes, most of it downloading)")

    # The base Python, not an activated environment's: ours must not depend on that one.
    python = getattr(sys, "_base_executable", None) or sys.executable
    if not venv_works():
        code, output = run_quietly([python, "-m", "venv", "--clear", VENV], "1/3 making .venv")
        if code:
            raise Problem(explain(output, "making .venv"))

    build, why = choose_torch(torch)
    again = ["--force-reinstall"] if torch and before not in (None, torch) else []
    print(f"  PyTorch: the {build} build ({why})")
    index = ["--index-url", CPU_INDEX] if build == "cpu" else []
    code, output = install("2/3 PyTorch", torch_pin(), *(index + again))
    if code and build == "cpu":
        build = "default"
        code, output = install("2/3 PyTorch, the default build", torch_pin(), *again)
    if code:
        raise Problem(explain(output, "installing PyTorch"))

    code, output = install("3/3 JupyterLab and the rest", "-e", ".[dev]" if dev else ".")
    if code:
        raise Problem(explain(output, "installing JupyterLab and the rest"))

    # JupyterLab inside this environment asks for no news: no pop-up, no request to the network.
    config = VENV / "etc" / "jupyter" / "labconfig"
    config.mkdir(parents=True, exist_ok=True)
    off = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
    (config / "page_config.json").write_text(json.dumps(off), encoding="utf-8")

    STAMP.write_text(json.dumps({"key": fingerprint(), "dev": dev, "torch": torch or build}))


# ------------------------------------------------------------------------------------- commands


def known_chapters():
    """The numbers of the chapters in this tree, such as ["00", "08a"]."""
    names = [path.name for folder in NOTEBOOK_FOLDERS for path in (ROOT / folder).glob("*_*")]
    found = (re.match(r"(\d\d[a-z]?)_\w+\.(ipynb|md)$", name) for name in names)
    return sorted({match.group(1) for match in found if match})


def chapter_numbers(words):
    """Check what the user typed: "3" and "8A" become "03" and "08a"."""
    known, numbers = known_chapters(), []
    for word in words:
        match = re.match(r"0*(\d+)([a-z]?)$", word.lower())
        number = match and match.group(1).zfill(2) + match.group(2)
        if number not in known:
            have = ", ".join(known) or "none"
            raise Problem(f"There is no chapter {word} here. The chapters are: {have}.")
        numbers.append(number)
    return numbers


def refuse_taken_port(port):
    """Raise Problem if nothing new can listen on `port`."""
    probe = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name != "nt":  # there, this option would let us steal a port in use
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        probe.bind(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        raise Problem(
            f"Port {port} cannot be used, most likely another program has it ({error}).\n"
            f"Choose another one, such as  python course.py lab --port {port % 60000 + 1}\n"
            "or leave --port out: JupyterLab then finds a free one."
        ) from None
    finally:
        probe.close()


def first_page():
    """The notebook to open, as a path under ROOT with forward slashes; "" if there is none."""
    notebooks = sorted(path.name for path in (ROOT / "chapters").glob("[0-9][0-9]*.ipynb"))
    return "/chapters/" + notebooks[0] if notebooks else ""


def lab(args):
    """Open JupyterLab on the course."""
    if args.port is not None:
        refuse_taken_port(args.port)
    set_up(dev=False, torch=args.torch)
    command = [
        VENV_PYTHON, "-m", "jupyterlab",
        f"--ServerApp.root_dir={ROOT}",
        f"--LabApp.default_url=/lab/tree{first_page()}",
        f"--LabApp.workspaces_dir={ROOT / '.course' / 'workspaces'}",  # not another project's tabs
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",
        "--ServerApp.answer_yes=True",  # one Ctrl-C stops it, without a question
    ]  # fmt: skip
    if args.no_browser:
        command.append("--no-browser")
    if args.port is not None:
        command += [f"--ServerApp.port={args.port}", "--ServerApp.port_retries=0"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")  # in a container there is often no other user
    print("JupyterLab starts. To stop it, press Ctrl-C in this window.", flush=True)
    return become(command + args.rest, child_environment())


EXERCISES = "tests/test_exercises.py"
INTERRUPTED, NOTHING_COLLECTED = 2, 5  # pytest's exit codes; the second, for instance, when -k chooses tests of the other run


def test_paths(numbers):
    """What pytest is given: everything there is, or what belongs to these chapters."""
    if not numbers:
        return [folder for folder in ("tests",) + NOTEBOOK_FOLDERS if (ROOT / folder).is_dir()]
    patterns = [EXERCISES]  # restricts itself: it reads COURSE_CHAPTERS
    for number in numbers:
        patterns.append(f"tests/test*ch{number}*.py")
        patterns += [f"{folder}/{number}_*.ipynb" for folder in NOTEBOOK_FOLDERS]
    return [str(path.relative_to(ROOT)) for pattern in patterns for path in ROOT.glob(pattern)]


def test(args):
    """Run the tests and the notebooks."""
    start = time.time()
    numbers = chapter_numbers(args.chapters)
    paths = test_paths(numbers)
    if not paths:
        raise Problem("There is nothing to test here: no tests/, no notebooks.")
    env = child_environment()
    env.pop("COURSE_CHAPTERS", None)
    env.pop("COURSE_FULL", None)
    if numbers:
        env["COURSE_CHAPTERS"] = ",".join(numbers)
    if args.full:
        env["COURSE_FULL"] = "1"
    set_up(dev=(ROOT / "tests").is_dir(), torch=args.torch)  # a handout needs no developer's tools
    middle = time.time()
    runs = [(paths, env)]
    if (ROOT / EXERCISES).is_file() and not numbers:  # thousands of short tests: several at a time, each on one thread
        parallel = [EXERCISES, "-n", "auto", "--maxprocesses", "4"]
        runs = [(parallel, {"OMP_NUM_THREADS": "1", **env}), (paths + ["--ignore", EXERCISES], env)]
    codes = []
    for what, where in runs:
        codes.append(run_visibly([VENV_PYTHON, "-m", "pytest"] + what + args.rest, where))
        if codes[-1] == INTERRUPTED:
            break
    end = time.time()
    print(f"{end - start:.0f} s in all: {middle - start:.0f} s setup, {end - middle:.0f} s tests")
    return max(codes, key=lambda code: (code not in (0, NOTHING_COLLECTED), code == 0))


def build(args):
    """Turn the sources solutions/*.md into notebooks."""
    if not (ROOT / "course_tools" / "authoring").is_dir():
        raise Problem("This is a handout: it holds no sources to build notebooks from.")
    numbers = chapter_numbers(args.chapters)
    set_up(dev=True, torch=args.torch)
    command = [VENV_PYTHON, "-m", "course_tools.authoring.build"] + numbers
    command += [f"--{name}" for name in ("check", "run") if getattr(args, name)]
    command += ["--force"] if args.force else []
    return become(command + args.rest, child_environment())


def book(args):
    """Make a site to read from the executed notebooks, and a PDF where a Chromium is present."""
    if not (ROOT / "course_tools" / "authoring").is_dir():
        raise Problem("This is a handout: it holds nothing to make a book from.")
    set_up(dev=True, torch=args.torch)
    command = [VENV_PYTHON, "-m", "course_tools.authoring.book"]
    command += ["--out", Path.cwd() / args.out] if args.out else []
    command += ["--no-pdf"] if args.no_pdf else []
    return become(command + args.rest, child_environment())


def blank_chapters():
    """The chapters as they were built; own notes stay at home, filled-in answers are refused."""
    found = []
    for path in sorted((ROOT / "chapters").glob("*.ipynb")):
        try:
            notebook = json.loads(path.read_text(encoding="utf-8"))
            stubs = notebook["metadata"]["course"]["stubs"]
        except (ValueError, KeyError, TypeError):
            continue  # not a chapter of the course
        if path.is_symlink():
            continue
        for cell in notebook["cells"]:
            course = cell["metadata"].get("course", {})
            text = "".join(cell["source"]).encode("utf-8")
            if course.get("role") == "answer" and hashlib.sha256(text).hexdigest() != stubs.get(course["exercise"]):
                raise Problem(
                    "chapters/{} holds an answer to exercise {}.\nHand out a fresh copy: move yours away, or take it back "
                    "with  git checkout chapters/{}".format(path.name, course["exercise"], path.name)
                )
        found.append(path)
    if not found:
        raise Problem("There is no chapter to hand out in {}.".format(ROOT / "chapters"))
    return found


def readme_of_handout():
    """The README without what a class does not receive."""
    sections = re.split(r"(?m)^(?=## )", (ROOT / "README.md").read_text(encoding="utf-8"))
    kept = "".join(part for part in sections if not part.startswith(HANDOUT_README_CUTS))
    return "".join(line for line in kept.splitlines(True) if "`solutions/`" not in line)


def handout(args):
    """Write what a class receives into an empty folder: no solutions, no tests."""
    target = Path(args.directory).resolve()
    if args.nbgrader:
        blank_chapters()
        set_up(dev=False)
        return become([VENV_PYTHON, "-m", "course_tools.grading.nbgrader", target] + args.rest, child_environment())
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise Problem(f"{target} is not empty. Name a new or an empty folder.")
    if any(ROOT / folder in (target, *target.parents) for folder in ("chapters",) + HANDOUT_FOLDERS):
        raise Problem(f"{target} lies inside what is handed out. Name a folder elsewhere.")
    chapters = blank_chapters()
    target.mkdir(parents=True, exist_ok=True)
    try:
        (target / "chapters").mkdir()
        for path in chapters:
            shutil.copy(str(path), str(target / "chapters" / path.name))
        if (ROOT / "README.md").is_file():
            (target / "README.md").write_text(readme_of_handout(), encoding="utf-8")
        for folder in HANDOUT_FOLDERS:
            ignore = shutil.ignore_patterns(*HANDOUT_LEAVES_OUT)
            (target / folder).parent.mkdir(exist_ok=True)
            if (ROOT / folder).is_dir():
                shutil.copytree(str(ROOT / folder), str(target / folder), ignore=ignore)
        for name in HANDOUT_FILES:
            if (ROOT / name).is_file():
                shutil.copy(str(ROOT / name), str(target / name))
    except (OSError, KeyboardInterrupt):
        shutil.rmtree(str(target), ignore_errors=True)  # half a handout is worse than none
        raise
    print(f"The handout is in {target}\nIn it, a learner starts with:  python course.py lab")
    return 0


def grade(args):
    """Grade a class's notebooks in a sandbox: gradebook, feedback pages, class report."""
    if not (ROOT / "course_tools" / "grading").is_dir():
        raise Problem("This is a handout: it holds nothing to grade with.")
    set_up(dev=False, torch=args.torch)
    command = [VENV_PYTHON, "-m", "course_tools.grading"] + args.options + args.rest
    return become(command, child_environment(), Path.cwd())  # paths mean what they mean to the user


def export(args):
    """Put everything you have answered into one zip, to hand in."""
    command = [sys.executable, "-m", "course_utils.export"] + ([str(Path.cwd() / args.file)] if args.file else [])
    command += ["--name", args.name] if args.name else []
    return run_visibly(command, dict(os.environ))  # standard library only, so no environment is needed


def make_parser():
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python course.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    def add(run, with_setup=True, own_help=True):
        sub = commands.add_parser(run.__name__, help=run.__doc__, description=run.__doc__, add_help=own_help)
        sub.set_defaults(run=run)
        if with_setup:
            sub.add_argument("--torch", choices=("cpu", "default"), help="which PyTorch to install")
        return sub

    sub = add(lab)
    sub.add_argument("--no-browser", action="store_true", help="print the address, open nothing")
    sub.add_argument("--port", type=int, help="the port; without it, the next free one")
    sub = add(test)
    sub.add_argument("chapters", nargs="*", metavar="NN", help="only these chapters: 03 08a")
    sub.add_argument("--full", action="store_true", help="the slow tests too (browser, new clone)")
    sub = add(build)
    sub.add_argument("chapters", nargs="*", metavar="NN", help="only these chapters: 03 08a")
    sub.add_argument("--check", action="store_true", help="only say what is out of date")
    sub.add_argument("--run", action="store_true", help="with --check: run the notebooks and compare their text, too")
    sub.add_argument("--force", action="store_true", help="execute even what has not changed")
    sub = add(book)
    sub.add_argument("--out", metavar="DIR", help="a new or empty folder; without it, _build/book")
    sub.add_argument("--no-pdf", action="store_true", help="only the site")
    sub = add(handout, with_setup=False)
    sub.add_argument("directory", metavar="DIR", help="a new or empty folder")
    sub.add_argument("--nbgrader", action="store_true", help="as assignments of nbgrader instead")
    sub = add(export, with_setup=False)
    sub.add_argument("file", nargs="?", metavar="FILE.zip", help="without it, answers_NAME.zip in the folder of the course")
    sub.add_argument("--name", help="whose answers these are; without it, the name you are logged in with")
    add(grade, own_help=False)  # its options, and --help, belong to course_tools.grading
    return parser


def main(argv=None):
    """Run one command; return the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    rest = []  # what follows -- goes to JupyterLab, pytest or the builder as it is
    if "--" in words:
        words, rest = words[: words.index("--")], words[words.index("--") + 1 :]
    try:
        refuse_old_python(sys.version_info)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a path that the console cannot spell
                stream.reconfigure(errors="replace")
        parser = make_parser()
        args, args_of_grading = parser.parse_known_args(words)
        args.options = args_of_grading
        if args_of_grading and getattr(args, "run", None) is not grade:
            parser.error("unrecognized arguments: {}".format(" ".join(args_of_grading)))
        if not hasattr(args, "run"):
            parser.print_help()
            return 0
        args.rest = rest
        return args.run(args)
    except Problem as problem:
        print(f"\n{problem}", file=sys.stderr)
        return 2
    except OSError as error:
        print("\n" + explain(str(error), "working with files"), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"\nStopped. {RESUME}", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
