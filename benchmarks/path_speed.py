"""What each special path for speed gains: a training step (or generation) with the readable line and with the special one.

    python benchmarks/path_speed.py [--threads 1] [--rounds 40] [--only dropout]

``course_utils.models`` keeps a special path only where one of these gains 5 % by it. Those that did not are written down here, so
that the question can be asked again with another PyTorch or another machine. The two variants take turns inside one process, each
beginning every other round, and processor time is counted, so that other programs hardly matter. The gain is the median over the
rounds of readable / special; beside it stands the ratio of the two fastest rounds. Before a race both variants must compute the
same, unless chance is in it. Writes results/path_speed.json.
"""

import argparse
import math
import statistics
import time
from contextlib import ExitStack
from unittest.mock import patch

import torch
from report import write
from torch.nn import functional as F

from course_utils.models import attention as attention_module
from course_utils.models import bert as bert_module
from course_utils.models import dropout as dropout_module
from course_utils.models import encoder_decoder, feedforward, multihead
from course_utils.models import gpt as gpt_module
from course_utils.models.attention import SelfAttention, check_widths
from course_utils.models.bert import BertConfig, BertForPretraining
from course_utils.models.dropout import dropout as drop
from course_utils.models.encoder_decoder import Translator, TranslatorConfig
from course_utils.models.gpt import GPT, GPTConfig
from course_utils.models.masks import causal_mask, combine
from course_utils.models.multihead import KeyValueCache, split_heads
from course_utils.models.zoo import deberta
from course_utils.models.zoo.masked import Deberta, MaskedModel
from course_utils.training.sampling import generate

torch_cross_entropy, plain_attention = F.cross_entropy, attention_module.attention


# The special variants.


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
        (difference,) = ctx.saved_tensors
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
    return drop(weights, dropout) @ value


def attention_added_mask(query, key, value, mask=None, dropout=0.0, causal=False):
    """The same, and a causal mask is added in place: backward has nothing to mask."""
    if not dropout or not causal or mask is not None:
        return attention_by_hand(query, key, value, mask, dropout, causal)
    check_widths(query, key, value, mask)
    scores = (query / math.sqrt(query.shape[-1])) @ key.mT
    scores += torch.full(scores.shape[-2:], -torch.inf).triu_(1)
    return drop(scores.softmax(-1), dropout) @ value


def attention_causal_mask(query, key, value, mask=None, dropout=0.0, causal=False):
    """The variant *without* ``is_causal``: the mask of the past as an array."""
    if causal and query.shape[-2] > 1:
        mask = combine(mask, causal_mask(query.shape[-2], key.shape[-2]))
    return plain_attention(query, key, value, mask, dropout)


def attention_without_axis(query, key, value, mask=None, dropout=0.0, causal=False):
    """The readable line for one head."""
    check_widths(query, key, value, mask)
    return F.scaled_dot_product_attention(query, key, value, mask, dropout, causal)


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


def keys_and_values_together(self, query, key=None, value=None):
    """Cross-attention makes keys and values of its memory by one product."""
    if key is None or value is not None:
        return plain_project(self, query, key, value)
    d, bias = self.d_model, self.w_qkv.bias
    k, v = F.linear(key, self.w_qkv.weight[d:], None if bias is None else bias[d:]).chunk(2, -1)
    return self.project_query(query), split_heads(k, self.num_heads), split_heads(v, self.num_heads)


class DoublingCache(KeyValueCache):
    """Memory that is twice as large whenever it is full: the old tokens are rarely copied."""

    room = None

    def append(self, keys, values):
        if self.keys is not None:
            old, n = len(self), len(self) + keys.shape[-2]
            if self.room is None or self.room[0].shape[-2] < n:
                self.room = [t.new_empty(*t.shape[:-2], 2 * n, t.shape[-1]) for t in (self.keys, self.values)]
                self.room[0][..., :old, :], self.room[1][..., :old, :] = self.keys, self.values
            for room, new in zip(self.room, (keys, values), strict=True):
                room[..., old:n, :] = new
            keys, values = (room[..., :n, :] for room in self.room)
        self.keys, self.values = keys, values
        return keys, values


