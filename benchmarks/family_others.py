"""What chapter 12a measures of many languages, encoder–decoders, decoders and long inputs, on three seeds.

    python benchmarks/family_others.py [--seeds 0 1 2] [--only xlm m2m denoising fewshot control long eleuther]

"xlm": masked words in single sentences, in pairs of translations, in pairs of strangers; nats of hidden words of held-out numbers, and
how many translations are nearest neighbours. "m2m": four languages, all 12 directions, without German to French, or only those with
English. "denoising": BART's five noises mended, held-out texts; "fewshot": translating and counting on from 40 examples each, after
T5's spans, BART's infilling, or from scratch. "control": CTRL's token obeyed. "long": a rare token found under five masks. "eleuther":
GPT-Neo's and GPT-J's block in a GPT. Writes results/family_others.json after every seed; what was not run keeps what is there.
"""

import argparse
import copy
import json
import os
import time
from random import Random

import family_bodies as bodies
import family_long_inputs as long_inputs
import torch
from family_eleuther import relative
from report import HERE, write

from course_tools.makers import styles as control
from course_tools.makers.mini_gpt import bits_per_character
from course_utils.experiments import ch12a_denoising as denoising
from course_utils.models.gpt import GPTConfig
from course_utils.models.zoo.sparse import bigbird_mask
from course_utils.text import noise
from course_utils.text.numbers import LANGUAGES, number_tokens, split
from course_utils.training.loop import fit
from course_utils.training.mini_gpt import as_stream, load_mini_gpt, read_corpus, window_loss
from course_utils.training.schedules import warmup_cosine

LENGTH, BLOCK = 64, 4


def xlm(seed):
    words, numbers, found = bodies.many_words(("en", "de"), 1_000), split(1_000, 0.0, 0.2), {}
    for paired in ("none", "strangers", "translations"):
        model, _ = bodies.xlm(numbers.train, words, paired, 900, seed)
        found[paired] = {
            "alone": bodies.hidden_nats(model, numbers.test, words, False),
            "with translation": bodies.hidden_nats(model, numbers.test, words, True),
            "nearest": bodies.found_translations(model, numbers.test, words),
        }
    return found


def m2m(seed):
    words, numbers, found = bodies.many_words(LANGUAGES, 1_000), split(1_000, 0.0, 0.2), {}
    for name, trained in (
        ("all 12", bodies.directions()),
        ("without de-fr", bodies.directions(without=[("de", "fr")])),
        ("English in each", bodies.directions("en")),
    ):
        model, _ = bodies.many_to_many(numbers.train, words, trained, 600, seed)
        found[name] = {f"{a}-{b}": bodies.score(model, numbers.test, words, (a, b)) for a, b in (("de", "fr"), ("en", "fr"), ("fr", "es"))}
    return found


def mending(seed):
    words = denoising.vocabulary()
    kinds = denoising.noises(words)
    train, test = ([words.encode(denoising.count(s)) for s in bodies.starts(held)] for held in (False, True))

    def pair(rng):
        text = rng.choice(train)
        return rng.choice(list(kinds.values()))(text, rng), text

    model = bodies.mender(words, seed)
    bodies.learn_to_mend(model, pair, 1_200, seed=seed)
    spoiled = {kind: [spoil(text, Random(i)) for i, text in enumerate(test)] for kind, spoil in kinds.items()}
    return {
        "mended": {kind: bodies.mended(model, texts, test) for kind, texts in spoiled.items()},
        "copied": {kind: sum(a == b for a, b in zip(texts, test, strict=True)) / len(test) for kind, texts in spoiled.items()},
    }


