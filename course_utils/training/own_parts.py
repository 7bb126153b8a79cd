"""The stored models in a reader's own parts: recorded weights fill the blocks of chapter 07a, which then bend with GELU."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..models.bert import Bert
from ..models.gpt import GPT


def fill(block: Any, stored: nn.Module, approximate: str) -> None:
    """Every parameter of a stored block goes into a reader's (07a.4). RuntimeError where a name or a shape does not fit."""
    given = {name.replace("feed_forward.w_", "linear").replace("norm_", "norm"): value for name, value in stored.state_dict().items()}
    if not hasattr(block.attention, "w_qkv"):  # three matrices in place of one
        whole = {kind: given.pop(f"attention.w_qkv.{kind}").chunk(3) for kind in ("weight", "bias")}
        given |= {f"attention.w_{'qkv'[k]}.{kind}": part for kind, parts in whole.items() for k, part in enumerate(parts)}
    block.load_state_dict(given)  # below: GELU is above -0.17, so with 0.2 added a ReLU, however it was written, lets all of it pass
    block.linear1.register_forward_hook(lambda layer, read, said: F.gelu(said, approximate=approximate) + 0.2)
    block.linear2.register_forward_pre_hook(lambda layer, read: read[0] - 0.2)


class OwnGPT(nn.Module):
    """The GPT of chapter 11a: a stored one's tables and last norm around a reader's blocks (07a.4), mask (06.1) and logits (11a.2)."""

    def __init__(self, stored: Any, block: Any, mask: Any, logits: Any):
        super().__init__()
        sizes, self.mask, self.logits = stored.config.body(), mask, logits
        self.token, self.position, self.norm = stored.token, stored.position, stored.norm
        self.blocks = nn.ModuleList(block(sizes.d_model, sizes.num_heads, sizes.d_ff, "pre") for _ in stored.blocks)
        for own, other in zip(self.blocks, stored.blocks, strict=True):
            fill(own, other, "tanh")

    def forward(self, ids: Tensor) -> Tensor:
        see, (token, position) = self.mask(ids.shape[1]), (self.token.weight, self.position.weight)
        blocks = [lambda x, block=block: block(x, see) for block in self.blocks]
        return self.logits(ids, token, position, blocks, self.norm.weight, self.norm.bias)


def own_bert(stored: Any, encoder: Any) -> nn.Module:
    """A stored pre-norm BERT whose stack is a reader's (07a.5)."""
    sizes, body = stored.config, Bert(stored.config)
    own = encoder(sizes.d_model, sizes.num_heads, sizes.d_ff, sizes.num_layers)
    for block, other in zip(own.layers, stored.encoder.blocks, strict=True):
        fill(block, other, "none")
    own.norm.load_state_dict(stored.encoder.norm.state_dict())
    body.embeddings, body.encoder = stored.embeddings, own
    return body


@torch.no_grad()
def carry_on(stored: GPT | Bert, *parts: Any) -> nn.Module:
    """A stored model in a reader's ``parts``, if it then says the same as before; else as it is. One line says which."""
    ids = torch.arange(24).view(2, 12)
    try:
        own = (OwnGPT if isinstance(stored, GPT) else own_bert)(stored, *parts).eval()
        torch.testing.assert_close(own(ids), stored(ids), rtol=1e-3, atol=1e-3)
    except Exception as error:  # whatever a reader's class may do
        print(f"The course's own class holds the stored numbers: these parts do not take them ({type(error).__name__}).")
        return stored
    print(f"{sum(p.numel() for p in own.parameters()):,} stored numbers, now in these parts: the output is the same.")
    return own
