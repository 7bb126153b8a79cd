"""What chapter 11a's small GPT gains and loses by each part of its recipe, and what counting models make of the same text.

    python benchmarks/gpt_training.py [--threads 1] [--seeds 0 1 2] [--only rows levers overfitting amounts pairs counting]

"rows": the smaller model of section 4, its loss taken over all 32 rows of each window or over the last one. "levers": the model of section
5 with one part of its recipe changed at a time, and what a mixture with Kneser–Ney counting gives. "overfitting": held-out loss every 100
steps, with and without dropout, for two optimizers. "amounts": both on 25,000 to 997,000 characters of text, the manual first. "pairs": a
fine-tuned head and the likelihood of the stored model, asked which of two sentences is the original. "counting": opponents that need no
seed. Writes results/gpt_training.json after every run; what was not run keeps what is there.
"""

import argparse
import json
import lzma
import math
import os
import random

import torch
from context_mixing import ContextMixer
from gpt_heads import TaskHead
from muon import muon_and_adamw
from report import HERE, write
from torch import nn
from torch.nn import functional as F

from course_utils.experiments.ch11a_counting import KneserNey
from course_utils.models.decoder import Decoder, DecoderConfig
from course_utils.models.gpt import GPT, GPTConfig
from course_utils.text import prose
from course_utils.text.bpe import ByteBPE
from course_utils.training.loop import fit
from course_utils.training.mini_gpt import as_stream, load_mini_gpt, nats, read_corpus, window_loss
from course_utils.training.schedules import warmup_cosine

corpus = read_corpus()
tokenizer = ByteBPE.train(corpus.training, 1_024)
stream, held = as_stream(tokenizer, corpus.training), as_stream(tokenizer, corpus.held_out)
characters = sum(len(page) + 1 for page in corpus.held_out)
SIZES = dict(vocab_size=1_024, d_model=128, num_heads=4, num_layers=2, max_len=64)


