"""Exercises 10.1 and 10.2: what a task adds to BERT, and a classifier with three faults in the code that is handed out."""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course_utils.models.bert import BASE, Bert, SequenceClassifier, SpanClassifier, TokenClassifier, freeze
from course_utils.models.sizes import shapes_only

from ...exercise import Case, Exercise, Twin, generator

NAMES = ("output layer for 2 classes", "output layer for 9 tags", "output layer for start and end",
         "the whole 2-class model, pooler included", "trained when embeddings and 11 of 12 blocks are frozen, 2 classes")


def _count(module: nn.Module, trained: bool = False) -> int:
    return sum(p.numel() for p in module.parameters() if p.requires_grad or not trained)


@cache
def _measure() -> dict[str, int]:
    """Counted on modules of BERT-base, not by formula."""
    with shapes_only():
        body = Bert(BASE)
        pair, tags, span = SequenceClassifier(body, 2), TokenClassifier(body, 9), SpanClassifier(body)
        whole = _count(pair)
        freeze(body, 11)
        return dict(zip(NAMES, (_count(pair.output), _count(tags.output), _count(span.output), whole, _count(pair, trained=True)),
                        strict=True))


D = BASE.d_model
BLOCK, POOLER, TABLES = 12 * D * D + 13 * D, D * D + D, (BASE.vocab_size + BASE.max_len + 2) * D + 2 * D
PAIR, TAGS = 2 * D + 2, 9 * D + 9
RIGHT = dict(zip(NAMES, (PAIR, TAGS, PAIR, TABLES + 12 * BLOCK + POOLER + PAIR, BLOCK + POOLER + PAIR), strict=True))


def _changed(*changes: int) -> dict[str, int]:
    """``RIGHT`` with something added to each number."""
    return {name: value + change for (name, value), change in zip(RIGHT.items(), changes, strict=True)}


WEIGHTS = Exercise(
    id="10.1", title="Predict: what a task adds", name="prediction_of_heads", kind="value", stars=1, minutes=8,
    signature="prediction_of_heads: dict of 5 numbers", oracle=_measure, reference=RIGHT, parts={"values": 3}, rtol=0.0, atol=0.5,
    draw=lambda seed: [Case("your five numbers", {})],
    twins=(
        Twin("biases of the output layers forgotten", _changed(-2, -9, -2, -2, -2),
             "A linear layer has a bias for each of its outputs, here for each label."),
        Twin("two biases forgotten", _changed(-2, 0, 0, 0, 0), "You are 2 short: a linear layer has a bias for each class."),
        Twin("one bias for two classes", _changed(-1, 0, 0, 0, 0),
             "You are 1 short: the layer has a bias for each of its two classes, not one for both."),
        Twin("nine biases forgotten", _changed(0, -9, 0, 0, 0), "You are 9 short: a linear layer has a bias for each tag."),
        Twin("a class for every position", _changed(0, 0, 2 * 512 * (D + 1) - PAIR, 0, 0),
             "You gave the layer outputs for each of 512 positions. Every token gets two scores from the same layer: one as a start and "
             "one as an end."),
        Twin("pooler left out of the whole", _changed(0, 0, 0, -POOLER, 0),
             "You are 768 · 769 short: the pooler is a linear layer too, with its bias."),
        Twin("start and end without biases", _changed(0, 0, -2, 0, 0),
             "The paper draws two vectors. In code they are the two rows of one linear layer, and it has a bias for each."),
        Twin("one output for two classes", _changed(-D - 1, 0, 0, -D - 1, -D - 1),
             "Here each of the two classes has its own score, so that the same code also works for three classes."),
        Twin("start and end share a vector", _changed(0, 0, -D - 1, 0, 0),
             "Where an answer starts and where it ends are two questions: there are two learned vectors."),
        Twin("start, end and other", _changed(0, 0, D + 1, 0, 0),
             "Tokens are not sorted into three classes. Each token gets two scores, one for the start and one for the end."),
        Twin("an output layer for each position", _changed(0, 511 * (9 * D + 9), 0, 0, 0),
             "All positions share one output layer, just as they share the blocks below."),
        Twin("pooler forgotten", _changed(0, 0, 0, -POOLER, -POOLER),
             "The vector of the first token goes through one more layer with a tanh, the pooler, before it is classified."),
        Twin("pooler taken for frozen", _changed(0, 0, 0, 0, -POOLER),
             "The entry names what is frozen: the embeddings and eleven blocks. The pooler is not among them."),
        Twin("the pooler's biases forgotten", _changed(0, 0, 0, 0, -D),
             "The pooler is a linear layer as well, with a bias for each of its outputs."),
        Twin("output layer taken for frozen", _changed(0, 0, 0, 0, -2 * D - 2),
             "The output layer is new and starts at random: it is trained whatever else is frozen."),
        Twin("all twelve blocks frozen", _changed(0, 0, 0, 0, -BLOCK),
             "Eleven of twelve blocks are frozen. The last one is trained together with the layers on top of it."),
        Twin("eleven blocks trained", _changed(0, 0, 0, 0, 10 * BLOCK),
             "Eleven is the number of blocks that are frozen; a single one is left to train."),
        Twin("pooler counted twice", _changed(0, 0, 0, POOLER, 0),
             "The size of the body that is given includes the pooler. Add only the output layer."),
        Twin("only the head is trained", _changed(0, 0, 0, 0, -BLOCK - POOLER),
             "One of the twelve blocks is left to train, and with it the pooler."),
        Twin("frozen and trained exchanged", _changed(0, 0, 0, 0, RIGHT[NAMES[3]] - 2 * RIGHT[NAMES[4]]),
             "You have counted what is frozen. The rest of the model is asked for."),
        Twin("embeddings trained too", _changed(0, 0, 0, 0, TABLES),
             "The embeddings are frozen in this entry; they are more than a fifth of the model."),
        Twin("head left out of the whole", _changed(0, 0, 0, -2 * D - 2, 0),
             "You give the size of the body. The whole model also has its output layer."),
    ),
)


