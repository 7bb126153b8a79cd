"""Learning curves of chapter 07b: stacks of the chapter's own blocks, by place of the norm, depth, rate and warm-up.

    python benchmarks/norm_places.py

The cells of the chapter are run up to ``learn``, so model, task and training are those of its reader. Each curve holds the mean training
loss of 20 steps, every 20 steps, in nats per letter. "constant" has one rate for 800 steps, "warm-up" rises to it in 300. The controls of
exercise 07b.2 change one thing each in eight post-norm blocks that rise to 0.01 in 300 steps. About ten minutes on one thread.
Writes results/norm_places.json.
"""

import os

import torch
from report import write

from course_tools.authoring.ledger import find_texts
from course_tools.authoring.source import SOLUTION, read_chapter
from course_utils.paths import ROOT

DEPTHS, RATES = (2, 8, 16), (0.001, 0.005, 0.01, 0.02)


def of_the_chapter():
    """What the chapter's cells define, up to its training loop."""
    names = {}
    for cell in read_chapter(find_texts(ROOT)["07b"]).cells:
        if cell.kind == "code" and "picture(" not in cell.source(SOLUTION):
            exec(cell.source(SOLUTION), names)
            if "learn" in names:
                return names
    raise LookupError("chapter 07b defines no function `learn`")


def main():
    os.environ["COURSE_BUILD"] = "1"  # no progress bars
    torch.set_num_threads(1)
    chapter = of_the_chapter()
    stack, learn, block = chapter["stack"], chapter["learn"], chapter["EncoderBlock"]

    def curve(place, depth, rate, steps=800, warm_up=1, seed=0, kind=block):
        chapter["EncoderBlock"] = kind
        losses = torch.tensor(learn(stack(place, depth, seed), rate, steps, warm_up))
        chapter["EncoderBlock"] = block
        return [round(loss, 2) for loss in losses.view(-1, 20).mean(1).tolist()]

    class Divided(block):
        """Pre-norm, but after each addition the stream is divided by the root of 2."""

        def forward(self, x, mask=None):
            x = (x + self.attention(self.norm1(x), mask=mask)) / 2**0.5
            return (x + self.linear2(torch.relu(self.linear1(self.norm2(x))))) / 2**0.5

    grid = {
        f"{place}, {depth} blocks, {rate}": {"constant": curve(place, depth, rate), "warm-up": curve(place, depth, rate, warm_up=300)}
        for place in ("post", "pre")
        for depth in DEPTHS
        for rate in RATES
    }
    more = {
        "another start": curve("post", 8, 0.01, warm_up=300, seed=1),
        "a slower rise": curve("post", 8, 0.01, 1200, warm_up=600),
        "twice as many steps": curve("post", 8, 0.01, 1600, warm_up=300),
        "divided, 8 blocks, 0.02": curve("pre", 8, 0.02, kind=Divided),
        "divided, 16 blocks, 0.02": curve("pre", 16, 0.02, kind=Divided),
        "post, 8 blocks, 0.02, warm-up of 60": curve("post", 8, 0.02, warm_up=60),
    }
    write("norm_places", {"every": 20, "grid": grid, "more": more})


if __name__ == "__main__":
    main()