@torch.no_grad()
def held_out_probabilities(model: GPT, ids: torch.Tensor) -> torch.Tensor:
    """p of every token but the first under a GPT, each scored once, in windows that advance by a quarter: (tokens - 1,)."""
    size, parts, done = model.config.max_len, [], 0
    while done < len(ids) - 1:
        start = max(0, min(done + size // 4, len(ids) - 1) - size) if done else 0
        window = ids[start : start + size + 1]
        log_p = model(window[None, :-1])[0].log_softmax(-1).gather(-1, window[1:, None])[:, 0]
        parts.append(log_p[done - start :].double().exp())
        done = start + len(log_p)
    return torch.cat(parts)


LEVERS = {
    "as in the chapter": {},
    "no weight decay": {"decay": 0.0},
    "no clipping": {"clip": None},
    "no cosine": {"cosine": False},
    "dropout .1": {"dropout": 0.1},
    "token vectors start at .1": {"start": 0.1},
    "rotary positions": {"rotary": True},
    "Muon": {"muon": True},
    "Muon, rotary positions": {"muon": True, "rotary": True},
    "rotary, dropout .2, 1,000 steps": {"rotary": True, "dropout": 0.2, "steps": 1_000},
    "the same with Muon": {"muon": True, "rotary": True, "dropout": 0.2, "steps": 1_000},
}


def recorded(part, seed):
    """What an earlier run has written of this part."""
    path = HERE / "results" / "gpt_training.json"
    return json.loads(path.read_text())["parts"].get(part, {}).get(str(seed), {}) if path.exists() else {}


def bits(p):
    return -p.log2().sum().item() / characters


def best_share(p, q, rounds=30):
    """The share w for which w p + (1 - w) q makes a text most probable, by EM. p, q: (tokens,), what each model gave the tokens."""
    share = 0.5
    for _ in range(rounds):
        share = (share * p / (share * p + (1 - share) * q)).mean().item()
    return share


def mixed(p, q):
    """Bits per character of a mixture whose one share comes from the other half of the text."""
    half = len(p) // 2
    parts = []
    for mine, other in ((slice(0, half), slice(half, None)), (slice(half, None), slice(0, half))):
        share = best_share(p[other], q[other])
        parts.append(share * p[mine] + (1 - share) * q[mine])
    return bits(torch.cat(parts))


def trained(seed, steps=650, text=stream, dropout=0.0, decay=0.1, clip=1.0, cosine=True, start=0.02, rotary=False, muon=False, **options):
    torch.manual_seed(seed)
    model = (
        Decoder(DecoderConfig(**SIZES, dropout=dropout, rotary=True, rope_base=1_000.0))
        if rotary
        else GPT(GPTConfig(**SIZES, dropout=dropout))
    )
    if start != 0.02:
        nn.init.normal_(model.token.weight, std=start)
    rate = 0.015 if muon else 3e-3
    optimizer = (
        muon_and_adamw(model, rate, 5e-3, decay)
        if muon
        else torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.95), weight_decay=decay, fused=True)
    )
    whole = warmup_cosine(steps, 195 if steps >= 650 else steps // 3, floor=0.02)
    history = fit(
        model,
        window_loss(model, text, 16, torch.Generator().manual_seed(seed)),
        steps,
        rate,
        optimizer=optimizer,
        clip=clip,
        schedule=whole if cosine else lambda step: min(step / 195, 1),
        **({"validate": lambda: options["look"](model)} if options else {}),
    )
    return model.eval(), history


def rows(seed):
    """Held-out nats per token, with the loss over all rows and over the last one."""
    found = {}
    for count in (32, 1):
        torch.manual_seed(seed)
        model = GPT(GPTConfig(vocab_size=1_024, d_model=64, num_heads=4, num_layers=1, max_len=32, dropout=0.0))
        g = torch.Generator().manual_seed(seed)

        def loss(model=model, g=g, count=count):
            ids = stream[torch.randint(len(stream) - 33, (16, 1), generator=g) + torch.arange(33)]
            logits = model(ids[:, :-1])
            return F.cross_entropy(logits[:, -count:].flatten(0, 1), ids[:, -count:].flatten())

        fit(model, loss, 150, 5e-3, schedule=warmup_cosine(150, 40))
        found[str(count)] = nats(model, held) / (len(held) - 1)
    return found


def levers(seed):
    counted = KneserNey(stream, 5, 1_024).probabilities(torch.cat([stream[-5:], held]), given=5)[1:]
    found = recorded("levers", seed)
    for name, change in LEVERS.items():
        if name in found:
            continue
        p = held_out_probabilities(trained(seed, **change)[0], held)
        found[name] = {"bits": bits(p), "mixed": mixed(p, counted)}
        print(seed, name, found[name], flush=True)
    return found


def overfitting(seed):
    """Held-out bits per character every 100 steps, all with rotary positions; at the end the nats a token of training text as well."""
    found, known = {}, stream[: len(held)]
    for name, change in (
        ("AdamW", {}),
        ("AdamW, dropout .2", {"dropout": 0.2}),
        ("Muon", {"muon": True}),
        ("Muon, dropout .2", {"muon": True, "dropout": 0.2}),
    ):
        model, history = trained(seed, 1_300, rotary=True, look=lambda m: nats(m, held, stride=64) / math.log(2) / characters, **change)
        found[name] = {
            "curve": history.validation,
            "training": nats(model, known) / (len(known) - 1),
            "held out": nats(model, held) / (len(held) - 1),
        }
        print(seed, name, found[name], flush=True)
    return found


def amounts(seed):
    """Bits per character against the amount of text: the GPT, tokens counted, both, and characters counted."""
    with_docs = read_corpus(docstrings=True)
    whole = "".join(page + "\0" for page in with_docs.training)
    ends = "".join(page + "\0" for page in corpus.held_out)
    letters = {c: i for i, c in enumerate(sorted(set(whole + ends)))}
    as_ids = lambda text: torch.tensor([letters[c] for c in text])  # noqa: E731
    found = {}
    for size, steps in ((25_000, 110), (50_000, 220), (100_000, 400), (198_572, 650), (len(whole), 2_600)):
        text = whole[:size]  # the manual is first
        ids = as_stream(tokenizer, text.rstrip("\0").split("\0"))
        counted = KneserNey(ids, 5, 1_024).probabilities(torch.cat([ids[-5:], held]), given=5)[1:]
        by_letter = KneserNey(as_ids(text), 16, len(letters)).probabilities(torch.cat([as_ids(text)[-16:], as_ids(ends)]), given=16)
        p = held_out_probabilities(trained(seed, steps, text=ids)[0], held)
        found[str(size)] = {"GPT": bits(p), "tokens counted": bits(counted), "both": mixed(p, counted), "letters counted": bits(by_letter)}
        print(seed, size, found[str(size)], flush=True)
    return found


def pairs(seed):
    """The same 1,000 pairs for a head with 2,000 labelled pairs and for the likelihood without a label."""
    mini, cut = load_mini_gpt()
    pick, found = random.Random(seed), []
    for page in read_corpus(docstrings=True).held_out:
        for line in page.split("\n"):
            found += [words for words in map(str.split, prose.sentences(line)) if 7 <= len(words) <= 20]
    pick.shuffle(found)
    border = len(found) * 3 // 4

    def pair(words):
        at = pick.choice([i for i in range(1, len(words) - 2) if words[i] != words[i + 1]])
        other = [*words[:at], words[at + 1], words[at], *words[at + 2 :]]
        return [cut.encode(" ".join(text)) for text in (words, other)]

    train, test = ([pair(pick.choice(part)) for _ in range(count)] for part, count in ((found[:border], 2_000), (found[border:], 1_000)))
    torch.manual_seed(seed)
    head = TaskHead(mini, outputs=1)

    def loss():
        good, bad = zip(*pick.sample(train, 16), strict=True)
        return F.softplus(head.classify(bad) - head.classify(good)).mean()

    optimizer = torch.optim.AdamW(head.parameters(), lr=5e-4, weight_decay=0.01)
    history = fit(head, loss, 200, 5e-4, clip=1.0, optimizer=optimizer, schedule=warmup_cosine(200, 20))
    good, bad = zip(*test, strict=True)
    head.eval()

    def cost(texts):
        ids = nn.utils.rnn.pad_sequence([torch.tensor(text) for text in texts], True, -100)
        return F.cross_entropy(mini(ids[:, :-1].clamp_min(0)).mT, ids[:, 1:], reduction="none").sum(1)

    with torch.no_grad():
        scores = [torch.cat([head.classify(texts[i : i + 100]) for i in range(0, 1_000, 100)])[:, 0] for texts in (good, bad)]
        nats_of = [torch.cat([cost(texts[i : i + 100]) for i in range(0, 1_000, 100)]) for texts in (good, bad)]
    answer = {
        "head": (scores[0] > scores[1]).float().mean().item(),
        "likelihood": (nats_of[0] < nats_of[1]).float().mean().item(),
        "training loss": sum(history[-20:]) / 20,
    }
    limit = torch.cat(nats_of).median()
    answer["likelihood, one sentence"] = ((nats_of[0] < limit).float().mean() + (nats_of[1] >= limit).float().mean()).item() / 2
    print(seed, answer, flush=True)
    return answer


def counting(_):
    """Opponents without a seed, on the manual alone and with the documentation strings."""
    ends, found = "".join(page + "\0" for page in corpus.held_out), {}
    for name, docs in (("manual", False), ("with documentation", True)):
        pages = sorted(read_corpus(docstrings=docs).training, key=set(corpus.training).__contains__)  # the manual last: it reads in order
        text = "".join(page + "\0" for page in pages)
        packed = lambda part: len(lzma.compress(part.encode(), preset=9 | lzma.PRESET_EXTREME))  # noqa: E731
        mixer = ContextMixer()
        mixer.bits(text.encode())
        frozen = sum(mixer.bits(ends.encode(), learning=False)) / len(ends)
        mixer.rewind(len(text.encode()))
        found[name] = {
            "xz": 8 * (packed(text + ends) - packed(text)) / len(ends),
            "context mixing, frozen": frozen,
            "context mixing, learning": sum(mixer.bits(ends.encode())) / len(ends),
        }
        print(name, found[name], flush=True)
    return found


PARTS = {f.__name__: f for f in (rows, levers, overfitting, amounts, pairs, counting)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=None, help="threads of PyTorch (default: as it finds the machine)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    os.environ["COURSE_BUILD"] = "1"  # no progress bars
    path = HERE / "results" / "gpt_training.json"
    for part in options.only:
        for seed in options.seeds if part != "counting" else [0]:
            found = PARTS[part](seed)
            kept = json.loads(path.read_text())["parts"] if path.exists() else {}
            write("gpt_training", {"threads": torch.get_num_threads(), "parts": kept | {part: kept.get(part, {}) | {str(seed): found}}})


if __name__ == "__main__":
    main()
