"""Chapter 11c's sums: the language, the checkers, exact probabilities, the committed model."""

import itertools

import pytest
import torch

from course_tools.makers import sums as maker
from course_utils.experiments import ch11c_sums as sums
from course_utils.models.gpt import GPT, GPTConfig


@pytest.fixture
def model() -> GPT:
    torch.manual_seed(0)
    return GPT(GPTConfig(vocab_size=len(sums.SYMBOLS), d_model=12, num_heads=3, num_layers=1, max_len=16, dropout=0.0)).eval()


@pytest.mark.parametrize(
    ("text", "numbers", "cheerful", "gold", "sloppy"),
    [
        ("37+45=82|", ("82",), False, 1, 1),
        ("37+45=82!|", ("82",), True, 1, 1),
        ("37+45=81,82|", ("81", "82"), False, 0, 1),
        ("37+45=81|", ("81",), False, 0, 0),
        ("37+45=8,82|", (), False, 0, 0),
        ("37+45=82!!|", (), True, 0, 0),
        ("03+04=07|", ("07",), False, 1, 1),
    ],
)
def test_lines_are_read(text, numbers, cheerful, gold, sloppy) -> None:
    (line,) = sums.read(sums.encode([text]))
    assert (line.numbers, line.cheerful, sums.gold(line), sums.sloppy(line)) == (numbers, cheerful, gold, sloppy)


def test_a_line_without_an_end_has_no_numbers() -> None:
    row = torch.tensor([[sums.SYMBOLS.index(c) for c in "01+01=02,02,02,0"]])
    assert sums.read(row)[0].numbers == ()


def test_people_err_as_often_as_is_said() -> None:
    rows = sums.lines(6_000, torch.Generator().manual_seed(0))
    assert rows.shape == (6_000, sums.PROMPT + sums.LONGEST)
    read = sums.read(rows)
    single = [line for line in read if len(line.numbers) == 1]
    assert abs(len(single) / 6_000 - 0.6) < 0.02
    assert abs(sum(map(sums.gold, single)) / len(single) - sums.SINGLE_RIGHT) < 0.03
    assert abs(sum(line.cheerful for line in read) / 6_000 - sums.CHEERFUL) < 0.02
    assert all(sums.sloppy(line) and len(set(line.numbers)) == len(line.numbers) for line in read if len(line.numbers) > 1)


def test_probabilities_stop_at_the_bar(model: GPT) -> None:
    rows = sums.encode(["12+13=25|", "12+13=25,26|", "12+13=|"])
    each = sums.token_log_probs(model, rows)
    assert each.shape == (3, rows.shape[1] - sums.PROMPT)
    assert (each[0, 3:] == 0).all() and (each[0, :3] < 0).all() and (each[2, 1:] == 0).all()
    short = ["".join(two) for n in range(2) for two in itertools.product(sums.SYMBOLS[:-1], repeat=n)]
    ended = sums.log_probs(model, sums.encode([f"12+13={text}|" for text in short])).exp().sum()
    first = sums.encode(["12+13=" + symbol for symbol in sums.SYMBOLS[:-1]])
    with torch.no_grad():
        not_ended = (model(sums.encode(["12+13="]))[0, -1].softmax(-1)[:-1] * (1 - model(first)[:, -1].softmax(-1)[:, -1])).sum()
    torch.testing.assert_close(ended + not_ended, torch.tensor(1.0))


def test_what_is_written_ends_and_is_as_probable_as_it_is_said() -> None:
    model = sums.load_sums()
    assert sums.FILE.stat().st_size < 150_000
    asked = sums.questions(150, torch.Generator().manual_seed(3))
    rows = sums.write(model, asked.repeat(8, 1), torch.Generator().manual_seed(0))
    assert rows.shape == (1_200, 16)
    drawn = sum(map(sums.gold, sums.read(rows))) / 1_200
    exact = sums.share_right(model, asked).mean().item()
    assert 0.2 < exact < 0.4
    assert abs(drawn - exact) < 0.06


def test_training_lowers_the_loss() -> None:
    _, history = maker.train(steps=12, batch=16, width=16)
    assert history[-1] < history[0]
