"""Execute every notebook several times, as the build does, and report stalls and differing outputs, a file a chapter.

python benchmarks/repeat_execution.py 20 [NN ...]      writes nothing into chapters/ or solutions/
"""

import statistics
import sys
import time

from report import write

from course_tools.authoring.execute import execute
from course_tools.authoring.source import CHAPTER, SOLUTION, read_chapter
from course_tools.authoring.stored import changed_outputs
from course_tools.authoring.uses import package_key
from course_utils.paths import ROOT


def main(times: int, numbers: list[str]) -> None:
    root = ROOT
    for path in sorted((root / "solutions").glob("[0-9]*.md")):
        chapter = read_chapter(path)
        if numbers and chapter.number not in numbers:
            continue
        results = {}
        for kind in (SOLUTION, CHAPTER):
            seconds, first, changed = [], None, set()
            for _ in range(times):
                start = time.perf_counter()
                notebook = execute(chapter, kind, package_key(chapter, root), root)
                seconds.append(time.perf_counter() - start)
                first = first or notebook
                changed |= set(changed_outputs(first, notebook))
            measured = {cell.id for cell in chapter.cells if cell.measured}
            results[kind] = {
                "median_s": statistics.median(seconds),
                "slowest_s": max(seconds),
                "runs": times,
                "cells_that_changed": sorted(changed - measured),
            }
            print(
                f"{chapter.number} {kind:8s} {times} runs, median {statistics.median(seconds):.1f} s, slowest {max(seconds):.1f} s, "
                f"changed outputs outside measured cells: {sorted(changed - measured) or 'none'}",
                flush=True,
            )
        write(f"repeat_execution_{chapter.number}", results)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, sys.argv[2:])
