#!/usr/bin/env python3
"""Start, test, build and hand out the course "Attention, from Kernels to GPT".

    python course.py lab            open the course in JupyterLab, where you stopped; lab 03 opens chapter 03
    python course.py setup          make the environment, and start nothing
    python course.py refresh        bring your copies of the chapters up to date, and start nothing
    python course.py progress       show which exercises are done
    python course.py mine           write my_transformer.py: what you have built, in one file that trains
    python course.py judge FILE.py:NAME 03.2     judge code of your own by an exercise
    python course.py restart 03     begin a chapter again; your copy is kept
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
import difflib
import os
import re
import shutil
import socket
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # also where PYTHONSAFEPATH is set
from course_utils.launcher import server, setup
from course_utils.launcher.failures import RESUME, Problem, explain, refuse_old_python
from course_utils.paths import ROOT, own_folder

NOTEBOOK_FOLDERS = ("chapters", "solutions")

# JupyterLab, without a package that takes longer to import than all of the others together: it would check web addresses
# in letters of every script, and jsonschema, which asks for it, does without where it is missing.
JUPYTERLAB = "import sys; sys.modules['rfc3987_syntax'] = None; from jupyterlab.labapp import main; sys.exit(main())"


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
    if not 0 < port < 65536:
        raise Problem(f"A port is a number from 1 to 65535, not {port}.")
    probe = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name != "nt":  # there, this option would let us steal a port in use
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        probe.bind(("127.0.0.1", port))
    except OSError as error:
        raise Problem(
            f"Port {port} cannot be used. Most likely another program is using it ({error}).\n"
            f"Choose another one, such as  python course.py lab --port {port % 60000 + 1}\n"
            "or leave --port out: JupyterLab then finds a free one."
        ) from None
    finally:
        probe.close()


def author_tools():
    """Raise Problem in a hand-out, which leaves out what only authors and instructors need."""
    if not (ROOT / "course_tools").is_dir():
        raise Problem("This is a hand-out: it holds the chapters and what they need, but not the tools for this command.")


def run_tool(args, module, words, extras=("dev",), folder=ROOT):
    """Let a module of course_tools take over, in the environment."""
    setup.set_up(extras, args.torch, args.unlocked)
    command = [setup.VENV_PYTHON, "-m", "course_tools." + module] + words + args.rest
    return setup.become(command, setup.child_environment(), folder)


# ------------------------------------------------------------------------------------- commands


def prepare(args):
    """Make or mend the environment, and start nothing: for a hub, a container, a classroom."""
    setup.set_up(args.extras, args.torch, args.unlocked)
    print(f"Everything is there. Its Python is {setup.VENV_PYTHON}")
    return 0


def refresh(args):
    """Bring your copies in work/ up to date with the chapters, and start nothing."""
    from course_utils.launcher.work import Work  # standard library only

    work = Work(ROOT)
    print(*(work.bring_up_to_date() or ["Your copies are up to date."]), f"They are in {work.folder}", sep="\n")
    return 0


def start_page(number):
    """Bring the learner's copies up to date; the page to open: a chapter, or the exercise to go on with."""
    from course_utils.launcher.work import Work, next_exercise  # standard library only

    work = Work(ROOT)
    try:
        for line in work.bring_up_to_date():
            print(f"  {line}")
    except OSError as error:
        print(f"Your copies in work/ could not be brought up to date ({error}).", file=sys.stderr)
    paths = [path for folder in (work.chapters, work.folder) for path in sorted(folder.glob("[0-9][0-9]*_*.ipynb"))]
    copies = {path.name.split("_")[0]: path for path in paths}  # a chapter that cannot be copied is opened as it is
    if not copies:
        return "/lab"
    going_on = None if number else next_exercise(work)
    if going_on is not None:
        path, exercise = going_on
        print(f"You go on with exercise {exercise}.")
        return f"/lab/tree/{path.relative_to(work.own).as_posix()}#exercise-{exercise}"  # show/lab/pictures scrolls there
    path = copies[number or min(copies)]
    return f"/lab/tree/{path.parent.name}/{path.name}"


def lab_options(page):
    """What a Jupyter server is told so that it shows the course at its best, from this `page` on; deploy/hub starts it so, too."""
    ours = ROOT / "course_utils" / "show" / "lab"
    return [
        f"--LabApp.default_url={page}",
        "--LabApp.custom_css=True",  # figures in a dark theme; the setting is the one way to a folder for it that is not the user's own
        f"--ServerApp.tornado_settings={{'static_custom_path': [{str(ours)!r}]}}",
        f"--LabApp.extra_labextensions_path={ours}",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",
    ]


