"""What chapter 12a measures on encoders: one change each to one small BERT, on three seeds.

    python benchmarks/family_encoders.py [--seeds 0 1 2] [--only PARTS]

Parts: bert, objectives, electra, elmo, elmo_more, deberta, distil, distil_control; and short, what the chapter's own cells train,
400 steps each.

The body: two blocks of width 64 on windows of 16 letters of the Python manual, 64 windows per step, 800 steps unless a name says otherwise.
Two judges: nats of hidden letters on held-out pages, and F1 of deleted spaces found after fine-tuning on 200 windows.
"distil" uses the committed mini-BERT and its word pieces. Writes results/family_encoders.json after every seed; what was not
run keeps what is there.
"""

import argparse
import copy
import json
import os
import time

import torch
from family_letters import Electra, ScalarMix, train_next
from report import HERE, write
from torch import nn
from torch.nn import functional as F

from course_utils.experiments.ch12a_distil import cut, hidden_score, teach
from course_utils.experiments.ch12a_relatives import N, Reads, body, held_out_nats, hide, learn, masked_loss, read, train_masked
from course_utils.experiments.ch12a_spaces import space_score as judge
from course_utils.models.bert import BertConfig, BertForPretraining, initialise
from course_utils.models.masks import sliding_window_mask
from course_utils.models.multihead import merge_heads, split_heads
from course_utils.models.positions import rope
from course_utils.models.zoo.elmo import Elmo
from course_utils.models.zoo.masked import MaskedModel
from course_utils.models.zoo.modern import ModernBlock
from course_utils.training.mini_bert import load_mini_bert, read_corpus

TEXT = read()


def space_score(features, trained, width, **options):
    return judge(TEXT, features, trained, width, **options)


def judged(model, seed, seconds=None):
    """Both judges, and the size without the head."""
    found = {
        "nats": held_out_nats(TEXT, model),
        "F1": space_score(model.body, model.body, 64, seed=seed),
        "parameters": sum(p.numel() for p in model.body.parameters() if p.requires_grad),
    }
    return found | ({} if seconds is None else {"seconds": seconds})


def timed(work):
    started = time.process_time()
    result = work()
    return result, time.process_time() - started


def bert(seed):
    scratch = body(TEXT, "bert", seed)
    found = {"random weights": {"F1": space_score(scratch, scratch, 64, seed=seed)}}
    for steps in (800, 1_600):
        model, seconds = timed(lambda steps=steps: train_masked(TEXT, "bert", seed, steps))
        found[f"{steps} steps"] = judged(model, seed, seconds)
    return found


def objectives(seed):
    """One body and three beginnings, each fine-tuned from the left and with both sides read."""
    whole = torch.ones(N, N, dtype=torch.bool)
    makers = {
        "random weights": lambda: MaskedModel(body(TEXT, "bert", seed)),
        "next letters": lambda: train_next(TEXT, seed),
        "prefix": lambda: train_next(TEXT, seed, prefix=True),
    }
    found = {}
    for name, make in makers.items():
        model, seconds = timed(make)
        state = copy.deepcopy(model.body.state_dict())
        found[name] = {"seconds": seconds}
        for way, seen in (("causal", whole.tril()), ("both", whole)):
            model.body.load_state_dict(state)
            found[name][way] = space_score(Reads(model.body, seen), model.body, 64, seed=seed)
    return found


def impostors(seed, steps):
    """ELECTRA with one table of letters for both networks."""
    torch.manual_seed(seed)
    small = dict(vocab_size=TEXT.count + 3, max_len=N, dropout=0.0, pooler=False, init_std=0.12)
    configs = [BertConfig(d_model=64, num_heads=4, d_ff=64 * (1 + 3 * layer), num_layers=1 + layer, **small) for layer in (0, 1)]
    both = Electra(*configs)
    replaced = []

    def loss(windows, g):
        chosen = torch.rand(windows.shape, generator=g) < 0.15
        spoiled, generator = both.spoil(windows, chosen, None, TEXT.mask_id)
        wrong = spoiled != windows
        replaced.append(wrong.sum().item() / chosen.sum().item())
        return generator + 50 * F.binary_cross_entropy_with_logits(both(spoiled), wrong.float())

    history, seconds = timed(lambda: learn(both, loss, TEXT.train, steps, seed))
    return {
        "F1": space_score(both.body, both.body, 64, seed=seed),
        "seconds": seconds,
        "replaced of chosen": sum(replaced[-100:]) / 100,
        "loss": sum(history[-100:]) / 100,
    }


def electra(seed):
    return {f"{steps} steps": impostors(seed, steps) for steps in (400, 800)}


