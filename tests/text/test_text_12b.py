"""The travellers' language and what chapter 12b trains on it: frequencies, tables by hand, what each model may see, the letters."""

from __future__ import annotations

import pytest
import torch

from course_utils.experiments.ch12b_orders import (
    at_once,
    in_turn,
    learn,
    make,
    masked_loss,
    measure,
    nats_by_turn,
    sentences_of,
    windows_of,
    word_table,
)
from course_utils.models.xlnet import XLNet, permutation_masks, random_orders
from course_utils.text.cities import CITIES, FIRST, IDS, LENGTH, SEASONS, SECOND, WORDS, city_probabilities, decode, gaps, names, travel
from course_utils.text.letters import letters


def test_sentences_follow_the_table():
    ids = travel(40_000, torch.Generator().manual_seed(0))
    assert ids.shape == (40_000, LENGTH)
    assert int(ids.min()) > 0
    assert decode(ids[0]).split()[2] == "to"
    assert decode(ids[0]).split()[5] == "in"
    season = ids[:, 6] - IDS[SEASONS[0]]
    for s, expected in enumerate(city_probabilities()):
        rows = ids[season == s]
        shares = torch.stack([(rows[:, [FIRST, SECOND]] == pair).all(1).double().mean() for pair in names()])
        assert shares.sum() == pytest.approx(1)
        assert (shares - expected).abs().max() < 0.02
    assert list(city_probabilities().argmax(1)) == [0, 0, 0, 2]  # New York, but in winter Los Angeles


def test_gaps_know_the_truth():
    ids, joint = gaps()
    assert ids.shape == (64, LENGTH)
    assert len({tuple(row) for row in ids.tolist()}) == 64
    assert (ids[:, [FIRST, SECOND]] == IDS["[MASK]"]).all()
    assert IDS["[MASK]"] == 0
    torch.testing.assert_close(joint.sum((1, 2)), torch.ones(64))
    assert int((joint > 0).sum()) == 64 * len(CITIES)
    spring = joint[0][IDS["New"], IDS["York"]].item()
    assert spring == pytest.approx(6 / 24)
    assert joint[2][IDS["New"], IDS["York"]].item() == pytest.approx(6 / 24)
    assert joint[3][IDS["Los"], IDS["Angeles"]].item() == pytest.approx(15 / 46)


@pytest.fixture(scope="module", params=["bert", "xlnet"])
def model(request):
    found = make(request.param, len(WORDS), LENGTH, 16, seed=1).eval()
    with torch.no_grad():
        for p in found.parameters():
            p.add_(0.1 * torch.randn_like(p))
    return found


def test_tables_are_distributions(model):
    ids, truth = gaps()
    ids, truth = ids[:5], truth[:5]
    for table in (in_turn(model, ids), in_turn(model, ids, SECOND), at_once(model, ids)):
        torch.testing.assert_close(table.sum((1, 2)), torch.ones(5))
    torch.testing.assert_close(in_turn(model, ids).sum(2), word_table(model, ids, FIRST, SECOND))
    torch.testing.assert_close(in_turn(model, ids, SECOND).sum(1), word_table(model, ids, SECOND, FIRST))
    product = at_once(model, ids)
    torch.testing.assert_close(product.sum(2)[:, :, None] * product.sum(1)[:, None, :], product)
    both = in_turn(model, ids)
    assert (both.sum(2)[:, :, None] * both.sum(1)[:, None, :] - both).abs().max() > 1e-4
    assert measure(truth, truth)["no city"] == pytest.approx(0, abs=1e-6)


def test_word_tables_see_what_they_may(model):
    ids = gaps()[0][:3].clone()
    hidden = word_table(model, ids, FIRST, SECOND)
    filled = ids.clone()
    filled[:, SECOND] = IDS["York"]
    assert (word_table(model, filled, FIRST, SECOND) - hidden).abs().max() > 1e-5
    own = filled.clone()
    own[:, FIRST] = IDS["New"]
    if isinstance(model, XLNet):  # its own word does not matter; BERT has to be given [MASK]
        torch.testing.assert_close(word_table(model, own, FIRST, SECOND), word_table(model, filled, FIRST, SECOND))


