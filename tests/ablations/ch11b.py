"""Ablations of chapter 11b, Prompting, scaling, and the decoder of today."""

from .ablation import Ablation

ABLATIONS = [
    Ablation(
        "A fit whose loss is summed finds the law again.",
        "the loss averaged",
        'assert abs(fits["sum", seed]["alpha"] - REFIT["alpha"]) < 0.03',
        'ways = {"sum": (False, 1e-5)',
        'ways = {"sum": (True, 1e-5)',
    ),
    Ablation(
        "DPO finds the best policy of the formula.",
        "no reference for five answers",
        "assert (with_it - best).abs().max() < 0.04",
        "with_it = torch.stack([learn(reference.log(), s)",
        "with_it = torch.stack([learn(torch.zeros(5), s)",
    ),
    Ablation(
        "With its reference DPO keeps what the preferences do not speak about.",
        "DPO without its reference",
        'assert min(run["one right number"] for run in held) > 0.18',
        'for name, known in (("DPO", True)',
        'for name, known in (("DPO", False)',
    ),
    Ablation(
        "DPO learns the taste of the judge.",
        "a judge without a taste",
        'assert min(run["cheerful"] for run in held + loose) > 0.4',
        "2.0 * line.cheerful",
        "0.0 * line.cheerful",
    ),
    Ablation(
        "A policy gradient on the gold checker makes answers right.",
        "the same reward for everything",
        'assert last["gold"]["one right number"] > 0.7',
        '(("gold", sums.gold, 0.0),',
        '(("gold", lambda line: 1.0, 0.0),',
    ),
    Ablation(
        "A sloppy checker is hacked.",
        "the gold checker in its place",
        'assert last["sloppy"]["one right number"] < 0.2',
        '("sloppy", sums.sloppy, 0.0),',
        '("sloppy", sums.gold, 0.0),',
    ),
    Ablation(
        "A cost for distance slows the hacking down.",
        "no cost",
        'assert last["sloppy, β = 0.1"]["one right number"] > 0.3',
        '("sloppy, β = 0.1", sums.sloppy, 0.1)',
        '("sloppy, β = 0.1", sums.sloppy, 0.0)',
    ),
    Ablation(
        "The KL of best-of-n stays below its bound.",
        "four times as many answers",
        "assert all(kl <= bound + 1e-4 for _, kl, bound in best_of.values())",
        "q = 1 - (1 - p)**n",
        "q = 1 - (1 - p)**(4 * n)",
    ),
    Ablation(
        "Experts are used evenly because of the balance loss.",
        "experts without balance loss",
        "assert (fallen < 0.01).sum() >= 6 and (even < 0.01).sum() <= 3",
        '("with balance loss", 0.01)',
        '("with balance loss", 0.0)',
    ),
    Ablation(
        "Written steps make parity easy by what they say.",
        "the steps scrambled",
        'assert thought.pop("steps") > 0.95',
        '"steps": steps[:, :-1], "answer alone"',
        '"steps": steps[:, :-1].gather(1, order), "answer alone"',
    ),
    Ablation(
        "In-context answers rest on the labels of the examples.",
        "labels of the examples shuffled throughout",
        "assert 0.4 < gpt[0] < 0.57 and gpt[11] > gpt[0] + 0.33",
        'says = {"GPT": incontext.says_open(learner, hours, opened)',
        'says = {"GPT": incontext.says_open(learner, hours, opened[:, torch.randperm(12)])',
    ),
    Ablation(
        "The instruction decides what the toy does.",
        "no instruction for any of them",
        'assert shown["instruction and input trained together"] > 0.95',
        "multitask.accuracy(teller, words, pairs, held_numbers, told)",
        'multitask.accuracy(teller, words, pairs, held_numbers, told or "")',
    ),
]
