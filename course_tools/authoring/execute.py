"""Run a notebook in a fresh kernel and say clearly where it failed."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path
from queue import Empty
from time import monotonic
from typing import Any

from jupyter_client.kernelspec import NoSuchKernel
from jupyter_client.utils import ensure_async
from jupyter_core.utils import ensure_event_loop
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from traitlets import Float

from course_utils.paths import ROOT

from .chapter import CHAPTER, SOLUTION, Chapter
from .errors import BuildError
from .outputs import WIDGET, clean_outputs, machine_paths, number, output_problem, readable

CELL_TIMEOUT = 600.0
RECORD = "__import__('course_tools.authoring.slider_frames').authoring.slider_frames.install()"  # every frame of a slider
_CELL_LINE = re.compile(r"Cell In\[(\d+)\], line (\d+)")
_NOT_FOR_KERNELS = ("COURSE_STRICT", "MPLBACKEND", "PYTHONWARNINGS", "PYTHONDEVMODE")


class PatientClient(NotebookClient):
    """An nbclient that cannot wait for ever.

    While a cell runs, nbclient itself sends messages on the shell channel (it plays the front end
    of ``Output`` widgets). Such a send can swallow the event that announces the cell's reply, and
    nbclient then waits although the reply has arrived. Asking again in short slices finds it; and
    should the reply never come, a kernel that has reported itself idle has told us by its outputs
    how the cell ended.
    """

    slice_s = Float(0.2, help="Seconds to wait for a reply before asking again.")
    grace_s = Float(10.0, help="Seconds to wait for the reply of a kernel that is idle again.")

    async def _async_poll_for_reply(
        self,
        msg_id: str,
        cell: NotebookNode,
        timeout: float | None,
        task_poll_output_msg: asyncio.Future[Any],
        task_poll_kernel_alive: asyncio.Future[Any],
    ) -> dict[str, Any]:
        started = monotonic()
        idle_since: float | None = None
        assert self.kc is not None  # the kernel has been started
        try:
            while True:
                if task_poll_output_msg.done():
                    task_poll_output_msg.result()  # raises what went wrong while reading outputs
                    idle_since = idle_since or monotonic()
                    if monotonic() - idle_since > self.grace_s:
                        self.log.warning("No reply from an idle kernel; going on with its outputs.")
                        return self._reply_from_outputs(cell)
                elif timeout is not None and monotonic() - started > timeout:
                    raise CellTimeoutError.error_from_timeout_and_cell("Cell took too long", int(timeout), cell)
                try:
                    msg = await ensure_async(self.kc.shell_channel.get_msg(timeout=self.slice_s))
                except Empty:
                    await self._async_check_alive()
                    continue
                if msg["parent_header"].get("msg_id") == msg_id:
                    await asyncio.wait_for(task_poll_output_msg, self.iopub_timeout)
                    return msg
        finally:
            task_poll_kernel_alive.cancel()

    @staticmethod
    def _reply_from_outputs(cell: NotebookNode) -> dict[str, Any]:
        """The reply the kernel would have sent, as far as its outputs tell."""
        for output in cell.outputs:
            if output.output_type == "error":
                return {"content": {"status": "error", **{key: output[key] for key in ("ename", "evalue", "traceback")}}}
        return {"content": {"status": "ok"}}

    def widget_outputs(self) -> list[NotebookNode]:
        """What the ``Output`` widgets show now; a stored notebook does not show it."""
        return [output for widget in self.comm_objects.values() for output in getattr(widget, "outputs", [])]


def kernel_environment(kind: str, root: Path) -> dict[str, str]:
    """The environment of a kernel; our own process keeps its own."""
    env = {key: value for key, value in os.environ.items() if key not in _NOT_FOR_KERNELS}
    paths = [str(root), *filter(None, [env.get("PYTHONPATH")]), str(ROOT)]
    env.update(
        COURSE_BUILD="1",
        COURSE_PROGRESS="off",
        PYTHONHASHSEED="0",
        OMP_WAIT_POLICY=env.get("OMP_WAIT_POLICY", "passive"),  # as course.py sets it for learners
        OMP_NUM_THREADS="1",  # sums in the same order on every machine, and no waiting for a second thread
        PYTHONPATH=os.pathsep.join(paths),
    )
    if kind == SOLUTION:
        env["COURSE_STRICT"] = "1"
    return env


def execute(chapter: Chapter, kind: str, package: str, root: Path, timeout: float = CELL_TIMEOUT) -> NotebookNode:
    """The executed, cleaned notebook; :class:`BuildError` names the cell that failed."""
    nb = chapter.notebook(kind, package)
    metadata = nb.metadata.copy()
    folder = (root / chapter.notebook_in(kind)).parent
    folder.mkdir(parents=True, exist_ok=True)
    client = PatientClient(
        nb,
        timeout=timeout,
        iopub_timeout=60,
        raise_on_iopub_timeout=True,
        record_timing=False,
        shutdown_kernel="immediate",
        extra_arguments=["--log-level=ERROR", *([f"--IPKernelApp.exec_lines={RECORD}"])],
        resources={"metadata": {"path": str(folder)}},
    )
    try:
        with client.setup_kernel(env=kernel_environment(kind, root)):
            try:
                _run_cells(client, chapter, kind, machine_paths(root))
            except KeyboardInterrupt:
                _drop_tasks()
                raise
    except (NoSuchKernel, RuntimeError) as error:
        raise BuildError(f"{chapter.number} ({kind}): the kernel did not start: {error}") from None
    nb.metadata = metadata  # without live widgets and without the kernel's details
    return nb


def _drop_tasks() -> None:
    """End what Ctrl-C left waiting for the kernel, so that the kernel's end is no news to anybody."""
    loop = ensure_event_loop()
    loop.set_exception_handler(lambda _loop, _context: None)
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    loop.run_until_complete(asyncio.wait(tasks, timeout=5) if tasks else asyncio.sleep(0))


