"""Exercise 08b.4: beam search with length penalty. The oracle keeps dictionaries; with a beam wide enough it tries every sentence."""

import torch
from torch import Tensor

from ..common import CALLABLES, Case, FunctionExercise, Registered, refusal
from .callables import BOS, EOS, VOCAB


def beam_search(step, bos: int, eos: int, beam: int, max_new: int, alpha: float) -> tuple[Tensor, Tensor]:
    if beam < 1:
        raise ValueError(f"beam={beam} must be at least 1")

    def score(ids: list[int], total: float) -> float:
        return total / ((5 + len(ids)) / 6) ** alpha

    tokens, sums, done = torch.tensor([[bos]]), torch.zeros(1), []
    for _ in range(max_new):
        totals = sums[:, None] + step(tokens)  # (k, vocab)
        done += [([*row, eos], total) for row, total in zip(tokens[:, 1:].tolist(), totals[:, eos].tolist(), strict=True)]
        totals[:, eos] = -torch.inf
        sums, flat = totals.flatten().topk(min(beam, totals.numel()))
        rows, words = flat // totals.shape[1], flat % totals.shape[1]
        tokens = torch.cat([tokens[rows], words[:, None]], dim=1)
    ids, total = max(done, key=lambda sentence: score(*sentence))
    return torch.tensor(ids), torch.tensor(score(ids, total))


def oracle(step: Registered, bos: int, eos: int, beam: int, max_new: int, alpha: float) -> tuple[Tensor, Tensor]:
    running: dict[tuple[int, ...], float] = {(): 0.0}
    done: dict[tuple[int, ...], float] = {}
    for _ in range(max_new):
        longer: dict[tuple[int, ...], float] = {}
        for ids, total in running.items():
            for token, value in enumerate(CALLABLES[step.name](torch.tensor([[bos, *ids]]))[0].tolist()):
                (done if token == eos else longer)[(*ids, token)] = total + value
        running = dict(sorted(longer.items(), key=lambda item: -item[1])[:beam])
    score, best = max((total / ((5 + len(ids)) / 6) ** alpha, ids) for ids, total in done.items())
    return torch.tensor(best), torch.tensor(score, dtype=torch.float32)


def case(label: str, part: str, step: str, beam: int, max_new: int, alpha: float, bos: int = BOS, eos: int = EOS) -> Case:
    args = {"bos": bos, "eos": eos, "step": Registered(step), "beam": beam, "max_new": max_new, "alpha": alpha}
    return Case(label, args, part, shape="(tokens,)") if beam > 0 else refusal(label, args, str(beam))


def draw(seed: int) -> list[Case]:
    """Which languages: all of them over the draws of a check, chosen so that every misconception shows."""
    label = "made-up language {}, beam {}, at most 6 tokens"
    languages = [((seed + k) % 7, k + 2) for k in range(3)]
    return [case(label.format(i, beam), "search", f"language_{i}", beam, 6, 0.0) for i, beam in languages]


def fixed() -> list[Case]:
    every = "every sentence of at most 4 tokens, language {}"
    penalised = ((1, 3, 0.6), (2, 2, 2.0), (4, 4, 1.0), (6, 3, 2.0), (7, 5, 1.0), (0, 5, 2.0))
    late, roads = "a bad start that pays off later: beam {}, alpha 2", "the second best prefix goes on in two good ways: beam {}"
    return [
        *(case(every.format(i), "exhaustive", f"language_{i}", VOCAB**3, 4, alpha) for i, alpha in ((0, 0.0), (3, 1.0), (5, 0.6))),
        *(case(f"length penalty {a}, language {i}", "length penalty", f"language_{i}", beam, 7, a) for i, beam, a in penalised),
        *(case(f"beam 1, language {i}", "search", f"language_{i}", 1, 5, 0.0) for i in range(7)),
        case("at most 2 tokens, a language that hardly ever ends", "length penalty", "language_7", 3, 2, 0.6),
        *(case(late.format(beam), "search", "late_reward", beam, 8, 2.0, bos=0, eos=1) for beam in (2, 4)),
        *(case(roads.format(beam), "search", "two_roads", beam, 4, 0.0, bos=0, eos=1) for beam in (2, 3)),
        case("beam = -3", "bad input", "language_0", -3, 3, 0.0),
        case("beam = 0", "bad input", "language_0", 0, 3, 0.0),
    ]


NAMES, FORBIDDEN = ("ids", "score"), ("course_utils.training.decoding.beam_search",)
EXERCISE = FunctionExercise(right=beam_search, oracle=oracle, draw=draw, fixed=fixed, outputs=NAMES, atol=1e-4, forbidden=FORBIDDEN)
