"""Exercise 08b.5: beam search with length penalty, checked against exhaustive search over all short sentences."""

from __future__ import annotations

import itertools
from functools import partial

import torch
from torch import Tensor

from ...exercise import CALLABLES, Case, Exercise, Registered, Twin
from .callables import BOS, EOS, VOCAB


def _penalty(length: int, alpha: float, how: str = "") -> float:
    if how == "mean":
        return float(length) ** alpha
    if how == "no five":
        return (length / 6) ** alpha
    if how == "no root":
        return (5 + length) / 6
    return ((5 + length) / 6) ** alpha


def _oracle(step, bos: int, eos: int, beam: int, max_new: int, alpha: float) -> tuple[Tensor, Tensor]:
    step = CALLABLES[step.name] if isinstance(step, Registered) else step
    return _exhaustive(step, bos, eos, max_new, alpha) if beam >= VOCAB**3 else _by_hand(step, bos, eos, beam, max_new, alpha)


def _best(sentences: dict[tuple[int, ...], float], alpha: float) -> tuple[Tensor, Tensor]:
    score = {ids: total / _penalty(len(ids), alpha) for ids, total in sentences.items()}
    ids = max(score, key=score.get)
    return torch.tensor(ids), torch.tensor(score[ids], dtype=torch.float32)


def _exhaustive(step, bos: int, eos: int, max_new: int, alpha: float) -> tuple[Tensor, Tensor]:
    """Every sentence of at most ``max_new`` tokens is scored."""
    words = [w for w in range(VOCAB) if w != eos]
    done: dict[tuple[int, ...], float] = {}
    for length in range(max_new):
        starts = torch.tensor([[bos, *ids] for ids in itertools.product(words, repeat=length)])
        totals = torch.zeros(len(starts), dtype=torch.float64)
        for t in range(1, length + 1):
            totals += step(starts[:, :t]).double()[torch.arange(len(starts)), starts[:, t]]
        totals += step(starts)[:, eos].double()
        done |= {(*row[1:], eos): total for row, total in zip(starts.tolist(), totals.tolist(), strict=True)}
    return _best(done, alpha)


def _by_hand(step, bos: int, eos: int, beam: int, max_new: int, alpha: float) -> tuple[Tensor, Tensor]:
    """Dictionaries of beginnings, one at a time, in double precision."""
    running, done = {(): 0.0}, {}
    for _ in range(max_new):
        longer = {}
        for ids, total in running.items():
            for token, value in enumerate(step(torch.tensor([[bos, *ids]]))[0].tolist()):
                (done if token == eos else longer)[(*ids, token)] = total + value
        running = dict(sorted(longer.items(), key=lambda item: -item[1])[:beam])
    return _best(done or running, alpha)


