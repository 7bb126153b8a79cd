"""Exercise 11b.6: the loss of direct preference optimisation. The oracle computes it pair by pair in double precision."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from ...exercise import Case, Exercise, Twin, generator


def _oracle(policy_chosen: Tensor, policy_rejected: Tensor, reference_chosen: Tensor, reference_rejected: Tensor,
            beta: float) -> tuple[Tensor, Tensor]:
    losses, won = [], []
    for a, b, c, d in zip(*(x.double() for x in (policy_chosen, policy_rejected, reference_chosen, reference_rejected)), strict=True):
        z = beta * (a - b - (c - d))
        losses.append(torch.logaddexp(torch.zeros_like(z), -z))  # ln(1 + e^-z), also where e^-z overflows
        won.append(z)
    return torch.stack(losses).mean().float(), torch.stack(won).float()


def _dpo(policy_chosen: Tensor, policy_rejected: Tensor, reference_chosen: Tensor, reference_rejected: Tensor, beta: float,
         gain: str = "right", loss: str = "right", second: str = "right") -> tuple[Tensor, Tensor]:
    up, down = policy_chosen - reference_chosen, policy_rejected - reference_rejected
    match gain:
        case "no reference":
            up, down = policy_chosen, policy_rejected
        case "added":
            up, down = policy_chosen + reference_chosen, policy_rejected + reference_rejected
        case "sum":
            down = -down
        case "chosen only":
            down = torch.zeros_like(down)
        case "rejected only":
            up = torch.zeros_like(up)
        case "swapped":
            up, down = down, up
        case "probabilities":
            up, down = policy_chosen.exp() - reference_chosen.exp(), policy_rejected.exp() - reference_rejected.exp()
        case "ratios":
            up, down = up.exp(), down.exp()
        case "quotient":
            up, down = policy_chosen / reference_chosen, policy_rejected / reference_rejected
        case "detached":
            down = down.detach()
    difference = up - down
    z = {"no beta": difference, "divided": difference / beta, "twice": beta**2 * difference,
         "clamped": (beta * difference).clamp(-50, 50), "to the reference": beta * (policy_chosen - policy_rejected)}.get(
             loss, beta * difference)
    each = -F.logsigmoid(z)
    match loss:
        case "outside":
            each, z = -beta * F.logsigmoid(difference), beta * difference
        case "no sign":
            each = -each
        case "no log":
            each = -torch.sigmoid(z)
        case "linear":
            each = -z
        case "ipo":
            each = (difference - 1 / (2 * beta)) ** 2
        case "hinge":
            each = torch.relu(1 - z)
        case "to the reference":
            each = (beta * difference) ** 2
        case "squared":
            each = (z - 1) ** 2
        case "base 2":
            each = each / torch.tensor(2.0).log()
    total = each.sum() if loss == "total" else -F.logsigmoid(z.mean()) if loss == "mean inside" else each.mean()
    total = total.detach() if loss == "cut" else total
    rewards = {"no beta": difference, "sigmoid": torch.sigmoid(z), "chosen": beta * up,
               "no gradient": z.detach(), "bare": difference}.get(second, z)
    return total, rewards


def _reference(policy_chosen: Tensor, policy_rejected: Tensor, reference_chosen: Tensor, reference_rejected: Tensor,
               beta: float) -> tuple[Tensor, Tensor]:
    if not beta > 0:
        raise ValueError(f"beta={beta} must be positive")
    return _dpo(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta)


def _case(g: torch.Generator, label: str, pairs: int, beta: float, part: str, same: bool = False, scale: float = 1.0) -> Case:
    reference = [-5.0 - 2 * torch.rand(pairs, generator=g) for _ in range(2)]
    policy = [x.clone() if same else x + scale * torch.randn(pairs, generator=g) for x in reference]
    return Case(label, {"policy_chosen": policy[0], "policy_rejected": policy[1], "reference_chosen": reference[0],
                        "reference_rejected": reference[1], "beta": beta}, part=part, gradients=("policy_chosen", "policy_rejected"),
                shape="()")


def _draw(seed: int) -> list[Case]:
    g = generator(seed)
    return [_case(g, "5 pairs, beta 0.4", 5, 0.4, "values"), _case(g, "3 pairs, beta 1.7", 3, 1.7, "values")]


def _fixed() -> list[Case]:
    g = generator(4)
    far = _case(g, "policy and reference hundreds of nats apart: exp overflows", 2, 1.0, "edges", scale=0.5)
    far.args["policy_chosen"] = far.args["policy_chosen"] + torch.tensor([-400.0, 300.0])
    return [_case(g, "a single pair", 1, 0.7, "values"), _case(g, "policy equal to the reference", 4, 0.3, "edges", same=True), far,
            Case("beta 0", {**_case(g, "", 2, 0.5, "").args, "beta": 0.0}, part="refusal", rejects=ValueError, mentions=("0",)),
            Case("beta -0.5", {**_case(g, "", 2, 0.5, "").args, "beta": -0.5}, part="refusal", rejects=ValueError, mentions=("-0.5",))]


PREFERRING = Exercise(
    id="11b.6", title="The loss of preferences", name="preference_loss", kind="function", stars=2, minutes=12,
    signature="preference_loss(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta) -> loss, margins",
    oracle=_oracle, reference=_reference, draw=_draw, fixed=_fixed, parts={"values": 3, "edges": 1, "refusal": 1},
    outputs=("loss", "margins"), forbidden=("course_utils.experiments.ch11b_preference.dpo_loss",),
    twins=(
        Twin("margins cut off at 50", partial(_dpo, loss="clamped"),
             "You cut large margins off, so that neither their loss nor their gradient is right. A log-sigmoid taken in one step stays "
             "finite for any margin."),
        Twin("squared distance to the reference", partial(_dpo, loss="to the reference"),
             "A squared distance pulls the policy back to the reference and prefers neither text. The margin is a gain over the reference, "
             "and a sigmoid turns it into a probability."),
        Twin("reference left out", partial(_dpo, gain="no reference"),
             "Nothing holds your policy near the reference: a text that was probable before gets credit for it. Only the change counts."),
        Twin("reference added", partial(_dpo, gain="added"),
             "A ratio of probabilities is a difference of logarithms. Either you add the reference's logarithms, or you have exchanged "
             "them: each text is compared with itself under the reference."),
        Twin("both changes added", partial(_dpo, gain="sum"),
             "You reward the policy for making both texts more probable. What counts is how much more the chosen one gained."),
        Twin("rejected text ignored", partial(_dpo, gain="chosen only"),
             "You only look at the chosen text. The pair says that it is better than the other one."),
        Twin("chosen text ignored", partial(_dpo, gain="rejected only"),
             "You only push the rejected text down. The pair also says which text should win."),
        Twin("chosen and rejected exchanged", partial(_dpo, gain="swapped"),
             "Yours rewards the text that lost. Check with a policy that clearly prefers the chosen one: its loss should be small."),
        Twin("probabilities instead of logarithms", partial(_dpo, gain="probabilities"),
             "You subtract probabilities. Those of whole texts are tiny; their ratio is what counts, a difference of logarithms."),
        Twin("ratios without logarithm", partial(_dpo, gain="ratios"),
             "You go back from the difference of logarithms to the ratio. The loss works with its logarithm."),
        Twin("logarithms divided", partial(_dpo, gain="quotient"),
             "The logarithm of a ratio is a difference; a ratio of two logarithms is something else."),
        Twin("rejected side without gradient", partial(_dpo, gain="detached"),
             "No gradient reaches the rejected text, so that it is never pushed down. Only the reference stays fixed."),
        Twin("beta left out", partial(_dpo, loss="no beta"),
             "Beta says how strongly a change of probability counts as reward, and so how far the policy may move. It is missing."),
        Twin("divided by beta", partial(_dpo, loss="divided"),
             "A larger beta has to keep the policy nearer to the reference: fewer nats of change must be enough."),
        Twin("beta used twice", partial(_dpo, loss="twice"), "The difference is multiplied by beta once; yours contains it twice."),
        Twin("beta outside the logarithm", partial(_dpo, loss="outside"),
             "Outside the logarithm, beta only scales the loss, like a learning rate. It belongs inside the sigmoid."),
        Twin("beta outside, margins bare", partial(_dpo, loss="outside", second="bare"),
             "A reward contains beta, so the margins contain it too. They go into the sigmoid. Outside, beta only scales the loss."),
        Twin("sign lost", partial(_dpo, loss="no sign"), "A loss falls when the chosen text wins more clearly; yours rises."),
        Twin("no logarithm of the sigmoid", partial(_dpo, loss="no log"),
             "The sigmoid is the probability that the chosen text wins. The loss is its negative logarithm."),
        Twin("margin itself as loss", partial(_dpo, loss="linear"),
             "Without the sigmoid the loss can fall for ever: every pair, however clear, goes on pulling with the same force."),
        Twin("hinge instead of logarithm", partial(_dpo, loss="hinge"),
             "A hinge is another loss, and stops at a margin. Here the sigmoid turns the margin into a probability."),
        Twin("squared distance to a target", partial(_dpo, loss="ipo"),
             "That is the loss of another method, IPO, which pulls each margin to a fixed place. Here the sigmoid turns it into a "
             "probability."),
        Twin("loss without gradient", partial(_dpo, loss="cut"),
             "All numbers are right. Your loss is cut off from the policy, so nothing could be trained with it."),
        Twin("squared distance to 1", partial(_dpo, loss="squared"),
             "That is a loss for a score that should be 1. A margin may be as large as it likes."),
        Twin("bits instead of nats", partial(_dpo, loss="base 2"), "The logarithm here is the natural one, not that to the base 2."),
        Twin("sum instead of mean", partial(_dpo, loss="total"),
             "The losses are added up. A mean does not grow with the number of pairs."),
        Twin("margins averaged first", partial(_dpo, loss="mean inside"),
             "You average the margins before the sigmoid, so that one clear pair hides several lost ones. Each pair has its own loss."),
        Twin("margins without beta", partial(_dpo, second="no beta"),
             "The loss is right. The margins are differences of rewards, and a reward contains beta."),
        Twin("margins without gradient", partial(_dpo, second="no gradient"),
             "All numbers are right. Your margins are cut off from the policy; hand them back as they were computed."),
        Twin("probabilities as margins", partial(_dpo, second="sigmoid"),
             "The loss is right. The margins are what goes into the sigmoid, not what comes out."),
        Twin("rewards of the chosen alone", partial(_dpo, second="chosen"),
             "The loss is right. A margin is the reward of the chosen text less that of the rejected one."),
    ),
)