def _run_cells(client: PatientClient, chapter: Chapter, kind: str, folders: list[str]) -> None:
    """Run the code cells in order; stop at the first that fails or shows what it may not."""
    count, places = 0, {cell.id: place for place, cell in enumerate(chapter.cells)}  # build adds cells of its own to the notebook
    for position, cell in enumerate(client.nb.cells):
        if cell.cell_type != "code":
            continue
        count, index = count + 1, places[cell.id]
        try:
            client.execute_cell(cell, position, execution_count=count)
        except CellExecutionError as error:
            raise BuildError(_raised(chapter, kind, index, count, error, cell.outputs)) from None
        except TimeoutError:
            where, limit = _where(chapter, kind, index), client.timeout
            raise BuildError(f"{where} took longer than {limit:g} s, or its outputs did not arrive") from None
        except DeadKernelError:
            where = _where(chapter, kind, index)
            raise BuildError(f"{where} ended the kernel (out of memory?)") from None
        except RuntimeError as error:  # an output message that never came
            raise BuildError(f"{_where(chapter, kind, index)} could not be followed: {error}") from None
        cell.outputs = clean_outputs(cell.outputs)
        number(cell, None if kind == CHAPTER else count)  # a blank chapter looks as if nobody had run it yet
        in_widgets = [out for out in client.widget_outputs() if WIDGET not in out.get("data", {})]
        for output in [*in_widgets, *cell.outputs]:
            problem = output_problem(output, folders)
            if problem:
                raise BuildError(f"{_where(chapter, kind, index)} leaves {problem}")
        shown = chapter.cells[index]
        if shown.live or kind == CHAPTER and shown.revealing:
            cell.outputs = []


def _where(chapter: Chapter, kind: str, index: int) -> str:
    line = chapter.cells[index].line
    return f"{chapter.number} ({kind}): cell {index + 1}, {chapter.name}:{line},"


def _raised(chapter: Chapter, kind: str, index: int, count: int, error: CellExecutionError, outputs: list[NotebookNode]) -> str:
    """Chapter, notebook, cell, line and exception, and the last lines that the cell had printed."""
    traceback = readable({"output_type": "error", "traceback": [error.traceback]})
    lines = chapter.cells[index].lines(kind)
    own = [int(line) for number, line in _CELL_LINE.findall(traceback) if int(number) == count]
    evalue = (str(error.evalue).strip().splitlines() or [""])[0][:200]
    message = [f"{_where(chapter, kind, index)} raised", f"  {error.ename}: {evalue}"]
    printed = "".join(output["text"] for output in outputs if output.get("output_type") == "stream").splitlines()
    message += [f"  it had printed: {line}" for line in printed[-3:]]
    if own and own[-1] <= len(lines):
        number, text = lines[own[-1] - 1]
        message.insert(1, f"  line {own[-1]} of the cell, {chapter.name}:{number}:  {text.strip()}")
    return "\n".join(message)
