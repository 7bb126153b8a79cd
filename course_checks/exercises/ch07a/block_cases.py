"""Cases and oracle of exercise 07a.4: PyTorch's own block, with the same parameters."""

from functools import cache

import torch
from torch import Tensor, nn
from torch.func import functional_call

from ..common import Case, fused_layer_norm, generator, randn

ALL = 1 - 1e-9  # a dropout that leaves nothing, and that our attention accepts as well
SOME, WIDE = 0.25, 64  # a dropout that leaves something, in blocks of a width that is used for nothing else
ATTENTION = {"w_qkv.weight": "in_proj_weight", "w_qkv.bias": "in_proj_bias", "w_o.weight": "out_proj.weight", "w_o.bias": "out_proj.bias"}
NAMES = {f"attention.{ours}": f"self_attn.{theirs}" for ours, theirs in ATTENTION.items()}
NAMES |= {name: name for layer in ("linear1", "linear2", "norm1", "norm2") for name in (f"{layer}.weight", f"{layer}.bias")}


def block_parameters(g: torch.Generator, d: int, d_ff: int) -> dict[str, Tensor]:
    """Random parameters of moderate size, by our names."""
    sizes = {"attention.w_qkv": (3 * d, d), "attention.w_o": (d, d), "linear1": (d_ff, d), "linear2": (d, d_ff)}
    found: dict[str, Tensor] = {}
    for name, size in sizes.items():
        found |= {f"{name}.weight": 0.4 * randn(g, *size), f"{name}.bias": 0.4 * randn(g, size[0])}
    for name in ("norm1", "norm2"):
        found |= {f"{name}.weight": 1 + 0.4 * randn(g, d), f"{name}.bias": 0.4 * randn(g, d)}
    return found


def some_mask(g: torch.Generator, *shape: int) -> Tensor:
    """A random mask in which no row is empty."""
    return (torch.rand(*shape, generator=g) < 0.5) | torch.eye(shape[-1], dtype=torch.bool)


def torch_mask(mask: Tensor | None, x: Tensor, heads: int) -> Tensor | None:
    """PyTorch's convention: True = hidden, one mask for each head of each sequence."""
    return None if mask is None else ~mask.expand(x.shape[0], x.shape[1], x.shape[1]).repeat_interleave(heads, dim=0)


@cache
def torch_layer(d_model: int, num_heads: int, d_ff: int, pre: bool) -> nn.TransformerEncoderLayer:
    """PyTorch's block; its own weights are never used, so one of each size will do."""
    return nn.TransformerEncoderLayer(d_model, num_heads, d_ff, dropout=0.0, batch_first=True, norm_first=pre)


def oracle(init: dict, parameters: dict, inputs: dict, mode: str = "train") -> Tensor:
    x, pre = inputs["x"], init.get("norm_place", "pre") == "pre"
    if init.get("dropout") == SOME:  # not what comes out, for that is chance, but all the values that can
        branch, width = torch.tensor([0.0, 1 / (1 - SOME)]), x.shape[-1] // 4
        values = (branch[:, None] + 4 * branch).flatten() if pre else torch.arange(2.0).repeat(2)
        return values.repeat_interleave(width).expand(x.shape).clone()
    if init.get("dropout") == ALL and mode == "train":  # everything a branch says is dropped
        for name in () if pre else ("norm1", "norm2"):
            x = fused_layer_norm(x, x.shape[-1:], parameters[f"{name}.weight"], parameters[f"{name}.bias"])
        return x
    layer = torch_layer(init["d_model"], init["num_heads"], init["d_ff"], pre)
    state = {NAMES[name]: value for name, value in parameters.items()}
    return functional_call(layer, state, (x, torch_mask(inputs["mask"], x, init["num_heads"])))


def arguments(parameters: dict, x: Tensor, heads: int, d_ff: int, mask: Tensor | None = None, **init: object) -> dict:
    """What a case hands to a block or a stack; ``init`` is what its constructor gets beside the sizes."""
    init = {"d_model": x.shape[-1], "num_heads": heads, "d_ff": d_ff, **init}
    return {"init": init, "parameters": parameters, "inputs": {"x": x, "mask": mask}}


