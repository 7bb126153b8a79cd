"""Exercise 12b.1: what two words lose when they are guessed apart. The oracle walks over the table in double precision."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _oracle(joint: Tensor) -> tuple[Tensor, Tensor]:
    table = joint.double().tolist()
    rows, columns = [sum(row) for row in table], [sum(column) for column in zip(*table, strict=True)]
    product = [[a * b for b in columns] for a in rows]
    lost = sum(p * (math.log(p) - math.log(q)) for left, right in zip(table, product, strict=True)
               for p, q in zip(left, right, strict=True) if p > 0)
    return torch.tensor(product), torch.tensor(lost)


def _apart(joint: Tensor, how: str = "right") -> tuple[Tensor, Tensor]:
    first, second = joint.sum(1), joint.sum(0)
    match how:
        case "first only":
            product = first[:, None].expand_as(joint)
        case "second only":
            product = second.expand_as(joint)
        case "means":
            product = joint.mean(1)[:, None] * joint.mean(0)
        case "conditionals":
            product = (joint / first[:, None]) * (joint / second)
        case "second given first":
            product = joint / first[:, None]
        case "one conditional":
            product = first[:, None] * (joint / first[:, None])
        case "uniform":
            product = torch.full_like(joint, 1 / joint.numel())
        case "support":
            product = first[:, None] * second * (joint > 0)
            product = product / product.sum()
        case "largest":
            product = joint.amax(1)[:, None] * joint.amax(0)
        case "sum":
            product = (first[:, None] + second) / sum(joint.shape)
        case _:
            product = first[:, None] * second
    ratio = joint.log() - product.log()
    seen = joint > 0
    weight = {"reverse": product, "unweighted": seen / seen.sum(), "added up": seen.float()}.get(how, joint)
    terms = joint * ratio if how == "nan" else torch.where(seen, weight * torch.where(seen, ratio, 0.0), 0.0)
    if how == "nan product":
        terms = joint * (joint.clamp_min(1e-12).log() - product.log())
    lost = terms.sum()
    if how == "rows":
        lost = lost / len(joint)
    if how == "all entries":
        lost = terms.mean()
    if how == "entropy":
        lost = -torch.where(seen, joint * joint.log().clamp_min(-99), 0.0).sum()
    if how == "cross entropy":
        lost = -torch.where(seen, joint * product.log(), 0.0).sum()
    if how == "probabilities":
        lost = (joint * (joint - product)).sum()
    if how == "turned round":
        lost = (product * (product.log() - joint.log().clamp_min(-99))).sum()
    return product, lost / math.log(2) if how == "bits" else -lost if how == "sign" else lost


def _reference(joint: Tensor) -> tuple[Tensor, Tensor]:
    if abs(joint.sum().item() - 1) > 1e-4:
        raise ValueError(f"the probabilities add up to {joint.sum().item():.4g} instead of 1")
    return _apart(joint)


def _draw(seed: int) -> list[Case]:
    g = generator(seed)

    def table(rows: int, columns: int, holes: bool) -> Tensor:
        weight = torch.rand(rows, columns, generator=g) + 0.15
        weight[0, 1] += 1.5
        if holes:
            weight[1, 0] = weight[0, 2] = weight[2, 1] = 0
        return weight / weight.sum()

    return [Case("3 × 4 words", {"joint": table(3, 4, False)}, part="every pair possible"),
            Case("4 × 5 words, some pairs impossible", {"joint": table(4, 5, True)}, part="impossible pairs"),
            Case("5 × 3 words, some pairs impossible", {"joint": table(5, 3, True)}, part="impossible pairs")]


def _fixed() -> list[Case]:
    new_york = torch.tensor([[0.5, 0.0, 0.0], [0.0, 0.5, 0.0]])
    return [Case("two cities, half each, and a second word that never occurs", {"joint": new_york}, part="impossible pairs"),
            Case("words that do not know of each other", {"joint": torch.outer(torch.tensor([0.2, 0.8]), torch.tensor([0.1, 0.6, 0.3]))},
                 part="every pair possible"),
            Case("a table that adds up to 0.75", {"joint": torch.full((3, 2), 0.125)}, part="refusal", rejects=ValueError,
                 mentions=("0.75",)),
            Case("a table that adds up to 0.9375", {"joint": torch.full((3, 5), 0.0625)}, part="refusal", rejects=ValueError),
            Case("a table that adds up to 1.5", {"joint": torch.full((2, 3), 0.25)}, part="refusal", rejects=ValueError, mentions=("1.5",))]


PAIRS = Exercise(
    id="12b.1", title="Two words guessed apart", name="guessed_apart", kind="function", stars=1, minutes=10,
    signature="guessed_apart(joint) -> product (first, second), lost ()", oracle=_oracle, reference=_reference, draw=_draw, fixed=_fixed,
    parts={"every pair possible": 2, "impossible pairs": 2, "refusal": 1}, outputs=("product", "lost"), atol=2e-5,
    twins=(
        Twin("only the first word", partial(_apart, how="first only"), "Your table does not depend on the second word. Each entry needs "
             "both marginals."),
        Twin("only the second word", partial(_apart, how="second only"), "Your table does not depend on the first word. Each entry needs "
             "both marginals."),
        Twin("means instead of sums", partial(_apart, how="means"),
             "A marginal adds up all ways in which a word can occur. A mean divides that by how many ways there are."),
        Twin("conditionals multiplied", partial(_apart, how="conditionals"),
             "You divide by the row and by the column: these are probabilities of one word given the other. BERT knows neither word."),
        Twin("second word given the first", partial(_apart, how="second given first"),
             "You divide each row by its sum: that is the second word if the first is known. Guessed apart, it is not known."),
        Twin("the chain rule instead", partial(_apart, how="one conditional"),
             "First word times second word given the first: that is the joint table again, and nothing is lost. Here the second word is "
             "guessed without the first."),
        Twin("all pairs equally likely", partial(_apart, how="uniform"),
             "Your table treats all pairs alike. Even when words are guessed apart, frequent words are more probable."),
        Twin("impossible pairs left out", partial(_apart, how="support"),
             "You removed the pairs that do not exist. If the words are guessed apart, nothing can exclude such pairs."),
        Twin("largest entries taken for marginals", partial(_apart, how="largest"),
             "The probability of a word is the sum over everything it may occur with, not the likeliest of these."),
        Twin("marginals added", partial(_apart, how="sum"),
             "The probability of two independent things is the product of theirs. You added them."),
        Twin("weighted by the product", partial(_apart, how="reverse"),
             "The mean is over pairs that really occur, so each difference of logarithms is weighted by the true table."),
        Twin("divergence turned round", partial(_apart, how="turned round"),
             "You exchanged product and joint table. Compute how much larger the logarithm of the joint table is, on average over pairs "
             "that really occur."),
        Twin("all pairs weighted alike", partial(_apart, how="unweighted"),
             "Frequent pairs count more than rare ones: weigh each difference by how probable the pair is."),
        Twin("differences not weighted", partial(_apart, how="added up"),
             "You add the differences of the logarithms. A mean over real pairs weights each by its probability."),
        Twin("impossible pairs make it NaN", partial(_apart, how="nan"),
             "Zero times minus infinity gives nan. A pair that never occurs has to add 0, so leave such pairs out."),
        Twin("a word that never occurs makes it NaN", partial(_apart, how="nan product"),
             "A word that never occurs has a product of 0, and zero times its logarithm is not a number. Select the pairs that occur "
             "before you take any logarithm."),
        Twin("divided by the number of rows", partial(_apart, how="rows"),
             "The probabilities are weights already, and they add up to one over the whole table. You divide by the number of its rows as "
             "well."),
        Twin("divided by the number of entries", partial(_apart, how="all entries"),
             "The probabilities are weights already, and they add up to one. Dividing by the size of the table makes it too small."),
        Twin("bits", partial(_apart, how="bits"), "Your loss is right in bits. Nats are asked for: natural logarithms."),
        Twin("sign turned round", partial(_apart, how="sign"),
             "Real pairs are more probable under the joint table than under the product, so what is lost is positive."),
        Twin("entropy of the pair", partial(_apart, how="entropy"),
             "You return how uncertain the pair itself is. Compute how much worse the product does than the joint table."),
        Twin("cross-entropy of the product", partial(_apart, how="cross entropy"),
             "That is the loss of the product itself. Even the joint table has a loss; only the difference is due to guessing apart."),
        Twin("probabilities compared", partial(_apart, how="probabilities"),
             "You subtract probabilities. Losses are made of logarithms: subtract those."),
    ),
)
