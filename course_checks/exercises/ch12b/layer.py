"""Exercise 12b.4: attention with two streams. The oracle is PyTorch's own multi-head attention, asked twice with the same weights."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from course_utils.models.multihead import head_dim, merge_heads, split_heads

from ...exercise import Case, Exercise, Twin, generator
from ..common import FORBIDDEN_MHA, functional_mha


def _stream(init: dict, parameters: dict, query: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
    """``F.multi_head_attention_forward`` (tokens first, True = hidden); rows without a key get 0."""
    full = torch.zeros(len(query), query.shape[1], memory.shape[1], dtype=torch.bool) | mask
    empty = ~full.any(-1, keepdim=True)
    hidden = ~(full | empty).repeat_interleave(init["num_heads"], dim=0)
    output = functional_mha(
        query.transpose(0, 1), memory.transpose(0, 1), memory.transpose(0, 1), query.shape[-1], init["num_heads"], None, None, None, None,
        False, 0.0, parameters["w_o.weight"], None, need_weights=False, attn_mask=hidden, use_separate_proj_weight=True,
        q_proj_weight=parameters["w_q.weight"], k_proj_weight=parameters["w_k.weight"], v_proj_weight=parameters["w_v.weight"])[0]
    return torch.where(empty, 0.0, output.transpose(0, 1))


def _oracle(init: dict, parameters: dict, inputs: dict) -> tuple[Tensor, Tensor]:
    h = inputs["h"]
    return (_stream(init, parameters, h, h, inputs["content"]), _stream(init, parameters, inputs["g"], h, inputs["query"]))


class _TwoStream(nn.Module):
    """Two-stream attention with a switch for each usual mistake."""

    def __init__(self, d_model: int, num_heads: int, how: str = "right"):
        super().__init__()
        head_dim(d_model, num_heads)
        self.num_heads, self.how = num_heads, how
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model, bias=how == "bias") for _ in range(4))

    def _attend(self, ask: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
        how, heads = self.how, self.num_heads
        if how == "inverted":
            mask = ~mask
        q, k, v = self.w_q(ask), self.w_k(keys), self.w_v(values)
        if how == "query and key swapped":
            q, k = self.w_k(ask), self.w_q(keys)
        if how == "one head":
            heads = 1
        if how == "straight":
            q, k, v = (x.reshape(x.shape[0], heads, x.shape[1], -1) for x in (q, k, v))
        elif how in ("interleaved", "interleaved twice"):
            q, k, v = (x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2) for x in (q, k, v))
        else:
            q, k, v = (split_heads(x, heads) for x in (q, k, v))
        mask = (mask if mask.dim() == 2 else mask[:, None]).expand(len(ask), heads, -1, -1)
        width = {"not scaled": 1, "d_model": ask.shape[-1]}.get(how, q.shape[-1])
        scores = q @ k.mT / math.sqrt(width)
        empty = ~mask.any(-1, keepdim=True)
        weights = scores.masked_fill(~mask, -1e9 if how == "mean" else -torch.inf)
        if how not in ("nan", "mean"):
            weights = weights.masked_fill(empty, 0.0)
        if how == "queries, finite fill":
            weights = scores.masked_fill(~mask, -1e9)
        if how == "zero fill":
            weights = scores.masked_fill(~mask, 0.0)
        if how == "masked late":
            weights = scores
        weights = weights.softmax(-2 if how in ("queries", "queries, finite fill") else -1)
        if how not in ("nan", "mean"):
            weights = weights * mask
        mixed = weights @ v
        if how == "interleaved twice":
            return self.w_o(mixed.permute(0, 2, 3, 1).flatten(2))
        output = mixed.reshape(ask.shape) if how == "merged straight" else merge_heads(mixed)
        return output if how == "no w_o" else self.w_o(output)

    def forward(self, h: Tensor, g: Tensor, content: Tensor, query: Tensor) -> tuple[Tensor, Tensor]:
        how, both = self.how, torch.cat([h, g], 1)
        match how:
            case "own keys":
                return self._attend(h, h, h, content), self._attend(g, g, g, query)
            case "own keys only":
                return self._attend(h, h, h, content), self._attend(g, g, h, query)
            case "own values":
                return self._attend(h, h, h, content), self._attend(g, h, g, query)
            case "content asks":
                return self._attend(h, h, h, content), self._attend(h, h, h, query)
            case "content reads g":
                return self._attend(h, g, g, content), self._attend(g, h, h, query)
            case "exchanged":
                return self._attend(h, g, g, content), self._attend(g, g, g, query)
            case "masks swapped":
                return self._attend(h, h, h, query), self._attend(g, h, h, content)
            case "content mask twice":
                return self._attend(h, h, h, content), self._attend(g, h, h, content)
            case "query mask twice":
                return self._attend(h, h, h, query), self._attend(g, h, h, query)
            case "no masks":
                free = torch.ones_like(content)
                return self._attend(h, h, h, free), self._attend(g, h, h, free)
            case "both memories":
                return (self._attend(h, h, h, content), self._attend(g, both, both, torch.cat([query, query], -1)))
            case "g updated last":
                new = self._attend(h, h, h, content)
                return new, self._attend(g, new, new, query)
            case "residual":
                return h + self._attend(h, h, h, content), g + self._attend(g, h, h, query)
            case "summed":
                ask = h + g
                return self._attend(h, h, h, content), self._attend(ask, h, h, query)
            case "transposed":
                return self._attend(h, h, h, content.mT), self._attend(g, h, h, query.mT)
            case "content cut":
                return self._attend(h, h, h, content), self._attend(g, h.detach(), h.detach(), query)
        return self._attend(h, h, h, content), self._attend(g, h, h, query)


def _module(how: str) -> type[nn.Module]:
    return type("TwoStreamAttention", (_TwoStream,), {
        "__init__": lambda self, d_model, num_heads: _TwoStream.__init__(self, d_model, num_heads, how)})


def _masks(orders: Tensor) -> tuple[Tensor, Tensor]:
    rank = orders.argsort(-1)
    return rank[..., None, :] <= rank[..., :, None], rank[..., None, :] < rank[..., :, None]


def _case(g: torch.Generator, label: str, part: str, shape: tuple[int, int, int], heads: int, orders: Tensor | None = None,
          masks: tuple[Tensor, Tensor] | None = None) -> Case:
    batch, n, d = shape
    if orders is None:
        orders = torch.stack([torch.randperm(n, generator=g) for _ in range(batch)])
    content, query = masks or _masks(orders)
    parameters = {f"w_{name}.weight": 0.35 * torch.randn(d, d, generator=g) for name in "qkvo"}
    inputs = {"h": torch.randn(*shape, generator=g), "g": torch.randn(*shape, generator=g), "content": content, "query": query}
    return Case(label, {"init": {"d_model": d, "num_heads": heads}, "parameters": parameters, "inputs": inputs}, part=part,
                gradients=("h", "g", *parameters), shape="(batch, n, d_model)")


def _anyone(g: torch.Generator, *shape: int) -> Tensor:
    """Random pairs; every row sees somebody but not everybody."""
    mask = torch.rand(*shape, generator=g) < 0.5
    mask[..., 1] |= ~mask.any(-1)
    mask[..., 0] &= ~mask.all(-1)
    return mask


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [_case(g, "2 sentences of 5 tokens, an order each, d_model = 12, 3 heads", "orders", (2, 5, 12), 3),
            _case(g, "3 sentences of 6 tokens, one order for all, 2 heads", "orders", (3, 6, 8), 2, torch.randperm(6, generator=g)),
            _case(g, "any two masks, 4 tokens", "any masks", (2, 4, 6), 3, masks=(_anyone(g, 2, 4, 4), _anyone(g, 2, 4, 4)))]


def _fixed() -> list[Case]:
    g = generator(6)
    bad = {"init": {"d_model": 30, "num_heads": 4}, "parameters": {}, "inputs": {
        "h": torch.ones(1, 2, 30), "g": torch.ones(1, 2, 30), "content": torch.ones(2, 2).bool(), "query": torch.ones(2, 2).bool()}}
    return [_case(g, "sentences of two tokens, the second first", "orders", (3, 2, 6), 3, torch.tensor([1, 0])),
            Case("the constructor with d_model = 30, num_heads = 4", bad, part="bad input", rejects=ValueError, mentions=("30", "4"))]


LAYER = Exercise(
    id="12b.4", title="Attention with two streams", name="TwoStreamAttention", kind="module", stars=3, minutes=25,
    signature="TwoStreamAttention(d_model, num_heads)(h, g, content, query) -> new h, new g", oracle=_oracle, reference=_module("right"),
    draw=_draw, fixed=_fixed, parts={"orders": 4, "any masks": 2, "bad input": 1}, outputs=("h", "g"),
    forbidden=(*FORBIDDEN_MHA, "course_utils.models.xlnet.TwoStreamBlock.streams",
               "course_utils.models.multihead.MultiHeadAttention.forward"),
    twins=(
        Twin("softmax along the queries", _module("queries, finite fill"),
             "Your softmax runs over the queries. The weights of each query have to sum to one over the keys."),
        Twin("features dealt out and collected", _module("interleaved twice"),
             "Each of your heads takes features at regular distances, and you put them back the same way. A head takes features that are "
             "neighbours."),
        Twin("forbidden scores set to nought", _module("zero fill"),
             "You set forbidden scores to 0 or close to it. The exponential of 0 is 1, so they still take their share of the "
             "softmax."),
        Twin("query stream reads itself", _module("own keys"),
             "Keys and values of your query stream are g, which has no content of its own: it learns nothing about the other words. Both "
             "streams read h."),
        Twin("keys from the query stream", _module("own keys only"),
             "Your query stream takes its values from h, but its keys from g. A key has to describe the word, and g does not know it."),
        Twin("values from the query stream", _module("own values"),
             "The weights are right, but they mix g. What is mixed should be the words, and these are in h."),
        Twin("content stream asks for both", _module("content asks"),
             "Your second result does not depend on g. Its queries must come from the stream that does not know the word at its own place, "
             "and h knows it."),
        Twin("content reads the query stream", _module("content reads g"),
             "The content stream is an ordinary Transformer: it reads itself. Yours reads g."),
        Twin("both read the query stream", _module("exchanged"),
             "Both of your streams read g, which carries no words. Both should read h."),
        Twin("masks swapped", _module("masks swapped"),
             "The content stream may see its own place, the query stream may not. You handed each the mask of the other."),
        Twin("content mask for both", _module("content mask twice"),
             "With its own place in the mask the query stream reads the word it has to guess."),
        Twin("query mask for both", _module("query mask twice"),
             "You give the query mask to both streams. The content stream has to attend to its own word as well."),
        Twin("masks ignored", _module("no masks"), "You do not use the masks, so every position sees all positions."),
        Twin("masks inverted", _module("inverted"), "True means “may attend”, here as everywhere in the course."),
        Twin("masks transposed", _module("transposed"), "You transpose the masks. Rows belong to queries, columns to keys."),
        Twin("reads both streams", _module("both memories"),
             "Your query stream attends to h and g together. It may attend to h only. The states in g serve only to make queries."),
        Twin("reads the new content", _module("g updated last"),
             "Your query stream reads what the content stream has just computed. Both read the h that came into the layer."),
        Twin("streams added", _module("summed"), "You make queries from g + h, so the query stream knows the word at its own place."),
        Twin("content cut off", _module("content cut"),
             "The values are right, but no gradient flows from the query stream into h. Only the query stream has a loss, so the content "
             "stream would learn nothing."),
        Twin("residual added", _module("residual"), "You add the input to the result. Return the attention alone: the "
             "block adds the input later."),
        Twin("not scaled", _module("not scaled"), "The scores are not divided by the root of the width of a head."),
        Twin("scaled by d_model", _module("d_model"), "The dot product runs over the features of one head, not of the model."),
        Twin("a single head", _module("one head"), "The features are not cut into heads: one softmax decides for all."),
        Twin("heads without transposing", _module("straight"),
             "You reshaped without transposing, so tokens and features are mixed up. First split the features, then move the heads."),
        Twin("merged without transposing", _module("merged straight"),
             "The heads are right, but laid side by side wrongly: bring the tokens back in front of the heads before you flatten."),
        Twin("features dealt out in turn", _module("interleaved"),
             "Each of your heads takes features at regular distances. A head takes features that are neighbours."),
        Twin("masked after the softmax", _module("masked late"),
             "The weights of forbidden positions are taken away after the softmax, so those left no longer add up to one."),
        Twin("query and key projections swapped", _module("query and key swapped"), "You make keys with the query projection, and queries "
             "with the key projection."),
        Twin("output projection missing", _module("no w_o"), "The heads are laid side by side and returned; the output projection mixes "
             "them."),
        Twin("softmax over the queries", _module("queries"), "The weights of each query sum to one over the keys."),
        Twin("empty row gives the mean", _module("mean"),
             "The first position of an order sees nothing, so it gets 0. You give it the mean of all forbidden values, even of its own "
             "word."),
        Twin("empty row not caught", _module("nan"),
             "The first position of an order sees nothing, and a softmax over nothing gives nan. Set its weights and its output to 0."),
    ),
)
