"""The models that family_others.py trains: XLM on pairs of translations, M2M-100 on four languages, encoder–decoders that mend texts.

Sources: Conneau and Lample 2019, section 3.3; Fan et al. 2020, section 2; Lewis et al. 2020; Raffel et al. 2020.
"""

from collections.abc import Callable, Sequence
from itertools import permutations
from random import Random

import torch
from torch import Tensor
from torch.nn import functional as F

from course_utils.experiments import ch12a_denoising as denoising
from course_utils.models.bert import Bert, BertConfig, BertForPretraining
from course_utils.models.encoder_decoder import Translator, TranslatorConfig
from course_utils.models.masks import padding_mask
from course_utils.text.numbers import LANGUAGES, number_tokens
from course_utils.text.vocabulary import BOS_ID, EOS_ID, Vocabulary, pad
from course_utils.training.decoding import greedy
from course_utils.training.loop import History, fit
from course_utils.training.schedules import token_loss, warmup_linear

MASK, BOUND = "<mask>", "</s>"
Direction = tuple[str, str]
Texts = list[list[int]]
Pairs = Callable[[Random], tuple[list[int], list[int]]]
Input = tuple[Tensor, Tensor, Tensor]  # ids, positions, languages, each (batch, n)


def many_words(languages: Sequence[str], limit: int) -> Vocabulary:
    """All number words below ``limit``, the mask, the bound of a sentence, and a token ``<de>`` for each language."""
    words = {token for language in languages for n in range(limit) for token in number_tokens(n, language)}
    return Vocabulary([[MASK, BOUND, *(f"<{language}>" for language in languages), *sorted(words)]])


def side_by_side(sentences: Sequence[Sequence[Sequence[int]]], bound: int, languages: Sequence[Sequence[int]]) -> Input:
    """XLM's input. Every row holds one sentence or more, each between two bounds; positions begin again with each of them.

    ``languages[row][k]`` is the number of the language of sentence k. Returns ids, positions and languages, ``(batch, n)``.
    """
    ids, positions, marks = [], [], []
    for row, names in zip(sentences, languages, strict=True):
        parts = [[bound, *sentence, bound] for sentence in row]
        ids.append([i for part in parts for i in part])
        positions.append([p for part in parts for p in range(len(part))])
        marks.append([name for part, name in zip(parts, names, strict=True) for _ in part])
    return pad(ids), pad(positions), pad(marks)


def states(bert: Bert, ids: Tensor, positions: Tensor, languages: Tensor) -> Tensor:
    """Hidden states ``(batch, n, d_model)`` of a BERT whose segments are languages and whose positions are given."""
    table = bert.embeddings
    x = table.norm(table.token(ids) + table.position(positions) + table.segment(languages))
    return bert.encoder(x, padding_mask(ids))


def xlm(
    numbers: Sequence[int], words: Vocabulary, paired: str, steps: int, seed: int = 0, width: int = 64, batch: int = 64, share: float = 0.2
) -> tuple[BertForPretraining, History]:
    """Train on English and German: masked words in single sentences and, every other step, in pairs.

    ``paired``: "none" (MLM alone), "translations" (TLM), or "strangers" (pairs of different numbers, to see what pairs as such do).
    """
    if paired not in ("none", "translations", "strangers"):
        raise ValueError(f"paired={paired!r} is unknown; choose 'none', 'translations' or 'strangers'")
    torch.manual_seed(seed)
    model = BertForPretraining(
        BertConfig(vocab_size=len(words), d_model=width, num_heads=4, d_ff=4 * width, num_layers=2, max_len=32, dropout=0.0, init_std=0.06)
    )
    g, turn = torch.Generator().manual_seed(seed), 0
    texts = [[words.encode(number_tokens(n, language)) for n in numbers] for language in ("en", "de")]
    mask, bound = words.ids[MASK], words.ids[BOUND]

    def loss() -> Tensor:
        nonlocal turn
        turn += 1
        a, b = torch.randint(len(numbers), (2, batch), generator=g).tolist()
        if paired == "none" or turn % 2:
            rows, names = [[texts[0][i]] for i in a] + [[texts[1][j]] for j in b], [[0]] * batch + [[1]] * batch
        else:
            second = a if paired == "translations" else b
            rows, names = [[texts[0][i], texts[1][j]] for i, j in zip(a, second, strict=True)], [[0, 1]] * batch
        ids, positions, languages = side_by_side(rows, bound, names)
        hidden = (torch.rand(ids.shape, generator=g) < share) & (ids != 0) & (ids != bound)
        logits = model.tokens(states(model.bert, ids.masked_fill(hidden, mask), positions, languages)[hidden])
        return F.cross_entropy(logits, ids[hidden])

    history = fit(model, loss, steps, 3e-3, "masked words", clip=1.0, schedule=warmup_linear(steps, 20))
    return model.eval(), history