def lab(args):
    """Open JupyterLab on your copies of the chapters, where you stopped."""
    numbers, own = chapter_numbers(args.chapter), own_folder(ROOT)
    kept = own / ".course"
    runtime, log = kept / "runtime", kept / "lab.log"
    open_already = server.running_server(runtime)
    if open_already:  # a page that is open would write the old text over the new one
        print(
            "JupyterLab runs already:  {url}lab?token={token}\nTo start it afresh, first stop it (Ctrl-C) where it runs.".format(
                **open_already
            )
        )
        return 0
    if args.port is not None:
        refuse_taken_port(args.port)
    setup.set_up(args.extras, args.torch, args.unlocked, look=False)
    page = start_page(numbers[0] if numbers else None)
    command = [
        setup.VENV_PYTHON, "-c", JUPYTERLAB,
        f"--ServerApp.root_dir={own}",
        f"--LabApp.workspaces_dir={kept / 'workspaces'}",  # not another project's tabs
        "--ServerApp.answer_yes=True",  # one Ctrl-C stops it, without a question
        *lab_options(page),
    ]  # fmt: skip
    if args.no_browser:
        command.append("--no-browser")
    if args.port is not None:
        command += [f"--ServerApp.port={args.port}", "--ServerApp.port_retries=0"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")  # in a container there is often no other user

    def announce(found):
        notebook, mark, exercise = page.partition("#")
        address = f"{found['url'].rstrip('/')}{notebook}?token={found['token']}{mark}{exercise}"
        print(f"JupyterLab is at  {address}\nTo stop it, press Ctrl-C here. Its messages are in {log.relative_to(own)}.", flush=True)
        server.start_kernel(found, notebook.partition("/tree/")[2])

    env = dict(setup.child_environment(), JUPYTER_RUNTIME_DIR=str(runtime), **server.lab_files(kept))
    return server.serve(command + args.rest, env, log, runtime, announce, lambda: setup.set_up(args.extras, args.torch, args.unlocked))


def progress(args):
    """Show which exercises are done, and which one is next."""
    from course_checks.record import Progress  # standard library only

    print(Progress.now())
    return 0


def mine(args):
    """Write my_transformer.py: your own Transformer in one file, which trains and writes."""
    import getpass

    from course_utils.mine import whole  # standard library only

    target, own = whole.write(own_folder(ROOT), args.name or getpass.getuser())
    count = len(own) + target.read_text(encoding="utf-8").count("\n# the course's version of ")  # parts that the machine needs
    print(f"{target.name}: {len(own)} of {count} parts are yours" + (f" ({', '.join(own)})." if own else "."))
    python = setup.VENV_PYTHON if setup.VENV_PYTHON.exists() else "python"
    print(f"Let it train and write, about a minute:  {python} {target.name}")
    return 0


def judge(args):
    """Judge code of your own by an exercise: exit status 0 when it is right, 1 when it is not."""
    from course_utils.launcher.judge import file_and_name  # standard library only

    try:
        words = [*file_and_name(args.code), args.exercise, args.mask, args.layout]
    except ValueError as error:
        raise Problem(str(error)) from None
    setup.set_up((), args.torch, args.unlocked)
    env = dict(setup.child_environment(), COURSE_PROGRESS="off")
    return setup.become([setup.VENV_PYTHON, "-m", "course_utils.launcher.judge"] + words, env, Path.cwd())


def restart(args):
    """Begin a chapter and its companion again with fresh copies; yours are kept."""
    from course_utils.launcher.progress import progress_file, read
    from course_utils.launcher.work import Work  # standard library only

    (number,) = chapter_numbers([args.chapter])
    work = Work(ROOT)
    try:
        print(work.begin_again(number))
    except ValueError as error:
        raise Problem(f"Nothing has changed: {error}.") from None
    if server.running_server(work.own / ".course" / "runtime"):
        print(
            "JupyterLab is running. Where the chapter is open, its tab still shows the old text: close the tab and open the chapter\n"
            "again, or choose Revert when JupyterLab asks (Overwrite would bring the old text back). What you have typed there since\n"
            "it was last saved is in that tab alone: copy it first if you want to keep it."
        )
    if any(name.split(".")[0] == number for name in read(progress_file(ROOT))):
        print(f'Your points stay. To forget them:  progress(reset="{number}")  in a notebook.')
    return 0


def test(args):
    """Run the tests and the notebooks."""
    if args.fast:
        author_tools()
    start = time.time()
    numbers, extras, variables = chapter_numbers(args.chapters), ["dev"], {}
    if (ROOT / "course_tools").is_dir():
        from course_tools import testing  # standard library only

        if args.fast:
            commands = testing.fast(args.rest)
        else:
            words, variables = testing.command(numbers, args.full, args.rest)
            commands = [["pytest"] + words]
    elif not numbers and not known_chapters():
        raise Problem("There is nothing to test here: no tests, no notebooks.")
    else:  # a hand-out needs no developer's tools
        extras, wanted = [], [f"chapters/{place}{number}_*.ipynb" for number in numbers for place in ("", "deeper/")] or ["chapters"]
        commands = [["pytest"] + sorted(str(path) for name in wanted for path in ROOT.glob(name)) + args.rest]
    setup.set_up(extras, args.torch, args.unlocked)
    middle, env = time.time(), setup.child_environment()
    for name in ("COURSE_CHAPTERS", "COURSE_FULL"):
        env.pop(name, None)
    codes = [setup.run_visibly([setup.VENV_PYTHON, "-m"] + command, dict(env, **variables)) for command in commands]
    end = time.time()
    print(f"{end - start:.0f} s in all: {middle - start:.0f} s setup, {end - middle:.0f} s tests")
    return max(codes, key=abs)


def build(args):
    """Turn the sources solutions/*.md into notebooks."""
    author_tools()
    flags = {"--check": args.check, "--run": args.fresh, "--force": args.force}
    words = chapter_numbers(args.chapters) + [flag for flag in flags if flags[flag]]
    return run_tool(args, "authoring.build", words)


def book(args):
    """Make a site to read from the executed notebooks, and a PDF where a Chromium is present."""
    author_tools()
    words = (["--out", Path.cwd() / args.out] if args.out else []) + (["--no-pdf"] if args.no_pdf else [])
    return run_tool(args, "authoring.book", words)


def release(args):
    """Write the files of a release into dist/: the hand-out, the book, the notes."""
    author_tools()
    return run_tool(args, "release", ["--no-pdf"] if args.no_pdf else [])


def handout(args):
    """Write what a class receives into an empty folder: no solutions, no tests."""
    author_tools()
    from course_tools import handout as writer  # standard library only

    target = Path(args.directory).resolve()
    try:
        if args.nbgrader:
            writer.blank_chapters(ROOT)
            return run_tool(args, "grading.nbgrader", [target] + chapter_numbers(args.chapters), extras=())
        writer.write(target, ROOT, chapter_numbers(args.chapters))
    except ValueError as error:
        raise Problem(str(error)) from None
    print(f"The handout is in {target}\nIn it, a learner starts with:  python course.py lab")
    return 0


def export(args):
    """Put everything you have answered into one zip, to hand in."""
    from course_utils.launcher.export import write_zip  # standard library only

    try:
        write_zip(args.file, args.name, ROOT)
    except (ValueError, OSError, KeyError) as error:
        raise Problem(f"Nothing was written: {error}") from None
    return 0


def grade(args):
    """Grade a class's notebooks in a sandbox: gradebook, feedback pages, class report."""
    author_tools()
    if {"-h", "--help"} & set(args.options):
        from course_tools.grading.options import parser  # standard library only

        parser().print_help()
        return 0
    if not {"--unsafe", "--one"} & set(args.options):  # said here, before anything is installed
        if not sys.platform.startswith("linux"):
            raise Problem("Grading runs submissions in a sandbox, which needs Linux; a virtual machine will do.")
        if not shutil.which("bwrap"):
            raise Problem(
                "Grading runs submissions in a sandbox, and the program that makes it, bwrap, is missing.\n"
                "On Debian and Ubuntu:  sudo apt install bubblewrap\n"
                "(--unsafe grades without a sandbox: use it only for notebooks that you have read.)"
            )
    return run_tool(args, "grading", args.options, extras=(), folder=Path.cwd())  # paths mean what they mean to the user


# ------------------------------------------------------------------------------ the command line


def make_parser():
    """The command line, and its commands by name."""
    here = (ROOT / "course_tools").is_dir()
    said = re.sub(r"(?m)^    python course.py (book|handout|grade) .*\n|(?<=^Start), test, build and hand out", "", __doc__)
    parser = argparse.ArgumentParser(
        prog="python course.py", description=__doc__ if here else said, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    version = re.search(r'(?m)^version = "(.+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8")).group(1)
    python = sys.version.split()[0]
    parser.add_argument("--version", action="version", version=f"Attention, from Kernels to GPT {version} (Python {python})")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    def add(run, with_setup=True, own_help=True, name=None):
        shown = {"help": run.__doc__} if here or run not in (build, book, release, handout, grade) else {}  # a hand-out says why not
        sub = commands.add_parser(name or run.__name__, description=run.__doc__, add_help=own_help, **shown)
        sub.set_defaults(run=run, parser=sub, torch=None, unlocked=False)
        if with_setup:
            sub.add_argument("--torch", choices=("cpu", "default"), help="which PyTorch to install")
            sub.add_argument("--unlocked", action="store_true", help="the newest packages instead of the tested ones")
        return sub

    sub = add(lab)
    sub.add_argument("chapter", nargs="*", metavar="NN", help="open this chapter: 03")
    sub.add_argument("--no-browser", action="store_true", help="print the address and open no browser")
    sub.add_argument("--port", type=int, help="the port; without it, the next free one")
    sub.add_argument("--with", dest="extras", action="append", default=[], choices=("pretrained", "grading"),
                     help="fetch more: chapter 10's pre-trained encoder; nbgrader")  # fmt: skip
    prepared = add(prepare, name="setup")
    prepared.add_argument(
        "--with", dest="extras", action="append", default=[], choices=("pretrained", "grading"), help="fetch more, as in lab"
    )
    add(refresh, with_setup=False)
    add(progress, with_setup=False)
    sub = add(mine, with_setup=False)
    sub.add_argument("--name", help="who has built it; without it, the name you are logged in with")
    sub = add(judge)
    sub.add_argument("code", metavar="FILE.py:NAME", help="the file, and the name of the function or class in it")
    sub.add_argument("exercise", metavar="EXERCISE", help="such as 03.2; docs/judge.md lists them")
    sub.add_argument("--mask", default="True attends", help='what its masks mean: "True hides", "1 attends" or additive')
    sub.add_argument("--layout", default="", help='how its arguments lie, such as "(n, batch, d)"')
    sub = add(restart, with_setup=False)
    sub.add_argument("chapter", metavar="NN", help="the chapter: 03")
    sub = add(test)
    sub.epilog = "What follows -- goes to pytest: python course.py test 03 -- -k 03.2"
    sub.add_argument("chapters", nargs="*", metavar="NN", help="only these chapters: 03 08a")
    for flag, what in (("--full", "the slow tests too (browser, new clone)"), ("--fast", "before a commit: lint, types, quick tests")):
        sub.add_argument(flag, action="store_true", help=what if here else argparse.SUPPRESS)
    sub = add(build)
    sub.add_argument("chapters", nargs="*", metavar="NN", help="only these chapters: 03 08a")
    sub.add_argument("--check", action="store_true", help="only say what is out of date")
    sub.add_argument("--run", dest="fresh", action="store_true", help="with --check: run the notebooks and compare their text, too")
    sub.add_argument("--force", action="store_true", help="execute even what has not changed")
    sub = add(book)
    sub.add_argument("--out", metavar="DIR", help="a new or empty folder; without it, _build/book")
    sub.add_argument("--no-pdf", action="store_true", help="only the site")
    sub = add(release)
    sub.add_argument("--no-pdf", action="store_true", help="without the PDF")
    sub = add(handout, with_setup=False)
    sub.add_argument("directory", metavar="DIR", help="a new or empty folder")
    sub.add_argument("chapters", nargs="*", metavar="NN", help="only these chapters: 03 04")
    sub.add_argument("--nbgrader", action="store_true", help="as assignments of nbgrader instead")
    sub = add(export, with_setup=False)
    sub.add_argument("file", nargs="?", metavar="FILE.zip", help="without it, answers_NAME.zip in the folder of the course")
    sub.add_argument("--name", help="whose answers these are; without it, the name you are logged in with")
    add(grade, own_help=False)  # its options, and --help, belong to course_tools.grading
    return parser, commands.choices


def parse(words):
    """The arguments of a command line; None where there is no command."""
    rest = []  # what follows -- goes to JupyterLab, pytest or the builder as it is
    if "--" in words:
        words, rest = words[: words.index("--")], words[words.index("--") + 1 :]
    parser, commands = make_parser()
    word = next((word for word in words if not word.startswith("-")), None)
    if word is not None and word not in commands:
        near = difflib.get_close_matches(word, commands, 1)
        parser.error(f"there is no command {word!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    args, options = parser.parse_known_args(words)
    if not hasattr(args, "run"):
        return parser.print_help()
    if options and args.run is not grade:
        args.parser.error("unrecognized arguments: " + " ".join(options))
    args.rest, args.options = rest, options
    return args


def main(argv=None):
    """Run one command; return the exit code."""
    try:
        refuse_old_python(sys.version_info)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a path that the console cannot spell
                stream.reconfigure(errors="replace")
        args = parse(list(sys.argv[1:] if argv is None else argv))
        return args.run(args) if args else 0
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
