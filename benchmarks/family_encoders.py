"""What chapter 12a measures on encoders: one change each to one small BERT, on three seeds.

    python benchmarks/family_encoders.py [--seeds 0 1 2] [--only PARTS]

Parts: bert, objectives, roberta, nsp, albert, electra, electra_relative, elmo, elmo_more, deberta, deberta_more, distil,
distil_control, modern.

The body: two blocks of width 64 on windows of 16 letters of the Python manual, 64 windows per step, 800 steps unless a name says otherwise.
Two judges: nats of hidden letters on held-out pages, and F1 of deleted spaces found after fine-tuning on 200 windows.
"distil" uses the committed mini-BERT and its word pieces. Writes results/family_encoders.json after every seed; what was not
run keeps what is there. "rows" holds the chapter's comparisons: baseline against changed, three seeds each.
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
from course_utils.models.bert import BertConfig, BertForPretraining
from course_utils.models.zoo import deberta as deberta_module
from course_utils.models.zoo.elmo import Elmo
from course_utils.models.zoo.masked import Deberta, MaskedModel
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


def roberta(seed):
    """A tenth of the text, read 62 times: the same letters hidden each time, ten prepared choices, or new ones."""
    found, windows = {}, TEXT.train[::10]
    for name, prepared in (("one mask for ever", 1), ("ten masks", 10), ("new masks", 0)):
        model, g = MaskedModel(body(TEXT, "bert", seed)), torch.Generator().manual_seed(seed + 1_000)
        kept = [torch.stack(hide(TEXT, windows, g), -1) for _ in range(prepared)]  # (windows, 16, 2) each
        place = torch.arange(len(windows))[:, None]

        def loss(rows, g, model=model, kept=kept):
            rows = rows[:, 0]
            if not kept:
                return masked_loss(model, *hide(TEXT, windows[rows], g))
            return masked_loss(model, *kept[int(torch.randint(len(kept), (), generator=g))][rows].unbind(-1))

        history = learn(model, loss, place, 1_200, seed)
        found[name] = {"nats": held_out_nats(TEXT, model), "training nats": sum(history[-100:]) / 100}
    return found


def nsp(seed):
    """[CLS], seven letters, [SEP], seven letters; half of the second parts come from elsewhere. With the question for it, and without."""
    found = {}
    for name, share in (("pairs, NSP asked", 1.0), ("pairs, NSP not asked", 0.0)):
        model = MaskedModel(body(TEXT, "bert", seed))
        asks, right = nn.Linear(64, 2), []

        def loss(windows, g, model=model, share=share, asks=asks, right=right):
            n = len(windows)
            other = TEXT.train[torch.randint(len(TEXT.train), (n,), generator=g), 7:14]
            follows = torch.rand(n, generator=g) < 0.5
            special = torch.tensor([[TEXT.count, TEXT.count + 1]]).expand(n, 2)
            pair = torch.cat([special[:, :1], windows[:, :7], special[:, 1:], torch.where(follows[:, None], windows[:, 7:14], other)], 1)
            inputs, labels = hide(TEXT, pair, g)
            hidden, chosen = model.body(inputs), labels != -100
            value = F.cross_entropy(model.tokens(hidden[chosen]), labels[chosen])
            logits = asks(hidden[:, 0])
            right.append((logits.argmax(-1) == follows.long()).float().mean().item())
            return value + share * F.cross_entropy(logits, follows.long())

        learn(nn.ModuleList([model, asks]), loss, TEXT.train, 800, seed)
        found[name] = judged(model, seed) | {"NSP": sum(right[-100:]) / 100}
    return found


def albert(seed):
    found = {}
    for name, kind in (("factorised", "factorised"), ("shared", "shared"), ("both", "albert")):
        model, seconds = timed(lambda kind=kind: train_masked(TEXT, kind, seed))
        found[name] = judged(model, seed, seconds)
    return found


def impostors(seed, steps, relative):
    """ELECTRA; with ``relative`` both bodies are DeBERTa's."""
    torch.manual_seed(seed)
    small = dict(vocab_size=TEXT.count + 3, max_len=N, dropout=0.0, pooler=False, init_std=0.12)
    configs = [BertConfig(d_model=64, num_heads=4, d_ff=64 * (1 + 3 * layer), num_layers=1 + layer, **small) for layer in (0, 1)]
    both = Electra(*configs)
    if relative:
        both.generator.bert, both.body = (Deberta(config, 8) for config in configs)
        both.body.embeddings.token = both.generator.bert.embeddings.token
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
    return {f"{steps} steps": impostors(seed, steps, False) for steps in (400, 800)}