@torch.no_grad()
def hidden_nats(model: BertForPretraining, numbers: Sequence[int], words: Vocabulary, beside: bool, language: str = "de") -> float:
    """Mean nats of every word of these numbers, hidden one at a time; ``beside``: the English sentence stands in front of it."""
    total, count, mask, bound = 0.0, 0, words.ids[MASK], words.ids[BOUND]
    mark = int(language != "en")
    for n in numbers:
        sentence, english = words.encode(number_tokens(n, language)), words.encode(number_tokens(n, "en"))
        hidden = [sentence[:k] + [mask] + sentence[k + 1 :] for k in range(len(sentence))]
        ids, positions, languages = side_by_side(
            [[english, row] if beside else [row] for row in hidden], bound, [[0, mark] if beside else [mark]] * len(hidden)
        )
        logits = model.tokens(states(model.bert, ids, positions, languages)[ids == mask])  # one in each row
        total += F.cross_entropy(logits, torch.tensor(sentence), reduction="sum").item()
        count += len(sentence)
    return total / count


@torch.no_grad()
def found_translations(model: BertForPretraining, numbers: Sequence[int], words: Vocabulary) -> float:
    """Share of sentences, each read by itself, whose nearest mean vector in the other language is their translation; both ways."""
    vectors = []
    for mark, language in enumerate(("en", "de")):
        rows = [[words.encode(number_tokens(n, language))] for n in numbers]
        ids, positions, languages = side_by_side(rows, words.ids[BOUND], [[mark]] * len(rows))
        real = (ids != 0)[..., None].float()
        mean = (states(model.bert, ids, positions, languages) * real).sum(1) / real.sum(1)
        vectors.append(F.normalize(mean - mean.mean(0), dim=-1))  # (numbers, width), the language itself taken away
    near = vectors[0] @ vectors[1].T
    right = torch.arange(len(numbers))
    return ((near.argmax(1) == right).float().mean() + (near.argmax(0) == right).float().mean()).item() / 2


def directions(centre: str | None = None, without: Sequence[Direction] = ()) -> list[Direction]:
    """All pairs of languages; with ``centre`` only those that contain it; never those in ``without``."""
    return [pair for pair in permutations(LANGUAGES, 2) if (centre is None or centre in pair) and pair not in without]


