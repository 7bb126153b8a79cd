"""Exercise 12b.5: the loss of partial prediction, handed out with three faults. The oracle walks turn by turn in double precision."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _oracle(logits: Tensor, ids: Tensor, orders: Tensor, k: int) -> Tensor:
    losses = []
    for rows, tokens, turns in zip(logits.double(), ids.tolist(), orders.tolist(), strict=True):
        for place in turns[len(turns) - k:]:
            losses.append(torch.logsumexp(rows[place], 0) - rows[place, tokens[place]])
    return torch.stack(losses).mean().float()


def _loss(logits: Tensor, ids: Tensor, orders: Tensor, k: int, ranks: bool = False, end: str = "last", mean: str = "chosen",
          how: str = "right") -> Tensor:
    n = ids.shape[1]
    log_p = {"raw": logits, "log of softmax": logits.softmax(-1).log(), "tiny number": (logits.softmax(-1) + 1e-9).log(),
             "axis": logits.log_softmax(1)}.get(how, logits.log_softmax(-1))
    order = orders.argsort(-1) if ranks else orders
    chosen = {"last": order[:, n - k:], "first": order[:, :k], "next": order[:, n - k - 1:n - 1] if k < n else order,
              "all": order, "half": order[:, n // 2:], "sentence": torch.arange(n - k, n).expand(len(ids), k)}[end]
    wanted = ids
    match how:
        case "next token":
            wanted = ids.roll(-1, 1)
        case "next turn":  # the row of a turn is compared with the token of the turn after it
            wanted = ids.scatter(1, orders, ids.gather(1, orders.roll(-1, 1)))
        case "first order":
            chosen = chosen[:1].expand(len(ids), -1)
        case "permuted logits":  # the logits taken to be sorted by turn
            picked = log_p[:, n - k:].gather(-1, ids.gather(1, chosen)[..., None])
            return -picked.mean()
        case "permuted ids":
            picked = log_p.gather(1, chosen[..., None].expand(-1, -1, log_p.shape[-1])).gather(-1, ids[:, n - k:, None])
            return -picked.mean()
    rows = torch.arange(len(ids))[:, None]
    picked = -log_p[rows, chosen, wanted[rows, chosen]]
    if how == "bits":
        picked = picked / math.log(2)
    if how == "sign":
        picked = -picked
    total = picked.sum()
    return {"chosen": picked.mean(), "all tokens": total / ids.numel(), "sentences": total / len(ids), "sum": total,
            "k": total / k, "length": total / n}[mean]


def _draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(part: str, batch: int, n: int, vocab: int, k: int) -> Case:
        orders = torch.stack([torch.randperm(n, generator=g) for _ in range(batch)])
        return Case(f"{batch} sentences of {n} tokens, the last {k} of each order", {
            "logits": 1.5 * torch.randn(batch, n, vocab, generator=g), "ids": torch.randint(0, vocab, (batch, n), generator=g),
            "orders": orders, "k": k}, part=part, gradients=("logits",), shape="()")

    return [case("values", 3, 7, 9, 2), case("values", 4, 6, 11, 3), case("values", 2, 8, 5, 3), case("edges", 3, 5, 8, 5)]


BUG = Exercise(
    id="12b.5", title="Find the bugs: partial prediction", name="partial_loss", kind="function", stars=2, minutes=12,
    signature="partial_loss(logits, ids, orders, k) -> ()", oracle=_oracle, reference=_loss, draw=_draw,
    parts={"values": 3, "edges": 1},
    fixed=lambda: [Case("logits in the hundreds", {
        "logits": torch.tensor([[[120.0, -90.0, 0.0], [10.0, -200.0, 150.0], [0.0, 40.0, -130.0]]]), "ids": torch.tensor([[1, 0, 2]]),
        "orders": torch.tensor([[2, 0, 1]]), "k": 2}, part="edges", gradients=("logits",), shape="()"),
        Case("one sentence, one target", {
        "logits": torch.tensor([[[0.5, 2.0, -1.0], [1.0, 0.0, 3.0]]]), "ids": torch.tensor([[1, 2]]), "orders": torch.tensor([[1, 0]]),
        "k": 1}, part="edges", gradients=("logits",), shape="()")],
    twins=(
        Twin("a tiny number in the logarithm", partial(_loss, how="tiny number"),
             "You add a number inside the logarithm. So the loss cannot exceed some twenty nats, however wrong the answer is. A "
             "log-softmax does both steps at once and needs no such number."),
        Twin("still the handed-out bugs", partial(_loss, ranks=True, end="first", mean="all tokens"),
             "Take one sentence with an order written by hand. Which positions should count, which do, and what is the sum divided by?",
             untouched=True),
        Twin("wrong end and wrong mean", partial(_loss, end="first", mean="all tokens"),
             "The positions are read from the order now. But you still take the turns that know least, and you still divide the sum by all "
             "tokens."),
        Twin("ranks and wrong end", partial(_loss, ranks=True, end="first"),
             "The mean is right now. Sorting an order gives the turn of each position; and the first turns are the ones that know least."),
        Twin("ranks and wrong mean", partial(_loss, ranks=True, mean="all tokens"),
             "The end is right now. But sorting an order gives the turn of each position, not the position of each turn. And you divide by "
             "more tokens than you add up."),
        Twin("ranks taken for positions", partial(_loss, ranks=True),
             "You sort the order, and this gives the turn of each position. You need the position of each of the last turns, and the order "
             "itself gives that."),
        Twin("first turns predicted", partial(_loss, end="first"),
             "You count the first turns, which know nearly nothing. The last ones know most of the sentence."),
        Twin("divided by all tokens", partial(_loss, mean="all tokens"),
             "Only the chosen tokens are summed, so only they count in the mean. Yours depends on how many were left out."),
        Twin("divided by the sentences", partial(_loss, mean="sentences"), "You divide by the number of sentences; each has several "
             "chosen tokens."),
        Twin("divided by one sentence's tokens", partial(_loss, mean="k"),
             "You divide by the targets of one sentence; the batch has more."),
        Twin("divided by the length", partial(_loss, mean="length"),
             "You divide by the length of a sentence. How many losses have you added up?"),
        Twin("not averaged", partial(_loss, mean="sum"), "The mean is asked for; yours is the sum over all chosen tokens."),
        Twin("last half of each order", partial(_loss, end="half"),
             "You take half of each order, whatever is asked for. The argument k says how many turns count."),
        Twin("logarithm of a softmax", partial(_loss, how="log of softmax"),
             "An improbable token's probability rounds to 0, and its logarithm is minus infinity. Use a log-softmax."),
        Twin("last words of the sentence", partial(_loss, end="sentence"),
             "You predict the last words of the sentence. The last turns of the order may be at any position."),
        Twin("all turns predicted", partial(_loss, end="all"), "You count every token. Only the last turns of each order should count."),
        Twin("one turn too early", partial(_loss, end="next"), "Your slice ends before the last turn, the one that knows most."),
        Twin("each row predicts the next word", partial(_loss, how="next token"),
             "Row i predicts the token at position i: the query stream knows the place it is asked about. Nothing is shifted here."),
        Twin("each row predicts the next turn", partial(_loss, how="next turn"),
             "You compare each row with the token of the turn after it, as in a decoder. The query stream predicts the token of its own "
             "place."),
        Twin("first order for all", partial(_loss, how="first order"), "Every sentence has an order of its own; yours uses the first one "
             "for all."),
        Twin("logits taken to be sorted", partial(_loss, how="permuted logits"),
             "The tokens are looked up through the order, the logits are not. Both are stored by position."),
        Twin("tokens taken to be sorted", partial(_loss, how="permuted ids"),
             "The logits are looked up through the order, the tokens are not. Both are stored by position."),
        Twin("softmax over the positions", partial(_loss, how="axis"), "Probabilities sum to one over the vocabulary, not over the "
             "sentence."),
        Twin("no softmax", partial(_loss, how="raw"), "You use the logits as they are. They are not yet logarithms of probabilities."),
        Twin("bits", partial(_loss, how="bits"), "Your loss is right in bits; nats are asked for."),
        Twin("sign lost", partial(_loss, how="sign"), "A loss is small when the right token is probable; yours is large."),
    ),
)
