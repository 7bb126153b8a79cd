"""The four curves that open chapter 07a: what stacks of 2, 8 and 32 blocks have learned, with and without residual and norm.

    python benchmarks/depth_curves.py [--starts 4] [--depths 2 8 32]

It takes the stack, the task and the training from the cells of the chapter. Writes results/depth_curves.json.
"""

import argparse
import statistics

import torch
from report import write

from course_tools.authoring.ledger import find_texts
from course_tools.authoring.source import SOLUTION, read_chapter
from course_utils.paths import ROOT

NEEDED = ("import torch", "as Fused", "def letters", "class Stack", "def learn")  # in the order of the chapter


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--starts", type=int, default=4)
    parser.add_argument("--depths", type=int, nargs="+", default=[2, 8, 32])
    args = parser.parse_args()
    torch.set_num_threads(1)
    cells = [cell.source(SOLUTION) for cell in read_chapter(find_texts(ROOT)["07a"]).cells if cell.kind == "code"]
    chapter = {}
    for piece in NEEDED:
        exec(next(cell for cell in cells if piece in cell), chapter)  # noqa: S102
    found = {}
    for kind, options in chapter["KINDS"].items():
        for depth in args.depths:
            losses = []
            for seed in range(args.starts):
                torch.manual_seed(seed)
                losses.append(chapter["learn"](chapter["Stack"](depth, **options)))
            found[f"{kind}, {depth} blocks"] = {"losses": losses, "middle": statistics.median(losses)}
            print(kind, depth, found[f"{kind}, {depth} blocks"], flush=True)
    write("depth_curves", {"losses after 100 steps": found})


if __name__ == "__main__":
    main()