def electra_relative(seed):
    return {"800 steps": impostors(seed, 800, True)}


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


def deberta_more(seed):
    """Half of the steps; and, as a control, every pair of places gets the row of some other pair: distances mean nothing."""
    found = {"400 steps": {"nats": held_out_nats(TEXT, train_masked(TEXT, "deberta", seed, 400))}}
    real, order = deberta_module.distance_index, torch.randperm(N * N, generator=torch.Generator().manual_seed(seed))
    deberta_module.distance_index = lambda n, largest: real(n, largest).flatten()[order].view(n, n)
    try:
        found["distances shuffled"] = {"nats": held_out_nats(TEXT, train_masked(TEXT, "deberta", seed))}
    finally:
        deberta_module.distance_index = real
    return found


def modern(seed):
    found = {}
    for steps in (400, 800):
        model, seconds = timed(lambda steps=steps: train_masked(TEXT, "modern", seed, steps))
        found[f"{steps} steps"] = {
            "nats": held_out_nats(TEXT, model),
            "seconds": seconds,
            "parameters": sum(p.numel() for p in model.body.parameters() if p.requires_grad),
        }
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


PARTS = {
    f.__name__: f
    for f in (
        bert,
        objectives,
        roberta,
        nsp,
        albert,
        electra,
        electra_relative,
        elmo,
        elmo_more,
        deberta,
        deberta_more,
        distil,
        distil_control,
        modern,
    )
}


def rows(parts):
    """The chapter's comparisons, one number a seed. What each paper says of them stands in course_utils/show/family_claims.json."""

    def column(part, name, key="nats"):
        return [seed[name][key] for seed in parts[part].values()]

    plain, plain_f1 = column("bert", "800 steps"), column("bert", "800 steps", "F1")
    table = {
        "BERT": (column("bert", "random weights", "F1"), plain_f1),
        "BERT, not GPT": (column("objectives", "next letters", "causal"), plain_f1),
        "prefix, not GPT": (column("objectives", "next letters", "causal"), column("objectives", "prefix", "both")),
        "ELMo": (column("elmo", "from the left", "F1"), column("elmo", "both", "F1")),
        "ELMo: mix": (column("elmo_more", "top layer", "F1"), column("elmo", "both", "F1")),
        "RoBERTa": (column("roberta", "ten masks"), column("roberta", "new masks")),
        "RoBERTa: NSP": (column("nsp", "pairs, NSP asked", "F1"), column("nsp", "pairs, NSP not asked", "F1")),
        "RoBERTa: patience": (plain, column("bert", "1600 steps")),
        "ALBERT": (plain, column("albert", "shared")),
        "ALBERT: factorised": (column("albert", "shared"), column("albert", "both")),
        "ELECTRA": (plain_f1, column("electra", "800 steps", "F1")),
        "ELECTRA: relative": (column("deberta", "deberta", "F1"), column("electra_relative", "800 steps", "F1")),
        "DistilBERT": (column("distil", "few pages: labels"), column("distil", "few pages: teacher, T=2")),
        "DistilBERT: all pages": (column("distil", "all pages: labels"), column("distil", "all pages: teacher, T=2")),
        "DeBERTa": (plain, column("deberta", "deberta")),
        "DeBERTa: late": (column("deberta", "deberta"), column("deberta", "deberta late")),
        "ModernBERT": (plain, column("modern", "800 steps")),
    }
    return {name: {"baseline": before, "changed": after} for name, (before, after) in table.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--only", nargs="*", choices=list(PARTS), default=list(PARTS), help="parts; none: compare anew what was measured")
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
    kept = {name: dict(sorted(seeds.items())) for name, seeds in json.loads(path.read_text())["parts"].items()}
    if set(kept) >= set(PARTS) and all(len(seeds) >= 3 for seeds in kept.values()):
        write("family_encoders", {"threads": 1, "parts": kept, "rows": rows(kept)})


if __name__ == "__main__":
    main()
