"""Ablations of chapter 11c, What people want, and of its companion."""

from .ablation import Ablation

ANSWERS = "assert min(shown[name][0] for name in tuned) > 0.5"
KNOWS = 'assert shown["the answer alone"][1] > 0.85'
LEARNS = 'assert shown["every token"][1] < 0.3 < shown["base model"][1]'
FORMULA = "assert (with_it - best).abs().max() < 0.04"
KEEPS = 'assert held["right"] > 0.18 and loose["right"] < 0.1'
TASTE = 'assert min(held["cheerful"], loose["cheerful"]) > 0.4'
CHECKED = "assert best_of[32] > 0.9 > 2 * best_of[1]"
VOTES = "assert vote[1] + 0.2 < vote[32] < best_of[32]"
ZERO = "assert values.abs().max() < 1e-5 and lengths.min() > 1"
CLIMBS = "assert rewards[-10:].mean() > rewards[:5].mean() + 0.3"
HACKED = 'assert last["sloppy"]["right"] < 0.2 and last["sloppy"]["among"] > 0.9'
BEHIND = 'assert shown["every token"][0] < shown["the answer alone"][0] - 0.1'
WEIGHED = 'assert abs(held["cheerful"] - odds / (1 + odds)) < 0.05'
ADDS = "assert learned > 0.5"
EVEN = 'assert used["with balance loss"][-1] > 0.01 > used["without"][-1]'

CHAPTER = [
    Ablation(
        "Trained on the answers alone, the model keeps what it knows about sums.",
        "no mask over the prompt",
        KNOWS,
        'tuned = {"the answer alone": fine_tune(9)',
        'tuned = {"the answer alone": fine_tune(1)',
    ),
    Ablation(
        "The model that learns every token learns the users' mistakes.",
        "users who make no mistakes",
        LEARNS,
        "guess = (a + b + sums.SLIPS[slip]) % 100",
        "guess = a + b",
    ),
    Ablation(
        "Both stay so.", "twice as many steps", LEARNS, "def fine_tune(prompt, steps=300):", "def fine_tune(prompt, steps=600):", holds=True
    ),
    Ablation(
        "Examples with answers make the assistant.",
        "a single step of training",
        ANSWERS,
        'tuned = {"the answer alone": fine_tune(9)',
        'tuned = {"the answer alone": fine_tune(9, steps=1)',
    ),
    Ablation("DPO finds the best policy of the formula.", "no reference", FORMULA, "learn(reference.log())", "learn(torch.zeros(5))"),
    Ablation("With its reference DPO keeps the sums.", "DPO without its reference", KEEPS, "look(tune(True))", "look(tune(False))"),
    Ablation(
        "Trained on every token, the answers lag behind, because there is more to learn in the same steps.",
        "four times as many steps",
        BEHIND,
        '"every token": fine_tune(1)}',
        '"every token": fine_tune(1, steps=1200)}',
    ),
    Ablation(
        "As many lines are cheerful as the formula says.", "a judge with more taste", WEIGHED, "2.0 * line.cheerful", "3.0 * line.cheerful"
    ),
    Ablation(
        "Trained longer, it stays near.", "half again as many steps", WEIGHED, "look(tune(True))", "look(tune(True, steps=120))", holds=True
    ),
    Ablation("DPO learns the taste of the judge.", "a judge without a taste", TASTE, "2.0 * line.cheerful", "0.0 * line.cheerful"),
    Ablation(
        "Best of n needs a checker.",
        "the first answer is taken",
        CHECKED,
        "best_of[n] = sum(right in group for",
        "best_of[n] = sum(right == group[0] for",
    ),
    Ablation(
        "The vote needs the commonest line.", "the rarest is taken", VOTES, "max(group, key=group.count)", "min(group, key=group.count)"
    ),
    Ablation(
        "The loss with ratios is 0.", "the logarithm in place of the ratio", ZERO, "ratio = (log_p - log_p.detach()).exp()", "ratio = log_p"
    ),
    Ablation(
        "Its gradient is not 0, because the ratio carries one.",
        "a ratio without gradient",
        ZERO,
        "ratio = (log_p - log_p.detach()).exp()",
        "ratio = (log_p.detach() - log_p.detach()).exp() + 0 * log_p",
    ),
    Ablation(
        "A policy gradient on the gold checker makes answers right.",
        "the same reward for everything",
        ZERO,
        "policy, climbed, seen = improve(sums.gold)",
        "policy, climbed, seen = improve(lambda line: 1.0)",
    ),
    Ablation(
        "The reward climbs because advantages compare the answers.",
        "advantages of another question",
        CLIMBS,
        "found = torch.tensor([checker(line) for line in sums.read(rows)])",
        "found = torch.tensor([checker(line) for line in sums.read(rows)]).roll(8)",
    ),
    Ablation("A sloppy checker is hacked.", "the gold checker", HACKED, '(("sloppy", sums.sloppy, 0.0),', '(("sloppy", sums.gold, 0.0),'),
    Ablation(
        "It is hacked, however long it learns.",
        "a hundred steps",
        HACKED,
        "improve(checker, beta=cost)",
        "improve(checker, beta=cost, steps=100 if cost == 0 else 50)",
        holds=True,
    ),
    Ablation(
        "The price keeps the ratio of right lines to accepted ones.",
        "no price",
        "assert abs(ratios[0] - ratios[1]) < 0.08",
        '("sloppy, β = 0.5", sums.sloppy, 0.5)',
        '("sloppy, β = 0.5", sums.sloppy, 0.0)',
    ),
    Ablation(
        "It does so, however long the policy learns.",
        "a hundred steps with the price",
        "assert abs(ratios[0] - ratios[1]) < 0.08",
        "improve(checker, beta=cost)",
        "improve(checker, beta=cost, steps=100 if cost else 50)",
        holds=True,
    ),
    Ablation(
        "The decoder of today learns to add.",
        "every question gets the next one's answer",
        ADDS,
        "asked_and_right = torch.cat([dialogues[:, :6], dialogues[:, 9:]], 1)",
        "asked_and_right = torch.cat([dialogues[:, :6], dialogues.roll(1, 0)[:, 9:]], 1)",
    ),
]
COMPANION = [
    Ablation(
        "Experts are used evenly because of the balance loss.",
        "experts without balance loss",
        EVEN,
        '{"with balance loss": train_mixture(0.1)',
        '{"with balance loss": train_mixture(0.0)',
    ),
    Ablation(
        "Many steps of DPO lead to the best policy.",
        "a reference that likes all answers equally",
        "assert (scores.softmax(0) - best).abs().max() < 0.02",
        "preference_step(scores, reference.log(), won",
        "preference_step(scores, torch.zeros(5), won",
    ),
    Ablation(
        "The keys of latent attention need not be computed.",
        "another matrix for the queries",
        "torch.testing.assert_close(with_keys, without_keys, rtol=1e-4, atol=1e-4)",
        'torch.einsum("hsl,hs->hl", w_k, queries)',
        'torch.einsum("hsl,hs->hl", w_k.flip(0), queries)',
    ),
]

ABLATIONS = [*CHAPTER, *COMPANION]