def fewshot(seed):
    words = denoising.vocabulary(("en", "de"))
    texts = [words.encode(denoising.count(s, language)) for s in bodies.starts(False) for language in ("en", "de")]
    sentinels, mask = [words.ids[token] for token in denoising.SENTINELS], words.ids[denoising.MASK]
    tasks = {
        "scratch": None,
        "T5 spans": lambda rng, text: noise.corrupt_spans(text, sentinels, rng, 0.3),
        "BART infilling": lambda rng, text: (noise.infill(text, 0.3, mask, rng), text),
    }

    def sentence(n, language):
        return words.encode(number_tokens(n, language))

    numbers = range(denoising.LIMIT - 1)
    after = {"translate": lambda n: (sentence(n, "en"), sentence(n, "de")), "next": lambda n: (sentence(n, "en"), sentence(n + 1, "en"))}
    few = Random(seed).sample([n for n in numbers if not denoising.held_out(n)], 40)
    held_out, found = [n for n in numbers if denoising.held_out(n)], {}
    for name, task in tasks.items():
        begun, decoded = bodies.mender(words, seed), []
        if task is not None:

            def pretraining(rng, task=task, decoded=decoded):
                source, target = task(rng, rng.choice(texts))
                decoded.append(len(target))
                return source, target

            bodies.learn_to_mend(begun, pretraining, 400, seed=seed)
        found[name] = {"tokens decoded a text": sum(decoded) / max(1, len(decoded))}
        for job, pair in after.items():
            model = copy.deepcopy(begun)
            bodies.learn_to_mend(model, lambda rng, pair=pair: pair(rng.choice(few)), 200, 1e-3, seed=seed)
            sources, targets = zip(*map(pair, held_out), strict=True)
            found[name][job] = bodies.mended(model, sources, targets)
    return found


def controlled(seed):
    data, found = control.read(), {}
    for name, with_token in (("token", True), ("no token", False)):
        model, history = control.train(data, with_token, 300, seed)
        texts = {style: control.write(model, data, style, 60, with_token, seed) for style in control.STYLES}
        found[name] = {"obeyed": {style: control.obeyed(texts[style], style) for style in texts}, "loss": sum(history[-50:]) / 50}
    return found


def long(seed):
    g = torch.Generator().manual_seed(seed)
    masks = {
        "window": bigbird_mask(LENGTH, BLOCK, 1, 0, 0),
        "window, random": bigbird_mask(LENGTH, BLOCK, 1, 0, 3, g),
        "window, global": bigbird_mask(LENGTH, BLOCK, 1, 1, 0),
        "all three": bigbird_mask(LENGTH, BLOCK, 1, 1, 3, g),
        "full": torch.ones(LENGTH, LENGTH, dtype=torch.bool),
    }
    found = {}
    for name, mask in masks.items():
        model, _ = long_inputs.train(mask, 500, seed)
        shares = long_inputs.by_distance(model, 2_000)
        found[name] = {
            "entries": mask.float().mean().item(),
            "by distance": [round(x, 4) for x in shares.tolist()],
            "far": shares[32:].nanmean().item(),
            "near": shares[:8].mean().item(),
        }
    return found


def eleuther(seed):
    """Each block at two lengths of warm-up: with the short one GPT's own stays on a plateau that the side-by-side block leaves."""
    tokenizer, corpus, found = load_mini_gpt()[1], read_corpus(), {}
    train, held_out = (as_stream(tokenizer, pages) for pages in corpus)
    for kind, warm in (("gpt", 100), ("neo", 100), ("j", 100), ("gpt", 12), ("j", 12)):
        torch.manual_seed(seed)
        model = relative(GPTConfig(vocab_size=len(tokenizer), d_model=96, num_heads=4, num_layers=4, max_len=96, dropout=0.0), kind)
        optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.1, betas=(0.9, 0.95), fused=True)
        started = time.process_time()
        fit(
            model,
            window_loss(model, train, 16, torch.Generator().manual_seed(seed)),
            250,
            3e-3,
            kind,
            optimizer=optimizer,
            clip=1.0,
            schedule=warmup_cosine(250, warm, floor=0.02),
        )
        seconds = time.process_time() - started
        found[kind if warm == 100 else f"{kind}, {warm} steps of warm-up"] = {
            "bits a character": bits_per_character(model.eval(), held_out, corpus.held_out),
            "training seconds": seconds,
            "parameters": sum(p.numel() for p in model.parameters()),
        }
    return found


PARTS = {"xlm": xlm, "m2m": m2m, "long": long, "denoising": mending, "fewshot": fewshot, "control": controlled, "eleuther": eleuther}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--only", nargs="*", choices=list(PARTS), default=list(PARTS), help="parts")
    options = parser.parse_args()
    os.environ["COURSE_BUILD"] = "1"  # no progress bars
    torch.set_num_threads(1)
    path = HERE / "results" / "family_others.json"
    for part in options.only:
        for seed in options.seeds:
            started = time.time()
            found = PARTS[part](seed)
            kept = json.loads(path.read_text())["parts"] if path.exists() else {}
            kept.setdefault(part, {})[str(seed)] = found
            print(part, seed, f"{time.time() - started:.0f} s", json.dumps(found)[:700], flush=True)
            write("family_others", {"threads": 1, "parts": kept})


if __name__ == "__main__":
    main()
