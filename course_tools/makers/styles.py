"""The small CTRL of chapter 12a: a GPT of letters that obeys a token in front of the text, which names the style."""

from typing import NamedTuple

import torch
from torch import Tensor

from course_utils.experiments.ch12a_control import STYLES
from course_utils.models.gpt import GPT, GPTConfig
from course_utils.training.loop import History, fit
from course_utils.training.mini_gpt import read_corpus
from course_utils.training.sampling import generate
from course_utils.training.schedules import warmup_cosine

N = 64  # letters in a window, behind the control token


class Styled(NamedTuple):
    """The alphabet, and for each style the ids of training and held-out text; control tokens follow the alphabet."""

    alphabet: str
    training: dict[str, Tensor]
    held_out: dict[str, Tensor]

    def control(self, style: str) -> int:
        """The id of a style's token. ValueError for a style that does not exist."""
        if style not in STYLES:
            raise ValueError(f"style={style!r} is unknown; choose one of {list(STYLES)}")
        return len(self.alphabet) + list(STYLES).index(style)


def read() -> Styled:
    """The Python manual in every style, in letters, spaces and a few marks."""
    texts = [" ".join(" ".join(pages).split()) for pages in read_corpus()]
    texts = ["".join(c for c in text if c.isalpha() or c in " .,:") for text in texts]
    alphabet = "".join(sorted({c for text in texts for change in STYLES.values() for c in change(text)}))
    ids = {c: i for i, c in enumerate(alphabet)}
    return Styled(alphabet, *({style: torch.tensor([ids[c] for c in change(text)]) for style, change in STYLES.items()} for text in texts))


def train(data: Styled, controlled: bool, steps: int, seed: int = 0, width: int = 64, batch: int = 32) -> tuple[GPT, History]:
    """Train a small GPT; every window begins anywhere in one style's text, its control token (or always the same one) in front."""
    torch.manual_seed(seed)
    tokens = len(data.alphabet) + len(STYLES)
    model = GPT(GPTConfig(vocab_size=tokens, d_model=width, num_heads=4, num_layers=2, max_len=N + 1, dropout=0.0))
    g, styles = torch.Generator().manual_seed(seed), list(STYLES)

    def loss() -> Tensor:
        rows = []
        for which in torch.randint(len(styles), (batch,), generator=g).tolist():
            text = data.training[styles[which]]
            start = int(torch.randint(len(text) - N, (), generator=g))
            rows.append(torch.cat([torch.tensor([data.control(styles[which if controlled else 0])]), text[start : start + N]]))
        return model.loss(torch.stack(rows))

    history = fit(model, loss, steps, 4e-3, "styles", clip=1.0, schedule=warmup_cosine(steps, max(1, steps // 20), floor=0.02))
    return model.eval(), history


def write(model: GPT, data: Styled, style: str, texts: int = 30, controlled: bool = True, seed: int = 0) -> list[str]:
    """Texts of 48 letters that the model writes behind the token of a style."""
    first = torch.full((texts, 1), data.control(style if controlled else list(STYLES)[0]))
    ids = generate(model, first, 48, temperature=0.8, generator=torch.Generator().manual_seed(seed))
    return ["".join(data.alphabet[i] for i in row if i < len(data.alphabet)) for row in ids[:, 1:].tolist()]


def obeyed(texts: list[str], style: str) -> float:
    """Share of texts that are wholly in the style, but for the first word, whose beginning lies before the text."""

    def whole(text: str) -> bool:
        rest = text.partition(" ")[2]
        return len(rest) > 0 and STYLES[style](rest) == rest

    return sum(map(whole, texts)) / len(texts)
