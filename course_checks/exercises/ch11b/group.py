"""Exercise 11b.8: the loss of a policy gradient with a group for its baseline. The oracle goes answer by answer in doubles."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _oracle(log_probs: Tensor, rewards: Tensor) -> tuple[Tensor, Tensor]:
    rows, total = [], torch.zeros((), dtype=torch.double)
    for said, group in zip(log_probs.double(), rewards.tolist(), strict=True):
        mean = sum(group) / len(group)
        spread = (sum((r - mean) ** 2 for r in group) / len(group)) ** 0.5
        row = [0.0 if max(group) == min(group) else (r - mean) / spread for r in group]
        total = total - sum(a * p for a, p in zip(row, said, strict=True))
        rows.append(row)
    return (total / log_probs.numel()).float(), torch.tensor(rows)


def _group(log_probs: Tensor, rewards: Tensor, centre: str = "group", spread: str = "group", loss: str = "right"
           ) -> tuple[Tensor, Tensor]:
    size = rewards.shape[1]
    others = (rewards.sum(1, keepdim=True) - rewards) / (size - 1)
    centred = rewards - {
        "group": rewards.mean(1, keepdim=True), "batch": rewards.mean(), "answers": rewards.mean(0, keepdim=True),
        "none": torch.zeros_like(rewards), "best": rewards.amax(1, keepdim=True), "others": others, "half": torch.tensor(0.5),
        "median": rewards.median(1, keepdim=True).values}[centre]
    by = {"group": rewards.std(1, keepdim=True, correction=0), "unbiased": rewards.std(1, keepdim=True),
          "batch": rewards.std(correction=0), "answers": rewards.std(0, keepdim=True, correction=0), "none": torch.ones(()),
          "variance": rewards.var(1, keepdim=True, correction=0), "sum": rewards.sum(1, keepdim=True),
          "range": rewards.amax(1, keepdim=True) - rewards.amin(1, keepdim=True), "nan": rewards.std(1, keepdim=True, correction=0),
          }[spread]
    advantages = centred / by if spread in ("nan", "none") else torch.where(by == 0, torch.zeros_like(centred), centred / by)
    if loss == "softmax":
        advantages = rewards.softmax(1)
    each = advantages * (log_probs.exp() if loss == "probabilities" else log_probs)
    match loss:
        case "sign":
            total = each.mean()
        case "total":
            total = -each.sum()
        case "groups":
            total = -each.sum(1).mean()
        case "cut":
            total = -each.mean().detach()
        case "advantages":
            total = -advantages.mean() + 0 * log_probs.sum()
        case "rewards":
            total = -(rewards * log_probs).mean()
        case "positive":
            total = -(advantages.clamp(min=0) * log_probs).mean()
        case _:
            total = -each.mean()
    return total, advantages


def _careful(log_probs: Tensor, rewards: Tensor, **ways: str) -> tuple[Tensor, Tensor]:
    if rewards.shape[1] < 2:
        raise ValueError(f"a group of {rewards.shape[1]} answer has nothing to be compared with")
    return _group(log_probs, rewards, **ways)


def _case(g: torch.Generator, label: str, rewards: Tensor, part: str = "values") -> Case:
    return Case(label, {"log_probs": -1.0 - 6 * torch.rand(rewards.shape, generator=g), "rewards": rewards}, part=part,
                gradients=("log_probs",), shape="(questions, group)")


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [_case(g, "4 questions, 5 answers each", torch.rand(4, 5, generator=g)),
            _case(g, "3 questions, 7 answers each", 3 * torch.randn(3, 7, generator=g) + torch.tensor([[5.0], [-4.0], [1.0]]))]


def _fixed() -> list[Case]:
    g = generator(5)
    return [_case(g, "right or wrong, 1 or 0", torch.tensor([[1.0, 0, 0, 1], [0, 0, 0, 1], [1, 1, 0, 1]])),
            _case(g, "one group all right, one all wrong", torch.tensor([[1.0, 1, 1], [0, 0, 0], [0, 1, 0], [1, 1, 0]]), "equal"),
            _case(g, "nothing to choose from anywhere", torch.ones(2, 3), "equal"),
            Case("groups of one", {"log_probs": torch.tensor([[-1.0], [-2.0]]), "rewards": torch.tensor([[1.0], [0.0]])}, part="refusal",
                 rejects=ValueError, mentions=("1",))]


GROUP = Exercise(
    id="11b.8", title="The advantage of an answer", name="group_loss", kind="function", stars=2, minutes=15,
    signature="group_loss(log_probs, rewards) -> loss, advantages (questions, group)", oracle=_oracle, reference=_careful, draw=_draw,
    fixed=_fixed, parts={"values": 3, "equal": 1, "refusal": 1}, outputs=("loss", "advantages"), rtol=1e-3, atol=1e-4,
    twins=(
        Twin("no baseline", partial(_group, centre="none"),
             "The mean is not subtracted. Then every answer with a positive reward is made more probable, the worse ones too."),
        Twin("mean of the whole batch", partial(_group, centre="batch"),
             "You compare with all answers. The advantage then depends on how hard the question is. Compare within the group."),
        Twin("batch for mean and spread", partial(_group, centre="batch", spread="batch"),
             "Both numbers come from the whole batch. Each question is a group of its own."),
        Twin("mean over the questions", partial(_group, centre="answers"),
             "You average over the questions. A row holds the answers to one question: average along it."),
        Twin("over the wrong axis", partial(_group, centre="answers", spread="answers"),
             "Mean and deviation are taken down the columns. A row holds the answers to one question."),
        Twin("best answer as baseline", partial(_group, centre="best"),
             "Compared with the best answer, no answer has a positive advantage. Compare with the mean."),
        Twin("mean of the others", partial(_group, centre="others"),
             "You compare with the mean of the others, a good baseline of another method. Here it is the mean of the whole group."),
        Twin("median as baseline", partial(_group, centre="median"), "You subtract the median. The mean is asked for."),
        Twin("a half as baseline", partial(_group, centre="half"),
             "A fixed number is no comparison: rewards need not lie between 0 and 1."),
        Twin("not divided by the deviation", partial(_group, spread="none"),
             "The rewards are centred. They still have to be divided by the standard deviation of the group."),
        Twin("deviation with one divisor less", partial(_group, spread="unbiased"),
             "By default, PyTorch's std divides by one less than the size of the group. Divide by the size itself."),
        Twin("deviation of the whole batch", partial(_group, spread="batch"), "The deviation is that of the group, not that of the batch."),
        Twin("deviation over the questions", partial(_group, spread="answers"),
             "Your deviation is taken down the columns. A row holds one group."),
        Twin("divided by the variance", partial(_group, spread="variance"), "You divide by the variance. Its root is wanted."),
        Twin("divided by the range", partial(_group, spread="range"),
             "You divide by largest minus smallest. Divide by the standard deviation."),
        Twin("divided by the sum", partial(_group, spread="sum"), "You divide by the sum of the rewards, which may be 0 or negative."),
        Twin("equal rewards divide by 0", partial(_careful, spread="nan"),
             "If all answers of a group get the same reward, the deviation is 0, and 0/0 gives nan. Their advantage should be 0."),
        Twin("sign of the loss", partial(_careful, loss="sign"),
             "An optimiser lowers the loss. Yours makes good answers less probable."),
        Twin("sum instead of mean", partial(_careful, loss="total"), "The loss grows with the number of answers. Take the mean."),
        Twin("sum within the group", partial(_careful, loss="groups"), "You average over the questions only. Average over all answers."),
        Twin("probabilities instead of logarithms", partial(_careful, loss="probabilities"),
             "You weight the probabilities. The gradient of an expected reward contains the gradient of the log-probability."),
        Twin("loss without gradient", partial(_careful, loss="cut"), "The number is right, but no gradient reaches the log-probabilities."),
        Twin("mean of the advantages", partial(_careful, loss="advantages"),
             "Your loss has the value of the mean advantage, which is 0. Multiply each advantage by its answer's log-probability."),
        Twin("rewards for advantages in the loss", partial(_careful, loss="rewards"),
             "The advantages are right, but your loss multiplies the bare rewards."),
        Twin("bad answers ignored", partial(_careful, loss="positive"),
             "Answers below the mean have to become less probable; yours leaves them out."),
        Twin("softmax of the rewards", partial(_careful, loss="softmax"),
             "A softmax makes all advantages positive. Here they sum to 0 in each group."),
    ),
)
