"""What fine-tuning reaches on the English texts of text/labelled.py, and search by vectors: chapters 10 and 12a quote it.

Three seeds, each with another split, order and output layer.

    python benchmarks/finetuning.py [--seeds 0 1 2] [--only sentiment names ...]

Bodies: "minilm", the lowest four blocks of the pre-trained encoder of the extra [pretrained]; "mini", our own two-layer BERT;
"scratch", the same with random weights. Writes results/finetuning.json after every part; parts that were not run keep what is there.
"""

import argparse
import json
import os
import random
import time

import torch
from report import HERE, write
from torch.nn import functional as F

from course_utils.experiments.ch10_baselines import bag_of_words, majority
from course_utils.experiments.ch10_finetuning import collate, finetune
from course_utils.models.bert import Bert, SequenceClassifier, TokenClassifier, freeze, mean_pool
from course_utils.models.pretrained import installed, load_bert
from course_utils.text import labelled
from course_utils.text.spans import span_scores
from course_utils.text.wordpiece import WordPiece
from course_utils.training.mini_bert import load_mini_bert

BODIES = ("scratch", "mini", "minilm")
LR = {"scratch": 1e-3, "mini": 1e-3, "minilm": 3e-4}
BLOCKS = 4  # of the encoder's six: the upper ones know most about similarity, see the part "layers"
FROZEN = 1  # of these, with the embeddings, unless a part says otherwise


def body(kind, frozen=FROZEN):
    """A fresh body and its tokenizer."""
    if kind == "minilm":
        bert, tokenizer = load_bert(installed()), WordPiece.from_file(installed() / "vocab.txt")
        bert.encoder.blocks = bert.encoder.blocks[:BLOCKS]
        freeze(bert, frozen)
        return bert, tokenizer
    model, tokenizer = load_mini_bert()
    return (model.bert if kind == "mini" else Bert(model.bert.config)), tokenizer


def batches(encoded, size=64):
    return [collate(encoded[i:i + size]) for i in range(0, len(encoded), size)]


@torch.no_grad()
def accuracy(model, encoded, target):
    guesses = torch.cat([model(*batch).argmax(-1) for batch in batches(encoded)])
    return (guesses == target).double().mean().item()


class AnyPosition(SequenceClassifier):
    """Reads one real token of each sentence, another one each time, never [CLS]."""

    def features(self, ids, segments=None, mask=None):
        lengths = mask.sum(1)
        place = 1 + (torch.rand(len(ids)) * (lengths - 1)).long()
        return self.bert(ids, segments, mask)[torch.arange(len(ids)), place]


def classify(kind, train, test, names, seed, epochs=8, frozen=FROZEN, pool="mean", lr=None, more=(), text=lambda item: (item.text,)):
    """Train on one split; accuracy on ``test`` (and on ``more``), and the seconds of processor time of training."""
    torch.manual_seed(seed)
    bert, tokenizer = body(kind, frozen)
    model = AnyPosition(bert, len(names), "mean") if pool == "any" else SequenceClassifier(bert, len(names), pool)

    def encode(items):
        return [tokenizer.encode(*text(item), max_len=64) for item in items]

    def label(items):
        return torch.tensor([names.index(item.label) for item in items])

    known, target = encode(train), label(train)
    started = time.process_time()
    finetune(model, lambda rows: F.cross_entropy(model(*collate([known[r] for r in rows])), target[rows]), len(train), epochs,
             lr or LR[kind], seed=seed)
    seconds = time.process_time() - started
    return {"accuracy": accuracy(model, encode(test), label(test)), "seconds": seconds,
            **({"contrast": accuracy(model, encode(more), label(more))} if more else {})}


def opinions(seed, count=120):
    train, test = labelled.split(labelled.sentiment(), seed, held_out=0.5)
    return random.Random(seed).sample(train, count), test


