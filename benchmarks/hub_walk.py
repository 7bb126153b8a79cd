"""A class on a real JupyterHub, driven in Chromium: log in, solve, update, hand in, collect, grade, feedback; a killed kernel, a full home.

    python benchmarks/hub_walk.py --python ENV/bin/python --proxy PATH/configurable-http-proxy [--users ada bob …]

As root, on a machine for it: it takes users that exist (password NAME-pw), exchanges their ~/attention, and starts a hub on port 18000.
ENV is what docs/classroom.md describes; Playwright is wanted in the Python that runs this. Prints seconds, and memory as PSS per student.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
HUB = "http://127.0.0.1:18000"
CONFIG = """
load_subconfig({base!r})
c.JupyterHub.bind_url, c.JupyterHub.hub_port = {hub!r}, 18081
c.ConfigurableHTTPProxy.command, c.ConfigurableHTTPProxy.api_url = [{proxy!r}], "http://127.0.0.1:18001"
c.Authenticator.allow_all = True
c.Spawner.args.append("--LabApp.expose_app_in_browser=True")
"""
PANEL = "window.jupyterapp.shell.currentWidget"
FIND = f"{PANEL}.content.widgets.findIndex(c => c.model.getMetadata('course')?.exercise === e && c.model.getMetadata('course').role === r)"


def run(*words: object, **more: Any) -> str:
    """A program's output; its messages, too, when it fails."""
    done = subprocess.run([str(word) for word in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    if done.returncode:
        raise RuntimeError(f"{words}: {done.stdout[-2000:]}")
    return done.stdout


def publish(place: Path, change: bool) -> None:
    """The hand-out of this tree as the newest commit of the class's repository; `change`: with a new sentence in chapter 00."""
    out, git = place / "handout", place / "attention.git"
    shutil.rmtree(out, ignore_errors=True)
    run(sys.executable, ROOT / "course.py", "handout", out)
    if change:
        chapter = out / "chapters" / "00_start_here.ipynb"
        notebook = json.loads(chapter.read_text("utf-8"))
        text = next(cell for cell in notebook["cells"] if cell["cell_type"] == "markdown" and "course" not in cell["metadata"])
        text["source"] = "".join(text["source"]) + "\n\nA sentence of the second week."
        chapter.write_text(json.dumps(notebook), "utf-8")
    if not git.exists():
        run("git", "init", "-q", "--bare", "-b", "main", git)
    env = dict(os.environ, GIT_DIR=str(git), GIT_WORK_TREE=str(out))
    run("git", "add", "-A", env=env, cwd=out)
    run("git", "-c", "user.name=p", "-c", "user.email=p@example.org", "commit", "-q", "-m", "hand-out", env=env, cwd=out)


def memory(user: str) -> str:
    """What a user's processes hold: PSS of the server, of the kernels, in MB."""
    held = {"server": 0, "kernels": 0}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if folder.stat().st_uid == pwd.getpwnam(user).pw_uid:
                kind = "kernels" if b"ipykernel" in (folder / "cmdline").read_bytes() else "server"
                lines = (folder / "smaps_rollup").read_text().splitlines()
                held[kind] += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        except (OSError, StopIteration):
            continue
    return ", ".join(f"{name} {kb / 1024:.0f}" for name, kb in held.items())


def answers() -> dict[str, str]:
    """The right answers of chapter 00."""
    notebook = json.loads((ROOT / "solutions" / "00_start_here.ipynb").read_text("utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["metadata"].get("course", {}).get("role") == "answer"]
    return {cell["metadata"]["course"]["exercise"]: "".join(cell["source"]) for cell in cells}


class Student:
    """A student's page of JupyterLab."""

    def __init__(self, name: str, browser: Any):
        self.name, self.browser = name, browser

    async def log_in(self) -> None:
        self.page = await (await self.browser.new_context(viewport={"width": 1400, "height": 900})).new_page()
        self.page.set_default_timeout(600_000)  # a busy machine is slow, not wrong
        await self.page.goto(f"{HUB}/hub/login")
        await self.page.fill("#username_input", self.name)
        await self.page.fill("#password_input", f"{self.name}-pw")
        await self.page.click("#login_submit")
        await self.lab()

    async def lab(self) -> None:
        """Wait until the notebook is open and its kernel idle."""
        await self.page.wait_for_selector(".jp-Notebook .jp-Cell")
        ready = f"() => window.jupyterapp && {PANEL}?.sessionContext?.session?.kernel?.status === 'idle'"
        await self.page.wait_for_function(ready)

    async def js(self, code: str, argument: Any = None) -> Any:
        return await self.page.evaluate(f"async (argument) => {{ const app = window.jupyterapp, panel = {PANEL}; {code} }}", argument)

    async def execute(self, command: str) -> None:
        await self.js("await app.commands.execute(argument)", command)

    async def run_above(self, exercise: str) -> None:
        await self.js(f"const [e, r] = argument; panel.content.activeCellIndex = {FIND};", [exercise, "answer"])
        await self.execute("notebook:run-all-above")

    async def solve(self, exercise: str, code: str) -> str:
        """Type an answer, run its cell and its check; the text of the panel."""
        for role in ("answer", "check"):
            put = "if (r === 'answer') panel.content.widgets[at].model.sharedModel.setSource(code);"
            seek = f"const [e, r, code] = argument, at = {FIND}; panel.content.activeCellIndex = at; {put}"
            await self.js(seek + "await app.commands.execute('notebook:run-cell');", [exercise, role, code])
        return await self.output(exercise)

    async def output(self, exercise: str) -> str:
        code = f"const [e, r] = argument, at = {FIND}; const outputs = panel.content.widgets[at].model.outputs.toJSON();"
        return await self.js(
            code + "return outputs.map(o => o.text || o.data?.['text/plain'] || o.evalue || '').flat().join(' ');", [exercise, "check"]
        )

    async def hand_in(self) -> str:
        await self.page.click(".course-hand-in")
        await self.page.wait_for_selector("dialog[open] pre")
        said = await self.page.inner_text("dialog[open] pre")
        await self.page.click("dialog[open] button")
        return said

    async def restart_server(self) -> None:
        """Stop the server in the hub's panel and start it again, as somebody does who comes back next week."""
        await self.page.goto(f"{HUB}/hub/home")
        await self.page.click("#stop")
        await self.page.wait_for_selector("#stop", state="hidden")
        await self.page.goto(f"{HUB}/hub/spawn")
        await self.page.wait_for_selector("a#start, .jp-Notebook .jp-Cell")
        if await self.page.locator("a#start").count():  # it was slow to stop (10 seconds): the hub asks whether to launch it
            await self.page.click("a#start")
        await self.lab()


async def walk(options: argparse.Namespace, place: Path) -> None:
    from playwright.async_api import async_playwright

    right, exchange = answers(), place / "exchange"
    began = time.time()

    async def all_do(label: str, what: Any) -> list[Any]:
        async def timed(student: Student) -> tuple[float, Any]:
            start = time.time()
            found = await what(student)
            return time.time() - start, found

        done = await asyncio.gather(*map(timed, students))
        took = ", ".join(f"{seconds:.1f}" for seconds, _ in done)
        print(f"\n{label}: {took} s (at {time.time() - began:.0f} s, load {os.getloadavg()[0]:.0f})")
        print(f"  PSS of {students[0].name}: {memory(students[0].name)} MB", flush=True)
        return [found for _, found in done]

    async with async_playwright() as play:
        browser = await play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        students = [Student(name, browser) for name in options.users]
        await all_do("log in, the course comes, 00 is open", Student.log_in)
        await all_do("run the cells above 00.1", lambda s: s.run_above("00.1"))
        for exercise in ("00.1", "00.3"):
            said = await all_do(f"solve {exercise}", lambda s, e=exercise: s.solve(e, right[e]))
            assert all("right" in text for text in said), said
        await all_do("run all of 00", lambda s: s.execute("notebook:run-all-cells"))
        await all_do("save", lambda s: s.execute("docmanager:save-all"))
        publish(place, change=True)
        await all_do("next week: server stopped and started, the update is there", Student.restart_server)
        for student in students:
            text = (Path(f"~{student.name}").expanduser() / "attention/work/00_start_here.ipynb").read_text("utf-8")
            assert "sentence of the second week" in text and "return table[ids]" in text, student.name
        print("  every notebook has the new sentence and the old answers")
        said = await all_do("hand in with the button", Student.hand_in)
        print("  " + said[0].replace("\n", "\n  "))
        assert all("Handed in" in text for text in said), said

        ada = students[0]
        kernel = run("pgrep", "-u", ada.name, "-f", "ipykernel").split()
        for pid in kernel:
            os.kill(int(pid), signal.SIGKILL)
        await ada.page.click(".jp-Dialog .jp-mod-accept")  # JupyterLab tells that the kernel has died
        await ada.lab()
        print(f"\nkernel killed: the check alone says: {(await ada.solve('00.1', right['00.1']))[:90]}")
        if options.full:
            await full_home(students[-1], right)
        await ada.page.screenshot(path=str(place / "ada.png"))
        await browser.close()

    start = time.time()
    print("\n" + run("sh", ROOT / "deploy/hub/collect.sh", exchange, place / "submissions"))
    print(f"collected in {time.time() - start:.1f} s")
    run("chmod", "-R", "a+rX", place / "submissions")
    start, grades = time.time(), place / "grades"
    grade = [sys.executable, ROOT / "course.py", "grade", place / "submissions", "--out", grades, "--only", "00"]
    print(run(*grade, env=dict(os.environ, COURSE_PYTHON=sys.executable, COURSE_PROGRESS="off"))[-600:])
    print(f"graded in {time.time() - start:.1f} s")
    print((grades / "gradebook.csv").read_text("utf-8"))
    print(run("sh", ROOT / "deploy/hub/give_back.sh", grades, place / "submissions"))


async def full_home(student: Student, right: dict[str, str]) -> None:
    """Fill the student's home, which has to be a small file system of its own: a check says what was not kept; a new server starts."""
    home = Path(f"~{student.name}").expanduser()
    rest = os.statvfs(home)
    run("su", student.name, "-c", f"dd if=/dev/zero of={home}/big bs=64k count={rest.f_bavail * rest.f_frsize // 65536 + 9} 2>&1 || true")
    await student.run_above("00.1")
    print(f"\nhome full: {await student.solve('00.4', right['00.4'])}")
    print(f"  hand in (another file system): {(await student.hand_in())!r}")
    before = (home / "attention/work/00_start_here.ipynb").read_bytes()
    await student.restart_server()
    print(f"  the server starts; the notebook is as it was: {before == (home / 'attention/work/00_start_here.ipynb').read_bytes()}")
    await student.run_above("00.1")
    print(f"  a check after that: {(await student.solve('00.1', right['00.1']))[:200]}")
    (home / "big").unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="of the shared environment, with jupyterhub")
    parser.add_argument("--proxy", required=True, help="configurable-http-proxy")
    parser.add_argument("--users", nargs="+", default=["ada", "bob", "chen", "dina", "emil"])
    parser.add_argument("--place", type=Path, required=True, help="a new folder that everybody can read")
    parser.add_argument("--full", action="store_true", help="the last user's home is small: fill it")
    options = parser.parse_args()
    place = options.place
    (place / "exchange").mkdir(parents=True)
    (place / "exchange").chmod(0o1733)
    publish(place, change=False)
    shutil.copytree(ROOT / "deploy" / "hub", place / "hub")
    for user in options.users:
        shutil.rmtree(Path(f"~{user}").expanduser() / "attention", ignore_errors=True)
    config = CONFIG.format(base=str(place / "hub" / "jupyterhub_config.py"), hub=HUB, proxy=options.proxy)
    (place / "config.py").write_text(config)
    names = {"PYTHON": options.python, "HUB": place / "hub", "REPO": f"file://{place}/attention.git", "EXCHANGE": place / "exchange"}
    env = dict(os.environ, **{f"ATTENTION_{name}": str(value) for name, value in names.items()})
    command = [options.python, "-m", "jupyterhub", "-f", "config.py"]
    with open(place / "hub.log", "w") as log:
        hub = subprocess.Popen(command, cwd=place, env=env, stdout=log, stderr=subprocess.STDOUT)
    try:
        for _ in range(120):
            try:
                urllib.request.urlopen(f"{HUB}/hub/login", timeout=2).close()
                break
            except OSError:
                time.sleep(0.5)
            if hub.poll() is not None:
                raise RuntimeError(f"the hub has ended; see {place / 'hub.log'}")
        asyncio.run(walk(options, place))
    finally:
        hub.terminate()
        hub.wait(60)


if __name__ == "__main__":
    main()
