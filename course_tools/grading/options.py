"""The command line of ``course.py grade``. Standard library only: its help needs no environment."""

from __future__ import annotations

import argparse


def parser() -> argparse.ArgumentParser:
    """The command line."""
    found = argparse.ArgumentParser(prog="python course.py grade", description="Grade a class's notebooks in a sandbox.")
    found.epilog = "--one NOTEBOOK grades one submission and prints the result; with --json OUT for another grader (deploy/README.md)."
    found.add_argument("submissions", help="a folder of notebooks, or a zip file from a learning-management system")
    found.add_argument("--out", required=True, help="folder for gradebook.csv, feedback/, report.html, grades.jsonl")
    found.add_argument("--resume", action="store_true", help="go on with the run that is in --out")
    found.add_argument("--only", nargs="+", default=[], metavar="NN", help="only these chapters: 03 08a")
    found.add_argument("--settings", help="TOML file with weights, late penalty and partial credit")
    found.add_argument("--roster", help="CSV file with the list of the class: student, id, deadline; or Canvas's or Moodle's own")
    found.add_argument("--marks", help="CSV file with marks that you change: student, exercise, points, why; --resume keeps them")
    found.add_argument("--timeout", type=float, default=60.0, help="seconds for an exercise and the cells it needs (60)")
    found.add_argument("--memory", type=float, default=2.0, help="GB of memory for a submission (2)")
    found.add_argument("--jobs", type=int, help="processes on this machine (one for each core)")
    found.add_argument("--engine", choices=("local", "dask"), default="local", help="this machine, or a Dask cluster")
    found.add_argument("--scheduler", help="address of the Dask scheduler: tcp://host:8786")
    found.add_argument("--seed", help="repeat the draws of an earlier run")
    found.add_argument("--unsafe", action="store_true", help="without a sandbox: only for notebooks you have read")
    found.add_argument("--quiet", action="store_true", help="no progress bar")
    return found
