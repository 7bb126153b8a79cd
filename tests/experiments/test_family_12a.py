"""The family's second half: the tree, many languages, noises, control tokens, long inputs, GPT-Neo's and GPT-J's block."""

import sys
from random import Random

import pytest
import torch

from course_tools.makers import styles as control
from course_utils.experiments import ch12a_denoising as denoising
from course_utils.models.gpt import GPT, GPTConfig
from course_utils.models.zoo.counts import PUBLISHED
from course_utils.models.zoo.sparse import bigbird_mask
from course_utils.paths import ROOT
from course_utils.show import family
from course_utils.show.pieces import LIVE
from course_utils.text.numbers import LANGUAGES, number_tokens

sys.path.insert(0, str(ROOT / "benchmarks"))
import family_bodies as bodies  # noqa: E402
import family_long_inputs as long_inputs  # noqa: E402
from family_eleuther import relative  # noqa: E402

SMALL = GPTConfig(vocab_size=50, d_model=24, num_heads=3, num_layers=4, max_len=20, dropout=0.0)


@pytest.mark.parametrize("kind", ["neo", "j"])
def test_a_relative_writes_with_a_cache_what_it_writes_without(kind):
    torch.manual_seed(0)
    model = relative(SMALL, kind, window=4).eval()
    ids, caches = torch.randint(50, (2, 17)), None
    caches = model.new_caches()
    whole = model(ids)
    parts = [model(ids[:, :9], caches)] + [model(ids[:, i : i + 1], caches) for i in range(9, 17)]
    torch.testing.assert_close(torch.cat(parts, 1), whole, rtol=1e-4, atol=1e-5)
    later = ids.clone()
    later[:, 9:] = (later[:, 9:] + 1) % 50
    torch.testing.assert_close(model(later)[:, :9], whole[:, :9])  # nobody looks ahead


def test_the_parallel_block_is_its_formula_and_saves_one_norm():
    torch.manual_seed(0)
    model, plain = relative(SMALL, "j"), GPT(SMALL)
    block, x = model.blocks[1].eval(), torch.randn(2, 7, 24)
    h = block.norm_1(x)
    torch.testing.assert_close(block(x), x + block.attention(h, causal=True) + block.feed_forward(h))
    sizes = [sum(p.numel() for p in m.parameters()) for m in (model, plain)]
    assert sizes[1] - sizes[0] == 4 * 2 * 24


def test_a_local_layer_sees_its_window_alone():
    torch.manual_seed(0)
    model = relative(SMALL, "neo", window=4)
    x = torch.randn(1, 12, 24, requires_grad=True)
    model.blocks[1].eval()(x)[0, 10].sum().backward()
    assert (x.grad[0].abs().sum(-1) > 0).nonzero().flatten().tolist() == [7, 8, 9, 10]
    assert sum(p.numel() for p in model.parameters()) == sum(p.numel() for p in GPT(SMALL).parameters())


def test_what_relatives_refuse():
    with pytest.raises(ValueError, match="kind='llama'"):
        relative(SMALL, "llama")
    with pytest.raises(ValueError, match="norm_place"):
        relative(GPTConfig(vocab_size=50, d_model=24, num_heads=3, num_layers=2, max_len=20, norm_place="post"), "j")


def test_every_sentence_of_a_pair_counts_for_itself():
    ids, positions, languages = bodies.side_by_side([[[7, 8], [9]], [[6], [5]]], 5, [[0, 1], [1, 0]])
    assert ids.tolist() == [[5, 7, 8, 5, 5, 9, 5], [5, 6, 5, 5, 5, 5, 0]]
    assert positions.tolist() == [[0, 1, 2, 3, 0, 1, 2], [0, 1, 2, 0, 1, 2, 0]]
    assert languages.tolist() == [[0, 0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0, 0]]
    with pytest.raises(ValueError, match="paired='friends'"):
        bodies.xlm([1, 2], bodies.many_words(("en", "de"), 10), "friends", 1)


def test_directions():
    assert len(bodies.directions()) == 12
    assert len(bodies.directions("en")) == 6
    kept = bodies.directions(without=[("de", "fr")])
    assert ("de", "fr") not in kept
    assert len(kept) == 11


