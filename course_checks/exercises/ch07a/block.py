"""Exercise 07a.4: the encoder block. The oracle is PyTorch's own, with the same parameters."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course_utils.models.multihead import MultiHeadAttention

from ...exercise import Exercise, Twin
from .block_cases import block_oracle, draw_block, fixed_block, left_by_chance


class Block(nn.Module):
    """An encoder block with a switch for each usual mistake."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, norm_place: str | None = None, dropout: float = 0.0,
                 how: str = "right"):
        super().__init__()
        norm_place = norm_place or ("post" if how == "default post" else "pre")
        self.attention = MultiHeadAttention(d_model, num_heads, dropout=dropout if how == "attention drops too" else 0.0)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout, self.how = nn.Dropout(0.1 if how == "a tenth" else dropout), how
        self.pre = {"always pre": True, "always post": False}.get(how, (norm_place == "pre") != (how == "places swapped"))

    def _feed(self, x: Tensor) -> Tensor:
        hidden = self.linear1(x)
        match self.how:
            case "no activation":
                return self.linear2(hidden)
            case "gelu":
                return self.linear2(F.gelu(hidden))
            case "late activation":
                return torch.relu(self.linear2(hidden))
            case "two activations":
                return torch.relu(self.linear2(torch.relu(hidden)))
            case "dropout inside" | "dropout inside too":
                return self.linear2(self.dropout(torch.relu(hidden)))
        return self.linear2(torch.relu(hidden))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        how, start = self.how, x
        always = "drops in evaluation"
        drop = (lambda t: F.dropout(t, self.dropout.p)) if how == always else self.dropout
        how, _, form = how.partition(", ")  # a mistake made in one of the two forms only
        if form and form != ("pre" if self.pre else "post"):
            how = "right"
        if mask is not None:
            mask = {"mask ignored": None, "mask inverted": ~mask}.get(how, mask)
        if how == "dropout on the input":
            x = drop(x)
        branches = [lambda t: self.attention(t, mask=mask), self._feed]
        norms = [self.norm1, self.norm2]
        if how == "one norm":
            norms = [self.norm1, self.norm1]
        if how == "norms swapped":
            norms = norms[::-1]
        if how == "feed first":
            branches = branches[::-1]
        if how == "no feed-forward":
            branches = branches[:1]
        if how == "no attention":
            branches, norms = branches[1:], norms[1:]
        for i, (branch, norm) in enumerate(zip(branches, norms, strict=False)):
            source = start if how == "parallel" and i else x
            read = norm(source) if self.pre and not (how == "no second norm" and i) else source
            said = branch(drop(read) if how == "dropout on what is read" else read)
            if how == "queries normed" and self.pre and not i:
                said = self.attention(norm(x), x, x, mask=mask)
            if how not in ("no dropout", "dropout inside", "dropout on the sum", "dropout last") and not (
                    how == "dropout once" and i or how == "dropout second only" and not i):
                said = drop(said)
            kept = start if how == "residual from the start" and i else x
            if self.pre and (how == "residual normalised" or how == ("first normalised", "second normalised")[i]):
                kept = norm(x)
            if how == ("no residual 1", "no residual 2")[i]:
                kept = 0.0
            total = drop(kept + said) if how == "dropout on the sum" else kept + said
            if self.pre:
                x = norm(total) if how == "pre and post" else total
            else:
                x = {"branch normed": kept + norm(said), "input normed": norm(x) + said}.get(how, norm(total))
                if how == "no second norm" and i:
                    x = total
            if how == "dropout last":
                x = drop(x)
        return self.norm2(x) if how == "closing norm" and self.pre else x


def _module(how: str) -> type[nn.Module]:
    def __init__(self, d_model, num_heads, d_ff, norm_place=None, dropout=0.0):
        Block.__init__(self, d_model, num_heads, d_ff, norm_place, dropout, how)
    return type("EncoderBlock", (Block,), {"__init__": __init__})