def _oracle(init: dict, parameters: dict, inputs: dict, mode: str = "train") -> Tensor:
    p, hidden = parameters, inputs["hidden"]
    rate = init["dropout"] if mode == "train" else 0.0
    kept = torch.tensor(0.0 if rate > 0.9 else 1.0)  # the cases drop nothing or everything ...
    if rate == 0.5:  # ... or half: rows of one number, which is there, doubled, or not
        kept = 2.0 * (torch.arange(len(hidden)) % 2)[:, None]
    first = torch.einsum("bd,ed->be", hidden.select(1, 0), p["pooler.weight"]) + p["pooler.bias"]
    return torch.einsum("bd,ed->be", kept * torch.tanh(first), p["output.weight"]) + p["output.bias"]


class Head(nn.Module):
    """The classifier with a switch for each fault; ``how`` is a set of words."""

    def __init__(self, d_model: int, num_labels: int, dropout: float, how: frozenset[str] = frozenset()):
        super().__init__()
        self.pooler, self.output = nn.Linear(d_model, d_model), nn.Linear(d_model, num_labels)
        self.rate, self.how = 0.1 if "a tenth" in how else dropout, how

    def _drop(self, x: Tensor, place: str) -> Tensor:
        chosen = next(iter(self.how & {"before", "after", "never"}), "between")
        if chosen != place:
            return x
        if "not scaled" in self.how:
            return x * (torch.rand_like(x) >= self.rate) if self.training else x
        return F.dropout(x, self.rate, not self.training if "turned round" in self.how else self.training or "always" in self.how)

    def forward(self, hidden: Tensor) -> Tensor:
        how = self.how
        x = (hidden[0] if "sentence" in how else
             hidden[:, -1] if "last" in how else hidden[:, 1] if "second" in how else hidden.mean(1) if "mean" in how
             else hidden.amax(1) if "max" in how else hidden if "all" in how else hidden[:, 0])
        x = self._drop(x, "before")
        x = x if "no pooler" in how else self.pooler(x)
        squash = torch.relu if "relu" in how else torch.sigmoid if "sigmoid" in how else F.gelu if "gelu" in how else torch.tanh
        x = x if "no tanh" in how or "no pooler" in how else squash(x)
        scores = self._drop(self.output(self._drop(x, "between")), "after")
        scores = torch.tanh(scores) if "tanh at the end" in how else scores
        if "label" in how:
            return scores.argmax(-1)
        if "sigmoid at the end" in how:
            return torch.sigmoid(scores)
        return torch.softmax(scores, -1) if "softmax" in how else torch.log_softmax(scores, -1) if "log" in how else scores


def _module(*how: str) -> type[nn.Module]:
    def __init__(self, d_model, num_labels, dropout):
        Head.__init__(self, d_model, num_labels, dropout, frozenset(how))
    return type("Classifier", (Head,), {"__init__": __init__})


def _case(g: torch.Generator, label: str, part: str, dropout: float, mode: str, batch: int = 4, n: int = 6, d: int = 5,
          labels: int = 3) -> Case:
    def randn(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=g)

    parameters = {"pooler.weight": 0.5 * randn(d, d), "pooler.bias": 0.5 * randn(d), "output.weight": 0.7 * randn(labels, d),
                  "output.bias": 0.5 * randn(labels)}
    args = {"init": {"d_model": d, "num_labels": labels, "dropout": dropout}, "parameters": parameters,
            "inputs": {"hidden": randn(batch, n, d)}}
    return Case(label, args | ({"mode": mode} if mode == "eval" else {}), part=part, shape="(batch, num_labels)",
                gradients=("hidden", *parameters) if dropout == 0 else ())


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [_case(g, "no dropout: 4 sentences of 6 tokens, d_model = 5, 3 labels", "values", 0.0, "train"),
            _case(g, "evaluation mode, where dropout = 1 drops nothing", "evaluation", 1.0, "eval", batch=3, n=7, d=4, labels=2),
            _case(g, "training mode, a dropout of 0.9999999 drops everything", "dropout", 0.9999999, "train", batch=2, n=3, d=6, labels=4)]