# What they are measured on: functions that make one training step, or write tokens.


def step(model, loss):
    """Forward, loss, backward, fused AdamW."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)

    def function():
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        return value.detach()

    return function


def gpt(layers, d_model, heads, context, batch, vocab, dropout):
    model = GPT(GPTConfig(vocab_size=vocab, d_model=d_model, num_heads=heads, num_layers=layers, max_len=context, dropout=dropout))
    ids = torch.randint(vocab, (batch, context + 1))
    return step(model, lambda: model.loss(ids))


def translator(layers, d_model, heads, source, target, batch, dropout):
    model = Translator(
        TranslatorConfig(
            d_model=d_model,
            num_heads=heads,
            d_ff=4 * d_model,
            num_layers=layers,
            dropout=dropout,
            norm_place="pre",
            source_vocab=64,
            target_vocab=64,
            max_len=64,
        )
    )
    reads, writes = torch.randint(3, 64, (batch, source)), torch.randint(3, 64, (batch, target + 1))
    reads[::2, -(source // 4) :] = 0
    return step(model, lambda: F.cross_entropy(model(reads, writes[:, :-1]).flatten(0, 1), writes[:, 1:].flatten()))


def bert(dropout, body=None):
    config = BertConfig(vocab_size=500, d_model=128, num_heads=4, d_ff=512, num_layers=2, max_len=64, dropout=dropout)
    model = BertForPretraining(config) if body is None else MaskedModel(body(config))
    ids, mask = torch.randint(500, (32, 32)), torch.arange(32) < torch.randint(20, 33, (32, 1))
    bare = (lambda: model(ids, None, mask)[0]) if body is None else (lambda: model(ids, mask))
    return step(model, lambda: F.cross_entropy(bare()[mask], ids[mask]))


def single_head(batch, tokens, width):
    layer, x = SelfAttention(width), torch.randn(batch, tokens, width)
    return step(layer, lambda: layer(x).square().mean())


def writing(tokens, batch):
    model = GPT(GPTConfig(vocab_size=1024, d_model=128, num_heads=4, num_layers=2, max_len=tokens + 8, dropout=0.0)).eval()
    prompt = torch.randint(1024, (batch, 8))
    return lambda: generate(model, prompt, tokens, temperature=0)


plain_softmax, plain_project = attention_module.masked_softmax, multihead.MultiHeadAttention.project
SMALL, WIDE = (2, 128, 4, 64, 16, 1024), (4, 256, 8, 128, 8, 4096)
TRANSLATOR, WIDE_TRANSLATOR = (2, 128, 4, 9, 12, 128), (4, 256, 8, 32, 32, 16)
GPTS = {"GPT 2×128": lambda: gpt(*SMALL, 0.0), "GPT 4×256": lambda: gpt(*WIDE, 0.0)}
DROPPING = {
    "GPT 2×128, dropout .1": lambda: gpt(*SMALL, 0.1),
    "GPT 4×256, dropout .1": lambda: gpt(*WIDE, 0.1),
    "translator 2×128, dropout .1": lambda: translator(*TRANSLATOR, 0.1),
    "translator 4×256, dropout .1": lambda: translator(*WIDE_TRANSLATOR, 0.1),
    "BERT 2×128, dropout .1": lambda: bert(0.1),
}
TRANSLATORS = {"translator 2×128": lambda: translator(*TRANSLATOR, 0.0), "translator 4×256": lambda: translator(*WIDE_TRANSLATOR, 0.0)}
MASKED = TRANSLATORS | {"BERT 2×128": lambda: bert(0.0)}
WRITING = {"64 tokens": lambda: writing(64, 1), "200 tokens": lambda: writing(200, 1), "200 tokens, batch 8": lambda: writing(200, 8)}
HEADLESS = {"one head, 32×32×64": lambda: single_head(32, 32, 64), "one head, 64×12×32": lambda: single_head(64, 12, 32)}

PATHS = {  # name: what is put in place of what, measured on what, whether chance is in it, whether the package has the special variant
    "dropout by quarters": (
        [(module, "dropout", F.dropout) for module in (dropout_module, gpt_module, bert_module, encoder_decoder)],
        DROPPING,
        True,
        True,
    ),
    "attention dropout by hand": ([(multihead, "attention", attention_by_hand)], DROPPING, True, False),
    "causal mask added in place by hand": ([(multihead, "attention", attention_added_mask)], DROPPING, True, False),
    "without is_causal": ([(multihead, "attention", attention_causal_mask)], GPTS, False, False),
    "cross-entropy in place": ([(F, "cross_entropy", cross_entropy_in_place)], GPTS, False, False),
    "relu in place": ([(feedforward.FeedForward, "forward", relu_in_place)], TRANSLATORS, False, False),
    "keys and values together": ([(multihead.MultiHeadAttention, "project", keys_and_values_together)], TRANSLATORS, False, False),
    "attention looks for empty rows": ([(multihead, "attention", attention_looks_first)], MASKED, False, False),
    "softmax looks for empty rows": (
        [(deberta, "masked_softmax", softmax_looks_first)],
        {"DeBERTa 2×128": lambda: bert(0.0, Deberta)},
        False,
        False,
    ),
    "a head axis for one head": ([(attention_module, "attention", attention_without_axis)], HEADLESS, False, True),
    "doubling cache": ([(gpt_module, "KeyValueCache", DoublingCache)], WRITING, False, False),
}


def timed(function, seconds):
    """Processor seconds of one call, from as many calls as fill ``seconds``."""
    calls = 0
    start = time.process_time()
    while calls == 0 or time.process_time() - start < seconds:
        function()
        calls += 1
    return (time.process_time() - start) / calls


def race(function, patches, rounds, seconds):
    """Seconds of every round, as the package is and with the patches."""

    def patched():
        with ExitStack() as stack:
            for place, name, variant in patches:
                stack.enter_context(patch.object(place, name, variant))
            return timed(function, seconds)

    times = []
    for turn in range(rounds + 1):
        if turn % 2:
            plain = timed(function, seconds)
            times.append((plain, patched()))
        else:
            other = patched()
            times.append((timed(function, seconds), other))
    return times[1:]  # the first round warms up


def same(build, patches):
    """Both variants give the same first loss (or the same tokens)."""
    results = []
    for chosen in ([], patches):
        torch.manual_seed(0)
        with ExitStack() as stack:
            for place, name, variant in chosen:
                stack.enter_context(patch.object(place, name, variant))
            results.append(build()())
    torch.testing.assert_close(*results, rtol=1e-5, atol=1e-5)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=0.15, help="least time of a round for each variant")
    parser.add_argument("--only", default="", help="paths whose name contains this")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    rows = []
    for name, (patches, workloads, chance, kept) in PATHS.items():
        if options.only not in name:
            continue
        for work, build in workloads.items():
            if not chance:
                same(build, patches)
            torch.manual_seed(0)
            times = race(build(), patches, options.rounds, options.seconds)
            if kept:  # the package has the special variant, so the patch put the readable one in
                times = [(readable, special) for special, readable in times]
            plain, special = zip(*times, strict=True)
            gain = statistics.median(a / b for a, b in times)
            row = {
                "path": name,
                "in_the_package": kept,
                "work": work,
                "readable_s": statistics.median(plain),
                "special_s": statistics.median(special),
                "gain": gain,
                "gain_of_fastest": min(plain) / min(special),
            }
            rows.append(row)
            print(
                f"{name:48s} {work:30s} readable {1e3 * row['readable_s']:7.2f} ms, special {1e3 * row['special_s']:7.2f} ms, "
                f"gain {gain:.3f}, of the fastest {row['gain_of_fastest']:.3f}",
                flush=True,
            )
    write(
        "path_speed",
        {
            "rounds": options.rounds,
            "seconds_of_a_round": options.seconds,
            "threads": torch.get_num_threads(),
            "clock": "processor time",
            "paths": rows,
        },
    )


if __name__ == "__main__":
    main()
