"""Ablations of chapter 11b, What more buys, and of its companion."""

from .ablation import Ablation

LAW = "assert 0.04 < exponent < 0.09 and abs(predicted - losses[3]) < 0.15"
VALLEY = "assert valley[0] > min(valley) + 0.05 < valley[-1]"
BOTTOM = "assert law(at, read, **numbers) <= loss.min() + 1e-6"
SUM = 'assert abs(each["sum"] - 19) < 6 and each["mean"] > 2 * each["sum"]'
ROUNDED = "assert round(read / size) == 56"
SERVED = "assert cheapest(1e14)[1] > 3 * cheapest(0)[1]"
RATES = "assert max(spread(0.05), spread(0.1)) < 0.1"
TOLD = "assert values[0] > 0.95 and min(values[1:4]) > 0.6 and values[4] < 0.15"
SHOWN = 'assert one_shot["one example"] > 0.6 and one_shot["no example"] < 0.4'
WRONG = 'assert one_shot["a wrong number"] > 0.75 * one_shot["one example"]'
BAYES = "assert max(apart.values()) < 0.09"
LEARNS = "assert 0.38 < model[0] < 0.6 and model[11] > model[0] + 0.28"
LABELS = "assert mixed[11] < 0.65"
WAY = '    "one example": lambda n, m, a, b, c: [example(n, a, b)],'

CHAPTER = [
    Ablation(
        "What a budget buys at best is a power law of the budget.",
        "one width for all budgets",
        LAW,
        '(run for run in runs if run["budget"] == k),',
        '(run for run in runs if run["budget"] == k and run["width"] == 16),',
    ),
    Ablation(
        "At equal cost there is a best size between the smallest and the largest.",
        "steps held while parameters grow",
        VALLEY,
        '    valley = [run["loss"] for run in runs if run["budget"] == k]\n',
        '    valley = [loss_of_run("width", str(width)) for width in (8, 16, 32, 64, 96)]\n',
    ),
    Ablation(
        "The derived formula gives the bottom of the valley.",
        "twenty tokens for each parameter, whatever the law",
        BOTTOM,
        "    return best_use(operations, **numbers)\n",
        "    return (operations / 120)**0.5, 20 * (operations / 120)**0.5\n",
    ),
    Ablation(
        "A fit whose loss is summed finds the law again.",
        "the loss averaged",
        SUM,
        'ways = {"sum": (False, 1e-5)',
        'ways = {"sum": (True, 1e-5)',
    ),
    Ablation(
        "Rounding the exponents alone makes 87 tokens of 56.",
        "the exponents as they were printed",
        ROUNDED,
        "406.4, 410.7, 0.3392, 0.2849",
        "406.4, 410.7, 0.34, 0.28",
    ),
    Ablation(
        "Models are trained beyond twenty tokens because their answers cost, too.",
        "answers that cost nothing",
        SERVED,
        "    return n, read, 6 * n * read + 2 * n * served\n",
        "    return n, read, 6 * n * read\n",
    ),
    Ablation(
        "The instruction decides what the toy does.",
        "one instruction for all of them",
        TOLD,
        "multitask.accuracy(teller, words, pairs, held_numbers)",
        'multitask.accuracy(teller, words, pairs, held_numbers, "translate to digits")',
    ),
    Ablation("One example says which task is meant.", "no example", SHOWN, WAY, '    "one example": lambda n, m, a, b, c: [],'),
    Ablation(
        "A model has to be trained on rows of examples before an example says anything.",
        "no training on rows",
        SHOWN,
        "for step in range(200):",
        "for step in range(1):",
    ),
    Ablation(
        "A wrong example points to the task nearly as well, however long one trains.",
        "twice as many steps",
        WRONG,
        "for step in range(200):",
        "for step in range(400):",
        holds=True,
    ),
    Ablation(
        "What an example points to is the language of its answer.",
        "the wrong number in another language",
        WRONG,
        "[example(n, a, b, m)]",
        "[example(n, a, c, m)]",
    ),
    Ablation(
        "The model answers as the posterior after the same examples.",
        "the posterior after the wrong number of examples",
        BAYES,
        "belief = posterior(shops, hours[shop, :k], opened[shop, :k])",
        "belief = posterior(shops, hours[shop], opened[shop])",
    ),
    Ablation(
        "The model answers as the posterior after the same examples, also when it is trained for longer.",
        "twice as many steps of meta-learning",
        BAYES,
        "incontext.train(known_shops)",
        "incontext.train(known_shops, steps=600)",
        holds=True,
    ),
    Ablation(
        "The model learns from what the examples say.",
        "labels of the examples shuffled throughout",
        LEARNS,
        'says = {"model": incontext.says_open(learner, hours, opened)',
        'says = {"model": incontext.says_open(learner, hours, opened[:, torch.randperm(12)])',
    ),
    Ablation(
        "With shuffled labels nothing of it is left.",
        "the labels left where they were",
        LABELS,
        "    shuffled[:, :k] = opened[:, :k].gather(1, order)\n",
        "    shuffled[:, :k] = opened[:, :k]\n",
    ),
]
COMPANION = [
    Ablation(
        "The effect of a rate is the same at the same product of rate and width.",
        "one rate for all widths",
        RATES,
        "    at = [every[width][rate] for width in every]\n",
        "    at = [every[width][rate * width / 16] for width in every]\n",
    ),
    Ablation(
        "A filter throws out the junk that it was shown.",
        "a filter that knows one kind of junk",
        "assert max(kept[kind][0] for kind in quality.KINDS[:3]) < 0.1",
        "filters = train_filter(quality.KINDS[:3])",
        "filters = train_filter(quality.KINDS[:1])",
    ),
    Ablation(
        "Held-out paragraphs with a near copy in training are easier.",
        "paragraphs drawn at random in their place",
        'assert rate["leaked"] < rate["clean"] - 0.15',
        "is_leaked = torch.tensor([k in leaked for k in range(len(held))])",
        "is_leaked = torch.tensor([k % 20 == 0 for k in range(len(held))])",
    ),
]

ABLATIONS = [*CHAPTER, *COMPANION]
