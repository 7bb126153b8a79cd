"""Exercise 08b.1: greedy decoding on a step function. The oracle decodes row by row with Python lists."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Registered, Twin, generator
from .callables import BOS, EOS, PAD


def _oracle(step, start: Tensor, eos: int, pad: int, max_new: int) -> Tensor:
    """Every row writes its own list; the step function needs them all, so all are handed over each time."""
    step = step if callable(step) else _callable(step)
    rows = [list(row) for row in start.tolist()]
    width, ended = start.shape[1], [False] * len(rows)
    for _ in range(max_new):
        scores = step(torch.tensor(rows)).tolist()
        for i, row in enumerate(rows):
            row.append(pad if ended[i] else max(range(len(scores[i])), key=scores[i].__getitem__))
            ended[i] = ended[i] or row[-1] == eos
        if all(ended):
            break
    return torch.tensor([row[width:] for row in rows])


def _callable(step: Registered):
    from ...exercise import CALLABLES

    return CALLABLES[step.name]


def _greedy(step, start: Tensor, eos: int, pad: int, max_new: int, how: str = "right") -> Tensor:
    tokens, width = start, start.shape[1]
    if how == "usual ids":
        eos, pad = EOS, PAD
    done = torch.zeros(len(start), dtype=torch.bool)
    if how == "given counts from the start":
        done = (start == eos).any(1)
    for _ in range(max_new + {"one more": 1, "one less": -1, "given taken off": -width, "given count too": 1 - width}.get(how, 0)):
        scores = step(tokens[:, -1:] if how == "last" else tokens)
        if how == "left out" and not done.all():
            scores = scores.clone()
            scores[~done] = step(tokens[~done])
        if how == "pad never taken":
            scores = scores.index_fill(1, torch.tensor([pad]), -torch.inf)
        token = scores.argmin(-1) if how == "smallest" else scores.argmax(-1)
        if how == "sampled":
            token = torch.multinomial(scores.softmax(-1), 1, generator=generator(int(tokens.sum())))[:, 0]
        if how == "first row rules":
            done = torch.zeros_like(done)
        if how == "eos fills":
            token = token.masked_fill(done, eos)
        elif how != "goes on":
            token = token.masked_fill(done, pad)
        tokens = torch.cat([tokens, token[:, None]], 1)
        ended = (tokens == eos).any(1) if how == "given counts" else token == eos
        ended = ended | (token == pad) if how == "pad ends" else ended
        done = ended if how == "forgets" else done | ended
        if how == "first row rules" and done[0]:
            break
        if how == "first" and done.any() or how not in ("never stops", "first") and done.all():
            break
    output = tokens if how == "with start" else tokens[:, width:]
    return output.masked_fill(output == eos, pad) if how == "cut" else output


def _reference(step, start: Tensor, eos: int, pad: int, max_new: int) -> Tensor:
    if max_new < 1:
        raise ValueError(f"max_new={max_new} must be at least 1")
    return _greedy(step, start, eos, pad, max_new)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    base = {"step": Registered("story"), "eos": EOS, "pad": PAD, "max_new": 9}
    start = torch.randint(3, 7, (6, 1), generator=g)
    return [Case("6 sentences of different lengths", base | {"start": start}, part="values", shape="(batch, at most max_new)"),
            Case("after two given tokens", base | {"start": torch.randint(3, 7, (5, 2), generator=g)},
                 part="values", shape="(batch, at most max_new)"),
            Case("a model that reads 4 tokens, max_new 4", base | {"step": Registered("short_story"), "max_new": 4, "start": start[:3]},
                 part="values", shape="(batch, at most max_new)"),
            Case("the same model, two given tokens, max_new 3", base | {"step": Registered("short_story"), "max_new": 3,
                 "start": torch.randint(3, 7, (4, 2), generator=g)}, part="values", shape="(batch, at most max_new)"),
            Case("the end token is 5, padding is 6", base | {"step": Registered("other_story"), "eos": 5, "pad": 6,
                 "start": torch.randint(3, 5, (4, 1), generator=g)}, part="values", shape="(batch, at most max_new)"),
            Case("row i ends with its token i + 1", base | {"step": Registered("stutter"), "start": start[:4]}, part="the end",
                 shape="(batch, at most max_new)")]


def _fixed() -> list[Case]:
    base = {"step": Registered("stutter"), "eos": EOS, "pad": PAD, "max_new": 6, "start": torch.tensor([[BOS]])}
    return [Case("a single sentence that ends at once", base, part="the end", shape="(batch, at most max_new)"),
            Case("three sentences, the longest ends before max_new", base | {"start": torch.tensor([[BOS]] * 3)}, part="the end",
                 shape="(batch, at most max_new)"),
            Case("the end token is the given token", base | {"start": torch.tensor([[EOS], [EOS]]), "step": Registered("story")},
                 part="the end", shape="(batch, at most max_new)"),
            Case("one token is all there may be", base | {"max_new": 1, "start": torch.tensor([[BOS, 3, 4], [BOS, 5, 3]])}, part="values",
                 shape="(batch, at most max_new)"),
            Case("a model that proposes padding in the middle", base | {"step": Registered("mumble"), "max_new": 9,
                 "start": torch.tensor([[3], [4], [5], [6]])}, part="values", shape="(batch, at most max_new)"),
            Case("max_new = -3", base | {"max_new": -3}, part="bad input", rejects=ValueError, mentions=("-3",)),
            Case("max_new = 0", base | {"max_new": 0}, part="bad input", rejects=ValueError, mentions=("0",))]


GREEDY = Exercise(
    id="08b.1", title="Greedy decoding", name="greedy_decode", kind="function", stars=1, minutes=10,
    signature="greedy_decode(step, start, eos, pad, max_new) -> ids (batch, at most max_new)",
    oracle=_oracle, reference=_reference, draw=_draw, fixed=_fixed, parts={"values": 2, "the end": 2, "bad input": 1},
    forbidden=("course_utils.training.decoding.greedy",),
    twins=(
        Twin("ended rows go on talking", partial(_greedy, how="goes on"),
             "After its end token a row still receives what the model proposes. Remember which rows have ended and fill them "
             "with padding."),
        Twin("ended rows filled with the end token", partial(_greedy, how="eos fills"),
             "You repeat the end token. After the first one there should be padding, so that lengths can be counted."),
        Twin("end token removed", partial(_greedy, how="cut"),
             "The end token belongs to the sentence: without it nobody can tell a finished sentence from one that was cut off."),
        Twin("start token returned as well", partial(_greedy, how="with start"),
             "The given tokens were not written by the model. Return what comes after them."),
        Twin("stops when the first row ends", partial(_greedy, how="first"),
             "One short sentence ends the decoding for the whole batch. Go on until every row has ended."),
        Twin("never stops early", partial(_greedy, how="never stops"),
             "All rows have ended and the loop still asks the model. These steps cost time and add only padding."),
        Twin("ended rows are forgotten", partial(_greedy, how="forgets"),
             "You remember only which rows ended in this very step. In the next step they count as running again. Remember all "
             "rows that have ended so far."),
        Twin("a given end token counts", partial(_greedy, how="given counts"),
             "You look for the end token in everything, the given tokens included. Some models start every sentence with it."),
        Twin("given end token ends at once", partial(_greedy, how="given counts from the start"),
             "Rows whose given tokens contain the end token count as ended at once. Only what the model writes can end a row."),
        Twin("ended rows not handed over", partial(_greedy, how="left out"),
             "You give the model only the unfinished rows. Row i belongs to sentence i: if rows are left out, the others are mixed up."),
        Twin("given tokens count too", partial(_greedy, how="given count too"),
             "With a longer beginning you write fewer tokens. `max_new` counts the new ones only, however many were given."),
        Twin("first row decides for all", partial(_greedy, how="first row rules"),
             "Your loop stops when the first row ends, and no row is padded. A row that has ended gets padding until all have ended."),
        Twin("given tokens taken off max_new", partial(_greedy, how="given taken off"),
             "You subtract the given tokens from max_new. They do not count: it limits the new tokens only."),
        Twin("a proposed pad ends the row", partial(_greedy, how="pad ends"),
             "Only the end token ends a row. Padding that the model proposes before it is a token like any other."),
        Twin("padding forbidden to the model", partial(_greedy, how="pad never taken"),
             "You keep the model from proposing padding. The most probable token counts, whichever it is."),
        Twin("ids of end and pad written out", partial(_greedy, how="usual ids"),
             "The ids of the end token and of the padding are arguments; yours are fixed."),
        Twin("one step too many", partial(_greedy, how="one more"),
             "The loop asks the model once more than max_new says; a model with a fixed number of positions then stops with an error."),
        Twin("one step too few", partial(_greedy, how="one less"), "A sentence may have max_new tokens; yours have at most one fewer."),
        Twin("only the last token handed over", partial(_greedy, how="last"),
             "Without a cache the model knows nothing of the earlier tokens unless it gets all of them, every time."),
        Twin("least probable token taken", partial(_greedy, how="smallest"), "You take the smallest score of each row instead of the "
             "largest one."),
        Twin("sampled instead of the best", partial(_greedy, how="sampled"),
             "Greedy decoding has nothing random in it: each row takes the token with the highest score."),
    ),
)
