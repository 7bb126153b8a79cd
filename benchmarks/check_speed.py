"""How long one check takes: the reference and every misconception of every exercise, after imports.

python benchmarks/check_speed.py [NN ...]      prints medians, writes results/check_speed.json
"""

import os
import statistics
import sys

from report import write

from course_checks.engine import catalogue, examine

os.environ["COURSE_PROGRESS"] = "off"


def main(chapters: list[str]) -> None:
    exercises = [e for e in catalogue() if not chapters or e.id.split(".")[0] in chapters]
    for exercise in exercises:
        examine(exercise, exercise.reference)  # the first call of an operation loads its kernel
    right = {e.id: statistics.median(examine(e, e.reference).seconds for _ in range(5)) for e in exercises}
    wrong = {e.id: max(examine(e, misconception.answer).seconds for misconception in e.misconceptions) for e in exercises}
    for exercise in exercises:
        print(f"{exercise.id}  right {1e3 * right[exercise.id]:6.1f} ms   slowest misconception {1e3 * wrong[exercise.id]:6.1f} ms")
    median, slowest = statistics.median([*right.values(), *wrong.values()]), max([*right.values(), *wrong.values()])
    print(f"median {1e3 * median:.1f} ms, slowest {1e3 * slowest:.1f} ms, {len(exercises)} exercises")
    write("check_speed", {"median_s": median, "slowest_s": slowest, "exercises": len(exercises), "right_s": right, "twin_s": wrong})


if __name__ == "__main__":
    main(sys.argv[1:])
