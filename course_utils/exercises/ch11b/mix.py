"""Exercise 11b.2: six numbers about GPT-3's data mix. The oracle divides the published table (Brown et al. 2020, table 2.2)."""

from __future__ import annotations

from ...checks.exercise import Case, Exercise, Twin

NAMES = ("times that every token of Wikipedia is read", "times that every token of Common Crawl is read",
         "times that every token of WebText2 is read", "tokens of Wikipedia read for one of Common Crawl, per token that there is",
         "billions of Common Crawl tokens that are never read", "sum of the five weights, in per cent")
SIZE = {"Common Crawl": 410, "WebText2": 19, "Books1": 12, "Books2": 55, "Wikipedia": 3}  # billions of tokens
WEIGHT = {"Common Crawl": 60, "WebText2": 22, "Books1": 8, "Books2": 8, "Wikipedia": 3}  # per cent of 300 billion


def _measure() -> dict[str, float]:
    times = {name: 300 * WEIGHT[name] / 100 / SIZE[name] for name in SIZE}
    return dict(zip(NAMES, (times["Wikipedia"], times["Common Crawl"], times["WebText2"], times["Wikipedia"] / times["Common Crawl"],
                            SIZE["Common Crawl"] - 3 * WEIGHT["Common Crawl"], sum(WEIGHT.values())), strict=True))


RIGHT = _measure()


def _with(*changes: tuple[int, float]) -> dict[str, float]:
    return {**RIGHT, **{NAMES[index]: value for index, value in changes}}


MIX = Exercise(
    id="11b.2", title="Predict: who is read how often", name="prediction_of_the_mix", kind="value", stars=1, minutes=8,
    signature="prediction_of_the_mix: dict of 6 numbers", oracle=_measure, reference=RIGHT, parts={"values": 3}, rtol=0.008, atol=0.003,
    draw=lambda seed: [Case("your six numbers", {})],
    twins=(
        Twin("the paper's figure for Wikipedia", _with((0, 3.4)),
             "That is what the table in the paper says. Its own size and weight give another number: how many tokens are drawn?"),
        Twin("the printed column copied", _with((0, 3.4), (2, 2.9), (3, 3.4 / 0.44)),
             "You took the last column, which is not to be trusted. Sizes and weights give other numbers for two collections."),
        Twin("ratio of the printed times", _with((3, 3.4 / 0.44)),
             "You divided the figures that are printed in the table. Wikipedia's is not to be trusted: divide the two that you computed."),
        Twin("billions of tokens drawn", _with((0, 9), (1, 180), (2, 66)),
             "These are billions of tokens that are drawn. Divide each by the size of its collection to get how often a token is read."),
        Twin("once, like everything", _with((0, 1.0)), "Nobody reads all texts equally often here: the weight decides, not the size."),
        Twin("weight taken for times", _with((0, 0.03)),
             "Three per cent is a share of the tokens that are drawn. Compare their number with the number that exists."),
        Twin("share of the collection", _with((0, 3 / 499)), "That is Wikipedia's share of all tokens there are. How often is it drawn?"),
        Twin("divided the wrong way round", _with((0, 1 / 3), (1, 410 / 180)),
             "Tokens drawn over tokens that exist says how often each is read; yours is the other way round."),
        Twin("Common Crawl read as a whole", _with((1, 1.0)), "Of 300 billion tokens that are drawn, how many can be Common Crawl?"),
        Twin("weight taken for times, Common Crawl", _with((1, 0.6)),
             "Sixty per cent of what is read is Common Crawl; that is not sixty per cent of Common Crawl."),
        Twin("weight against the whole collection", _with((1, 0.6 * 499 / 410)),
             "Either your weight refers to all 499 billion tokens that were collected, or you left it out. It says which share of the 300 "
             "billion tokens of training is drawn from here."),
        Twin("the paper's figure for WebText2", _with((2, 2.9)),
             "That is what the paper's table says. Compute it from the weight and the size, as for the others."),
        Twin("as often as Wikipedia", _with((2, 3.0)), "WebText2 has a larger weight and is larger. Divide for each of the two."),
        Twin("ratio of the weights", _with((3, 3 / 60)),
             "That compares how much of both is read. Asked is how often a single token is met, so the sizes matter too."),
        Twin("ratio upside down", _with((3, 0.6 / 0.03 * 3 / 410)),
             "Which of the two is met more often, a token of Wikipedia or of Common Crawl? Yours says the latter."),
        Twin("ratio of the sizes", _with((3, 410 / 3)),
             "It would be that if both had the same weight. Common Crawl has twenty times as much."),
        Twin("what is read instead of what is not", _with((4, 180)), "So many are read at most once. How many are left over?"),
        Twin("what the others leave over", _with((4, 120)), "That is what the other texts take. Asked is how much of Common Crawl is left "
             "when training ends."),
        Twin("forty per cent of the collection", _with((4, 164)),
             "Sixty per cent of what is drawn is Common Crawl, not sixty per cent of Common Crawl. How many tokens are drawn from it?"),
        Twin("nothing left unread", _with((4, 0)), "300 billion tokens are drawn in all, and Common Crawl alone has more than that."),
        Twin("unread if it were all of the training", _with((4, 110)), "Only sixty per cent of the 300 billion are Common Crawl."),
        Twin("shares sum to one hundred", _with((5, 100)), "They should. Add them up as printed: each was rounded on its own."),
        Twin("a sum below one hundred", _with((5, 99)), "Rounding can move a sum to both sides. Add the five numbers of the table."),
    ),
)