BLOCK = Exercise(
    id="07a.4", formerly="07.6", title="The encoder block", name="EncoderBlock", kind="module", stars=3, minutes=20,
    signature="EncoderBlock(d_model, num_heads, d_ff, norm_place='pre', dropout=0.0)(x, mask=None) -> (batch, token, d_model)",
    oracle=block_oracle, reference=_module("right"), draw=draw_block, fixed=fixed_block,
    parts={"pre": 3, "post": 2, "mask": 1, "dropout": 1},
    forbidden=("torch.nn.TransformerEncoderLayer.forward",), raw=left_by_chance,
    compared="where dropout is left to chance, how many values a token can take is compared",
    twins=(
        Twin("always norm inside", _module("always pre"),
             "The argument that places the norm has no effect: the norm always sits inside the branch."),
        Twin("always norm after", _module("always post"),
             "The argument that places the norm has no effect: the norm always comes after the addition."),
        Twin("placements swapped", _module("places swapped"),
             "You have exchanged the two forms. In “pre” the norm is inside the branch, before its sub-layer."),
        Twin("residual from the normalised tokens", _module("residual normalised"),
             "In the pre form you add the branch to the normalised tokens. The stream itself is never normalised."),
        Twin("first residual normalised", _module("first normalised"),
             "In the pre form attention is added to the normalised tokens. The stream itself is never normalised."),
        Twin("second residual normalised", _module("second normalised"),
             "In the pre form the feed-forward branch is added to the normalised tokens. The stream itself is never normalised."),
        Twin("second norm not used", _module("no second norm"), "The second LayerNorm is made and never called."),
        Twin("only queries normalised", _module("queries normed"),
             "Only the queries come from the normalised tokens. Keys and values should come from them as well."),
        Twin("second residual from the input", _module("residual from the start"),
             "The feed-forward branch is added to the block's input. It should be added to the result of the attention step."),
        Twin("no residual around attention", _module("no residual 1"), "Attention replaces the tokens instead of adding to them."),
        Twin("no residual around feed-forward", _module("no residual 2"),
             "The feed-forward part replaces the tokens instead of adding to them."),
        Twin("post form norms the branch", _module("branch normed"),
             "In the post form the norm comes after the addition and acts on the sum."),
        Twin("post form norms the input", _module("input normed"),
             "In the post form you normalise before the branch is added. The norm should act on the sum."),
        Twin("norm before and after", _module("pre and post"), "In the pre form nothing is normalised after the addition."),
        Twin("one norm for both", _module("one norm"), "You use one LayerNorm twice. Each sub-layer has its own, with its own parameters."),
        Twin("the two norms swapped", _module("norms swapped"),
             "The first LayerNorm goes with attention and the second with the feed-forward part."),
        Twin("feed-forward before attention", _module("feed first"),
             "The order of the sub-layers is the other way round: attention first."),
        Twin("sub-layers side by side", _module("parallel"),
             "The feed-forward part reads the block's input. It should read the result of the attention step."),
        Twin("no activation", _module("no activation"),
             "Two linear layers with nothing between them are no more than one linear layer. ReLU belongs between them."),
        Twin("GELU instead of ReLU", _module("gelu"), "This block uses the activation of the original paper, ReLU."),
        Twin("activation after the second layer", _module("late activation"),
             "ReLU belongs between the two linear layers, not after them."),
        Twin("two activations", _module("two activations"), "No activation follows the second linear layer. "
             "With yours the branch can never make a feature smaller."),
        Twin("feed-forward part missing", _module("no feed-forward"),
             "The block ends after attention. A second step of the same form follows, around the feed-forward part."),
        Twin("attention missing", _module("no attention"),
             "The block is the feed-forward part alone. Before it comes a step of the same form, around attention."),
        Twin("mask ignored in the pre form", _module("mask ignored, pre"),
             "In the pre form the mask is accepted and then not used; the post form hands it on to attention. Both must do so."),
        Twin("mask ignored in the post form", _module("mask ignored, post"),
             "In the post form the mask is accepted and then not used; the pre form hands it on to attention. Both must do so."),
        Twin("mask inverted in the pre form", _module("mask inverted, pre"),
             "In the pre form True hides; the post form has it right. True means “may attend”, here as everywhere in the course."),
        Twin("mask inverted in the post form", _module("mask inverted, post"),
             "In the post form True hides; the pre form has it right. True means “may attend”, here as everywhere in the course."),
        Twin("mask ignored", _module("mask ignored"), "The mask is accepted and then not used: hand it on to attention."),
        Twin("mask inverted", _module("mask inverted"), "True means “may attend”, here as everywhere in the course."),
        Twin("no dropout", _module("no dropout"), "The dropout argument has no effect. It acts on what each sub-layer returns."),
        Twin("no dropout in the pre form", _module("no dropout, pre"),
             "In the pre form nothing is dropped. Dropout acts on what each sub-layer returns, in both forms."),
        Twin("no dropout in the post form", _module("no dropout, post"),
             "In the post form nothing is dropped. Dropout acts on what each sub-layer returns, in both forms."),
        Twin("dropout in evaluation too", _module("drops in evaluation"),
             "Your block still drops after it has been put into evaluation mode. PyTorch's dropout function always drops unless you tell "
             "it that the module is not in training. A dropout layer that you make inside forward always drops as well."),
        Twin("dropout after norm or addition", _module("dropout last"),
             "Dropout comes too late. It should act on what a sub-layer returns, before the addition and before any norm of the sum."),
        Twin("dropout after the post form's norm", _module("dropout last, post"),
             "In the post form dropout comes after the norm. It should act on what the sub-layer returns, before the addition."),
        Twin("dropout on the sum in the pre form", _module("dropout on the sum, pre"),
             "In the pre form your dropout acts on the sum. It should act on what the sub-layer returns, before the addition."),
        Twin("dropout on the sum in the post form", _module("dropout on the sum, post"),
             "In the post form your dropout acts on the sum. It should act on what the sub-layer returns, before the addition."),
        Twin("dropout on the hidden layer too", _module("dropout inside too"),
             "The hidden layer of the feed-forward part drops as well. Here dropout acts on what the two sub-layers return, nowhere else."),
        Twin("dropout on the branch's input too", _module("dropout on what is read"),
             "What a sub-layer reads is dropped as well as what it returns. Only what it returns should be."),
        Twin("dropout on the normed tokens too", _module("dropout on what is read, pre"),
             "In the pre form what a sub-layer reads is dropped as well as what it returns. Only what it returns should be."),
        Twin("dropout on the block's input too", _module("dropout on the input"),
             "The tokens that come in are dropped as well. Only what the two sub-layers return should be."),
        Twin("dropout on attention weights too", _module("attention drops too"),
             "Attention drops some of its weights as well. Here dropout acts on what the two sub-layers return and nowhere else."),
        Twin("dropout on the sum", _module("dropout on the sum"),
             "Your dropout acts on the sum. It should act on what the sub-layer returns, before the addition."),
        Twin("dropout after feed-forward only", _module("dropout second only"),
             "Both sub-layers are followed by dropout. You leave it out after attention."),
        *(Twin(f"attention not dropped in the {form} form", _module(f"dropout second only, {form}"),
               f"In the {form} form no dropout follows attention. Both sub-layers must be followed by dropout.")
          for form in ("pre", "post")),
        *(Twin(f"feed-forward not dropped in the {form} form", _module(f"dropout once, {form}"),
               f"In the {form} form no dropout follows the feed-forward part. Both sub-layers must be followed by dropout.")
          for form in ("pre", "post")),
        Twin("dropout of a tenth always", _module("a tenth"),
             "Your block drops a tenth even where the caller asked for no dropout. The rate is an argument; use it."),
        Twin("post form by default", _module("default post"),
             "If the caller names no placement, the norm should be inside the branch; yours comes after the addition."),
        Twin("one more norm at the end", _module("closing norm"),
             "Your block normalises once more at its end. In the pre form the closing norm belongs to the stack."),
        Twin("dropout after attention only", _module("dropout once"), "Both sub-layers are followed by dropout. You forget the second."),
        Twin("dropout inside the feed-forward part", _module("dropout inside"),
             "Here dropout acts on what a sub-layer returns, after its last layer."),
    ),
)
