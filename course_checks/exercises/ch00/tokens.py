"""Exercises 00.2, 00.3 and 00.6: splitting words, an embedding as a matrix product, and a mask made from a rule."""

from __future__ import annotations

import re
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course_utils.text import wordpiece

from ...exercise import Case, Exercise, Registered, Twin, generator
from ..common import randn, sizes
from . import callables  # noqa: F401  (registers the rules)

# ---- 00.2 WordPiece ----------------------------------------------------------------------------------------

def _by_pattern(word: str, vocabulary: list[str]) -> list[str]:
    """The regular-expression engine tries alternatives in order: sorted by length, that is longest match first."""
    def alternatives(pieces: list[str]) -> str:
        return "|".join(map(re.escape, sorted(pieces, key=len, reverse=True))) or "(?!)"

    first = re.compile(alternatives([v for v in vocabulary if not v.startswith("##")]))
    later = re.compile(alternatives([v[2:] for v in vocabulary if v.startswith("##")]))
    match = first.match(word)
    pieces, at = [], 0
    while match:
        pieces.append(("##" if at else "") + match.group())
        at = match.end()
        match = later.match(word, at) if at < len(word) else None
    return pieces if at == len(word) else ["[UNK]"]


def _pieces(word: str, vocabulary: list[str], how: str = "right") -> list[str]:
    found, start = [], 0
    if how == "whole words":
        return [word] if word in vocabulary else ["[UNK]"]
    if how == "lower":
        word = word.lower()
    if how == "small vocabulary":
        vocabulary = wordpiece.TINY
    while start < len(word):
        prefix = "##" if (start or how == "always marked") and how != "no marks" else ""
        ends = range(start + 1, len(word) + 1) if how == "shortest" else range(len(word), start + (how == "two letters"), -1)
        end = next((e for e in ends if prefix + word[start:e] in vocabulary), None)
        if how == "any piece inside" and end is None and start:
            end, prefix = next((e for e in ends if word[start:e] in vocabulary), None), ""
        if how == "list order":
            marked = [v for v in vocabulary if v.startswith("##") == bool(start)]
            fits = [v for v in marked if word.startswith(v.removeprefix("##"), start)]
            end = start + len(fits[0].removeprefix("##")) if fits else None
        if end is None:
            return found + ["[UNK]"] if how == "rest unknown" else found if how == "rest dropped" else ["[UNK]"]
        found.append(prefix + word[start:end])
        start = end
        if how == "first piece only":
            break
    return [piece.removeprefix("##") for piece in found] if how == "marks removed" else found


def _second_try(word: str, vocabulary: list[str], mark: str = "") -> list[str]:
    """The wrong answer that steps back to a shorter piece where the longest leads nowhere."""
    for end in range(len(word), 0, -1):
        if mark + word[:end] in vocabulary:
            rest = _second_try(word[end:], vocabulary, "##") if end < len(word) else []
            if rest != ["[UNK]"]:
                return [mark + word[:end], *rest]
    return ["[UNK]"]


_WORDS = ["un", "unkind", "kind", "play", "a", "time", "##kind", "##ness", "##n", "##s", "##er", "##e", "##ing", "##i", "u", "p", "##layer",
          "##kindly"]


def _draw_pieces(seed: int) -> list[Case]:
    order = torch.randperm(len(_WORDS), generator=generator(seed)).tolist()
    vocabulary = [_WORDS[i] for i in order]
    return [Case(f"the word {word!r}", {"word": word, "vocabulary": vocabulary}, part="values")
            for word in ("unkindness", "players", "time", "playing")] + [
        Case(f"the word {word!r}", {"word": word, "vocabulary": vocabulary}, part="unknown words")
        for word in ("zebra", "playful", "playun", "unkindly")]


def _fixed_pieces() -> list[Case]:
    other = ["play", "understanding", "##s", "##ness", "##er", "un"]
    def case(word: str, part: str = "values") -> Case:
        return Case(f"the word {word!r}, another vocabulary", {"word": word, "vocabulary": other}, part=part)
    long = "un" + 30 * "ness"
    return [case("players"), case("understandings"), Case(f"a word of {len(long)} letters", {"word": long, "vocabulary": other}),
            case("time", "unknown words"), case("Play", "unknown words"), case("sprint", "unknown words"), case("ness", "unknown words")]


