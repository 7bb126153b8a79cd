"""Exercise 11a.4: the logits of a GPT from its parts. The oracle writes out the norm and looks words up by one-hot products."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from ...exercise import CALLABLES, Case, Exercise, Registered, Twin, generator

MIXING, BENDING = Registered("mixing_block"), Registered("bending_block")


def _oracle(ids: Tensor, token: Tensor, position: Tensor, blocks: list[Registered], weight: Tensor, bias: Tensor) -> Tensor:
    x = F.one_hot(ids, len(token)).to(token.dtype) @ token + torch.eye(len(position))[:ids.shape[1]] @ position
    for block in blocks:
        x = CALLABLES[block.name](x)
    centred = x - x.mean(-1, keepdim=True)
    x = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt() * weight + bias
    return torch.einsum("bnd,vd->bnv", x, token)


def _logits(ids: Tensor, token: Tensor, position: Tensor, blocks: list[Callable], weight: Tensor, bias: Tensor,
            how: str = "right") -> Tensor:
    (n, d), out = (ids.shape[1], token.shape[1]), token

    def norm(x: Tensor) -> Tensor:
        match how:
            case "no norm":
                return x
            case "bare norm":
                return F.layer_norm(x, (d,))
            case "no bias":
                return F.layer_norm(x, (d,), weight)
            case "bare bias":
                return F.layer_norm(x, (d,), None, bias)
            case "norm over positions":
                return F.layer_norm(x.mT, (n,)).mT * weight + bias
            case "root mean square":
                return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt() * weight + bias
            case "unbiased":
                return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + 1e-5).sqrt() * weight + bias
        return F.layer_norm(x, (d,), weight, bias)

    places = {"no positions": 0 * position[:n], "one position": position[:1], "from 1": position.roll(-1, 0)[:n],
              "last places": position[-n:], "position of the id": position[ids % len(position)],
              "id clamped": position[ids.clamp(max=len(position) - 1)]}.get(how, position[:n])
    words = token[ids]
    if how == "root d":
        words = words * d**0.5
    x = first = words + places
    if how == "norm first":
        x = norm(x)
    for number, block in enumerate(reversed(blocks) if how == "reversed" else blocks):
        if (how == "first block" and number) or (how == "last block" and number < len(blocks) - 1) or how == "no block":
            continue
        match how:
            case "side by side":
                x = x + block(first) - first
            case "added again":
                x = x + block(x)
            case "norm after each":
                x = norm(block(x))
            case "positions again":
                x = block(x if not number else x + places)
            case _:
                x = block(x)
    if how not in ("norm first", "norm after each"):
        x = norm(x)
    match how:
        case "last row":
            x = x[:, -1:]
        case "last row flat":
            x = x[:, -1]
        case "cut":
            out = token.detach()
        case "hidden":
            return x
    logits = x @ out.T
    return {"probabilities": logits.softmax(-1), "logarithms": logits.log_softmax(-1), "over root": logits / d**0.5}.get(how, logits)


def _reference(ids: Tensor, token: Tensor, position: Tensor, blocks: list[Callable], weight: Tensor, bias: Tensor) -> Tensor:
    if ids.shape[1] > len(position):
        raise ValueError(f"{ids.shape[1]} ids, but only {len(position)} positions")
    return _logits(ids, token, position, blocks, weight, bias)


def _case(g: torch.Generator, label: str, batch: int, n: int, room: int, blocks: list[Registered], part: str, **more) -> Case:
    token, position = torch.randn(11, 6, generator=g), torch.randn(room, 6, generator=g)
    weight, bias = 1 + 0.4 * torch.randn(6, generator=g), torch.randn(6, generator=g)
    ids = torch.stack([torch.randperm(11, generator=g)[:n] for _ in range(batch)])
    return Case(label, {"ids": ids, "token": token, "position": position, "blocks": blocks, "weight": weight, "bias": bias}, part=part,
                shape="(batch, n, vocab)", **more)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    wanted = ("token", "position", "weight", "bias")
    return [_case(g, "2 rows of 5 ids, 2 blocks", 2, 5, 9, [MIXING, BENDING], "values", gradients=wanted),
            _case(g, "3 rows of 4 ids, 3 blocks", 3, 4, 7, [BENDING, MIXING, BENDING], "values", gradients=wanted)]


def _fixed() -> list[Case]:
    g = generator(4)
    faint = _case(g, "vectors of tiny entries, where eps decides", 2, 4, 6, [], "values")
    faint.args.update({name: 0.003 * faint.args[name] for name in ("token", "position")})
    faint.args["weight"] = 40 * faint.args["weight"]
    return [faint,
            _case(g, "as many ids as positions", 2, 7, 7, [MIXING], "edges"), _case(g, "a single id", 1, 1, 4, [BENDING, MIXING], "edges"),
            _case(g, "no block at all", 2, 3, 8, [], "edges"),
            _case(g, "8 ids, 5 positions", 2, 8, 5, [MIXING], "refusal", rejects=ValueError, mentions=("8", "5"))]


PARTS = Exercise(
    id="11a.4", title="A GPT from its parts", name="gpt_logits", kind="function", stars=2, minutes=10,
    signature="gpt_logits(ids, token, position, blocks, weight, bias) -> (batch, n, vocab)", oracle=_oracle, reference=_reference,
    draw=_draw, fixed=_fixed, parts={"values": 3, "edges": 1, "refusal": 1},
    twins=(
        Twin("id cut down to a position", partial(_logits, how="id clamped"),
             "You look up the position with the id of the token. Row t needs position t, whichever token stands there."),
        Twin("no positions", partial(_logits, how="no positions"), "Nothing tells your model where a token stands: the table of "
             "positions is not used."),
        Twin("the same position everywhere", partial(_logits, how="one position"),
             "Every token gets the vector of the first position. Row t of the table belongs to position t."),
        Twin("positions counted from 1", partial(_logits, how="from 1"), "The first token stands at position 0, the first row of the "
             "table."),
        Twin("the table's last rows", partial(_logits, how="last places"),
             "A text shorter than the table takes its first rows, not its last ones."),
        Twin("positions looked up by id", partial(_logits, how="position of the id"),
             "The table of positions is indexed by the place in the row, not by the token that stands there."),
        Twin("embeddings scaled", partial(_logits, how="root d"),
             "The Transformer of 2017 multiplies embeddings by the root of the width. GPT adds them to the positions as they are."),
        Twin("no block used", partial(_logits, how="no block"), "Your result does not depend on the blocks: none of them is applied."),
        Twin("first block only", partial(_logits, how="first block"), "Only the first block has an effect. Each reads what the one "
             "before it wrote."),
        Twin("last block only", partial(_logits, how="last block"),
             "Only the last block has an effect: every pass of your loop starts from the embeddings again."),
        Twin("blocks in reverse", partial(_logits, how="reversed"), "The first block of the list comes first; yours begins with the last."),
        Twin("blocks side by side", partial(_logits, how="side by side"),
             "All your blocks read the embeddings. Each should read what the block before it wrote."),
        Twin("residual added again", partial(_logits, how="added again"),
             "You add a block's input to its output. The block has already done that itself, so you count the stream twice."),
        Twin("norm after every block", partial(_logits, how="norm after each"),
             "You apply the norm after every block. Apply it once, after the last one."),
        Twin("positions added before every block", partial(_logits, how="positions again"),
             "You add the positions several times. Add them once, before the first block; the residual stream keeps them."),
        Twin("norm before the blocks", partial(_logits, how="norm first"), "The norm stands behind the last block, in front of the output "
             "matrix."),
        Twin("no norm at the end", partial(_logits, how="no norm"), "The stream goes straight into the output matrix. A norm stands "
             "before it."),
        Twin("weight and bias of the norm unused", partial(_logits, how="bare norm"),
             "Your norm only gives mean 0 and variance 1. Its learned weight and bias have to follow."),
        Twin("bias of the norm unused", partial(_logits, how="no bias"), "You apply the norm's learned weight, but not its bias."),
        Twin("weight of the norm unused", partial(_logits, how="bare bias"), "You add the norm's learned bias, but do not use its weight."),
        Twin("norm over the positions", partial(_logits, how="norm over positions"),
             "Each token's vector is normalised by itself. Yours mixes the positions, and so lets each of them see what follows."),
        Twin("mean not subtracted", partial(_logits, how="root mean square"),
             "That is RMSNorm of chapter 07b. GPT's norm subtracts the mean first."),
        Twin("variance divided by one less", partial(_logits, how="unbiased"),
             "LayerNorm divides the sum of squares by the width, not by the width less one."),
        Twin("only the last row returned", partial(_logits, how="last row"),
             "You return the last position. That is enough for writing; to learn, every row is needed."),
        Twin("last row without its axis", partial(_logits, how="last row flat"),
             "You return one row for each text. Return all positions, because each of them predicts its next token."),
        Twin("output matrix forgotten", partial(_logits, how="hidden"),
             "You return vectors as wide as the model. Their products with all token vectors are the logits."),
        Twin("output matrix does not train", partial(_logits, how="cut"),
             "The same table is used for input and output and learns from both. You cut off its gradient at the output."),
        Twin("probabilities returned", partial(_logits, how="probabilities"), "Logits are asked for; the loss does the softmax itself."),
        Twin("logarithms returned", partial(_logits, how="logarithms"), "Logits are asked for; the loss takes the log-softmax itself."),
        Twin("logits divided by a root", partial(_logits, how="over root"),
             "Dividing by the root of the width belongs to attention scores. The logits are plain products."),
    ),
)
