"""A quality filter as GPT-3's data had one: logistic regression on hashed words. And junk to train it on.

Source: Brown et al. 2020, appendix A (there: Spark's HashingTF features, curated collections against raw Common Crawl).
"""

import random
import re
from collections.abc import Sequence
from zlib import crc32

import torch
from torch import Tensor
from torch.nn import functional as F

SIZE = 2_048
KINDS = ("menu", "keywords", "markup", "shuffled", "typing errors")
_TAGS = ("<div class='c%d'>", "</div>", "<a href='/p/%d'>", "</a>", "<span>", "&nbsp;", "<br/>", "id=%d")


def pieces(text: str) -> list[str]:
    """Words and marks in lower case, and each two that are neighbours."""
    words = re.findall(r"\w+|[^\w\s]", text.lower())
    return words + [f"{a} {b}" for a, b in zip(words, words[1:], strict=False)]


def hashed(texts: Sequence[str], size: int = SIZE) -> Tensor:
    """``(texts, size)``: how often each text's pieces fall into each of ``size`` buckets, rows of length 1.

    No vocabulary is kept: a checksum names the bucket, and pieces that share one are added up. ValueError for a size below 1.
    """
    if size < 1:
        raise ValueError(f"size={size} must be at least 1")
    table = torch.zeros(len(texts), size)
    for row, text in zip(table, texts, strict=True):
        places = torch.tensor([crc32(piece.encode()) % size for piece in pieces(text)], dtype=torch.long)
        row.index_add_(0, places, torch.ones(len(places)))
    return F.normalize(table, dim=1)


def logistic(x: Tensor, y: Tensor, steps: int = 100, lr: float = 0.1, decay: float = 1e-4) -> tuple[Tensor, Tensor]:
    """Weights ``(features,)`` and bias ``()`` of a logistic regression: x ``(texts, features)``, y ``(texts,)`` of 0 and 1."""
    weight, bias = torch.zeros(x.shape[1], requires_grad=True), torch.zeros((), requires_grad=True)
    optimizer = torch.optim.Adam([weight, bias], lr=lr)
    for _ in range(steps):
        optimizer.zero_grad()
        (F.binary_cross_entropy_with_logits(x @ weight + bias, y) + decay * weight.square().sum()).backward()
        optimizer.step()
    return weight.detach(), bias.detach()


def junk(text: str, kind: str, draw: random.Random) -> str:
    """``text`` made worse in one of the ways of ``KINDS``; ValueError for another."""
    words = text.split()
    match kind:
        case "shuffled":
            return " ".join(draw.sample(words, len(words)))
        case "menu":
            return " | ".join(word.strip(".,:;\"'()").capitalize() for word in draw.sample(words, min(len(words), 12)))
        case "keywords":
            few = draw.sample(words, min(len(words), 4))
            return " ".join(draw.choice([*few, "cheap", "best", "free", "online"]) for _ in words)
        case "markup":
            tags = [tag % draw.randrange(99) if "%" in tag else tag for tag in draw.choices(_TAGS, k=len(words))]
            return " ".join(f"{tag} {word}" if draw.random() < 0.5 else word for tag, word in zip(tags, words, strict=True))
        case "typing errors":
            return "".join(
                draw.choice("abcdefghijklmnopqrstuvwxyz") if letter.isalpha() and draw.random() < 0.15 else letter for letter in text
            )
    raise ValueError(f"kind={kind!r} is unknown; choose one of {', '.join(KINDS)}")
