"""What chapter 12a measures with: hidden letters, one head for all bodies, DeBERTa's body, a student cut from a teacher."""

from __future__ import annotations

import sys

import pytest
import torch

from course_utils.experiments import ch12a_relatives as relatives
from course_utils.experiments.ch12a_distil import cut, hidden_score, teach
from course_utils.experiments.ch12a_spaces import spaces
from course_utils.models.bert import BertConfig, BertForPretraining
from course_utils.models.zoo.masked import Deberta, MaskedModel
from course_utils.paths import ROOT
from course_utils.training.mini_bert import load_mini_bert, read_corpus

sys.path.insert(0, str(ROOT / "benchmarks"))
from family_letters import next_loss, train_next  # noqa: E402

TEXT = relatives.read()


def test_windows_and_noise():
    assert TEXT.train.shape[1] == TEXT.held_out.shape[1] == 16
    assert int(TEXT.train.max()) < TEXT.count == len(TEXT.alphabet)
    window = torch.cat([TEXT.train[:300], torch.full((300, 1), TEXT.count)], 1)  # [CLS] at the end of each
    inputs, labels = relatives.hide(TEXT, window, torch.Generator().manual_seed(0))
    chosen = labels != -100
    assert not chosen[:, -1].any()
    assert 0.12 < chosen[:, :-1].float().mean() < 0.18
    assert torch.equal(labels[chosen], window[chosen])
    assert torch.equal(inputs[~chosen], window[~chosen])
    assert 0.7 < (inputs[chosen] == TEXT.mask_id).float().mean() < 0.9


@pytest.mark.parametrize("kind", ["bert", "factorised", "shared", "albert", "deberta", "deberta late", "modern"])
def test_every_body_fits_the_head_and_learns(kind):
    model = MaskedModel(relatives.body(TEXT, kind, 1))
    assert model(TEXT.train[:3]).shape == (3, 16, TEXT.count + 3)
    before = relatives.held_out_nats(TEXT, model)
    relatives.learn(model, lambda windows, g: relatives.masked_loss(model, *relatives.hide(TEXT, windows, g)), TEXT.train, 20)
    assert relatives.held_out_nats(TEXT, model) < before - 0.3


def test_a_reader_from_the_left_knows_nothing_of_the_right_and_a_prefix_only_of_its_front():
    model, windows = MaskedModel(relatives.body(TEXT)).eval(), TEXT.train[:2]
    changed = windows.clone()
    changed[:, 9] = (changed[:, 9] + 1) % TEXT.count
    causal = relatives.Reads(model.body, torch.ones(16, 16, dtype=torch.bool).tril())
    torch.testing.assert_close(causal(windows)[:, :9], causal(changed)[:, :9])
    one = torch.ones(2, dtype=torch.long)
    logits = model.tokens(causal(windows))[:, :-1]
    expected = torch.nn.functional.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten())
    torch.testing.assert_close(next_loss(model, windows, one), expected)
    behind = torch.nn.functional.cross_entropy(model.tokens(model.body(windows[:, :15]))[:, 14], windows[:, 15])
    torch.testing.assert_close(next_loss(model, windows, 15 * one), behind)  # fifteen letters read on both sides, one asked
    trained = train_next(TEXT, steps=10, prefix=True)
    assert trained(windows).shape == (2, 16, TEXT.count + 3)


def test_deleted_spaces_can_be_put_back():
    found = spaces(TEXT, TEXT.held_out[:50])
    text = "".join(TEXT.alphabet[i] + " " * int(gap) for i, gap in zip(found.ids.flatten(), found.labels.flatten(), strict=True))
    whole = "".join(TEXT.alphabet[i] for i in TEXT.held_out[:50].flatten())
    assert text[:300] == " ".join(whole.split(" "))[whole[0] == " " :][:300]
    assert not (found.ids == TEXT.alphabet.index(" ")).any()


def test_debertas_body_knows_distances_only():
    torch.manual_seed(0)
    config = BertConfig(vocab_size=20, d_model=12, num_heads=3, d_ff=24, num_layers=2, max_len=9, dropout=0.0, pooler=False, init_std=0.3)
    near, late, same = Deberta(config, 4), Deberta(config, 4, late=True), torch.full((1, 9), 7)
    torch.testing.assert_close(near(same)[0], near(same)[0, :1].expand(9, -1), rtol=1e-4, atol=1e-5)
    assert (late(same)[0] - late(same)[0, :1]).abs().max() > 0.1
    ids = torch.randint(20, (1, 9))
    assert (near(ids)[0] - near(ids.flip(1))[0].flip(0)).abs().max() > 1e-3  # it does see the direction
    mask = torch.ones(1, 9, dtype=torch.bool)
    mask[0, 6:] = False
    changed = ids.clone()
    changed[0, 6:] = 3
    torch.testing.assert_close(near(ids, None, mask)[0, :6], near(changed, None, mask)[0, :6])


def test_a_student_is_cut_from_its_teacher():
    torch.manual_seed(0)
    teacher = BertForPretraining(BertConfig(vocab_size=30, d_model=12, num_heads=3, d_ff=24, num_layers=3, max_len=9, dropout=0.0)).eval()
    student, ids = cut(teacher, [0, 2]), torch.randint(30, (2, 9))
    assert len(student.bert.encoder.blocks) == student.bert.config.num_layers == 2
    assert len(teacher.bert.encoder.blocks) == 3
    x = teacher.bert.embeddings(ids)
    for number in (0, 2):
        x = teacher.bert.encoder.blocks[number](x)
    torch.testing.assert_close(student.bert(ids), x)
    assert student.bert.embeddings.token.weight is not teacher.bert.embeddings.token.weight
    with pytest.raises(ValueError, match="0 to 2"):
        cut(teacher, [3])


def test_a_taught_student_comes_nearer_and_the_teacher_stays():
    teacher, tokenizer = load_mini_bert()
    corpus = read_corpus(tokenizer=tokenizer)
    few = corpus._replace(training=corpus.training[::8])
    student, kept = cut(teacher, [0]), [p.clone() for p in teacher.parameters()]
    before = hidden_score(student, corpus, passes=1)[0]
    teach(student, teacher, few, 25, share=1.0, batch=8)
    assert hidden_score(student, corpus, passes=1)[0] < before - 0.1
    assert all(torch.equal(a, b) for a, b in zip(kept, teacher.parameters(), strict=True))


def test_messages():
    with pytest.raises(ValueError, match="kind='gpt'"):
        relatives.body(TEXT, "gpt")
