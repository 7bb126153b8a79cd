"""Exercise 12b.2: one sentence along any order. The oracle adds up entries of the joint table one by one."""

from __future__ import annotations

from functools import partial
from itertools import product

import torch
from torch import Tensor

from ...exercise import Case, Exercise, Twin, generator


def _oracle(joint: Tensor, sentence: Tensor, order: Tensor) -> Tensor:
    words, turns = sentence.tolist(), order.tolist()

    def mass(known: list[int]) -> float:
        """Of all sentences that agree with ours at the known positions."""
        return sum(joint[cell].item() for cell in product(*map(range, joint.shape)) if all(cell[i] == words[i] for i in known))

    return torch.tensor([mass(turns[:t + 1]) / mass(turns[:t]) for t in range(len(turns))])


def _mass(joint: Tensor, words: list[int], known: list[int]) -> Tensor:
    return joint[tuple(words[i] if i in known else slice(None) for i in range(joint.dim()))].sum()


def _factors(joint: Tensor, sentence: Tensor, order: Tensor, how: str = "right") -> Tensor:
    words, turns, n = sentence.tolist(), order.tolist(), joint.dim()
    if how == "ignored":
        turns = list(range(n))
    if how == "backwards":
        turns = turns[::-1]
    if how == "ranks":
        turns = order.argsort().tolist()
    if how == "counted from 1":
        turns = [(i - 1) % n for i in turns]
    if how == "moved":  # the words of the sentence themselves are reordered, the table is not
        words, turns = [words[i] for i in turns], list(range(n))
    if how == "table moved":  # the axes of the table are reordered, the words are not
        joint, turns = joint.permute(*turns), list(range(n))
    if how == "words in sequence":
        words = [words[turns.index(i)] for i in range(n)]
    if how == "alone":
        return torch.stack([joint.sum([j for j in range(n) if j != i])[sentence[i]] for i in turns])
    found = []
    for t, i in enumerate(turns):
        known = turns[:t]
        if how == "later":
            known = turns[t + 1:]
        if how == "left":
            known = [j for j in known if j < i]
        if how == "all others":
            known = [j for j in range(n) if j != i]
        if how == "one before":
            known = turns[max(0, t - 1):t]
        if how == "first only":
            known = turns[:1] if t else []
        above, below = _mass(joint, words, [*known, i]), _mass(joint, words, known)
        match how:
            case "unconditional":
                below = joint.sum()
            case "last factor":
                above, below = _mass(joint, words, turns[:t + 1]), found[-1] if found else joint.sum()
            case "most probable":
                above, below = (joint[tuple(words[j] if j in there else slice(None) for j in range(n))].max()
                                for there in ([*known, i], known))
            case "joint so far":
                below = joint.sum()
                above = _mass(joint, words, turns[:t + 1])
            case "upside down":
                below = _mass(joint, words, [i])
            case "quotient inverted":
                above, below = below, above
            case "largest":
                rest = joint[tuple(words[j] if j in known else slice(None) for j in range(n))]
                axis = sorted(set(range(n)) - set(known)).index(i)
                above = rest.sum([a for a in range(rest.dim()) if a != axis]).max() if rest.dim() > 1 else rest.max()
            case "zeroth word":
                rest = [0 if j == i else words[j] for j in range(n)]
                above = _mass(joint, rest, [*known, i])
        if how == "unconditional":
            above = _mass(joint, words, [i])
        found.append(above / below)
    values = torch.stack(found)
    if how == "by position":
        return values[order.argsort()]
    if how == "product":
        return values.prod()
    if how == "logarithms":
        return values.log()
    return values


def _reference(joint: Tensor, sentence: Tensor, order: Tensor) -> Tensor:
    if sorted(order.tolist()) != list(range(joint.dim())):
        raise ValueError(f"order={order.tolist()} does not name each of the {joint.dim()} positions once")
    return _factors(joint, sentence, order)


def _table(g: torch.Generator, *shape: int) -> Tensor:
    weight = torch.rand(*shape, generator=g) ** 2 + 0.02
    return weight / weight.sum()


def _draw(seed: int) -> list[Case]:
    g = generator(seed)

    def case(part: str, order: list[int], *shape: int) -> Case:
        joint = _table(g, *shape)
        sentence = torch.tensor([int(torch.randint(1, size, (), generator=g)) for size in shape])
        if order == [1, 2, 0]:  # words that every axis has: whoever moves them gets wrong numbers, not an IndexError
            sentence = torch.randperm(min(shape), generator=g)
        return Case(f"{len(shape)} words, order {order}", {"joint": joint, "sentence": sentence, "order": torch.tensor(order)}, part=part,
                    shape="(n,)")

    return [case("left to right", [0, 1, 2], 3, 4, 5), case("other orders", [1, 2, 0], 4, 3, 5), case("other orders", [2, 0, 1], 5, 3, 4),
            case("other orders", [2, 1, 3, 0], 4, 3, 5, 6), case("other orders", [1, 3, 0, 2], 5, 3, 4, 6)]