def sentiment(seed):
    train, test = opinions(seed)
    texts = [[(item.text, item.label) for item in part] for part in (train, test)]
    found = {"majority": {"accuracy": majority([b for _, b in texts[0]], [b for _, b in texts[1]])},
             "bag of words": {"accuracy": bag_of_words(*texts)}}
    more = labelled.contrasts()
    return found | {kind: classify(kind, train, test, labelled.SENTIMENT, seed, more=more) for kind in BODIES}


def size(seed):
    found = {}
    for count in (16, 48, 240):
        train, test = opinions(seed, count)
        texts = [[(item.text, item.label) for item in part] for part in (train, test)]
        found[str(count)] = {"bag of words": {"accuracy": bag_of_words(*texts)}, "minilm": classify(
            "minilm", train, test, labelled.SENTIMENT, seed, epochs=max(4, min(12, 960 // count)))}
    return found


def tag_labels(items, encoded):
    rows = [[labelled.TAGS.index(item.tags[word]) if word is not None and word != e.words[k - 1] else -100
             for k, word in enumerate(e.words)] for item, e in zip(items, encoded, strict=True)]
    n = max(map(len, rows))
    return torch.tensor([row + [-100] * (n - len(row)) for row in rows])


def names(seed):
    train, test = labelled.split(labelled.entities(), seed)
    seen = {}
    for item in train:
        for word, tag in zip(item.words, item.tags, strict=True):
            seen.setdefault(word, []).append(tag)
    usual = {word: max(sorted(set(tags)), key=tags.count) for word, tags in seen.items()}
    found = {"usual tag of each word": {"F1": span_scores([i.tags for i in test], [[usual.get(w, "O") for w in i.words] for i in test])[2]}}
    for kind in BODIES:
        torch.manual_seed(seed)
        bert, tokenizer = body(kind)
        model = TokenClassifier(bert, len(labelled.TAGS))
        encoded, unseen = ([tokenizer.encode(item.words) for item in part] for part in (train, test))
        target, places = tag_labels(train, encoded), tag_labels(test, unseen)

        def loss(rows, model=model, encoded=encoded, target=target):
            scores = model(*collate([encoded[r] for r in rows]))
            return F.cross_entropy(scores.flatten(0, 1), target[rows, :scores.shape[1]].flatten())

        finetune(model, loss, len(train), 8 if kind == "minilm" else 15, 5e-4 if kind == "minilm" else 1e-3, seed=seed)
        with torch.no_grad():
            best = model(*collate(unseen)).argmax(-1)
        guessed = [[labelled.TAGS[t] for t in row[asked != -100].tolist()] for row, asked in zip(best, places, strict=True)]
        found[kind] = {"F1": span_scores([item.tags for item in test], guessed)[2]}
    return found


@torch.no_grad()
def search(seed):
    """Share of the course's questions whose passage, among all 28, has the nearest mean vector; no training, so the same for every seed."""
    bert, tokenizer = load_bert(installed()), WordPiece.from_file(installed() / "vocab.txt")
    items = labelled.questions()
    passages = sorted({item.passage for item in items})

    def vectors(texts):
        ids, segments, mask = collate([tokenizer.encode(text, max_len=128) for text in texts])
        return F.normalize(mean_pool(bert(ids, segments, mask), mask), dim=-1)

    best = (vectors([item.question for item in items]) @ vectors(passages).T).argmax(1).tolist()
    return {"cosine": sum(passages[k] == item.passage for k, item in zip(best, items, strict=True)) / len(items)}


PARTS = {f.__name__: f for f in (sentiment, size, names, search)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    options = parser.parse_args()
    os.environ["COURSE_BUILD"] = "1"  # no progress bars
    path = HERE / "results" / "finetuning.json"
    for part in options.only:
        found = {str(seed): PARTS[part](seed) for seed in options.seeds}
        print(part, json.dumps(found), flush=True)
        kept = json.loads(path.read_text())["parts"] if path.exists() else {}
        write("finetuning", {"threads": torch.get_num_threads(), "parts": kept | {part: found}})


if __name__ == "__main__":
    main()
