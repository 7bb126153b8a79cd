"""In-context tasks, instructions and preferences: closed forms, and the committed multitask model."""

import math

import pytest
import torch

from course_tools.makers import multitask as maker
from course_utils.experiments import ch11b_incontext as incontext
from course_utils.experiments import ch11b_multitask as multitask

# in-context learning


def test_shops_are_intervals_around_the_clock() -> None:
    shops = incontext.opening_hours()
    assert shops.shape == (13 * 24, 24)
    assert len(shops.unique(dim=0)) == len(shops)
    assert (shops.sum(1) >= 6).all()
    assert (shops.sum(1) <= 18).all()
    assert ((shops != shops.roll(1, 1)).sum(1) == 2).all()  # one opening and one closing
    with pytest.raises(ValueError, match="longest=24"):
        incontext.opening_hours(6, 24)


def test_no_shop_is_trained_and_tested() -> None:
    trained, held = incontext.split_shops(incontext.opening_hours())
    assert len(trained) + len(held) == 312
    assert len(torch.cat([trained, held]).unique(dim=0)) == 312
    with pytest.raises(ValueError, match="share=0"):
        incontext.split_shops(trained, 0.0)


def test_prompts_ask_no_hour_twice_and_read_as_text() -> None:
    shops = incontext.opening_hours()
    hours, opened = incontext.draw_prompts(shops, 50, torch.Generator().manual_seed(0))
    assert all(len(set(row)) == incontext.EXAMPLES for row in hours.tolist())
    assert all(((shops[:, h] == o).all(1)).any() for h, o in zip(hours, opened, strict=True))
    ids = incontext.as_tokens(torch.tensor([[9, 22]]), torch.tensor([[True, False]]))
    assert incontext.spell(ids[0]) == "9 ? 9 open 22 ? 22 closed"
    with pytest.raises(ValueError, match="72"):
        incontext.spell(torch.tensor([3, 72]))


def test_the_posterior_counts_the_shops_that_fit() -> None:
    shops = incontext.opening_hours()
    hours, opened = incontext.draw_prompts(shops, 20, torch.Generator().manual_seed(1), 5)
    found = incontext.posterior_open(shops, hours, opened)
    for n in range(20):
        for k in range(5):
            fitting = [s for s in shops if all(s[h] == o for h, o in zip(hours[n, :k], opened[n, :k], strict=True))]
            share = sum(bool(s[hours[n, k]]) for s in fitting) / len(fitting)
            assert math.isclose(found[n, k].item(), share, rel_tol=1e-5)
    nothing_fits = incontext.posterior_open(shops[:1], torch.tensor([[0, 1, 2]]), ~shops[:1, :3])
    assert nothing_fits[0, 1:].tolist() == [0.5, 0.5]


def test_the_nearest_hour_answers_around_the_clock() -> None:
    hours, opened = torch.tensor([[23, 12, 1, 0]]), torch.tensor([[True, False, False, True]])
    assert incontext.nearest_open(hours, opened)[0].tolist() == [0.5, 1.0, 1.0, 0.5]  # 0 is as far from 23 as from 1
    torch.testing.assert_close(
        incontext.accuracy(torch.tensor([[0.5, 0.9], [0.5, 0.9]]), torch.tensor([[True, True], [False, False]])), torch.tensor([0.5, 0.5])
    )


def test_later_examples_do_not_change_earlier_answers() -> None:
    model, history = incontext.train(incontext.opening_hours(), steps=3, width=16)
    assert len(history) == 3
    hours, opened = incontext.draw_prompts(incontext.opening_hours(), 4, torch.Generator().manual_seed(2))
    first = incontext.says_open(model, hours, opened)
    flipped = opened.clone()
    flipped[:, 6:] = ~flipped[:, 6:]
    torch.testing.assert_close(incontext.says_open(model, hours, flipped)[:, :7], first[:, :7])
    assert first.shape == (4, incontext.EXAMPLES)


# instructions


def test_texts_of_the_multitask_model() -> None:
    assert " ".join(multitask.prompt("translate to German", 42, "English")) == "translate to German : forty two ->"
    assert multitask.answer("translate to German", 42, "English") == ["zwei", "und", "vierzig"]
    assert multitask.answer("reverse", 42, "digits") == ["2", "4"]
    with pytest.raises(ValueError, match="Latin"):
        multitask.spelled(3, "Latin")
    with pytest.raises(ValueError, match="sing"):
        multitask.answer("sing", 3, "English")
    trained, never = multitask.combinations()
    assert not set(trained) & set(never)
    assert len(trained) + len(never) == 25
    assert {task for task, _ in trained} == set(multitask.TASKS)
    assert {kind for _, kind in trained} == set(multitask.KINDS)
    assert not set(multitask.split_numbers()[0]) & set(multitask.split_numbers()[1])


def test_the_committed_multitask_model() -> None:
    model, words = multitask.load_multitask()
    assert len(words) == model.config.vocab_size
    assert multitask.FILE.stat().st_size < 400_000
    numbers = multitask.split_numbers()[1][:20]
    assert multitask.accuracy(model, words, [("translate to English", "German"), ("reverse", "digits")], numbers) > 0.9
    assert multitask.accuracy(model, words, [("translate to French", "German")], numbers) > 0.6
    longest = max(
        (multitask.prompt(t, n, k) + multitask.answer(t, n, k) for t, k in multitask.combinations()[0] for n in range(777, 800)), key=len
    )
    assert len(longest) + 1 <= multitask.MAX_LEN


def test_saving_and_loading(tmp_path) -> None:
    from safetensors.torch import save_file

    model, words, history = maker.train(steps=2, width=16)
    maker.save(model, words, tmp_path / "m.safetensors")
    again, same = multitask.load_multitask(tmp_path / "m.safetensors")
    assert same.tokens == words.tokens
    assert len(history) == 2
    torch.testing.assert_close(again.token.weight, model.token.weight, rtol=1e-3, atol=1e-3)
    save_file({"x": torch.zeros(1)}, tmp_path / "other.safetensors", {"format": "pt"})
    with pytest.raises(ValueError, match="no multitask model"):
        multitask.load_multitask(tmp_path / "other.safetensors")