def _beam(step, bos: int, eos: int, beam: int, max_new: int, alpha: float, how: str = "right") -> tuple[Tensor, Tensor]:
    tokens, sums = torch.tensor([[bos]]), torch.zeros(1)
    done: list[tuple[list[int], float]] = []
    for _ in range(max_new - (how == "one less") + (how == "one round more")):
        new = step(tokens)
        if how == "probabilities":
            new = new.exp()
        totals = (new if how == "last only" else sums[:, None] + new).clone()
        if how == "penalty early":
            totals = totals / _penalty(tokens.shape[1], alpha)
        if how in ("ends take places", "ends only", "first in the beam"):
            sums, flat = totals.flatten().topk(min(beam, totals.numel()))
            rows, token = flat // totals.shape[1], flat % totals.shape[1]
            for r, t, s in zip(rows.tolist(), token.tolist(), sums.tolist(), strict=True):
                if t == eos:
                    done.append((tokens[r].tolist()[1:] + [eos], s))
            go = token != eos
            tokens, sums = torch.cat([tokens[rows[go]], token[go, None]], 1), sums[go]
            if not len(sums) or how == "first in the beam" and done:
                break
            continue
        if how == "no better" and done:
            top = max(s / _penalty(len(ids), alpha) for ids, s in done)
            if totals[:, eos].max().item() / _penalty(tokens.shape[1], alpha) <= top:
                break
        if how == "best has ended":
            top = int(totals.argmax())
            done += [(tokens[top // totals.shape[1]].tolist()[1:] + [eos], totals.max().item())] if top % totals.shape[1] == eos else []
            if done:
                break
            totals[:, eos] = -torch.inf
        elif how == "column open":
            done += [(row[1:] + [eos], s) for row, s in zip(tokens.tolist(), totals[:, eos].tolist(), strict=True)]
        elif how != "ends go on":
            done += [(row[1:] + [eos], s) for row, s in zip(tokens.tolist(), totals[:, eos].tolist(), strict=True)]
            totals[:, eos] = -torch.inf
        if how == "best is an ending" and int((sums[:, None] + new).argmax()) % totals.shape[1] == eos:
            break
        if how == "each its own" or how == "no competition" and tokens.shape[1] > 1:
            sums, token = totals.max(1)
            tokens = torch.cat([tokens, token[:, None]], 1)
            continue
        if how == "first end" and len(done) >= beam or how == "anything ended":
            break
        sums, flat = totals.flatten().topk(min(beam, totals.numel()))
        rows = flat // totals.shape[1] if how != "parents" else torch.arange(len(flat)) % len(tokens)
        tokens = torch.cat([tokens[rows], (flat % totals.shape[1])[:, None]], 1)
    running = [(row[1:], s) for row, s in zip(tokens.tolist(), sums.tolist(), strict=True)]
    if how == "ends go on":
        done = [(ids[:ids.index(eos) + 1], s) for ids, s in running if eos in ids]
    if how == "unfinished too":
        done += running
    done = done if how == "ends only" else done or running
    extra = {"bos counted": 1, "eos not counted": -1}.get(how, 0)
    if how == "penalty early":
        ids, total = max(done, key=lambda d: d[1])
        return torch.tensor(ids), torch.tensor(total)
    if how == "no penalty":
        ids, total = max(done, key=lambda d: d[1])
        return torch.tensor(ids), torch.tensor(total)
    if how == "chosen before":
        ids, total = max(done, key=lambda d: d[1])
        return torch.tensor(ids), torch.tensor(total / _penalty(len(ids), alpha))
    if how == "times":
        ids, total = max(done, key=lambda d: d[1] * _penalty(len(d[0]), alpha))
        return torch.tensor(ids), torch.tensor(total * _penalty(len(ids), alpha))
    ids, total = max(done, key=lambda d: d[1] / _penalty(len(d[0]) + extra, alpha, how))
    score = total / _penalty(len(ids) + extra, alpha, how)
    if how == "with bos":
        ids = [bos, *ids]
    return torch.tensor(ids[:-1] if how == "without eos" else ids), torch.tensor(score if how != "raw score" else total)


def _reference(step, bos: int, eos: int, beam: int, max_new: int, alpha: float) -> tuple[Tensor, Tensor]:
    if beam < 1:
        raise ValueError(f"beam={beam} must be at least 1")
    return _beam(step, bos, eos, beam, max_new, alpha)


def _followed(step, bos: int, eos: int, beam: int, max_new: int, alpha: float) -> tuple[Tensor, Tensor]:
    """The best next token, one after the other, until one of them is the end."""
    ids, total = [bos], torch.zeros(())
    while ids[-1] != eos and len(ids) <= max_new:
        value, token = step(torch.tensor([ids]))[0].max(0)
        ids, total = [*ids, int(token)], total + value
    return torch.tensor(ids[1:]), total / _penalty(len(ids) - 1, alpha)


def _draw(seed: int) -> list[Case]:
    """Which languages: all of them over the draws of a check, chosen so that every misconception shows."""
    base = {"bos": BOS, "eos": EOS}
    found = []
    for k in range(3):
        which = (seed + k) % 7
        found.append(Case(f"made-up language {which}, beam {k + 2}, at most 6 tokens", base | {"step": Registered(f"language_{which}"),
                          "beam": k + 2, "max_new": 6, "alpha": 0.0}, part="search", shape="(tokens,)"))
    return found


def _fixed() -> list[Case]:
    base = {"bos": BOS, "eos": EOS}
    def case(label: str, which: int, beam: int, max_new: int, alpha: float, part: str) -> Case:
        return Case(label, base | {"step": Registered(f"language_{which}"), "beam": beam, "max_new": max_new, "alpha": alpha}, part=part,
                    shape="(tokens,)")

    return [*(case(f"every sentence of at most 4 tokens, language {i}", i, VOCAB**3, 4, a, "exhaustive")
              for i, a in ((0, 0.0), (3, 1.0), (5, 0.6))),
            *(case(f"length penalty {a}, language {i}", i, b, 7, a, "length penalty")
              for i, b, a in ((1, 3, 0.6), (2, 2, 2.0), (4, 4, 1.0), (6, 3, 2.0), (7, 5, 1.0), (0, 5, 2.0))),
            *(case(f"beam 1, language {i}", i, 1, 5, 0.0, "search") for i in range(7)),
            case("at most 2 tokens, a language that hardly ever ends", 7, 3, 2, 0.6, "length penalty"),
            *(Case(f"a bad start that pays off later: beam {b}, alpha 2", {"step": Registered("late_reward"), "bos": 0, "eos": 1, "beam": b,
                   "max_new": 8, "alpha": 2.0}, part="search", shape="(tokens,)") for b in (2, 4)),
            *(Case(f"the second best prefix goes on in two good ways: beam {b}", {"step": Registered("two_roads"), "bos": 0, "eos": 1,
                   "beam": b, "max_new": 4, "alpha": 0.0}, part="search", shape="(tokens,)") for b in (2, 3)),
            Case("beam = -3", base | {"step": Registered("language_0"), "beam": -3, "max_new": 3, "alpha": 0.0}, part="bad input",
                 rejects=ValueError, mentions=("-3",)),
            Case("beam = 0", base | {"step": Registered("language_0"), "beam": 0, "max_new": 3, "alpha": 0.0}, part="bad input",
                 rejects=ValueError, mentions=("0",))]


BEAM = Exercise(
    id="08b.5", title="Beam search", name="beam_search", kind="function", stars=3, minutes=25,
    signature="beam_search(step, bos, eos, beam, max_new, alpha) -> ids (tokens,), score",
    oracle=_oracle, reference=_reference, draw=_draw, fixed=_fixed, outputs=("ids", "score"), atol=1e-4,
    parts={"search": 3, "exhaustive": 2, "length penalty": 2, "bad input": 1},
    forbidden=("course_utils.training.decoding.beam_search",),
    twins=(
        Twin("only the last log-probability counts", partial(_beam, how="last only"),
             "You rank by the newest term alone. Rank a prefix by the sum of all its log-probabilities."),
        Twin("probabilities added up", partial(_beam, how="probabilities"),
             "The step function already gives logarithms. You turn them back into probabilities, and their sum means nothing."),
        Twin("the beams never part", partial(_beam, how="each its own"),
             "You keep only the greedy sentence, once or several times. Start with a single prefix, because equal ones stay equal. "
             "After every step keep the `beam` best of all extensions."),
        Twin("greedy decoding under another name", _followed,
             "You follow the single best token until the end token comes, and `beam` plays no part. Keep several prefixes, and return a "
             "finished one."),
        Twin("one round too many", partial(_beam, how="one round more"),
             "Your sentences may be one token too long: the end token counts among the max_new."),
        Twin("prefixes do not compete", partial(_beam, how="no competition"),
             "After the first step each prefix keeps one place to itself. But two extensions of one prefix may both be better than "
             "every extension of another. Rank all of them together, in every step."),
        Twin("stops when the best is an ending", partial(_beam, how="best is an ending"),
             "You stop when the most probable extension of a step is an ending. Other sentences may still beat it: go on until max_new."),
        Twin("tokens joined to wrong prefixes", partial(_beam, how="parents"),
             "After ranking, each token must be added to the prefix it came from. The flat index tells both, row and token."),
        Twin("ended sentences go on", partial(_beam, how="ends go on"),
             "A sentence that has ended is complete. Put it aside with its score. If you extend it, it can lose against unfinished ones."),
        Twin("ended sentences take places", partial(_beam, how="ends take places"),
             "Your endings compete with unfinished prefixes for the same places. Put endings aside before the ranking, so that the beam "
             "holds unfinished prefixes only."),
        Twin("endings fill the beam", partial(_beam, how="ends only"),
             "Endings take places in your beam, and in the end few prefixes or none may be left to extend. Put endings aside, and "
             "keep the `beam` best unfinished prefixes."),
        Twin("the end column stays open", partial(_beam, how="column open"),
             "You put endings aside but also leave them in the ranking, where they push out a prefix that would have won later. "
             "Endings take no place in the beam."),
        Twin("stops at the first finished", partial(_beam, how="first in the beam"),
             "You return the first sentence that ends inside the beam. A longer one may have the better score: put endings aside and go "
             "on until max_new."),
        Twin("stops when the best has ended", partial(_beam, how="best has ended"),
             "You stop when the best extension of a step is an ending. Longer sentences may still beat it after the division: go on until "
             "max_new."),
        Twin("stops once anything has ended", partial(_beam, how="anything ended"),
             "You stop after the first step, because some sentence has ended. Note the endings and go on until max_new."),
        Twin("one step too few", partial(_beam, how="one less"),
             "A sentence may have max_new tokens, its end token included; your loop makes one step less."),
        Twin("stops after a few endings", partial(_beam, how="first end"),
             "You stop as soon as enough sentences have ended. Later ones may still be better, above all with a length penalty. Go on "
             "until max_new."),
        Twin("stops when an ending is worse", partial(_beam, how="no better"),
             "You stop as soon as a step brings no better ending. The next one may: a good long sentence often has bad places to stop."),
        Twin("unfinished sentences compete", partial(_beam, how="unfinished too"),
             "The sum of a prefix that was cut off at max_new lacks the end token. Only finished sentences count."),
        Twin("length penalty missing", partial(_beam, how="no penalty"),
             "Each token makes the sum smaller, so short sentences win. Divide by the penalty before choosing."),
        Twin("penalty after the choice", partial(_beam, how="chosen before"),
             "The score you return is penalised, but the sentence was chosen by the plain sum."),
        Twin("multiplied by the penalty", partial(_beam, how="times"),
             "The sums are negative: multiplying makes long sentences even worse. The penalty is a divisor."),
        Twin("start token counted as length", partial(_beam, how="bos counted"),
             "You count the start token, which is not part of the sentence."),
        Twin("end token not counted as length", partial(_beam, how="eos not counted"),
             "The end token is part of the sum like any other token, so it counts towards the length."),
        Twin("divided by a power of the length", partial(_beam, how="mean"),
             "You divide by a power of the plain length. The docstring's formula has two constants in it."),
        Twin("five missing in the penalty", partial(_beam, how="no five"),
             "Without the 5 the penalty of short sentences is below 1. Dividing by it makes their scores worse."),
        Twin("alpha ignored", partial(_beam, how="no root"),
             "The penalty has an exponent. With alpha 0 it must do nothing at all."),
        Twin("penalty while searching", partial(_beam, how="penalty early"),
             "If you divide in every step, the earlier terms are divided again and again. Rank prefixes by plain sums; only finished "
             "sentences are penalised."),
        Twin("start token returned as well", partial(_beam, how="with bos"),
             "The start token is given and not found. Return only what comes after it."),
        Twin("end token cut off", partial(_beam, how="without eos"),
             "The end token belongs to the sentence that was scored. Return it too."),
        Twin("plain sum returned as score", partial(_beam, how="raw score"),
             "The choice is right. The second result is the score that was compared, after the penalty."),
    ),
)