def frozen(seed, count, layers, width):
    """F1 of a task that learns a mix of frozen layers and its own linear layer."""
    mix = ScalarMix(count)
    score = space_score(lambda ids: mix(layers(ids)), mix, width, seed=seed, lr=2e-2)
    return {"F1": score, "weights": mix.scores.softmax(0).tolist()}


def trained_elmo(seed):
    torch.manual_seed(seed)
    model = Elmo(TEXT.count + 3, 32)
    history, seconds = timed(lambda: learn(model, lambda windows, g: model.loss(windows), TEXT.train, 800, seed))
    return model.requires_grad_(False), sum(history[-100:]) / 100, seconds


def elmo_more(seed):
    """ELMo's top layer instead of the mix; and BERT's frozen layers after twice as many steps."""
    model = trained_elmo(seed)[0]
    plain = train_masked(TEXT, "bert", seed, 1_600).requires_grad_(False)
    return {
        "top layer": frozen(seed, 1, lambda ids: model.layers(ids)[-1:], 64),
        "BERT, frozen, 1600 steps": frozen(seed, 3, lambda ids: plain.body.look(ids)[0], 64),
    }


def elmo(seed):
    model, loss, seconds = trained_elmo(seed)
    found = {"loss": loss, "seconds": seconds, "parameters": sum(p.numel() for p in model.parameters())}

    found["token table"] = frozen(seed, 1, lambda ids: model.layers(ids)[:1], 64)
    found["from the left"] = frozen(seed, 3, lambda ids: model.directions(ids)[0], 32)
    found["from the right"] = frozen(seed, 3, lambda ids: model.directions(ids)[1], 32)
    found["both"] = frozen(seed, 3, model.layers, 64)
    plain = train_masked(TEXT, "bert", seed).requires_grad_(False)
    found["BERT, frozen"] = frozen(seed, 3, lambda ids: plain.body.look(ids)[0], 64)
    return found


def deberta(seed):
    found = {}
    for name in ("deberta", "deberta late"):
        model, seconds = timed(lambda name=name: train_masked(TEXT, name, seed))
        found[name] = judged(model, seed, seconds)
    return found


def replaced(kind, seed, steps):
    """F1 of a body that learned to find replaced letters; the generator is one block of the same kind, trained beside it."""
    small, scratch = MaskedModel(body(TEXT, kind, seed + 10, layers=1)), body(TEXT, kind, seed)
    says = nn.Linear(64, 1)

    def loss(windows, g):
        chosen = torch.rand(windows.shape, generator=g) < 0.15
        logits = small(windows.masked_fill(chosen, TEXT.mask_id))[chosen]
        drawn = torch.multinomial(logits.detach().softmax(-1), 1, generator=g)[:, 0]
        spoiled = windows.masked_scatter(chosen, drawn)
        found = F.binary_cross_entropy_with_logits(says(scratch(spoiled))[..., 0], (spoiled != windows).float())
        return F.cross_entropy(logits, windows[chosen]) + 50 * found

    learn(nn.ModuleList([small, scratch, says]), loss, TEXT.train, steps, seed)
    return {"F1": space_score(scratch, scratch, 64, seed=seed)}


class Without(ModernBlock):
    """ModernBERT's block without one of its parts: "gate", "norm first" or "rotation"."""

    def __init__(self, part, reach, base):
        super().__init__(64, 4, 176, reach, base)
        self.part = part
        if part == "gate":
            self.feed_forward = nn.Sequential(nn.Linear(64, 264, bias=False), nn.GELU(), nn.Linear(264, 64, bias=False))

    def forward(self, x, mask=None):
        first = self.part == "norm first"
        read = x if first else self.norm_1(x)
        q, k, v = (split_heads(part, self.num_heads) for part in self.w_qkv(read).chunk(3, -1))
        if self.part != "rotation":
            q, k = rope(q, base=self.base, halves=True), rope(k, base=self.base, halves=True)
        seen = torch.ones(N, N, dtype=torch.bool) if self.reach is None else sliding_window_mask(N, self.reach + 1, causal=False)
        x = x + self.w_o(merge_heads(F.scaled_dot_product_attention(q, k, v, attn_mask=seen)))
        if first:
            x = self.norm_1(x)
            return self.norm_2(x + self.feed_forward(x))
        return x + self.feed_forward(self.norm_2(x))