def test_a_translator_is_told_what_to_write():
    words = bodies.many_words(LANGUAGES, 20)
    model, history = bodies.many_to_many(list(range(20)), words, bodies.directions(), 60, width=32, batch=32)
    assert history[-1] < history[0]
    assert len(bodies.translate(model, [3, 4, 5], words, ("de", "fr"))) == 3
    assert 0 <= bodies.score(model, [3, 4, 5], words, ("de", "fr"))["exact"] <= 1


def test_texts_that_count():
    assert denoising.count(98) == "ninety eight . ninety nine . one hundred . one hundred and one .".split()
    train, test = (set(n for s in bodies.starts(held) for n in range(s, s + 4)) for held in (False, True))
    assert not train & test
    assert len(train) + len(test) == 1_000
    assert len(test) > 100
    seen = {token for n in train for token in number_tokens(n, "en")}
    assert seen >= {token for n in test for token in number_tokens(n, "en")}  # new numbers, no new words
    words = denoising.vocabulary()
    kinds, text = denoising.noises(words), words.encode(denoising.count(98))
    lengths = {name: len(spoil(text, Random(1))) for name, spoil in kinds.items()}
    assert lengths["masking"] == lengths["rotation"] == lengths["sentences shuffled"] == len(text) > lengths["deletion"]


def test_mended_counts_whole_texts():
    words = denoising.vocabulary()
    model = bodies.mender(words, width=16)
    text = words.encode(denoising.count(5))
    assert bodies.mended(model, [text], [text]) == 0.0
    history = bodies.learn_to_mend(model, lambda rng: (text, text), 60, 1e-2, batch=4)
    assert history[-1] < history[0]
    assert bodies.mended(model, [text, text[1:]], [text, [9]]) == 0.5


def test_styles_are_told_apart():
    assert control.obeyed(["aND THE END", "and the end", "x"], "capitals") == 1 / 3
    assert control.obeyed(["xs And The End", "xs And the End"], "Each Word") == 0.5
    data = control.read()
    assert sorted(data.control(style) for style in control.STYLES) == [len(data.alphabet) + i for i in range(3)]
    with pytest.raises(ValueError, match="style='loud'"):
        data.control("loud")


def test_the_rare_token_is_known():
    ids, place = long_inputs.texts_with_one(50, 16, torch.Generator().manual_seed(0), first=3)
    assert ((ids > 8).sum(1) == 1).all()
    assert place.min() >= 3
    assert torch.equal(long_inputs.answers(ids, place), ids.max(1).values - 9)
    model, history = long_inputs.train(bigbird_mask(16, 4, 1, 1, 0), 30)
    shares = long_inputs.by_distance(model, 200)
    assert shares.shape == (16,)
    assert history[-1] < history[0]
    assert (shares >= 0).all()


def test_the_tree_is_one_and_its_sizes_exist(monkeypatch):
    names = [m.name for m in family.MEMBERS]
    assert len(set(names)) == len(names)
    assert [m.date for m in family.MEMBERS] == sorted(m.date for m in family.MEMBERS)
    for place, m in enumerate(family.MEMBERS):
        assert m.branch in family.BRANCHES
        assert set(m.sizes) <= set(PUBLISHED)
        assert (m.parent in names[:place]) if m.parent else m.name in ("Transformer", "ELMo")
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda *things, **_: shown.append(things))
    family.family_tree()
    [[bundle]] = shown
    assert "image/png" in bundle and bundle[LIVE]["kind"] == "family"
    assert [m["name"] for m in bundle[LIVE]["state"]["members"]] == names


def test_a_row_of_dots_for_each_change(monkeypatch):
    shown = []
    monkeypatch.setattr(family, "picture", lambda fig, alt: shown.append((fig.axes[0], alt)))
    family.dots({"BERT": [2.3, 2.4], "change": [1.7, 1.8, 1.9]}, [1.85, 1.9], "nats", {"change": 1.75}, "dots")
    [(ax, alt)] = shown
    assert [label.get_text() for label in ax.get_yticklabels()] == ["BERT", "change", "BERT, twice the steps"]
    drawn = [list(line.get_xdata()) for line in ax.lines]
    assert [1.7, 1.8, 1.9] in drawn and [1.75] in drawn and alt == "dots"
    bands = sorted(patch.get_extents().width for patch in ax.patches)
    assert len(bands) == 2