PIECES = Exercise(
    id="00.2", title="Pieces of words", name="split_word", kind="function", stars=2, minutes=10,
    signature="split_word(word, vocabulary) -> list of strings", oracle=_by_pattern, reference=wordpiece.split_word, draw=_draw_pieces,
    fixed=_fixed_pieces, parts={"values": 2, "unknown words": 1}, forbidden=("course_utils.text.wordpiece.split_word",),
    twins=(
        Twin("shortest piece first", partial(_pieces, how="shortest"),
             "You take the first piece that fits, starting with one letter. The rule is greedy: the longest piece that fits."),
        Twin("no mark on later pieces", partial(_pieces, how="no marks"),
             "After the first piece only entries that start with ## may be used: they say “this continues a word”."),
        Twin("whole words only", partial(_pieces, how="whole words"),
             "A word that is not in the vocabulary is not yet unknown: cut it into pieces that are in the vocabulary."),
        Twin("marks removed from the result", partial(_pieces, how="marks removed"),
             "The pieces are right, but the ## belongs to them: it is part of the entry's name."),
        Twin("only the first piece", partial(_pieces, how="first piece only"),
             "You stop after one piece. Go on with the rest of the word until nothing is left."),
        Twin("only the rest is unknown", partial(_pieces, how="rest unknown"),
             "When the rest of a word fits nothing, the whole word is unknown: one single entry, and the pieces found so far are dropped."),
        Twin("a shorter piece tried instead", _second_try,
             "Where the longest piece leads nowhere, you step back and try a shorter one. The rule never steps back: such a word is "
             "unknown."),
        Twin("unmarked pieces inside a word", partial(_pieces, how="any piece inside"),
             "Inside a word you also take entries without ##. Those may only begin a word."),
        Twin("capital letters made small", partial(_pieces, how="lower"),
             "You make the capital letters small first. Letters are compared as they are: a capital letter is a different letter."),
        Twin("first entry of the list", partial(_pieces, how="list order"),
             "You take the first entry of the list that fits. The order of the list says nothing: look for the longest."),
        Twin("first piece marked too", partial(_pieces, how="always marked"),
             "You look for a piece with ## even at the start of the word. But the mark says “this continues a word”."),
        Twin("the unknown rest dropped", partial(_pieces, how="rest dropped"),
             "You drop the letters that fit no piece. A word that cannot be split completely is unknown as a whole."),
        Twin("no piece of one letter", partial(_pieces, how="two letters"),
             "You never try a piece of a single letter, so a word that needs such a piece is taken for unknown. A range leaves out its "
             "end: go one step further."),
        Twin("another vocabulary", partial(_pieces, how="small vocabulary"),
             "You look the pieces up in the small vocabulary of the notebook. Use the vocabulary that your function is given."),
    ),
)


# ---- 00.3 Embedding ----------------------------------------------------------------------------------------

def _lookup_oracle(init: dict, parameters: dict, inputs: dict | None) -> Tensor | str:
    if inputs is None:
        return "weight random"
    return F.embedding(inputs["ids"], parameters["weight"])


class _Lookup(nn.Module):
    def __init__(self, vocab_size: int, d_model: int, how: str):
        super().__init__()
        self.how = how
        shape = (d_model, vocab_size) if how == "transposed" else (vocab_size, d_model)
        self.weight = torch.zeros(shape) if how == "plain tensor" else nn.Parameter(torch.randn(shape) * (how != "zeros"))

    def forward(self, ids: Tensor) -> Tensor:
        if self.how == "detached":
            return self.weight.detach()[ids]
        if self.how == "next row":
            return self.weight[(ids + 1) % len(self.weight)]
        if self.how == "row before":
            return self.weight[(ids - 1) % len(self.weight)]
        if self.how == "classes":
            return F.one_hot(ids).float() @ self.weight
        one_hot = F.one_hot(ids, len(self.weight)).float()
        if self.how == "padding":
            return self.weight[ids] * (ids > 0)[..., None]
        if self.how == "summed":
            return one_hot.sum(1) @ self.weight
        if self.how == "scaled":
            return one_hot @ self.weight * self.weight.shape[1] ** 0.5
        return one_hot @ self.weight


def _lookup(how: str) -> type[nn.Module]:
    return type("Lookup", (_Lookup,), {"__init__": lambda self, vocab_size, d_model: _Lookup.__init__(self, vocab_size, d_model, how)})


def _draw_lookup(seed: int) -> list[Case]:
    g = generator(seed)
    batch, n, d = sizes(g, 3)
    words = int(torch.randint(8, 12, (), generator=g))
    ids = torch.randint(words - 1, (batch, n), generator=g)
    ids[0, 0], ids[-1, -1] = 0, words - 1
    return [_lookup_case(g, words, d, ids, f"{batch} sentences of {n} ids, {words} words, {d} features")]


def _lookup_case(g: torch.Generator, words: int, d: int, ids: Tensor, label: str) -> Case:
    args = {"init": {"vocab_size": words, "d_model": d}, "parameters": {"weight": randn(g, words, d)}, "inputs": {"ids": ids}}
    return Case(label, args, gradients=("weight",), shape="(batch, token, d_model)")


def _fixed_lookup() -> list[Case]:
    g = generator(6)
    return [_lookup_case(g, 7, 4, torch.tensor([[0, 1], [2, 3]]), "ids 0 to 3 of 7 words"),
            _lookup_case(g, 5, 3, torch.tensor([[2, 2, 2, 4]]), "one sentence that repeats a word"),
            _lookup_case(g, 6, 2, torch.tensor([[0], [0], [0]]), "sentences of one token, all of them word 0"),
            Case("how a new layer starts", {"init": {"vocab_size": 6, "d_model": 2}, "parameters": {}, "inputs": None})]


