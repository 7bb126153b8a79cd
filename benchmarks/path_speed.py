"""What each special path for speed gains: a training step (or generation) with the readable line and with the special one.

    python benchmarks/path_speed.py [--threads 1] [--rounds 40] [--only dropout]

``course_utils.models`` keeps a special path only where one of these steps gains 5 % by it. Those that did not are written down
here, so that the question can be asked again with another PyTorch or another machine. The two variants take turns inside one
process, each beginning every other round, so that whatever else the machine does hits both; the gain is the median over the rounds
of readable / special, and beside it the ratio of the two fastest runs. Before the race both variants must compute the same
(paths without chance). Writes results/path_speed.json.
"""

import argparse
import math
import statistics
import time
from contextlib import ExitStack
from unittest.mock import patch

import torch
from report import write
from torch import nn
from torch.nn import functional as F

from course_utils.models import attention as attention_module
from course_utils.models import feedforward, multihead
from course_utils.models.attention import SelfAttention, check_widths
from course_utils.models.bert import BertConfig, BertForPretraining
from course_utils.models.encoder_decoder import Translator, TranslatorConfig
from course_utils.models.gpt import GPT, GPTConfig
from course_utils.models.masks import causal_mask, combine
from course_utils.models.multihead import KeyValueCache, split_heads
from course_utils.models.zoo.masked import Deberta, MaskedModel
from course_utils.training.sampling import generate

torch_dropout, torch_cross_entropy, plain_attention = F.dropout, F.cross_entropy, attention_module.attention


# The special variants.

def dropout_by_quarters(x, p=0.5, training=True, inplace=False):
    """Four elements share a random number of 64 bits."""
    if not training or p == 0:
        return x
    bits = torch.empty(-(-x.numel() // 4), dtype=torch.int64).random_(-(2**63), None).view(torch.int16)
    keep = bits[: x.numel()].view(x.shape) >= round(p * 65536) - 32768
    return x * keep.to(x.dtype).mul_(1 / (1 - p))


class InPlaceCrossEntropy(torch.autograd.Function):
    """One array as large as the logits becomes the probabilities and then the gradient."""

    @staticmethod
    def forward(ctx, logits, target):
        p, target = logits.log_softmax(-1), target[:, None]
        loss = -p.gather(1, target).mean()
        ctx.save_for_backward(p.exp_().scatter_add_(1, target, p.new_full((1, 1), -1.0).expand(len(p), 1)))
        return loss

    @staticmethod
    def backward(ctx, upstream):
        difference, = ctx.saved_tensors
        return difference * (upstream / len(difference)), None


def cross_entropy_in_place(logits, target, **options):
    return torch_cross_entropy(logits, target, **options) if options else InPlaceCrossEntropy.apply(logits, target)


def relu_in_place(self, x):
    """Two axes, so that the hidden layer is no view and may be changed in place."""
    tokens = x.reshape(-1, x.shape[-1])
    return self.w_2(self.dropout(torch.relu_(self.w_1(tokens)))).view(x.shape)


def attention_by_hand(query, key, value, mask=None, dropout=0.0, causal=False):
    """Where weights are dropped: PyTorch's fused kernel for the CPU knows no dropout, so its slow path would be taken."""
    if not dropout:
        return plain_attention(query, key, value, mask, dropout, causal)
    check_widths(query, key, value, mask)
    if causal and query.shape[-2] > 1:
        mask = combine(mask, causal_mask(query.shape[-2], key.shape[-2]))
    weights = attention_module.masked_softmax((query / math.sqrt(query.shape[-1])) @ key.mT, mask)
    return F.dropout(weights, dropout) @ value


def attention_added_mask(query, key, value, mask=None, dropout=0.0, causal=False):
    """The same, and a causal mask is added in place: backward has nothing to mask."""
    if not dropout or not causal or mask is not None:
        return attention_by_hand(query, key, value, mask, dropout, causal)
    check_widths(query, key, value, mask)
    scores = (query / math.sqrt(query.shape[-1])) @ key.mT
    scores += torch.full(scores.shape[-2:], -torch.inf).triu_(1)
    return F.dropout(scores.softmax(-1), dropout) @ value


def attention_causal_mask(query, key, value, mask=None, dropout=0.0, causal=False):
    """The variant *without* ``is_causal``: the mask of the past as an array."""
    if causal and query.shape[-2] > 1:
        mask = combine(mask, causal_mask(query.shape[-2], key.shape[-2]))
    return plain_attention(query, key, value, mask, dropout)


def attention_head_axis(query, key, value, mask=None, dropout=0.0, causal=False):
    """Without a head axis PyTorch's CPU does not take its fused kernel: put one in."""
    if query.dim() == 3:
        heads = mask[:, None] if mask is not None and mask.dim() == 3 else mask
        return plain_attention(query[:, None], key[:, None], value[:, None], heads, dropout, causal)[:, 0]
    return plain_attention(query, key, value, mask, dropout, causal)


def attention_looks_first(query, key, value, mask=None, dropout=0.0, causal=False):
    """Look whether there is an empty row at all before opening and emptying it."""
    if mask is not None and not causal:
        wide = mask.expand(*mask.shape[:-2], query.shape[-2], key.shape[-2])
        if wide.any(dim=-1).all():
            check_widths(query, key, value, mask)
            return F.scaled_dot_product_attention(query, key, value, attn_mask=wide, dropout_p=dropout)
    return plain_attention(query, key, value, mask, dropout, causal)


def softmax_looks_first(scores, mask=None):
    """The same in ``masked_softmax``."""
    if mask is not None:
        mask = mask.expand(*mask.shape[:-1], scores.shape[-1])
        if mask.any(dim=-1).all():
            return torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)
    return plain_softmax(scores, mask)


plain_softmax = attention_module.masked_softmax