def without(part, seed, steps):
    """ModernBERT without one part; without rotations it learns a table of places, as BERT does."""
    scratch = body(TEXT, "modern", seed)
    reach = None if part == "window" else 4
    scratch.encoder.blocks = nn.ModuleList([Without(part, None, 160_000.0), Without(part, reach, 10_000.0)])
    initialise(scratch.encoder, 0.12)
    if part == "norm first":
        scratch.encoder.norm = nn.Identity()
    elif part != "gate":
        scratch.encoder.blocks[0].norm_1 = nn.Identity()
    if part == "rotation":
        scratch.embeddings.position.weight = nn.Parameter(0.12 * torch.randn(N, 64))
    model = MaskedModel(scratch)
    learn(model, lambda windows, g: masked_loss(model, *hide(TEXT, windows, g)), TEXT.train, steps, seed)
    return {"nats": held_out_nats(TEXT, model)}


def prepared(seed, steps):
    """BERT whose hidden letters were chosen once, before the training."""
    model, where = MaskedModel(body(TEXT, "bert", seed)), torch.arange(len(TEXT.train))[:, None]
    kept = hide(TEXT, TEXT.train, torch.Generator().manual_seed(seed + 1_000))
    learn(model, lambda rows, g: masked_loss(model, *(part[rows[:, 0]] for part in kept)), where, steps, seed)
    return judged(model, seed)


def short(seed):
    """What the chapter's cells train themselves, 400 steps each, and what it compares them with."""
    found = {"masks prepared": prepared(seed, 400)}
    for name, kind in (("BERT", "bert"), ("ALBERT", "shared"), ("DeBERTa", "deberta"), ("ModernBERT", "modern")):
        found[name] = judged(train_masked(TEXT, kind, seed, 400), seed)
    found["BERT, 800"] = judged(train_masked(TEXT, "bert", seed, 800), seed)
    for name, kind in (("ALBERT, 800", "shared"), ("ModernBERT, 800", "modern")):
        found[name] = {"nats": held_out_nats(TEXT, train_masked(TEXT, kind, seed, 800))}
    far = body(TEXT, "deberta", seed)
    found["DeBERTa, random weights"] = {"F1": space_score(far, far, 64, seed=seed)}
    found["ELECTRA"], found["ELECTRA on DeBERTa's body"] = (replaced(kind, seed, 400) for kind in ("bert", "deberta"))
    for part in ("gate", "norm first", "rotation", "window"):
        found[f"ModernBERT without {part}"] = without(part, seed, 400)
    return found


def distil_control(seed):
    """A teacher that has learned nothing: the mini-BERT with fresh weights."""
    teacher, tokenizer = load_mini_bert()
    corpus = read_corpus(tokenizer=tokenizer)
    few = corpus._replace(training=corpus.training[::8])
    student = cut(teacher, [0])
    torch.manual_seed(seed)
    teach(student, BertForPretraining(teacher.bert.config).eval(), few, 200, 1.0, 2.0, seed=seed)
    return {"few pages: untrained teacher": dict(zip(("nats", "right"), hidden_score(student, corpus), strict=True))}


def distil(seed):
    """One block of the mini-BERT's two as student: taught by labels alone or by the teacher, on few pages and on all."""
    teacher, tokenizer = load_mini_bert()
    corpus = read_corpus(tokenizer=tokenizer)
    few = corpus._replace(training=corpus.training[::8])

    def result(model):
        return dict(zip(("nats", "right"), hidden_score(model, corpus), strict=True))

    found = {"teacher": result(teacher), "cut, not taught": result(cut(teacher, [0]))}
    for name, pages, share, temperature in (
        ("few pages: labels", few, 0.0, 1.0),
        ("few pages: teacher, T=1", few, 1.0, 1.0),
        ("few pages: teacher, T=2", few, 1.0, 2.0),
        ("few pages: teacher, T=4", few, 1.0, 4.0),
        ("all pages: labels", corpus, 0.0, 1.0),
        ("all pages: teacher, T=2", corpus, 1.0, 2.0),
    ):
        student = cut(teacher, [0])
        teach(student, teacher, pages, 200, share, temperature, seed=seed)
        found[name] = result(student)
    return found


PARTS = {f.__name__: f for f in (bert, objectives, electra, elmo, elmo_more, deberta, distil, distil_control, short)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--only", nargs="*", choices=list(PARTS), default=list(PARTS), help="parts")
    options = parser.parse_args()
    os.environ["COURSE_BUILD"] = "1"  # no progress bars
    torch.set_num_threads(1)
    path = HERE / "results" / "family_encoders.json"
    for part in options.only:
        for seed in options.seeds:
            found = PARTS[part](seed)
            kept = json.loads(path.read_text())["parts"] if path.exists() else {}  # read late: another seed may have been written
            kept.setdefault(part, {})[str(seed)] = found
            print(part, seed, json.dumps(found), flush=True)
            write("family_encoders", {"threads": 1, "parts": kept})


if __name__ == "__main__":
    main()