def many_to_many(
    numbers: Sequence[int], words: Vocabulary, trained: Sequence[Direction], steps: int, seed: int = 0, width: int = 64, batch: int = 128
) -> tuple[Translator, History]:
    """One translator for all these directions: the source begins with its language, the output with the language wanted."""
    torch.manual_seed(seed)
    config = TranslatorConfig(
        d_model=width,
        num_heads=4,
        d_ff=4 * width,
        num_layers=2,
        dropout=0.0,
        norm_place="pre",
        source_vocab=len(words),
        target_vocab=len(words),
        max_len=32,
    )
    model, g = Translator(config), torch.Generator().manual_seed(seed)
    texts = {language: [words.encode([f"<{language}>", *number_tokens(n, language)]) for n in numbers] for language in LANGUAGES}

    def loss() -> Tensor:
        which = torch.randint(len(numbers), (batch,), generator=g).tolist()
        ways = [trained[i] for i in torch.randint(len(trained), (batch,), generator=g).tolist()]
        source = pad([texts[a][i] for i, (a, _) in zip(which, ways, strict=True)])
        target = pad([[*texts[b][i], EOS_ID] for i, (_, b) in zip(which, ways, strict=True)])
        return token_loss(model(source, target[:, :-1]), target[:, 1:])

    history = fit(model, loss, steps, 3e-3, "many to many", clip=1.0, schedule=warmup_linear(steps, 20))
    return model.eval(), history


def translate(model: Translator, numbers: Sequence[int], words: Vocabulary, way: Direction) -> list[list[str]]:
    """Greedy translations of these numbers in one direction, as tokens."""
    source = pad([words.encode([f"<{way[0]}>", *number_tokens(n, way[0])]) for n in numbers])
    return [words.decode(row) for row in greedy(model, source, words.ids[f"<{way[1]}>"], EOS_ID, 28)]


def score(model: Translator, numbers: Sequence[int], words: Vocabulary, way: Direction) -> dict[str, float]:
    """Share of exact translations, and of outputs made only of words of the language wanted."""
    found = translate(model, numbers, words, way)
    own = {token for n in range(1_000) for token in number_tokens(n, way[1])}
    return {
        "exact": sum(a == number_tokens(n, way[1]) for a, n in zip(found, numbers, strict=True)) / len(found),
        "right language": sum(bool(a) and own >= set(a) for a in found) / len(found),
    }


def starts(held: bool) -> list[int]:
    """Where a text that counts may begin so that all of its numbers are held out, or none: every seventh block of 20 numbers is."""
    last = denoising.LIMIT - denoising.NUMBERS
    return [s for s in range(last + 1) if all((n // 20 % 7 == 2) is held for n in range(s, s + denoising.NUMBERS))]


def mender(words: Vocabulary, seed: int = 0, width: int = 64) -> Translator:
    """A fresh encoder–decoder with two blocks on each side and one table of embeddings."""
    torch.manual_seed(seed)
    return Translator(
        TranslatorConfig(
            d_model=width,
            num_heads=4,
            d_ff=4 * width,
            num_layers=2,
            dropout=0.0,
            norm_place="pre",
            source_vocab=len(words),
            target_vocab=len(words),
            max_len=64,
        )
    )


def learn_to_mend(model: Translator, pair: Pairs, steps: int, lr: float = 3e-3, batch: int = 64, seed: int = 0) -> History:
    """Train on fresh pairs ``(source ids, target ids)`` from ``pair(rng)``; targets get their beginning and end here."""
    rng = Random(seed)

    def loss() -> Tensor:
        sources, targets = zip(*(pair(rng) for _ in range(batch)), strict=True)
        target = pad([[BOS_ID, *ids, EOS_ID] for ids in targets])  # (batch, longest target + 2)
        return token_loss(model(pad(sources), target[:, :-1]), target[:, 1:])

    history = fit(model, loss, steps, lr, "learning", clip=1.0, schedule=warmup_linear(steps, 20))
    model.eval()
    return history


def mended(model: Translator, spoiled: Texts, texts: Texts) -> float:
    """Share of texts that come back without a fault."""
    found = greedy(model, pad(spoiled), BOS_ID, EOS_ID, 48)
    wanted = pad([[*ids, EOS_ID] for ids in texts])
    longest = max(found.shape[1], wanted.shape[1])
    found, wanted = (F.pad(x, (0, longest - x.shape[1])) for x in (found, wanted))
    return (found == wanted).all(1).float().mean().item()