def case(g: torch.Generator, label: str, part: str, shape: tuple = (2, 5, 12), heads: int = 3, mask: Tensor | None = None, **init) -> Case:
    parameters = block_parameters(g, shape[-1], 20)
    args = arguments(parameters, randn(g, *shape), heads, 20, mask, **init)
    slopes = ("x",) if "dropout" in init or mask is not None else ("x", *parameters)
    return Case(label, args | ({"mode": "eval"} if "evaluation" in label else {}), part, slopes, shape="(batch, token, d_model)")


def chance(label: str, norm_place: str, ffn: bool = True) -> Case:
    """Until something is dropped, attention says 1 to all features, the feed-forward part 4; in post form ``ffn`` chooses the one seen."""
    d, pre = WIDE, norm_place == "pre"
    eye, one, x = torch.eye(d), torch.ones(d), torch.zeros(2, 3 if pre else 4, d)
    parameters = {name: torch.zeros_like(value) for name, value in block_parameters(generator(0), d, d).items()}
    parameters |= {"attention.w_qkv.weight": torch.cat([0 * eye, 0 * eye, eye]), "attention.w_o.weight": eye}
    parameters |= {"linear1.weight": eye, "linear2.weight": 2 * (eye + eye.roll(1, 0)), "norm1.bias": one, "norm2.bias": one}
    if not pre:
        parameters["norm2.weight"], parameters["norm2.bias"], x = one, 0 * one, x + 1
        if not ffn:
            parameters["norm1.weight"], parameters["linear2.weight"] = one, 0 * eye
    args = arguments(parameters, x, 4, d, dropout=SOME, norm_place=norm_place)
    return Case(label, args, part="dropout", shape="(batch, token, d_model)")


def left_by_chance(y: Tensor) -> Tensor:
    """In blocks of width 64, what chance leaves as it is: how many values a token takes (5, or 3 in the post form, is "many").

    In the pre form (3 tokens) also whether the largest value is the right one.
    """
    if y.dim() != 3 or y.shape[-1] != WIDE:
        return y
    pre = y.shape[1] == 3
    rows = y.detach().double().sort(dim=-1).values
    kinds = (rows.diff(dim=-1) > 1e-3).sum(-1).max().item() + 1
    fits = not pre or abs(y.max().item() - 5 / (1 - SOME)) < 1e-3
    return torch.tensor([min(kinds, 5 if pre else 3), float(fits)])


def draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [
        case(g, "norm inside the branch: 2 sequences of 5 tokens, d_model = 12, 3 heads, d_ff = 20", "pre", norm_place="pre"),
        case(g, "norm after the addition", "post", norm_place="post"),
    ]


def fixed() -> list[Case]:
    """What costs time and tells as much with any numbers."""
    g = generator(7)
    return [
        case(g, "norm inside, no token may look ahead", "mask", mask=torch.ones(5, 5).tril().bool(), norm_place="pre"),
        case(g, "norm after the addition, a mask for each sequence", "mask", mask=some_mask(g, 2, 5, 5), norm_place="post"),
        case(g, "norm inside, dropout 0.999999999: nothing of the branches is left", "dropout", norm_place="pre", dropout=ALL),
        case(g, "norm after the addition, dropout 0.999999999", "dropout", norm_place="post", dropout=ALL),
        case(g, "the same dropout in evaluation mode, norm inside", "dropout", norm_place="pre", dropout=ALL),
        case(g, "the same dropout in evaluation mode, norm after the addition", "dropout", norm_place="post", dropout=ALL),
        case(g, "sequences of one token, default placement", "pre", (3, 1, 8), 2),
        case(g, "a single sequence of two tokens", "post", (1, 2, 6), 1, norm_place="post"),
        chance("norm inside, dropout 0.25, branches that return 1 and 4 for every feature", "pre"),
        chance("norm after the addition, dropout 0.25, attention returns 1 for every feature", "post", ffn=False),
        chance("norm after the addition, dropout 0.25, the feed-forward part returns 4", "post"),
    ]
