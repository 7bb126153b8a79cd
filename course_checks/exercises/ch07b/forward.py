"""Exercises 07b.2 and 07b.3: the gated feed-forward layer, and what layers weigh."""

from __future__ import annotations

from functools import cache, partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course_utils.models.sizes import shapes_only

from ...exercise import Case, Exercise, Twin, generator
from ..common import randn


def _swiglu_oracle(x: Tensor, w_gate: Tensor, w_up: Tensor, w_down: Tensor) -> Tensor:
    gate = torch.einsum("...d,dr->...r", x, w_gate)
    up = torch.einsum("...d,dr->...r", x, w_up)
    return torch.einsum("...r,rd->...d", gate * torch.sigmoid(gate) * up, w_down)


def _swiglu(x: Tensor, w_gate: Tensor, w_up: Tensor, w_down: Tensor, how: str = "right") -> Tensor:
    gate, up = x @ w_gate, x @ w_up
    hidden = {
        "swapped": lambda: gate * F.silu(up), "sigmoid": lambda: torch.sigmoid(gate) * up, "relu": lambda: torch.relu(gate) * up,
        "gelu": lambda: F.gelu(gate) * up, "none": lambda: gate * up, "product": lambda: F.silu(gate * up),
        "sum": lambda: F.silu(gate) + up, "no gate": lambda: F.silu(up), "no up": lambda: F.silu(gate),
        "merged": lambda: F.silu(x @ (w_gate * w_up)), "both": lambda: F.silu(gate) * F.silu(up),
        "ratio": lambda: gate * torch.exp(gate) / (1 + torch.exp(gate)) * up,
        "softmax": lambda: torch.softmax(gate, -1) * up, "shut": lambda: gate * torch.sigmoid(-gate) * up,
        "twice": lambda: F.silu(gate) * torch.sigmoid(gate) * up,
    }.get(how, lambda: F.silu(gate) * up)()
    if how == "late":
        return F.silu((gate * up) @ w_down)
    if how == "residual":
        return x + hidden @ w_down
    if how == "row":
        return (hidden.sum(-2, keepdim=True) if x.dim() > 1 else hidden).expand_as(hidden) @ w_down
    return hidden @ w_down


def _draw_swiglu(seed: int) -> list[Case]:
    g = generator(seed)
    def case(label: str, *shape: int, width: int, part: str = "values") -> Case:
        d = shape[-1]
        args = {"x": randn(g, *shape), "w_gate": 0.6 * randn(g, d, width), "w_up": 0.6 * randn(g, d, width),
                "w_down": 0.6 * randn(g, width, d)}
        return Case(label, args, part=part, gradients=tuple(args), shape="(…, d_model)")
    return [case("4 tokens, d_model = 6, width 9", 4, 6, width=9), case("2 sequences of 3 tokens, d_model = 5, width 8", 2, 3, 5, width=8),
            case("four axes", 2, 3, 4, 5, width=7), case("one token", 1, 5, width=3)]


def _fixed_swiglu() -> list[Case]:
    g = generator(2)
    x = 60 * randn(g, 4, 5)
    return [Case("gates of several hundred, of both signs", {"x": x, "w_gate": 2 * randn(g, 5, 7), "w_up": 0.002 * randn(g, 5, 7),
                                                           "w_down": 0.01 * randn(g, 7, 5)}, shape="(…, d_model)")]


SWIGLU = Exercise(
    id="07b.2", formerly="07.4", title="The gated feed-forward layer", name="swiglu", kind="function", stars=1, minutes=8,
    signature="swiglu(x, w_gate, w_up, w_down) -> x's shape", oracle=_swiglu_oracle,
    reference=_swiglu, draw=_draw_swiglu, fixed=_fixed_swiglu, parts={"values": 2},
    twins=(
        Twin("activation on the wrong branch", partial(_swiglu, how="swapped"),
             "SiLU belongs to the branch that is called the gate. The other one stays linear."),
        Twin("sigmoid gate (GLU)", partial(_swiglu, how="sigmoid"),
             "With a sigmoid this is the original GLU. SwiGLU uses SiLU: the gate's own value times its sigmoid."),
        Twin("ReLU gate (ReGLU)", partial(_swiglu, how="relu"), "With ReLU this is the variant called ReGLU; use SiLU."),
        Twin("GELU gate (GEGLU)", partial(_swiglu, how="gelu"), "With GELU this is the variant called GEGLU; use SiLU."),
        Twin("no activation (bilinear)", partial(_swiglu, how="none"),
             "Both branches are linear. The gate goes through SiLU before they are multiplied."),
        Twin("activation after the product", partial(_swiglu, how="product"),
             "SiLU acts on the gate alone, before the branches are multiplied."),
        Twin("branches added", partial(_swiglu, how="sum"), "A gate multiplies. Your two branches are added."),
        Twin("gate left out", partial(_swiglu, how="no gate"),
             "One branch is missing: this is an ordinary layer with SiLU that uses the up matrix only."),
        Twin("up branch left out", partial(_swiglu, how="no up"),
             "One branch is missing: this is an ordinary layer with SiLU that uses the gate matrix only."),
        Twin("matrices merged", partial(_swiglu, how="merged"),
             "You multiply the two matrices with each other first. The tokens should go through each matrix separately."),
        Twin("both branches activated", partial(_swiglu, how="both"), "Only the gate goes through SiLU; the other branch stays linear."),
        Twin("exponentials that overflow", partial(_swiglu, how="ratio"),
             "For a large gate the exponential is infinite in the numerator and in the denominator, and the quotient is NaN. "
             "PyTorch's sigmoid avoids that."),
        Twin("gate shuts where it should open", partial(_swiglu, how="shut"),
             "Your gate shuts for large positive numbers and lets negative ones through: the sign inside the exponential is wrong."),
        Twin("softmax gate", partial(_swiglu, how="softmax"), "Every gate opens by itself. With a softmax the gates compete."),
        Twin("sigmoid taken twice", partial(_swiglu, how="twice"), "SiLU already contains a sigmoid, and you multiply by another one."),
        Twin("activation at the end", partial(_swiglu, how="late"),
             "The activation comes after the last matrix. It belongs to the gate, before the product."),
        Twin("input added", partial(_swiglu, how="residual"), "The residual belongs to the block. Return the branch alone."),
        Twin("tokens mixed", partial(_swiglu, how="row"), "Each token must be treated by itself. Yours influence each other."),
    ),
)

