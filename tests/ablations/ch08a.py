"""Ablations of chapter 08a, The encoder–decoder, and of its companion."""

from .ablation import Ablation

ABLATIONS = [
    Ablation(
        "A position is longer than a word whose table starts small.",
        "a table that starts with the standard deviation 1",
        'assert abs(loud["a word, as it starts"] - 1) < 0.05',
        "words_at_start = torch.randn(400, 64) / 8              # std 1/√d",
        "words_at_start = torch.randn(400, 64)",
    ),
    Ablation(
        "One pass equals one pass for each beginning because of the mask of the target.",
        "blocks that may read the whole target",
        "assert apart < 1e-4",
        "untrained = Transformer(len(english), len(german))\n",
        "untrained = Transformer(len(english), len(german))\n"
        "class Open(nn.Module):\n"
        "    def __init__(self, block):\n"
        "        super().__init__()\n"
        "        self.block = block\n"
        "    def forward(self, x, memory, mask=None, memory_mask=None):\n"
        "        return self.block(x, memory, None, memory_mask)\n"
        "untrained.decoder = nn.ModuleList(map(Open, untrained.decoder))\n",
    ),
    Ablation(
        "It translates numbers that it has never seen because it has been trained.",
        "five steps",
        "assert score > 0.98 and history[-1] < 0.05",
        "history = learn(translator)",
        "history = learn(translator, steps=5)",
    ),
    Ablation(
        "Below 100 it often fails because the training holds hardly any such numbers.",
        "every seventh number drawn below 1,000",
        "assert right[1] < 0.9 and right[1_000] > 0.97",
        "drawn = random.Random(0).sample(range(100_000), 6_000)",
        "drawn = random.Random(0).sample(range(1_000), 850) + random.Random(0).sample(range(1_000, 100_000), 5_150)",
    ),
    Ablation(
        "The dictionary misses four numbers without “und” because they end in “eins”.",
        "“eins” in the dictionary, at the end",
        'assert missed == 4 * ["eins"]',
        '    said = [[dictionary[word] for word in source if word != "and"]\n            for source, _ in pairs]',
        '    said = [[dictionary[word] for word in source if word != "and"]\n            for source, _ in pairs]\n'
        '    said = [[*s[:-1], "eins" if s[-1] == "ein" else s[-1]] for s in said]',
    ),
    Ablation(
        "After a word for the tens nearly every number goes on with “tausend”.",
        "counted behind a word for a digit",
        'assert tens["tausend"] > 0.99 * tens.total()',
        '    if de[1] == "und":\n        after["like “neun und dreißig”"][de[3]] += 1',
        '    if len(de) > 4:\n        after["like “neun und dreißig”"][de[1]] += 1',
    ),
    Ablation(
        "“Hundert” needs its English word, “tausend” does not.",
        "nothing hidden",
        'assert left["hundred"] < left["thousand"] - 0.1',
        "    fewer[0, en.index(hidden)] = 0                     # as if it were a pad",
        "    pass",
    ),
    Ablation(
        "Without the mask a model has as low a loss, and writes far worse.",
        "the mask given back",
        'assert shares["no causal mask"] < score - 0.2',
        "        return self.block(x, memory, None, memory_mask)",
        "        return self.block(x, memory, mask, memory_mask)",
    ),
    Ablation(
        "Without the source a model writes one German number for all.",
        "the source given back",
        'assert losses["no source"] > 1 and shares["no source"] < 0.01',
        "        return self.block(x, 0 * memory, mask, memory_mask)",
        "        return self.block(x, memory, mask, memory_mask)",
    ),
    Ablation(
        "A word-by-word dictionary fails at the order, and at the words that English lacks.",
        "any order counts as right",
        'assert 0.005 < shares["a dictionary"] < 0.15',
        "    return sum(s == t for s, (_, t) in zip(said, pairs)) / len(pairs)",
        '    return sum(sorted(s) == sorted(w for w in t if w != "und") for s, (_, t) in zip(said, pairs)) / len(pairs)',
    ),
    Ablation(
        "The order of the English words matters.",
        "the words in their order",
        'assert shares["shuffled words"] < 0.1',
        "    order = torch.rand(source.shape).masked_fill(source == 0, 2).argsort(1)",
        "    order = torch.arange(source.shape[1]).expand(source.shape)",
    ),
    Ablation(
        "Ones and tens look crosswise because German says the ones first.",
        "the other way round",
        "assert sum(crossed) / len(crossed) > 0.9",
        "        crossed += [row[j - 1] == k + 1, row[j + 1] == k]",
        "        crossed += [row[j - 1] == k, row[j + 1] == k + 1]",
    ),
    Ablation(
        "A word for a digit needs its English word, and the ones and the tens lie crosswise.",
        "another English word hidden",
        "    assert fall[0].argmax() == k + 1 and fall[2].argmax() == k",
        "        hidden[0, j] = 0                                 # as if it were a pad",
        "        hidden[0, j - 1] = 0",
    ),
    Ablation(
        "“Und” needs the word for the tens, because that tells 39 from 9.",
        "the word for the ones taken for it",
        "assert sum(by_tens) / len(by_tens) > 0.5",
        "        by_tens.append(fall[j].argmax().item() == k)",
        "        by_tens.append(fall[j].argmax().item() == k + 1)",
    ),
    Ablation(
        "The smoothed loss has a lowest point, where the right word leads by ln(1 + 9 V).",
        "no smoothing",
        "assert abs(best - math.log(91)) < 0.1",
        "for smoothing, colour in ((0.0, ORANGE), (0.1, BLUE)):",
        "for smoothing, colour in ((0.1, ORANGE), (0.0, BLUE)):",
    ),
    Ablation(
        "It translates, and twice as many steps tell the same story.",
        "twice as many steps",
        "assert score > 0.98 and history[-1] < 0.05",
        "history = learn(translator)",
        "history = learn(translator, steps=600)",
        holds=True,
    ),
    Ablation(
        "Without the mask it writes far worse, after twice as many steps, too.",
        "twice as many steps of the two changed models",
        'assert shares["no causal mask"] < score - 0.2',
        "    learn(models[name])",
        "    learn(models[name], steps=600)",
        holds=True,
    ),
    Ablation(
        "A decoder that has neither self-attention nor positions loses its place.",
        "the positions given back",
        "assert found[False, False] < 0.7",
        "        return super().forward(ids) - places / math.sqrt(self.embedding_dim)",
        "        return super().forward(ids)",
    ),
    Ablation(
        "The same decoder, with the own sheet given back.",
        "it sees the words before",
        "assert found[False, False] < 0.7",
        "        alone = torch.eye(x.shape[1]).bool()             # (n, n)",
        "        alone = mask",
    ),
    Ablation(
        "Half of an outlier is forgotten after ln 2 / -ln β₂ steps.",
        "the step back at half its size taken for it",
        "assert half[0.98][0] == 35 and half[0.999][0] == 693",
        "    half[beta2] = ((v - 1 > (v[0] - 1) / 2).sum().item(),",
        "    half[beta2] = ((share[50:] < 0.5).sum().item() + 50,",
    ),
    Ablation(
        "Scores are small at first because the shared matrix is not multiplied by √d at the output.",
        "multiplied there",
        'assert first["as they are"] < 8 and first["times √d"] > 50',
        '(("as they are", 1), ("times √d", math.sqrt(512)))',
        '(("as they are", math.sqrt(512)), ("times √d", math.sqrt(512)))',
    ),
]
