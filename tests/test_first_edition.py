"""Notebooks of the first edition go on working: every import line of its 32 notebooks, also where submissions run."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import course_utils

LINES = Path(__file__).with_name("first_edition_imports.txt").read_text(encoding="utf-8").splitlines()
EACH = """
import sys
for line in sys.stdin.read().splitlines():
    try:
        exec(line, {})
    except ImportError as error:
        print(f"{line}: {type(error).__name__}: {error}")
"""


def refused(lines, root):
    """The lines that a fresh Python which finds the package in ``root`` cannot import, and why."""
    environment = os.environ | {"PYTHONPATH": str(root), "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, "-c", EACH], input="\n".join(lines), capture_output=True, text=True, timeout=300, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_every_import_of_the_first_edition_works():
    assert len(LINES) == 147
    assert refused(LINES, Path(course_utils.__file__).parents[1]) == []


def test_they_work_where_submissions_run(tmp_path):
    from course_tools.grading.sandbox import copy_package

    copy_package(tmp_path)
    ours = [line for line in LINES if "course_utils" in line and "checks.engine" not in line]  # no engine in there
    assert len(ours) > 90
    assert refused(ours, tmp_path) == []


def test_an_old_name_is_the_new_module():
    from course_utils.training.orders import letters as old_letters

    from course_utils.experiments import ch12a_control, ch12a_relatives, ch12b_orders
    from course_utils.text.letters import letters
    from course_utils.training import control, relatives

    assert control is ch12a_control is importlib.import_module("course_utils.training.control")
    assert control.learn is ch12a_control.train
    assert relatives.learn_masked is ch12a_relatives.train_masked
    assert relatives.nats is ch12a_relatives.held_out_nats
    assert old_letters is letters
    assert ch12b_orders.__spec__.name == "course_utils.experiments.ch12b_orders"


def test_nothing_is_imported_before_it_is_asked_for():
    code = "import sys, course_utils.training; print([m for m in sys.modules if 'experiments' in m or m == 'torch'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]"
