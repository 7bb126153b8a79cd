"""What pre-training on the town gazette gives: gaps against tables of neighbours, and four heads from three beginnings.

    python benchmarks/gazette.py [--only pretraining heads …] [--seeds 0 1 2]      writes results/gazette.json

``pretraining`` trains a body for each seed (five minutes each on one core) and measures its gaps and its heads from 200 labels.
``controls`` and ``drawn`` do so for text without links, for documents whose words are shuffled, and for words drawn at random.
``rates``, ``shares`` and ``static`` train small bodies (2 layers of width 64, 1,000 steps): how many gaps, what stands in them, and
whether they change. The rest uses the committed body.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from random import Random

import torch
from low_rank import add_low_rank
from report import HERE, write
from torch import nn

from course_utils.experiments.ch09_pairs import TASKS as TASKS_OF_PAIRS
from course_utils.experiments.ch09_pairs import judged, make_pairs, pair_tensors, shuffled, train_pairs
from course_utils.experiments.ch10_heads import fine_tune, grade, head_for, tensors
from course_utils.models.bert import IGNORED, freeze
from course_utils.text import gazette
from course_utils.text.gazette_tasks import examples
from course_utils.text.pretraining import Batch
from course_utils.training.gazette_bert import (
    RATE,
    SMALL,
    WORDS,
    Neighbours,
    gap_batches,
    gaps,
    gazette_body,
    gazette_model,
    new_model,
    pretrain,
    pretrain_on,
    rows_of,
    score,
    score_by_shown,
    test_gaps,
)

TASKS = ("opinions", "names", "answers", "pairs")
DOCUMENTS, STEPS = 20_000, 8_000


def head(task, body, count, seed, **settings):
    train, test = (tensors(task, items) for items in examples(task, count, seed))
    started = time.process_time()
    model = fine_tune(task, body, train, seed, **settings)
    seconds = time.process_time() - started
    return {"right": grade(task, model, test), "seconds": round(seconds, 1)}


def tables(seed):
    """The tables of neighbours; they have no seed."""
    documents, batch, found = gazette.documents(DOCUMENTS), test_gaps(), {}
    for left, right in ((0, 0), (1, 0), (1, 1), (2, 2)):
        neighbours = Neighbours(documents, left, right)
        found[f"{left}+{right}"] = {"gaps stay gaps": neighbours.accuracy(batch), "true neighbours": neighbours.accuracy(batch, True)}
    return found


def _measured(documents, batch, seed, model=None):
    started = time.process_time()
    model = model or pretrain(documents, STEPS, seed)[0]
    seconds, found = time.process_time() - started, score(model, batch)
    state = {name: value.half().float() for name, value in model.state_dict().items()}  # as it would be stored
    heads = {}
    for task in TASKS:
        copy = new_model(seed)
        copy.load_state_dict(state)
        heads[task] = head(task, copy.bert, 200, seed)
    return {"accuracy": found.accuracy, "nats": found.loss, "seconds": round(seconds), "heads": heads}


def pretraining(seed):
    """Seed 0 is the committed body (its seconds are those of loading it)."""
    return _measured(gazette.documents(DOCUMENTS), test_gaps(), seed, gazette_model()[0] if seed == 0 else None)


def controls(seed):
    """The same for text without questions and links, and for documents whose words are shuffled: each graded on gaps of its own kind."""

    def shuffled(documents):
        draw, found = Random(0), []
        for document in documents:
            words = [word for sentence in document for word in sentence]
            draw.shuffle(words)
            found.append([words[: len(words) // 2], words[len(words) // 2 :]])
        return found

    return {
        "no links": _measured(gazette.documents(DOCUMENTS, linked=False), test_gaps(gazette.held_out(linked=False)), seed),
        "shuffled": _measured(shuffled(gazette.documents(DOCUMENTS)), test_gaps(shuffled(gazette.held_out())), seed),
    }


def _small(seed, rate=RATE, shares=(0.8, 0.1, 0.1)):
    """A small body: its gaps, by what is shown, and opinions and names from 200 labels."""
    started = time.process_time()
    model = pretrain(gazette.documents(DOCUMENTS), 1_000, seed, rate=rate, shares=shares, config=SMALL)[0]
    seconds, found, state = time.process_time() - started, score(model, test_gaps()), model.state_dict()
    shown, heads = score_by_shown(model), {}
    for task in ("opinions", "names"):
        copy = new_model(seed, SMALL)
        copy.load_state_dict(state)
        heads[task] = head(task, copy.bert, 200, seed)["right"]
    return {"accuracy": found.accuracy, "nats": found.loss, "shown": shown, "heads": heads, "seconds": round(seconds, 1)}


def rates(seed):
    """How many words are gaps; all are graded on the same gaps, 15 % of the held-out words."""
    return {f"{rate:.0%}": _small(seed, rate) for rate in (0.05, 0.15, 0.25, 0.5, 0.75)}


def shares(seed):
    """What stands in a gap: the mark, another word, the word itself."""
    return {
        "/".join(f"{100 * share:.0f}" for share in each): _small(seed, shares=each)
        for each in ((0.8, 0.1, 0.1), (1.0, 0.0, 0.0), (0.9, 0.0, 0.1), (0.9, 0.1, 0.0))
    }


def small_random(seed):
    """The small body before it has read anything, on the two tasks that "rates" and "shares" are graded on."""
    return {task: head(task, new_model(seed + 100, SMALL).bert, 200, seed) for task in ("opinions", "names")}


def kept_gaps(documents, seed, copies, batch=16):
    """Gives the next batch, as ``gap_batches`` does, but gaps are drawn ``copies`` times for a document; then the first ones come again."""
    generator, draw, kept, waiting, shown = torch.Generator().manual_seed(seed), Random(seed), [], [], 0

    def next_batch():
        nonlocal shown
        if len(waiting) < batch:
            if len(kept) < copies:
                kept.append([gaps([row], generator) for row in rows_of(documents, draw)])
            waiting[:] = draw.sample(kept[shown % copies], len(documents))
            shown += 1
        rows, fills = [waiting.pop() for _ in range(batch)], (WORDS.pad_id, 0, False, IGNORED)
        padded = [nn.utils.rnn.pad_sequence([row[part][0] for row in rows], True, fill) for part, fill in enumerate(fills)]
        return Batch(*padded, rows[0].is_next)

    return next_batch


def static(seed):
    """Few documents, shown 32 times: new gaps each time, ten sets of gaps in turn, or the same gaps always."""
    documents, batch, found = gazette.documents(500), test_gaps(), {}
    for name, copies in (("new", None), ("ten", 10), ("one", 1)):
        next_batch = gap_batches(documents, seed) if copies is None else kept_gaps(documents, seed, copies)
        model, history = pretrain_on(next_batch, 1_000, seed, config=SMALL)
        graded = score(model, batch)
        found[name] = {"accuracy": graded.accuracy, "nats": graded.loss, "training nats": sum(history[-50:]) / 50}
    return found


def follows(seed):
    """Pairs: what each training gets right on each test, and the loss of its last 50 steps. "shuffled": "next" with shuffled labels."""
    tests = {task: pair_tensors(make_pairs(task, 800, seed=99)) for task in TASKS_OF_PAIRS}
    found = {}
    for name in ("next", "shuffled", "same topic", "order"):
        data = pair_tensors(make_pairs("next" if name == "shuffled" else name, 4_800, seed))
        started = time.process_time()
        model, history = train_pairs(gazette_body()[0], shuffled(data, seed) if name == "shuffled" else data, seed)
        right = {task: judged(model, test) for task, test in tests.items()}
        found[name] = {
            "right": {task: each.double().mean().item() for task, each in right.items()},
            "right where B follows": right["next"][::2].double().mean().item(),
            "right where it does not": {task: each[1::2].double().mean().item() for task, each in right.items()},
            "loss": sum(history[-50:]) / 50,
            "seconds": round(time.process_time() - started, 1),
        }
    return found


def beginnings(seed):
    frozen = gazette_body()[0]
    frozen.requires_grad_(False)
    return {"random": new_model(seed + 100).bert, "pre-trained": gazette_body()[0], "frozen": frozen}


def heads(seed):
    return {
        task: {
            str(count): {
                name: head(task, body, count, seed, lr=1e-2 if name == "frozen" else 1e-3) for name, body in beginnings(seed).items()
            }
            for count in (50, 200, 1_000)
        }
        for task in TASKS
    }


def longer(seed):
    """The random body with four times the steps, from 200 labels."""
    return {task: head(task, new_model(seed + 100).bert, 200, seed, steps=4 * (300 if task == "pairs" else 200)) for task in TASKS}


def frozen_blocks(seed):
    found = {}
    for task in ("opinions", "answers"):
        found[task] = {}
        for blocks in range(4):
            body = gazette_body()[0]
            freeze(body, blocks)
            found[task][str(blocks)] = head(task, body, 200, seed)
    return found


def low_rank(seed):
    found = {}
    for task in ("opinions", "answers"):
        found[task] = {}
        for rank in (1, 2, 4, 8, 16):
            body = add_low_rank(gazette_body()[0], rank)  # alpha 16
            trained = sum(p.numel() for p in head_for(task, body).parameters() if p.requires_grad)
            found[task][str(rank)] = head(task, body, 200, seed, lr=3e-3) | {"trained": trained}
    return found


def low_rank_scaled(seed):
    """The same for answers with alpha = 2 * rank, so that the scale is 2 for every rank."""
    return {
        "answers": {
            str(rank): head("answers", add_low_rank(gazette_body()[0], rank, 2.0 * rank), 200, seed, lr=3e-3) for rank in (1, 2, 4, 8, 16)
        }
    }


def two_people(seed):
    """The negative case: a passage on two people, where the name has to be looked for."""
    return {
        str(count): {name: head("answers of two", body, count, seed) for name, body in beginnings(seed).items() if name != "frozen"}
        for count in (200, 1_000)
    }


def drawn(seed):
    """The same for documents whose words are drawn from all documents: what is left is how often each word occurs."""

    def mixed(documents):
        every = [word for document in documents for sentence in document for word in sentence]
        Random(0).shuffle(every)
        return [[[every.pop() for _ in sentence] for sentence in document] for document in documents]

    return _measured(mixed(gazette.documents(DOCUMENTS)), test_gaps(mixed(gazette.held_out())), seed)


def more_labels(seed):
    """The two tasks that ask for a comparison, from 1,000 labels with four times the steps; pairs also with "so" before the second text."""

    def so(items):
        return [item._replace(second=["so", *item.second]) for item in items]

    def right(task, count, steps=None, change=list):
        train, test = (tensors(task, change(items)) for items in examples(task, count, seed))
        return {"right": grade(task, fine_tune(task, gazette_body()[0], train, seed, steps=steps), test)}

    return {
        "answers of two": right("answers of two", 1_000, 800),
        "pairs": right("pairs", 1_000, 1_200),
        "pairs with so": right("pairs", 1_000, 1_200, so),
        "pairs with so, 200 labels": right("pairs", 200, None, so),
    }


PARTS = {
    part.__name__: part
    for part in (
        tables,
        heads,
        longer,
        frozen_blocks,
        low_rank,
        low_rank_scaled,
        two_people,
        more_labels,
        rates,
        shares,
        small_random,
        static,
        follows,
        pretraining,
        controls,
        drawn,
    )
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    options = parser.parse_args()
    os.environ["COURSE_BUILD"] = "1"  # no progress bars
    path = Path(HERE) / "results" / "gazette.json"
    for part in options.only:
        for seed in options.seeds:
            found = PARTS[part](seed)
            print(part, seed, json.dumps(found), flush=True)
            kept = json.loads(path.read_text())["parts"] if path.exists() else {}
            kept.setdefault(part, {})[str(seed)] = found
            write("gazette", {"threads": torch.get_num_threads(), "parts": kept})


if __name__ == "__main__":
    main()
