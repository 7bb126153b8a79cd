"""JupyterLab: started with the course's settings, watched, stopped. Standard library only, readable by an old Python, like setup.py."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from ..files import private_folder, write_bytes
from ..paths import PACKAGE, ROOT
from . import setup

OURS = PACKAGE / "show" / "lab"  # what JupyterLab is given: settings, a style sheet, pictures


def lab_files(folder):
    """Put what JupyterLab and its kernels keep into the private `folder`; returns the variables that lead them there, and to our settings.

    The settings, in `jupyter/labconfig`: no news (no pop-up, no request to the network); no question at every start whether JupyterLab
    must be built anew; in the list of files the names of the chapters instead of the times of their last change; and long lines of code
    go on in the next line of a narrow window, where their end could not be seen. No variable where nothing can be written.
    """
    startup = Path(folder, "ipython", "profile_default", "startup", "course.py")
    try:
        private_folder(Path(folder))
        write_bytes(startup, (OURS / "kernel_startup.py").read_bytes(), 0o600)
    except OSError:
        return {}
    theirs = [os.environ["JUPYTER_CONFIG_PATH"]] if os.environ.get("JUPYTER_CONFIG_PATH") else []
    return {"IPYTHONDIR": str(Path(folder) / "ipython"), "JUPYTER_CONFIG_PATH": os.pathsep.join([str(OURS / "jupyter"), *theirs])}


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
    back. Returns its exit code. One Ctrl-C stops it, wherever it was typed. The lines hold the token that opens the server: only
    the user who has started it can read them.
    """

    def begin():
        with open(os.open(str(log), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as lines:
            os.chmod(str(log), 0o600)  # one of an older version may be there
            return subprocess.Popen([str(part) for part in command], cwd=str(ROOT), env=env, stdout=lines, stderr=subprocess.STDOUT)

    def stop(number, frame):
        child.terminate()
        raise KeyboardInterrupt

    private_folder(log.parent)
    child, told, stopped = begin(), False, False
    before = signal.signal(signal.SIGTERM, stop)
    try:
        if setup.damaged():
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
        _stop(child)
    finally:
        signal.signal(signal.SIGTERM, before)
    if child.returncode and not told and not stopped:
        print("JupyterLab did not start. Its last lines were:", file=sys.stderr)
        print("\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]), file=sys.stderr)
    return child.returncode


def _stop(child):
    """Wait for a server that has been told to stop; now and then it hangs when all is done."""
    interrupt = child.terminate if os.name == "nt" else lambda: child.send_signal(signal.SIGINT)
    for wait, harder in ((1, interrupt), (5, child.terminate), (10, child.kill)):
        try:
            child.wait(timeout=wait)
            break
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            harder()
    child.wait()