def test_one_word_by_one_word_by_hand():
    model = make("xlnet", len(WORDS), LENGTH, 16, seed=2).eval()
    ids, order = gaps()[0][:1], torch.tensor([[0, 1, 2, 5, 6, 3, 4]])
    sentence = ids.clone()
    sentence[0, FIRST], sentence[0, SECOND] = IDS["New"], IDS["York"]
    with torch.no_grad():
        p = model(sentence, order)[0].softmax(-1)
    expected = p[FIRST, IDS["New"]] * p[SECOND, IDS["York"]]
    torch.testing.assert_close(in_turn(model, ids)[0, IDS["New"], IDS["York"]], expected)


def test_masked_loss_hides_the_last_of_an_order():
    model = make("bert", len(WORDS), LENGTH, 16).eval()
    ids, orders = travel(4, torch.Generator().manual_seed(1)), random_orders(4, LENGTH, torch.Generator().manual_seed(2))
    losses = []
    for row, order in zip(ids, orders, strict=True):
        hidden = row.clone()
        hidden[order[-2:]] = 0
        logs = model.tokens(model.bert(hidden[None]))[0].log_softmax(-1)
        losses += [-logs[i, row[i]] for i in order[-2:].tolist()]
    torch.testing.assert_close(masked_loss(model, ids, orders, 2), torch.stack(losses).mean())


@pytest.mark.parametrize("kind", ["bert", "xlnet"])
def test_learning_starts(kind, monkeypatch):
    monkeypatch.setenv("COURSE_BUILD", "1")
    model = make(kind, len(WORDS), LENGTH, 16)
    history = learn(model, sentences_of(16), 2, 40, 5e-3)
    assert sum(history[-5:]) < 0.8 * sum(history[:5])
    assert not model.training
    again = make(kind, len(WORDS), LENGTH, 16)
    assert learn(again, sentences_of(16), 2, 40, 5e-3) == history


def test_letters_and_turns():
    alphabet, train, held_out = letters()
    assert 30 < len(alphabet) < 60
    assert " " in alphabet
    assert "e" in alphabet
    assert not any(c.isupper() for c in alphabet)
    assert int(train.max()) < len(alphabet)
    assert len(train) > 5 * len(held_out) > 50_000
    windows = windows_of(train, 5, 9)(torch.Generator().manual_seed(0))
    text = "".join(alphabet[i] for i in train.tolist())
    assert windows.shape == (5, 9)
    assert all("".join(alphabet[i] for i in w) in text for w in windows.tolist())
    model, orders = make("xlnet", len(alphabet), 9, 16).eval(), random_orders(5, 9, torch.Generator().manual_seed(3))
    nats = nats_by_turn(model, windows, orders)
    with torch.no_grad():
        torch.testing.assert_close(nats.mean(), model.loss(windows, orders))
        torch.testing.assert_close(nats[:, -3:].mean(), model.loss(windows, orders, 3))


def test_chosen_rows_of_the_query_stream_are_the_same():
    model = make("xlnet", 12, 7, 16).eval()
    ids, orders = torch.randint(12, (3, 7)), random_orders(3, 7, torch.Generator().manual_seed(4))
    masks, chosen = permutation_masks(orders), orders[:, -2:]
    h, g = model.look(ids, *masks)
    h2, g2 = model.look(ids, *masks, chosen)
    torch.testing.assert_close(h, h2)
    torch.testing.assert_close(g.gather(1, chosen[..., None].expand(-1, -1, 16)), g2)


def test_messages():
    with pytest.raises(ValueError, match="kind='gpt' is unknown"):
        make("gpt", 5, 5, 16)
    with pytest.raises(ValueError, match=r"orders of shape \(2, 4\) do not fit ids of shape \(2, 5\)"):
        make("xlnet", 5, 5, 16).loss(torch.zeros(2, 5, dtype=torch.long), random_orders(2, 4), 2)