def _fixed() -> list[Case]:
    g = generator(4)
    joint = _table(g, 3, 4, 2)
    return [Case("a sentence of one word", {"joint": torch.tensor([0.3, 0.7]), "sentence": torch.tensor([1]), "order": torch.tensor([0])},
                 part="left to right", shape="(n,)"),
            *(Case(label, {"joint": joint, "sentence": torch.tensor([0, 1, 1]), "order": torch.tensor(order)}, part="refusal",
                   rejects=ValueError, mentions=(", ".join(map(str, order)),))
              for label, order in (("an order that is too short", [0, 1]), ("an order with a position 3 of 3", [0, 1, 3]),
                                   ("an order with a negative position", [0, 1, -1]), ("an order that is too long", [0, 1, 2, 0]))),
            Case("an order that names position 1 twice", {"joint": joint, "sentence": torch.tensor([0, 1, 1]),
                                                          "order": torch.tensor([1, 0, 1])},
                 part="refusal", rejects=ValueError, mentions=("1, 0, 1",))]


FACTORS = Exercise(
    id="12b.2", title="One sentence, any order", name="factors", kind="function", stars=2, minutes=15,
    signature="factors(joint, sentence, order) -> (n,)", oracle=_oracle, reference=_reference, draw=_draw, fixed=_fixed,
    parts={"left to right": 1, "other orders": 3, "refusal": 1},
    twins=(
        Twin("each word by itself", partial(_factors, how="alone"),
             "Each of your factors is the frequency of a word by itself. It has to be given the words whose turn came before."),
        Twin("words follow the sentence", partial(_factors, how="words in sequence"),
             "At turn t you take the place from the order, but word t of the sentence. Take the word that belongs to the place."),
        Twin("divided by the factor before", partial(_factors, how="last factor"),
             "You divide by the factor before. Divide by the probability of everything that was known before."),
        Twin("most probable instead of sum", partial(_factors, how="most probable"),
             "For words that are not yet known you take the most probable sentence. Add up all sentences that agree with what is known."),
        Twin("factors multiplied", partial(_factors, how="product"),
             "You multiply the factors into one number, which is the same for every order. Return the factors themselves."),
        Twin("always left to right", partial(_factors, how="ignored"), "Your result is the same for every order."),
        Twin("order read backwards", partial(_factors, how="backwards"),
             "You begin with the position that the order names last. The position named first has its turn first."),
        Twin("ranks taken for positions", partial(_factors, how="ranks"),
             "The order says which position has its turn first, second, third. You read its entries as the turn of each position."),
        Twin("words moved", partial(_factors, how="moved"),
             "You rearranged the sentence. The words stay where they are; only the sequence in which they are asked for changes."),
        Twin("table moved, sentence not", partial(_factors, how="table moved"),
             "You rearranged the axes of the table, and the words of the sentence no longer fit them. Leave both as they are."),
        Twin("order counted from 1", partial(_factors, how="counted from 1"),
             "You subtracted 1 from each entry of the order. In code the order counts from 0; only the text counts from 1."),
        Twin("sorted by position", partial(_factors, how="by position"),
             "The values are right, but sorted by position. Entry t belongs to the t-th turn of the order."),
        Twin("knows the later ones", partial(_factors, how="later"),
             "You condition on the words whose turn is still to come. Only words that had their turn are known."),
        Twin("knows only what stands left", partial(_factors, how="left"),
             "You use only the known words to the left. Words to the right are known too, if they had their turn."),
        Twin("knows all others", partial(_factors, how="all others"),
             "Each of your factors is given the whole rest of the sentence, as with one [MASK] at a time. Their product is not the "
             "probability of the sentence."),
        Twin("knows only the one before", partial(_factors, how="one before"),
             "You condition on the previous turn alone. All earlier turns are known."),
        Twin("knows only the first turn", partial(_factors, how="first only"),
             "Your factors know only the word of the first turn. Every word that had its turn is known."),
        Twin("marginals", partial(_factors, how="unconditional"),
             "Each of your factors is the probability of the word alone. From the second turn on, earlier words are known."),
        Twin("not divided", partial(_factors, how="joint so far"),
             "You return how probable all known words are together. A conditional probability divides that by what was known before."),
        Twin("divided the wrong way", partial(_factors, how="upside down"),
             "Your factor is the probability of the known words, given the new one. It has to be the other way round."),
        Twin("quotient inverted", partial(_factors, how="quotient inverted"),
             "Some of your factors are larger than one. More words together are less probable than fewer. Which number is the numerator?"),
        Twin("most probable word", partial(_factors, how="largest"),
             "You return the probability of the likeliest word. Take the word that the sentence has at this place."),
        Twin("word 0 asked for", partial(_factors, how="zeroth word"),
             "You look up the probability of the first word of the vocabulary instead of the sentence's word."),
        Twin("logarithms", partial(_factors, how="logarithms"), "Your numbers are logarithms; probabilities are asked for."),
    ),
)
