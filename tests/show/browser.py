"""Drive the course in a real browser: start the lab, open a chapter, run, type, drag. Used by test_browser.py."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from course_utils.launcher import server as launcher
from course_utils.paths import ROOT

CHROMIUM = next(
    (p for p in (shutil.which("chromium"), shutil.which("chromium-browser"), "/usr/bin/chromium") if p and Path(p).exists()), None
)


def copy_of_the_course(folder: Path) -> Path:
    """A copy to drive: the browser saves notebooks, and the checkout must stay as it is."""
    target = folder / "course"
    leave_out = shutil.ignore_patterns(".git", ".venv", ".course", "__pycache__", "*.egg-info", ".pytest_cache", ".ruff_cache")
    shutil.copytree(ROOT, target, ignore=leave_out)
    return target


@contextmanager
def lab(root: Path) -> Iterator[str]:
    """JupyterLab on ``root`` with this Python; yields its address and stops it afterwards."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    ours = root / "course_utils" / "show" / "lab"
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        f"--port={port}",
        "--ServerApp.token=",
        "--ServerApp.password=",
        f"--ServerApp.root_dir={root}",
        f"--LabApp.extra_labextensions_path={ours}",
        "--LabApp.custom_css=True",
        f"--ServerApp.tornado_settings={{'static_custom_path': [{str(ours)!r}]}}",
        "--LabApp.expose_app_in_browser=True",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--allow-root",
    ]
    env = {
        **os.environ,
        "PYTHONPATH": str(root),
        "JUPYTERLAB_WORKSPACES_DIR": str(root / ".course" / "workspaces"),
        **launcher.lab_files(root / ".course"),
    }
    env.pop("COURSE_STRICT", None)
    server = subprocess.Popen(command, cwd=root, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/api", timeout=1).close()
                break
            except OSError:
                time.sleep(0.2)
        else:
            raise TimeoutError("JupyterLab did not answer within a minute")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(20)


class Notebook:
    """An open notebook in a Playwright page of JupyterLab."""

    def __init__(self, page: Any, address: str, path: str):
        self.page = page
        page.goto(f"{address}/lab/tree/{path}?reset")
        page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
        page.wait_for_function("() => window.jupyterapp && window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel")

    def command(self, name: str) -> None:
        """Run a JupyterLab command by id and wait until it is done."""
        self.page.evaluate("name => window.jupyterapp.commands.execute(name)", name)

    def js(self, body: str, argument: Any = None) -> Any:
        """Evaluate JavaScript with ``nb`` bound to the notebook's content."""
        return self.page.evaluate("(argument) => { const nb = window.jupyterapp.shell.currentWidget.content; " + body + "}", argument)

    def errors(self) -> list[str]:
        """Error outputs of all code cells."""
        return self.js("""return nb.widgets.filter(c => c.model.type === 'code').flatMap(c => c.model.outputs.toJSON()
            .filter(o => o.output_type === 'error' || o.name === 'stderr').map(o => (o.ename || o.text) + ' ' + (o.evalue || '')));""")

    def find(self, exercise: str, role: str) -> int:
        """Index of an exercise's cell by its metadata."""
        return self.js(
            """return nb.widgets.findIndex(c => { const m = c.model.getMetadata('course');
            return m && m.exercise === argument[0] && m.role === argument[1]; });""",
            [exercise, role],
        )

    def contains(self, text: str) -> int:
        """Index of the first code cell whose source contains ``text``."""
        return self.js(
            "return nb.widgets.findIndex(c => c.model.type === 'code' && c.model.sharedModel.getSource().includes(argument));", text
        )

    def show(self, index: int) -> Any:
        """Make a cell active and scroll to it; returns its element."""
        self.js("nb.activeCellIndex = argument; return nb.scrollToItem(argument, 'center');", index)
        self.page.wait_for_timeout(700)
        return self.page.locator(".jp-Notebook .jp-Cell.jp-mod-active")

    def type_answer(self, exercise: str, code: str) -> None:
        """Replace an answer as a person would: click into the cell, select all, paste, Shift+Enter."""
        cell = self.show(self.find(exercise, "answer"))
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(code)
        self.page.keyboard.press("Shift+Enter")

    def run(self, index: int, seconds: float = 30) -> str:
        """Run one cell and return the text of its outputs."""
        self.show(index)
        self.command("notebook:run-cell")
        return self.text(index)

    def text(self, index: int) -> str:
        """Plain text of a cell's outputs."""
        return self.js(
            """return nb.widgets[argument].model.outputs.toJSON().map(o => o.text || (o.data && o.data['text/plain']) || '')
            .flat().join('\\n');""",
            index,
        )

    def click(self, words: str) -> dict[str, Any]:
        """Click a link of the open notebook, wait; returns what is open then, and the first heading that is in sight."""
        link = self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) a", has_text=words).first
        link.scroll_into_view_if_needed()
        link.click()
        self.page.wait_for_timeout(5000)
        return self.js("""const seen = nb.node.getBoundingClientRect();
            const heads = [...nb.node.querySelectorAll('h1, h2, h3, table')].filter(h => {
                const box = h.getBoundingClientRect(); return box.height && box.top >= seen.top - 5 && box.top < seen.bottom; });
            return {path: window.jupyterapp.shell.currentWidget.context.path, first: heads.length ? heads[0].textContent : ''};""")

    def idle(self) -> bool:
        """Whether nothing is waiting to run."""
        return self.js("""return nb.widgets.every(c => c.model.type !== 'code' || c.model.executionState === undefined
            || c.model.executionState === 'idle');""")
