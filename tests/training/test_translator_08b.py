"""The committed translator is what it says, a damaged file is refused, and the box survives whatever is typed."""

from __future__ import annotations

import pytest
import torch

from course_tools.makers.translator import exact, save
from course_utils.show.box import reply, type_and_see
from course_utils.show.widgets import asked
from course_utils.text.numbers import number_pairs
from course_utils.text.vocabulary import Vocabulary
from course_utils.training.translator import FILE, MAX_LEN, load_translator, split_numbers


def test_held_out_numbers_were_not_trained_on():
    train, held_out = split_numbers()
    assert not set(train) & set(held_out)
    assert len(set(held_out)) == len(held_out) == 1000


def test_the_committed_file_is_exact():
    assert FILE.stat().st_size < 2_000_000
    model, source, target = load_translator()
    assert not model.training
    assert model.output.weight is model.target_embedding.weight
    assert exact(model, number_pairs(split_numbers()[1]), source, target) >= 0.99


def test_save_and_load(tmp_path):
    model, source, target = load_translator()
    save(model, source, target, tmp_path / "copy.safetensors")
    again, *vocabularies = load_translator(tmp_path / "copy.safetensors")
    assert [v.tokens for v in vocabularies] == [source.tokens, target.tokens]
    assert again.config == model.config
    for name, value in model.state_dict().items():
        assert torch.equal(again.state_dict()[name], value), name


def test_damaged_files_are_refused(tmp_path):
    from safetensors.torch import load_file, save_file

    model, source, target = load_translator()
    path = tmp_path / "other.safetensors"
    save_file(load_file(FILE), path)
    with pytest.raises(ValueError, match="holds no translator"):
        load_translator(path)
    save(model, Vocabulary([["one"]]), target, path)
    with pytest.raises(ValueError, match="do not fit"):
        load_translator(path)
    model.encoder.norm = torch.nn.LayerNorm(3)
    save(model, source, target, path)
    with pytest.raises(ValueError, match="encoder.norm"):
        load_translator(path)


def test_the_longest_number_fits():
    assert max(len(b) + 2 for _, b in number_pairs([77_777, 99_999])) <= MAX_LEN


def test_box_shows_refusals_and_answers_what_is_typed(monkeypatch):
    def answer(text, beam=1):
        if not text:
            raise ValueError("nothing to translate")
        return f"{text} x {beam}"

    shown = []
    monkeypatch.setattr("course_utils.show.widgets.show_live", lambda *parts: shown.append(parts))
    assert reply(answer, "") == "✗ nothing to translate"
    type_and_see(answer, "two <b>", "number", beam=[1, 2])
    kind, state, still, _ = shown[0]
    assert (kind, still["text/plain"], state["typed"]) == ("frames", "number: two <b>\ntwo <b> x 1", {"label": "number", "text": "two <b>"})
    assert asked(state["key"], [1], "").items == [{"text": "number: \n✗ nothing to translate"}]
    assert asked(state["key"], [1], "two").items == [{"text": "number: two\ntwo x 2"}]
