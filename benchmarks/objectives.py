"""BERT against GPT: one body, one text, three ways of pre-training, four tasks from 200 labels. Chapter 10 shows the figures.

    python benchmarks/objectives.py [--seeds 0 1 2] [--steps 4000] [--ways hidden next …]

It writes results/objectives.json and takes about ten minutes a seed.

"hidden" fills gaps and reads both sides; "next" names the next word and reads the left side; "prefix" reads the front of a text on
both sides and names the next word behind it; "quarter" is "next", but only a quarter of the words is asked, as many as there are gaps.
Every body is then fine-tuned with either mask. A label of a text is read from its last
token, for every body: with the causal mask no other token has read the whole text.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from random import Random
from typing import Any, cast

import torch
from report import HERE, write
from torch import Tensor, nn
from torch.nn import functional as F

from course_utils.experiments.ch10_heads import fine_tune, grade, head_for, tensors
from course_utils.models.bert import Bert, BertForPretraining, SequenceClassifier
from course_utils.text import gazette
from course_utils.text.gazette_tasks import LABELS, examples
from course_utils.training.gazette_bert import RATE, WORDS, gap_loss, gaps, new_model, rows_of, score, test_gaps
from course_utils.training.loop import fit
from course_utils.training.schedules import warmup_linear

TASKS = ("opinions", "names", "answers", "pairs")
WAYS = ("random", "hidden", "next", "quarter", "prefix")


class Reads(nn.Module):
    """A body that reads with the mask of its name: "both" sides, or "causal"."""

    def __init__(self, body: Bert, mask: str):
        super().__init__()
        self.body, self.config, self.causal = body, body.config, mask == "causal"

    def forward(self, ids: Tensor, segments: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        n = ids.shape[1]
        seen = torch.ones(n, n, dtype=torch.bool).tril() if self.causal else torch.ones(n, n, dtype=torch.bool)
        return self.body(ids, segments, seen if mask is None else seen & mask[:, None])  # (batch, n, n)


class FromTheLast(SequenceClassifier):
    """One label for a text, read from its last real token."""

    def features(self, ids: Tensor, segments: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        real = torch.ones_like(ids, dtype=torch.bool) if mask is None else mask
        return self.bert(ids, segments, mask)[torch.arange(len(ids)), real.sum(1) - 1]


def head(task: str, body: Any) -> nn.Module:
    return FromTheLast(body, len(LABELS[task])) if task in ("opinions", "pairs") else head_for(task, body)


def next_loss(model: BertForPretraining, ids: Tensor, segments: Tensor, fronts: Tensor, chance: Tensor | None = None) -> Tensor:
    """Cross-entropy of every next word behind the front (1 for "next": the front is [CLS]); everything may look at the front.

    ``chance``, of the shape of ids: numbers between 0 and 1; words with more than a quarter are not asked.
    """
    real, place = ids != WORDS.pad_id, torch.arange(ids.shape[1])
    seen = (place <= place[:, None]) | (place < fronts[:, None, None])  # (batch, query, key)
    hidden = model.bert(ids, segments, seen & real[:, None])[:, :-1]
    asked = real[:, 1:] & (place[1:] >= fronts[:, None])  # the word to be named lies behind the front
    asked = asked if chance is None else asked & (chance[:, 1:] < RATE)
    return F.cross_entropy(model.tokens(hidden[asked]), ids[:, 1:][asked])


def pretrained(way: str, seed: int, steps: int) -> tuple[BertForPretraining, dict[str, float]]:
    """A body that was trained in this way, and how it does on held-out text."""
    documents, model, draw, g = gazette.documents(20_000), new_model(seed), Random(seed), torch.Generator().manual_seed(seed)
    if way == "random":
        return new_model(seed + 100), {}
    waiting: list = []

    def batch(rows: list, ask: bool = way == "quarter") -> Tensor:
        if way == "hidden":
            return gap_loss(model, gaps(rows, g))
        n = max(len(ids) for ids, _ in rows)
        ids, segments = (torch.tensor([row[part] + [0] * (n - len(row[part])) for row in rows]) for part in (0, 1))
        lengths = torch.tensor([len(ids) for ids, _ in rows])
        fronts = 1 + (torch.rand(len(rows), generator=g) * (lengths - 1)).long() if way == "prefix" else torch.ones_like(lengths)
        return next_loss(model, ids, segments, fronts, torch.rand(ids.shape, generator=g) if ask else None)

    def loss() -> Tensor:
        if len(waiting) < 16:
            waiting[:] = rows_of(draw.sample(documents, len(documents)), draw)
        return batch([waiting.pop() for _ in range(16)])

    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    started = time.process_time()
    fit(model, loss, steps, 3e-3, way, optimizer=optimizer, clip=1.0, schedule=warmup_linear(steps))
    found = {"seconds": round(time.process_time() - started)}
    model.eval()
    if way == "hidden":
        return model, found | {"gaps": score(model, test_gaps()).accuracy}
    with torch.no_grad():
        return model, found | {"nats": batch(rows_of(gazette.held_out(), Random(0)), ask=False).item()}


@torch.no_grad()
def write_on(model: BertForPretraining, way: str, starts: list[list[int]], count: int = 12) -> list[list[int]]:
    """The most probable next word, ``count`` times: a gap behind the text for "hidden", else the last state under a causal mask."""
    written = []
    for ids in starts:
        ids = list(ids)
        for _ in range(count):
            if way == "hidden":
                shown = torch.tensor([[*ids, WORDS.mask_id, WORDS.sep_id]])
                scores = model.tokens(model.bert(shown))[0, -2]
            else:
                n = len(ids)
                scores = model.tokens(model.bert(torch.tensor([ids]), None, torch.ones(1, n, n, dtype=torch.bool).tril()))[0, -1]
            ids.append(int(scores.argmax()))
        written.append(ids)
    return written


def writing(model: BertForPretraining, way: str, triples: set[tuple[int, ...]]) -> dict:
    """Share of three words in a row that occur in the text, share of words that have been written before, and two samples."""
    starts = [[WORDS.cls_id, *(WORDS.ids[word] for word in document[0][:3])] for document in gazette.held_out()[:50]]
    texts = [row[4:] for row in write_on(model, way, starts)]
    known = [tuple(row[k : k + 3]) in triples for row in write_on(model, way, starts) for k in range(2, len(row) - 2)]
    again = sum(1 - len(set(text)) / len(text) for text in texts) / len(texts)
    samples = [" ".join(WORDS.pieces[i] for i in start[1:] + text) for start, text in zip(starts[:3], texts, strict=False)]
    return {"known triples": sum(known) / len(known), "repeated": again, "samples": samples}


def measure(seed: int, steps: int, ways: list[str]) -> dict:
    rows = [ids for ids, _ in rows_of(gazette.documents(20_000), Random(0))]
    triples = {tuple(ids[k : k + 3]) for ids in rows for k in range(len(ids) - 2)}
    found = {}
    for way in ways:
        model, own = pretrained(way, seed, steps)
        state = {name: value.clone() for name, value in model.state_dict().items()}
        heads: dict[str, dict[str, float]] = {}
        for mask in ("both", "causal"):
            heads[mask] = {}
            for task in TASKS:
                train, test = (tensors(task, items) for items in examples(task, 200, seed))
                model.load_state_dict(state)
                tuned = fine_tune(task, cast(Bert, Reads(model.bert, mask)), train, seed, head=head)
                heads[mask][task] = grade(task, tuned, test)
        model.load_state_dict(state)
        found[way] = own | {"heads": heads, "writing": writing(model.eval(), way, triples)}
        print(seed, way, json.dumps(found[way]), flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=4_000)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    options = parser.parse_args()
    os.environ["COURSE_BUILD"] = "1"  # no progress bars
    path = HERE / "results" / "objectives.json"
    for seed in options.seeds:
        found = measure(seed, options.steps, options.ways)
        kept = json.loads(path.read_text())["seeds"] if path.exists() else {}
        found = kept.get(str(seed), {}) | found
        write("objectives", {"threads": torch.get_num_threads(), "steps": options.steps, "seeds": kept | {str(seed): found}})


if __name__ == "__main__":
    main()