class _Reference(nn.Module):
    """One-hot vectors times a matrix; ``nn.Embedding`` is the fast form."""

    def __init__(self, vocab_size: int, d_model: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))

    def forward(self, ids: Tensor) -> Tensor:
        return F.one_hot(ids, len(self.weight)).to(self.weight.dtype) @ self.weight


LOOKUP = Exercise(
    id="00.3", title="An embedding is a matrix product", name="Lookup", kind="module", stars=1, minutes=6,
    signature="Lookup(vocab_size, d_model)(ids) -> (batch, n, d_model)", oracle=_lookup_oracle, reference=_Reference, draw=_draw_lookup,
    fixed=_fixed_lookup,
    parts={"values": 2}, forbidden=("torch.nn.functional.embedding",),
    twins=(
        Twin("matrix stored the other way round", _lookup("transposed"),
             "The weight needs one row for each word: vocab_size rows, d_model columns."),
        Twin("the weight is not a parameter", _lookup("plain tensor"),
             "Once the layer is built, it has no parameter `weight`. A plain tensor as an attribute is invisible to the optimiser, and a "
             "parameter made in the forward pass is a new one in every call."),
        Twin("the weight cut off from the gradient", _lookup("detached"),
             "No gradient reaches the weight: either you detach it, or its `requires_grad` is False."),
        Twin("the neighbour's row", _lookup("next row"), "Ids count from 0: word 0 has row 0. Yours are shifted by one."),
        Twin("the row before", _lookup("row before"),
             "Each word gets the row before its own, and word 0 gets the last. Ids count from 0, so word 0 has row 0: nothing has to be "
             "subtracted."),
        Twin("one vector a sentence", _lookup("summed"), "You add up the words of a sentence. Each token should keep its own vector."),
        Twin("all rows start alike", _lookup("zeros"), "Every word starts with the same row. Start at random, as the task says."),
        Twin("scaled", _lookup("scaled"), "The row is multiplied by a factor. Some models do that later; a look-up does not."),
    ),
)


# ---- 00.6 Visibility ---------------------------------------------------------------------------------------

def _visibility_oracle(n: int, rule: Registered) -> Tensor:
    ones = torch.ones(n, n)
    both = ones.tril()
    both[:, :2] = 1
    return {"everyone": ones, "no_looking_ahead": ones.tril(), "only_the_token_before": ones.tril(-1).triu(-1),
            "the_first_two_or_what_came_before": both}[rule.name].bool()


def _visibility(n: int, rule, how: str = "right") -> Tensor:
    if how == "whole tensors":
        places = torch.arange(n)
        return torch.as_tensor(rule(places[:, None], places[None, :])).expand(n, n)
    indices = range(1, n + 1) if how == "from one" else range(n - 1) if how == "last token" else range(6 if how == "six" else n)
    rows = [[rule(j, i) if how == "swapped" else rule(i, j) for j in indices] for i in indices]
    mask = torch.tensor(rows, dtype=torch.bool)
    match how:
        case "numbers":
            return mask.float()
        case "inverted":
            return ~mask
        case "always causal":
            return torch.ones(n, n).tril().bool()
        case "one short":
            return mask[:, :-1]
    return mask


VISIBILITY = Exercise(
    id="00.6", title="Who may see whom", name="visibility", kind="function", stars=1, minutes=6,
    signature="visibility(n, rule) -> (n, n) of booleans", oracle=_visibility_oracle, reference=_visibility, parts={"values": 2},
    draw=lambda seed: [Case(f"the rule {rule}, {n} tokens", {"n": n, "rule": Registered(rule)}, shape="(query, key)")
                       for n, rule in ((4 + seed % 3, "no_looking_ahead"), (5 + seed % 2, "only_the_token_before"),
                                       (3 + seed % 4, "everyone"), (6 + seed % 3, "the_first_two_or_what_came_before"))],
    fixed=lambda: [Case("a single token", {"n": 1, "rule": Registered("no_looking_ahead")}, shape="(query, key)")],
    twins=(
        Twin("query and key swapped", partial(_visibility, how="swapped"),
             "The rule is asked with the query first. Rows are queries, columns are keys."),
        Twin("numbers instead of booleans", partial(_visibility, how="numbers"),
             "The entries are numbers. A mask in this course is boolean: True means “may see”."),
        Twin("inverted", partial(_visibility, how="inverted"),
             "You hide what may be seen. True means “may see”, here and everywhere in the course."),
        Twin("the rule is not used", partial(_visibility, how="always causal"),
             "The result is the same for every rule. Call the function you were given."),
        Twin("positions counted from one", partial(_visibility, how="from one"),
             "You ask the rule about the positions 1 to n. The first token is at position 0."),
        Twin("rule asked with tensors", partial(_visibility, how="whole tensors"),
             "The rule wants two numbers, and you hand it whole tensors. Ask it once for every pair."),
        Twin("last token left out", partial(_visibility, how="last token"),
             "Your table ends one token too early, in rows and columns. A range already leaves out its end."),
        Twin("six tokens, whatever n is", partial(_visibility, how="six"),
             "Your table always has six rows and columns, like the example. The number of tokens is `n`."),
        Twin("one key missing", partial(_visibility, how="one short"), "There are n keys for n queries; the last one is missing."),
    ),
)
