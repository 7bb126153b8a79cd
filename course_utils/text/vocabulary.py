"""From text to padded batches of ids: words and characters, a vocabulary with four special tokens, padding, batching."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import torch
from torch import Tensor

PAD, BOS, EOS, UNK = SPECIAL = ("<pad>", "<bos>", "<eos>", "<unk>")
PAD_ID, BOS_ID, EOS_ID, UNK_ID = range(4)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[^\w\s]|_")


def words(text: str) -> list[str]:
    """Lower-cased words and punctuation marks: ``"I don't know!"`` -> ``["i", "don't", "know", "!"]``."""
    return _WORD.findall(text.lower())


def characters(text: str) -> list[str]:
    """Single characters without white space: the tokens of a language that writes no spaces, such as Chinese."""
    return [c for c in text if not c.isspace()]


class Vocabulary:
    """Tokens <-> ids. Ids 0 to 3 are ``<pad> <bos> <eos> <unk>``, then the tokens from frequent to rare (ties: by code point).

    ``sentences`` are token lists, those to train on alone; other tokens encode as ``<unk>``. Raises ValueError for a special token in the
    text, TypeError where a sentence is a string instead of a list of tokens.
    """

    def __init__(self, sentences: Iterable[Sequence[str]]) -> None:
        counts: Counter[str] = Counter()
        for sentence in sentences:
            counts.update(_tokens(sentence))
        if taken := [token for token in SPECIAL if token in counts]:
            raise ValueError(f"the text contains the special token {taken[0]!r}")
        self.tokens: tuple[str, ...] = (*SPECIAL, *sorted(counts, key=lambda token: (-counts[token], token)))
        self.ids: dict[str, int] = {token: i for i, token in enumerate(self.tokens)}

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: object) -> bool:
        return token in self.ids

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} tokens)"

    def encode(self, tokens: Sequence[str], bos: bool = False, eos: bool = False) -> list[int]:
        """Ids of ``tokens``, with ``<bos>`` before and ``<eos>`` behind them where asked; unknown tokens become ``<unk>``."""
        ids = [self.ids.get(token, UNK_ID) for token in _tokens(tokens)]
        return [BOS_ID] * bos + ids + [EOS_ID] * eos

    def decode(self, ids: Iterable[int] | Tensor) -> list[str]:
        """Tokens of one sequence up to ``<eos>``, without special ones but ``<unk>``. ValueError for an unknown id or two axes."""
        if isinstance(ids, Tensor):
            if ids.dim() != 1:
                raise ValueError(f"decode takes one sequence of ids, got a tensor of shape {tuple(ids.shape)}")
            ids = ids.tolist()
        found = []
        for i in ids:
            if not 0 <= i < len(self):
                raise ValueError(f"id {i} is outside the vocabulary of {len(self)} tokens")
            if i == EOS_ID:
                break
            if i not in (PAD_ID, BOS_ID):
                found.append(self.tokens[i])
        return found


def _tokens(sentence: Sequence[str]) -> Sequence[str]:
    if isinstance(sentence, str):
        raise TypeError(f"expected a list of tokens, got the string {sentence!r}; split it with words() or characters() first")
    return sentence


def pad(sequences: Sequence[Sequence[int]], value: int = PAD_ID) -> Tensor:
    """Id lists as a LongTensor ``(batch, longest)``, filled up on the right with ``value``. ValueError without any sequence."""
    if not len(sequences):
        raise ValueError("cannot pad an empty list of sequences")
    out = torch.full((len(sequences), max(map(len, sequences))), value, dtype=torch.long)
    for row, ids in zip(out, sequences, strict=True):
        row[: len(ids)] = torch.as_tensor(ids, dtype=torch.long)
    return out  # (batch, longest)


def batches(
    pairs: Sequence[tuple[Sequence[int], Sequence[int]]], size: int, seed: int = 0, epoch: int = 0, by_length: bool = False
) -> Iterator[tuple[Tensor, Tensor]]:
    """Padded ``(source, target)`` LongTensors ``(batch, longest source)``, ``(batch, longest target)`` of one epoch.

    The order depends on nothing but ``seed`` and ``epoch``; give a new ``epoch`` each time round. ``by_length`` puts pairs of nearly
    equal length into one batch (less padding) and shuffles the batches. Every pair comes once. ValueError for a size below 1 or no pairs.
    """
    if size < 1:
        raise ValueError(f"size={size} must be at least 1")
    if not len(pairs):
        raise ValueError("there are no pairs to make batches of")
    generator = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
    index = torch.randperm(len(pairs), generator=generator).tolist()
    if by_length:  # sorting is stable: pairs of equal length stay shuffled
        index.sort(key=lambda i: (len(pairs[i][1]), len(pairs[i][0])))
    groups = [index[i : i + size] for i in range(0, len(index), size)]
    if by_length:
        groups = [groups[i] for i in torch.randperm(len(groups), generator=generator).tolist()]
    return ((pad([pairs[i][0] for i in group]), pad([pairs[i][1] for i in group])) for group in groups)
