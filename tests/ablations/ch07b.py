"""Ablations of chapter 07b, Norms and gates, and of its companion.

The losses at 80, 160, 400 and 800 steps, by place, depth, rate and warm-up: ``python benchmarks/norm_places.py`` measures them anew.
"""

from .ablation import Ablation

LEARNS, STANDS = 'assert at(curves["pre"]) < 2.6', 'assert at(curves["post"]) > 2.75'
FALLS, TODAY = "assert at(curve) > at(curve, 400) + 0.12", "assert at(curve_today) < 2.6"
JUDGED = 'assert judged["post, to 0.02 in 300"][3] > 2.75'
WARMED = "curve = learn(warmed, rate=0.01, steps=800, warm_up=300)"
YOURS = 'causal_mask, EncoderBlock = mine("06.1"), mine("07a.4")'
SEEN = "        logs = [torch.tensor(along(model)).log()\n"
STEPPED = """        stacks[place, steps] = []
        for seed in range(5):
            stacks[place, steps].append(model := stack(place, 16, seed))
            learn(model, 0.0002, 1)
"""
DIVIDED = """

class EncoderBlock(EncoderBlock):
    def forward(self, x, mask=None):
        x = (x + self.attention(self.norm1(x), mask=mask)) / 2**0.5
        return (x + self.linear2(torch.relu(self.linear1(self.norm2(x))))) / 2**0.5
"""
POST = """
class Post(TodayBlock):
    def forward(self, x, mask=None):
        x = rms_norm(x + self.attention(x, mask=mask), self.norm1)[0]
        return rms_norm(x + swiglu(x, self.gate, self.up, self.down), self.norm2)[0]
"""

ABLATIONS = [
    Ablation(
        "Eight pre-norm blocks learn at the rate where post-norm does not.",
        "post-norm for both",
        LEARNS,
        "trained[place] = stack(place, depth=8)",
        'trained[place] = stack("post", depth=8)',
    ),
    Ablation(
        "It is the shrinking of the stream that stops a stack.",
        "pre-norm whose stream is divided by the root of 2",
        LEARNS,
        YOURS,
        YOURS + DIVIDED,
    ),
    Ablation(
        "Post-norm stands still at this rate, and not at every rate.",
        "a twentieth of the rate",
        STANDS,
        "rate=0.02, steps=200)",
        "rate=0.001, steps=200)",
    ),
    Ablation("Two post-norm blocks do not stand still.", "two blocks", STANDS, "stack(place, depth=8)", "stack(place, depth=2)"),
    Ablation(
        "Post-norm does not begin to learn later.",
        "twice as many steps for both places",
        STANDS,
        "rate=0.02, steps=200)",
        "rate=0.02, steps=400)",
        holds=True,
    ),
    Ablation(
        "One step at a large rate makes the tokens of post-norm alike.",
        "a step at a hundredth of the rate",
        'assert stages["post", 1][-1] < 0.02',
        SEEN,
        STEPPED + SEEN,
    ),
    Ablation(
        "After one step at a large rate branches are loud, lean to the stream, and say the same to all tokens.",
        "a first step at a hundredth of the rate",
        "assert said[place, 1][0] > said[place, 0][0] + 0.1",
        "learn(model, 0.02, steps)",
        "learn(model, 0.0002, steps)",
    ),
    Ablation(
        "A branch leans to its own stream, and not to any vector.",
        "the cosine with random vectors",
        "assert abs(said[place, 0][1]) < 0.05 < 0.2 < said[place, 1][1]",
        "F.cosine_similarity(said, x, dim=-1).mean()",
        "F.cosine_similarity(said, torch.randn_like(x), dim=-1).mean()",
    ),
    Ablation("A run that looks fine early can still fall off.", "80 steps", FALLS, WARMED, WARMED.replace("800", "80")),
    Ablation("It is the height of the rate that kills the run.", "a tenth of the rate", FALLS, WARMED, WARMED.replace("0.01", "0.001")),
    Ablation("It is the place of the norm that lets it fall.", "pre-norm", FALLS, 'stack("post", depth=8)', 'stack("pre", depth=8)'),
    Ablation("The run does not recover.", "1600 steps", FALLS, WARMED, WARMED.replace("800", "1600"), holds=True),
    Ablation("Settings are told apart late, not early.", "all judged at 80 steps", JUDGED, "(80, 160, 400, 800)]\n", "(80, 80, 80, 80)]\n"),
    Ablation(
        "In the sandwich and the output form a branch adds variance 1.",
        "no norm behind the branch",
        'assert all(95 < grown[p][-1] < 150 for p in ("sandwich", "output"))',
        "sublayer(found[-1], branch, plain_norm, plain_norm, place)",
        'sublayer(found[-1], branch, plain_norm, plain_norm if place == "post" else (lambda t: t), place)',
    ),
    Ablation(
        "RMSNorm sees a shift.",
        "the mean subtracted",
        "assert moved > 0.5",
        "lambda t: rms_norm(t, ones)[0]}",
        "lambda t: rms_norm(t - t.mean(-1, keepdim=True), ones)[0]}",
    ),
    Ablation(
        "With QK-norm the length of queries and keys has no effect.",
        "queries and keys not normed",
        "assert (weights_of(10.0, True) - weights_of(1.0, True))",
        "    if normed:",
        "    if False:",
    ),
    Ablation(
        "What lets sixteen blocks of today learn is the place of the norm.",
        "RMSNorm and gate, with the norm on the stream",
        TODAY,
        "today = Stack(TodayBlock(32, 4, 64) for _ in range(16))",
        POST + "today = Stack(Post(32, 4, 64) for _ in range(16))",
    ),
    Ablation("They go on learning.", "400 steps", TODAY, "rate, steps=200)", "rate, steps=400)", holds=True),
    Ablation(
        "DeepNorm needs both of its factors.",
        "beta left out",
        'assert min(ends["post-norm"]) > 0.4 and max(ends["DeepNorm"]) < 0.05',
        '("DeepNorm", alpha, beta)',
        '("DeepNorm", alpha, 1)',
    ),
    Ablation(
        "Behind an encoder the gradients of a post-norm decoder rise.",
        "a memory of random vectors",
        'assert rise["decoder", "post"] > 3',
        "x = layer(x, closing(memory), tgt_mask=hidden)",
        "x = layer(x, torch.randn(16, 10, width), tgt_mask=hidden)",
    ),
    Ablation(
        "With one rate for all layers the best rate falls with the width.",
        "a rate divided by the width, as in μP",
        "assert best[16, False] / best[256, False] >= 4",
        "m = width / 16 if mup else 1",
        "m = width / 16",
    ),
    Ablation(
        "Under μP the best rate stays where it was.",
        "rates and scores not divided",
        "assert 0.25 <= best[16, False] / best[256, True] <= 2",
        "m = width / 16 if mup else 1",
        "m = 1",
    ),
]