KEYS = ("weights of a feed-forward layer, d_model = 512, d_ff = 2048, no biases",
        "width of a SwiGLU layer with as many weights, rounded down",
        "LLaMA-7B: two thirds of 4 · 4096, rounded up to a multiple of 256",
        "parameters of a block with d_model = 768, d_ff = 3072, all biases and both LayerNorms")


@cache
def _counts() -> dict[str, int]:
    """Counted on modules, not by formula."""
    with shapes_only():
        layers = nn.Linear(512, 2048, bias=False), nn.Linear(2048, 512, bias=False)
        block = nn.TransformerEncoderLayer(768, 12, 3072)
    plain = sum(layer.weight.numel() for layer in layers)
    width = max(r for r in range(1, 4096) if r * 512 * 3 <= plain)
    llama = next(r for r in range(256, 20_000, 256) if 3 * r >= 2 * 4 * 4096)
    return dict(zip(KEYS, (plain, width, llama, sum(p.numel() for p in block.parameters())), strict=True))


RIGHT = dict(zip(KEYS, (2_097_152, 1365, 11_008, 7_087_872), strict=True))


def _guess(place: int, number: float) -> dict[str, float]:
    return {**RIGHT, KEYS[place]: number}


COUNTS = Exercise(
    id="07b.3", formerly="07.5", title="Predict: what the layers weigh", name="prediction_of_sizes", kind="value", stars=2, minutes=8,
    signature="prediction_of_sizes: dict of 4 whole numbers", oracle=_counts, reference=RIGHT, parts={"values": 2}, rtol=1e-9,
    atol=0.01,
    draw=lambda seed: [Case("your four numbers", {})],
    twins=(
        Twin("biases counted", _guess(0, 2_099_712), "The first number counts weights only: leave both biases out."),
        Twin("second matrix forgotten", _guess(0, 1_048_576), "There are two matrices, one up and one down, of the same size."),
        Twin("square matrices", _guess(0, 2 * 512 * 512), "The hidden layer is wider than the model: neither matrix is square."),
        Twin("three matrices in the plain layer", _guess(0, 3 * 512 * 2048),
             "Only the gated layer has three matrices. The first question is about the plain one."),
        Twin("same width, three matrices", _guess(1, 2048), "With the old width three matrices have more weights than two."),
        Twin("width halved", _guess(1, 1024), "Two matrices become three, not four: the width shrinks by less than half."),
        Twin("two thirds of d_model", _guess(1, 341), "The two thirds are taken of the hidden width, not of the width of the model."),
        Twin("not rounded", _guess(1, 2048 * 2 / 3), "A layer has a whole number of columns: round it down, as the entry asks."),
        Twin("rounded up", _guess(1, 1366), "With this width the layer has slightly more weights than the plain one. Round down."),
        Twin("not a multiple of 256", _guess(2, 10_923), "Two thirds is right; it still has to become a multiple of 256."),
        Twin("rounded down to any number", _guess(2, 10_922), "Two thirds is right; it still has to become a multiple of 256."),
        Twin("multiple below", _guess(2, 10_752), "Round up to the next multiple of 256, not down to the one below."),
        Twin("two thirds of 4096", _guess(2, 2816), "You start from the width of the model. The hidden width is four times that."),
        Twin("matrices only", _guess(3, 7_077_888), "Your count leaves out the biases and the LayerNorms."),
        Twin("all biases forgotten", _guess(3, 7_080_960),
             "You count the matrices and the LayerNorms but no biases of the linear layers. Attention has four of them, the "
             "feed-forward part two."),
        Twin("norms forgotten", _guess(3, 7_084_800),
             "Either the two LayerNorms are missing, each with a weight and a bias, or the four biases of attention are."),
        Twin("feed-forward biases forgotten", _guess(3, 7_087_872 - 3072 - 768),
             "The two layers of the feed-forward part have a bias each, one as wide as the hidden layer."),
        Twin("one norm forgotten", _guess(3, 7_086_336), "There are two LayerNorms in a block, each with a weight and a bias."),
        Twin("feed-forward part only", _guess(3, 4_722_432), "A block also contains attention and two LayerNorms."),
        Twin("output projection forgotten", _guess(3, 7_087_872 - 768 * 769),
             "Attention has four projections: query, key, value, and the output projection."),
    ),
)
