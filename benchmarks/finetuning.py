"""What fine-tuning reaches on the texts of chapter 10, on three seeds: each seed draws another split, order and output layer.

    python benchmarks/finetuning.py [--seeds 0 1 2] [--only sentiment names ...]

Bodies: "minilm", the lowest four blocks of the pre-trained encoder of the extra [pretrained]; "mini", our own two-layer BERT;
"scratch", the same with random weights. Writes results/finetuning.json after every part; parts that were not run keep what is there.
"""

import argparse
import json
import os
import random
import re
import time
from statistics import mean

import torch
from report import HERE, write
from torch.nn import functional as F

from course_utils.experiments.ch10_baselines import bag_of_words, majority
from course_utils.experiments.ch10_finetuning import collate, finetune
from course_utils.models.bert import Bert, SequenceClassifier, SpanClassifier, TokenClassifier, best_span, freeze, mean_pool
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


def layers(seed):
    """A linear layer on the frozen encoder's mean vectors of every layer, computed once."""
    train, test = opinions(seed)
    bert, tokenizer = load_bert(installed()), WordPiece.from_file(installed() / "vocab.txt")

    def vectors(items):
        found = [[mean_pool(state, m) for state in bert.look(i, s, m)[0]] for i, s, m in batches([tokenizer.encode(o.text) for o in items])]
        return [torch.cat(layer) for layer in zip(*found, strict=True)]

    y, answer = (torch.tensor([labelled.SENTIMENT.index(item.label) for item in part]) for part in (train, test))
    result = {}
    for number, (x, unseen) in enumerate(zip(vectors(train), vectors(test), strict=True)):
        torch.manual_seed(seed)
        linear = torch.nn.Linear(x.shape[1], 2)
        finetune(linear, lambda rows, x=x, linear=linear: F.cross_entropy(linear(x[rows]), y[rows]), len(x), 40, 1e-2, seed=seed)
        result[str(number)] = {"accuracy": (linear(unseen).argmax(-1) == answer).double().mean().item()}
    return result


def frozen(seed):
    train, test = opinions(seed)
    return {str(blocks): classify("minilm", train, test, labelled.SENTIMENT, seed, frozen=blocks, lr=1e-2 if blocks == 4 else None)
            for blocks in (0, 4)}


def pooling(seed):
    train, test = opinions(seed)
    return {pool: classify("minilm", train, test, labelled.SENTIMENT, seed, pool=pool) for pool in ("cls", "any")}


def size(seed):
    found = {}
    for count in (16, 48, 240):
        train, test = opinions(seed, count)
        texts = [[(item.text, item.label) for item in part] for part in (train, test)]
        found[str(count)] = {"bag of words": {"accuracy": bag_of_words(*texts)}, "minilm": classify(
            "minilm", train, test, labelled.SENTIMENT, seed, epochs=max(4, min(12, 960 // count)))}
    return found


def pairs(seed):
    train, test = labelled.split(labelled.pairs(), seed)
    texts = [[(f"{item.first} {item.second}", item.label) for item in part] for part in (train, test)]
    return {"majority": {"accuracy": majority([b for _, b in texts[0]], [b for _, b in texts[1]])},
            "bag of words": {"accuracy": bag_of_words(*texts)},
            **{kind: classify(kind, train, test, labelled.RELATIONS, seed, epochs=3, text=lambda i: (i.first, i.second))
               for kind in BODIES}}


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


def words_of(passage):
    return list(re.finditer(r"\w+|[^\w\s]", passage))


def overlap(said, wanted):
    a, b = said.lower().split(), wanted.lower().split()
    common = sum(min(a.count(w), b.count(w)) for w in set(a))
    return 2 * common / (len(a) + len(b)) if a and b else 0.0


def questions(seed):
    train, test = labelled.split(labelled.questions(), seed)
    torch.manual_seed(seed)
    bert, tokenizer = body("minilm")
    model = SpanClassifier(bert)

    def prepare(items):
        encoded, target = [], []
        for item in items:
            spots = words_of(item.passage)
            e = tokenizer.encode(item.question, [m[0] for m in spots])
            inside = [k for k, (word, segment) in enumerate(zip(e.words, e.segments, strict=True)) if segment and word is not None
                      and item.start <= spots[word].start() < item.start + len(item.answer)]
            encoded.append(e)
            target.append([inside[0], inside[-1]])
        return encoded, torch.tensor(target)

    def allowed(chosen):
        ids, segments, mask = collate(chosen)
        return ids, segments, mask, (segments == 1) & mask & (ids != tokenizer.sep_id)

    encoded, target = prepare(train)

    def loss(rows):
        start, end = model(*allowed([encoded[r] for r in rows]))
        return (F.cross_entropy(start, target[rows, 0]) + F.cross_entropy(end, target[rows, 1])) / 2

    finetune(model, loss, len(train), 3, 3e-4, batch=8, seed=seed)
    asked, _ = prepare(test)
    exact, shares, reversed_ = [], [], 0
    sentences = []
    for item, e in zip(test, asked, strict=True):
        with torch.no_grad():
            (start,), (end,) = model(*allowed([e]))
        reversed_ += bool(end.argmax() < start.argmax())
        i, j, _ = best_span(start, end, 12)
        spots = words_of(item.passage)
        said = item.passage[spots[e.words[i]].start():spots[e.words[j]].end()]
        exact.append(said == item.answer)
        shares.append(overlap(said, item.answer))
        sentences.append(overlap(max(re.split(r"(?<=[.?!]) ", item.passage), key=lambda s: overlap(s, item.question)), item.answer))
    return {"minilm": {"exact": mean(exact), "F1": mean(shares), "end before start": reversed_ / len(test)},
            "sentence most like the question": {"exact": 0.0, "F1": mean(sentences)}}


@torch.no_grad()
def looks(seed):
    """Cosines of one word's last states in two sentences each, and the largest mean weight a head gives one place; no training."""
    bert, tokenizer = load_bert(installed()), WordPiece.from_file(installed() / "vocab.txt")

    def cosine(word, *two):
        encoded = [tokenizer.encode(sentence) for sentence in two]
        a, b = (bert(*collate([e]))[0, e.ids.index(tokenizer.ids[word])] for e in encoded)
        return F.cosine_similarity(a, b, dim=0).item()

    weights = torch.cat(bert.look(*collate([tokenizer.encode("the shop is closed because the owner visits her mother")]))[1])
    return {"two insects": cosine("flies", "fruit flies like a banana", "the flies sat on the cake"),
            "time and insect": cosine("flies", "time flies like an arrow", "fruit flies like a banana"),
            "two fruits": cosine("apple", "she ate an apple from the tree", "an apple and a pear lay in the bowl"),
            "two companies": cosine("apple", "apple presented a new phone", "the shares of apple fell"),
            "fruit and company": cosine("apple", "she ate an apple from the tree", "apple presented a new phone"),
            "previous token": weights.diagonal(-1, -2, -1).mean(-1).max().item(),
            "next token": weights.diagonal(1, -2, -1).mean(-1).max().item(), "[CLS]": weights[..., 0].mean(-1).max().item()}


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


PARTS = {f.__name__: f for f in (search, looks, sentiment, layers, names, questions, pairs, frozen, size, pooling)}


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
