"""Ablations of chapter 05, Positional encoding."""

from .ablation import Ablation

ABLATIONS = [
    Ablation(
        "Attention without positions cannot tell who was bitten; with positions it can.",
        "no positions for anybody",
        'assert min(*found["GRU"], *found["convolution"], found["attention"][1]) > 0.95',
        "x = self.embed(ids) + self.table  # (batch, token, d)",
        "x = self.embed(ids)",
    ),
    Ablation(
        "Attention without positions cannot tell who was bitten.",
        "positions for everybody",
        'assert gap < 1e-5 and 0.4 < found["attention"][0] < 0.6',
        "        if use_positions:\n",
        "        if True:\n",
    ),
    Ablation(
        "A causal mask tells orders apart without positions.",
        "no mask",
        "assert small == [False, True, True, True, False]",
        "one_causal, two_causal = layer(x, causal), layer(swapped, causal)",
        "one_causal, two_causal = layer(x), layer(swapped)",
    ),
    Ablation(
        "Moving along the table is the same rotation everywhere.",
        "the table with the counted columns",
        "assert residual < 1e-12",
        "residual = (rows(1000, d) @ m.T - rows(1000, d, start=k)).abs().max()",
        "residual = (copied(1007, d)[:-k] @ m.T - copied(1007, d)[k:]).abs().max()",
    ),
    Ablation(
        "A linear read-out finds words and positions in their sums.",
        "words in three directions",
        "assert min(results[64][2:]) > 0.85",
        "read = probe(torch.randn(50, d, generator=g), ",
        "read = probe(torch.randn(50, 3, generator=g) @ torch.randn(3, d, generator=g), ",
    ),
    Ablation(
        "RoPE's scores depend on offsets only, those of added sinusoids do not.",
        "nothing added",
        "assert gap > 1\n".strip(),
        "moved = x + positions.sinusoidal(10, 8, start=first)",
        "moved = x",
    ),
    Ablation(
        "Reordered rows turn one convention of RoPE into the other.",
        "the queries' rows as they were",
        "torch.testing.assert_close(converted, from_file",
        "all_scores(to_halves(w_q, heads), to_halves(w_k, heads), True)",
        "all_scores(w_q, to_halves(w_k, heads), True)",
    ),
    Ablation(
        "Recall needs positions.",
        "no scheme gives any",
        "assert min(score[scheme][0] for scheme in SCHEMES[1:]) > 0.8",
        "trained = {scheme: train(scheme, seed=0) for scheme in SCHEMES}",
        'trained = {scheme: train("none", seed=0) for scheme in SCHEMES[:2]}\n'
        "trained = {scheme: trained[SCHEMES[scheme != SCHEMES[0]]] for scheme in SCHEMES}",
    ),
    Ablation(
        "At letter 40 RoPE has lost what ALiBi keeps.",
        "a base that turns slowly",
        "assert (rope[3:] < rope[:3] - 0.12).all()",
        "rows = {scheme: [accuracies(model)[part] for part in (1, 2)",
        "for layer in [layer for model in runs['RoPE'] for layer in model.layers]:\n    layer.base = 1e5\n"
        "rows = {scheme: [accuracies(model)[part] for part in (1, 2)",
    ),
    Ablation(
        "T5's two rows differ by what their last bucket holds.",
        "the same largest distance in both rows",
        'assert added < long["T5 to 40"] < long["T5 to 16"] - 0.2',
        "max_distance=int(scheme[-2:])",
        "max_distance=16",
    ),
    Ablation(
        "Numbers that training never touched are what fails in the second row of T5.",
        "the untrained numbers left at 0",
        "assert (filled > to_40 + 0.12).all()",
        "numbers[:, 13:] = numbers[:, 12:13]",
        "numbers[:, 13:] = 0 * numbers[:, 12:13]",
    ),
    Ablation(
        "Words that are much longer than positions drown them.",
        "no factor on the words",
        "assert min(plain + both) > 0.8 and max(loud + faint) < 0.5",
        "x = self.words_by * self.embed(ids)",
        "x = self.embed(ids)",
    ),
    Ablation(
        "It is the ratio of words and positions that counts.",
        "no factor on the positions",
        "assert min(plain + both) > 0.8 and max(loud + faint) < 0.5",
        "x = x + self.places_by * places[:ids.shape[1]]",
        "x = x + places[:ids.shape[1]]",
    ),
    Ablation(
        "Which scheme is best depends on the task: slopes cannot prefer the third nearest key.",
        "a rotation in both models",
        'assert min(three_back["RoPE"]) > 0.9 and max(three_back["ALiBi"]) < 0.6',
        "accuracies(train(scheme, seed, back, 60), back)",
        'accuracies(train("RoPE", seed, back, 60), back)',
    ),
    Ablation(
        "On little data the size of the first rows decides the simple task.",
        "rows as small as before",
        "assert on_back[2] > max(on_back[:2]) + 0.15",
        'few("learned", start=1.0)',
        'few("learned", start=0.02)',
    ),
    Ablation(
        "A larger base repairs the end of long sequences.",
        "the base as it was",
        "assert (slower[3:] > before[3:] + 0.1).all()",
        '"base 25,198": (1.0, 1e4 * 2 ** (8 / 6))',
        '"base 25,198": (1.0, 1e4)',
    ),
    Ablation(
        "Vectors at the values say where a token comes from.",
        "no such vectors",
        'assert spread["keys only"] < 1e-6 and spread["and values"] > 0.1',
        '("and values", a_v))',
        '("and values", none))',
    ),
]
