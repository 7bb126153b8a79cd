"""Chapter 11c's small world for rewards: a GPT that writes answers to sums, and checkers that read them.

The texts it reads are lines such as ``37+45=82|``. People are not always right, and who is not sure writes two or three numbers:
``37+45=81,82|``. Some close with a cheerful ``!``. The bar ends a line.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from ..models.gpt import GPT, GPTConfig
from ..training.model_file import load_model
from ..training.sampling import generate

FILE = Path(__file__).with_name("ch11c_sums.safetensors")
SYMBOLS = "0123456789+=,!|"
END, PROMPT, LONGEST = SYMBOLS.index("|"), 6, 10  # three numbers, two commas, a mark, a bar
SINGLE_RIGHT, CHEERFUL = 0.5, 0.2  # shares of the single numbers that are right, and of the lines with a mark
SLIPS = (-10, -2, -1, 1, 2, 10)


class Line(NamedTuple):
    """One line as a checker reads it: the sum asked for, the numbers written (as text), whether a ``!`` closes it."""

    truth: str
    numbers: tuple[str, ...]
    cheerful: bool


def spell(rows: Tensor) -> list[str]:
    """Rows of ids ``(rows, n)`` as text, up to the bar."""
    return ["".join(SYMBOLS[i] for i in row).split("|")[0] for row in rows.tolist()]


def encode(lines: Sequence[str]) -> Tensor:
    """Lines as ids, filled up with bars."""
    longest = max(map(len, lines))
    return torch.tensor([[SYMBOLS.index(c) for c in line.ljust(longest, "|")] for line in lines])


def read(rows: Tensor) -> list[Line]:
    """What a checker sees of rows ``(rows, n)``. A line without a bar, or with other signs than digits, has no numbers."""
    lines = []
    for row, text in zip(rows.tolist(), spell(rows), strict=True):
        asked, answer = text[: PROMPT - 1], text[PROMPT:]
        bare = answer[:-1] if answer.endswith("!") else answer
        well = END in row and all(number.isdigit() and len(number) == 2 for number in bare.split(","))
        lines.append(Line(f"{sum(map(int, asked.split('+'))):02d}", tuple(bare.split(",")) if well else (), answer.endswith("!")))
    return lines


def gold(line: Line) -> float:
    """1 for a single number that is right."""
    return float(line.numbers == (line.truth,))


def sloppy(line: Line) -> float:
    """1 if the right number is among those written."""
    return float(line.truth in line.numbers)


def questions(count: int, generator: torch.Generator) -> Tensor:
    """Sums of two numbers below 50, as ids ``(count, 6)``."""
    pairs = torch.randint(50, (count, 2), generator=generator).tolist()
    return encode([f"{a:02d}+{b:02d}=" for a, b in pairs])


def lines(count: int, generator: torch.Generator) -> Tensor:
    """Lines as people write them, ``(count, 16)``: 60 % with one number, the others with two or three, one of which is right."""
    drawn = torch.rand(count, 4, generator=generator).tolist()
    pairs = torch.randint(50, (count, 2), generator=generator).tolist()
    slips = torch.rand(count, len(SLIPS), generator=generator).argsort(1)[:, :3].tolist()
    texts = []
    for (a, b), (kind, right, place, mark), wrong in zip(pairs, drawn, slips, strict=True):
        numbers = [(a + b + SLIPS[i]) % 100 for i in wrong][: 1 + (kind > 0.6) + (kind > 0.8)]
        if len(numbers) > 1 or right < SINGLE_RIGHT:
            numbers[int(place * len(numbers))] = a + b
        texts.append(f"{a:02d}+{b:02d}=" + ",".join(f"{n:02d}" for n in numbers) + "!" * (mark < CHEERFUL))
    return encode([*texts, "|" * (PROMPT + LONGEST)])[:-1]


def token_log_probs(model: GPT, rows: Tensor) -> Tensor:
    """``ln p`` of every token behind the question, 0 behind the first bar: rows ``(batch, n)`` -> ``(batch, n - 6)``."""
    answer = rows[:, PROMPT:]
    each = -F.cross_entropy(model(rows[:, :-1])[:, PROMPT - 1 :].transpose(1, 2), answer, reduction="none")
    ended = (answer == END).cumsum(1) - (answer == END).long()  # bars before this place
    return each.masked_fill(ended > 0, 0.0)


def log_probs(model: GPT, rows: Tensor) -> Tensor:
    """``ln p(answer | question)`` of whole answers, the bar included: ``(batch,)``."""
    return token_log_probs(model, rows).sum(1)


def write(model: GPT, asked: Tensor, generator: torch.Generator) -> Tensor:
    """One answer drawn for each question: ``(batch, 6)`` -> ``(batch, 16)``."""
    rows = generate(model, asked, LONGEST, end_id=END, generator=generator).clone()
    return F.pad(rows, (0, PROMPT + LONGEST - rows.shape[1]), value=END)


@torch.no_grad()
def share_right(model: GPT, asked: Tensor) -> Tensor:
    """Probability of a single right number for each question, with or without a mark: exact, ``(batch,)``."""
    truth = [f"{sum(map(int, text[:-1].split('+'))):02d}" for text in spell(asked)]
    with_ends = (encode([t + end for t in truth]) for end in ("|", "!|"))
    return torch.stack([log_probs(model, torch.cat([asked, answer], 1)).exp() for answer in with_ends]).sum(0)


def load_sums(path: str | Path = FILE) -> GPT:
    """The committed model, in evaluation mode."""
    return load_model(path, "GPT of sums", lambda config: GPT(GPTConfig(**config)), ())[0]