def _fixed() -> list[Case]:
    case = _case(generator(4), "training mode, a dropout of 0.5, 64 times the same sentence, one feature", "dropout", 0.5, "train", batch=1,
                 n=3, d=1, labels=1)
    case.args["parameters"]["output.weight"] += 1
    case.args["inputs"]["hidden"] = (0.5 + case.args["inputs"]["hidden"].abs()).repeat(64, 1, 1)
    return [case, _case(generator(5), "one sentence", "values", 0.0, "train", batch=1)]


def _range(scores: Tensor) -> Tensor:
    """The smallest and the largest score of the 64 rows that chance has changed; other scores as they are."""
    return torch.cat([scores.amin(0), scores.amax(0)]) if scores.shape == (64, 1) else scores


CLASSIFIER = Exercise(
    id="10.2", title="Find the bugs: a classifier", name="Classifier", kind="module", stars=2, minutes=10,
    signature="Classifier(d_model, num_labels, dropout)(hidden) -> (batch, num_labels)", oracle=_oracle, reference=_module(),
    draw=_draw, fixed=_fixed, parts={"values": 2, "evaluation": 1, "dropout": 1}, raw=_range,
    compared="where numbers are dropped by chance, the smallest and the largest score are compared",
    twins=(
        Twin("still the handed-out faults", _module("last", "always", "softmax"),
             "Compare three things with the docstring: which token is read, when numbers are dropped, and what is returned.",
             untouched=True),
        Twin("the last token is read", _module("last"),
             "The class token is the first token of the sentence. The last one may even be padding."),
        Twin("dropout in evaluation", _module("always"),
             "Two calls in evaluation mode differ: the function drops numbers unless it is told the mode."),
        Twin("softmax at the end", _module("softmax"), "Scores are asked for; the softmax is part of the loss."),
        Twin("log-softmax at the end", _module("log"), "Plain scores are asked for; the logarithm of the softmax belongs to the loss."),
        Twin("sigmoid at the end", _module("sigmoid at the end"), "Plain scores are asked for; no function squashes them."),
        Twin("a label instead of scores", _module("label"),
             "You choose the best label already. The loss needs a score for every label, and a choice has no gradient."),
        Twin("first sentence for first token", _module("sentence"),
             "You read the first sentence of the batch with all its tokens. Read the first token of every sentence instead: the batch "
             "is axis 0, the tokens are axis 1."),
        Twin("dropout of a tenth always", _module("a tenth"),
             "A tenth is dropped, whatever the caller asks for. The rate is an argument; use it."),
        Twin("the second token is read", _module("second"), "Counting starts at 0: the class token is the very first one."),
        Twin("mean of all tokens", _module("mean"), "This head reads one token, the first, and not the mean of them all."),
        Twin("largest of all tokens", _module("max"), "This head reads one token, the first; it takes no maximum over the sentence."),
        Twin("a score for every token", _module("all"), "Each sentence needs only one row of scores, computed from its first token."),
        Twin("pooler skipped", _module("no pooler"),
             "The first token's vector goes through the pooler and its tanh before the output layer."),
        Twin("tanh forgotten", _module("no tanh"), "Without its tanh the pooler and the output layer together are one linear layer."),
        Twin("ReLU in the pooler", _module("relu"), "The pooler was pre-trained with tanh; its weights do not fit another function."),
        Twin("GELU in the pooler", _module("gelu"), "GELU belongs in the feed-forward layers of BERT's blocks; the pooler has a tanh."),
        Twin("sigmoid in the pooler", _module("sigmoid"), "The pooler squashes to the range from minus one to one, not from zero to one."),
        Twin("tanh at the end", _module("tanh at the end"), "The scores are not squashed; the tanh belongs to the pooler alone."),
        Twin("dropout on the scores", _module("after"),
             "Dropout acts on the features before the output layer, never on the scores of labels."),
        Twin("dropout before the pooler", _module("before"), "Dropout comes between the pooler and the output layer."),
        Twin("dropout the wrong way round", _module("turned round"),
             "You drop in evaluation and keep everything in training; it has to be the other way round."),
        Twin("kept numbers not enlarged", _module("not scaled"),
             "The numbers that are kept have to make up for the dropped ones. In training they are divided by the share that is kept, "
             "so that the mean is the same as in evaluation."),
        Twin("dropout removed", _module("never"), "In training nothing is dropped any more. Only evaluation goes without dropout."),
        Twin("only the token repaired", _module("always", "softmax"),
             "The first token is read now. Look at the mode in which numbers are dropped, and at what is returned."),
        Twin("only the dropout repaired", _module("last", "softmax"),
             "Dropout obeys the mode now. Look at which token is read, and at what is returned."),
        Twin("only the scores repaired", _module("last", "always"),
             "Scores come out now. Look at which token is read, and at the mode in which numbers are dropped."),
    ),
)
