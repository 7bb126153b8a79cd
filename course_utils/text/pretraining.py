"""BERT's training data: pairs of spans with hidden tokens. Source: Devlin et al. 2019, section 3.1 and appendix A.1, A.2."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor

from .vocabulary import pad
from .wordpiece import WordPiece

IGNORED = -100
Shares = tuple[float, float, float]  # of the chosen tokens: hidden, exchanged for another, left as they are


def mask_tokens(
    ids: Tensor,
    maskable: Tensor,
    vocab_size: int,
    mask_id: int,
    generator: torch.Generator | None = None,
    rate: float = 0.15,
    shares: Shares = (0.8, 0.1, 0.1),
    first_id: int = 5,
) -> tuple[Tensor, Tensor]:
    """Select tokens and hide most of them: ids ``(batch, n)`` -> inputs and labels ``(batch, n)``.

    Each ``maskable`` position is selected with probability ``rate``. ``shares`` of the selected ones become ``mask_id``, a random id
    from ``first_id`` on, and stay as they are. Labels hold the id where a token was selected and -100 elsewhere.
    ValueError for shapes that differ, a rate outside 0..1 or shares that do not add up to 1.
    """
    if maskable.shape != ids.shape:
        raise ValueError(f"maskable has shape {tuple(maskable.shape)}, ids have {tuple(ids.shape)}")
    if not 0 <= rate <= 1 or len(shares) != 3 or min(shares) < 0 or abs(sum(shares) - 1) > 1e-6:
        raise ValueError(f"rate={rate} must lie between 0 and 1, and shares={shares} be three numbers that add up to 1")
    selected = (torch.rand(ids.shape, generator=generator) < rate) & maskable
    labels = torch.where(selected, ids, IGNORED)
    fate = torch.rand(ids.shape, generator=generator)
    anything = torch.randint(first_id, vocab_size, ids.shape, generator=generator)
    inputs = torch.where(selected & (fate < shares[0]), mask_id, ids)
    inputs = torch.where(selected & (fate >= shares[0]) & (fate < shares[0] + shares[1]), anything, inputs)
    return inputs, labels


class Pair(NamedTuple):
    """Ids of two spans and whether the second follows the first in the text."""

    first: list[int]
    second: list[int]
    is_next: bool


def next_sentence_pairs(documents: Sequence[Sequence[Sequence[int]]], max_len: int, seed: int = 0) -> list[Pair]:
    """Pairs of spans from documents (lists of sentences, lists of ids); half are neighbours, half come from two documents.

    Sentences of a document are collected until they fill ``max_len - 3`` places, then cut at a random sentence; what is too
    long is trimmed at either end by chance. A part that is not used as the second span starts the next pair. ValueError for fewer
    than two documents with two sentences or a max_len below 8.
    """
    usable = [document for document in documents if len(document) > 1]
    if len(usable) < 2 or max_len < 8:
        raise ValueError(f"{len(usable)} documents of at least two sentences and max_len={max_len}; two and 8 are the least")
    draw, found, room = Random(seed), [], max_len - 3
    for number, document in enumerate(usable):
        start = 0
        while start < len(document) - 1:
            end, length = start, 0
            while end < len(document) and (length < room or end < start + 2):
                length += len(document[end])
                end += 1
            cut = draw.randint(start + 1, end - 1)
            first = [i for sentence in document[start:cut] for i in sentence]
            is_next = draw.random() < 0.5
            if is_next:
                second = [i for sentence in document[cut:end] for i in sentence]
                start = end
            else:
                other = usable[(number + draw.randrange(1, len(usable))) % len(usable)]
                begin = draw.randrange(len(other))
                second = [i for sentence in other[begin : begin + end - cut] for i in sentence]
                start = cut
            while len(first) + len(second) > room:
                longer = max(first, second, key=len)
                longer.pop(0 if draw.random() < 0.5 else -1)
            found.append(Pair(first, second, is_next))
    return found


class Batch(NamedTuple):
    """Everything the two losses need: ``(batch, n)`` each, and ``(batch,)`` for is_next."""

    ids: Tensor
    segments: Tensor
    mask: Tensor
    labels: Tensor
    is_next: Tensor


def make_batch(
    pairs: Sequence[Pair], tokenizer: WordPiece, generator: torch.Generator | None = None, shares: Shares = (0.8, 0.1, 0.1)
) -> Batch:
    """``[CLS] first [SEP] second [SEP]``, padded to the longest pair, with tokens hidden anew at every call."""
    ids = pad([[tokenizer.cls_id, *p.first, tokenizer.sep_id, *p.second, tokenizer.sep_id] for p in pairs], tokenizer.pad_id)
    segments = pad([[0] * (len(p.first) + 2) + [1] * (len(p.second) + 1) for p in pairs])
    maskable = (ids != tokenizer.pad_id) & (ids != tokenizer.cls_id) & (ids != tokenizer.sep_id)
    inputs, labels = mask_tokens(ids, maskable, len(tokenizer), tokenizer.mask_id, generator, shares=shares)
    return Batch(inputs, segments, ids != tokenizer.pad_id, labels, torch.tensor([int(p.is_next) for p in pairs]))
