"""Ablations of chapter 05, Positional encoding, and of its companion."""

from .ablation import Ablation

BLIND = "assert 0.35 < blind < 0.65 and min(yours, recurrent) > 0.95"
READ_OUTS = "assert small == [True, True, False, False]"
SHORT = "assert all(share > 0.85 for name, share in short.items()"
FAIL = 'assert max(end["your table"], end["your clocks"], end["T5"]) < 0.4'
HOLD = 'assert min(far["your RoPE"], far["your ALiBi"]) > others + 0.15'
FILLED = 'assert mended["T5, filled"][-1] > end["T5"] + 0.2'
HAND = 'assert mended["hand 1 slower"][-1] > end["your RoPE"] + 0.1'
OTHERS = 'assert mended["2 and 3 slower"][-1] < mended["hand 1 slower"][-1] - 0.1'
STEPS = "def trained(name, steps=200, **scheme):"
SEED = "def trained(name, steps=200, **scheme):\n    torch.manual_seed(0)"
TWICE = STEPS.replace("200", "400")
LENGTH = "(part.split(32) for part in recall(32 * steps, 20))"

CHAPTER = [
    Ablation(
        "Attention reads a set.",
        "a number for each place",
        "torch.testing.assert_close(out_one[0], out_two[0].flip(0))",
        "out_one, out_two = layer(one).detach(), layer(two).detach()",
        "out_one, out_two = layer(one).detach(), layer(two + torch.arange(3)[:, None]).detach()",
    ),
    Ablation(
        "A mask against looking ahead is a source of order.",
        "no mask",
        READ_OUTS,
        "past = torch.ones(3, 3).tril().bool()       # (query, key)",
        "past = torch.ones(3, 3).bool()",
    ),
    Ablation(
        "The extra token cannot tell the sentences apart, because it stays in its place.",
        "the first word in its place",
        READ_OUTS,
        "first_one, first_two = (layer(torch.cat([front, x], dim=1))[:, 0]",
        "first_one, first_two = (layer(torch.cat([front, x], dim=1))[:, 1]",
    ),
    Ablation(
        "Attention on words alone gets half, because it has no positions.",
        "your table for everybody",
        BLIND,
        '"attention, words alone": [nn.Embedding(7, 16), ',
        '"attention, words alone": [Embeddings(7, 16, 3), ',
    ),
    Ablation(
        "It is the positions of your layer that help, and not its norm.",
        "one row for all positions",
        BLIND,
        '"attention, your positions": [Embeddings(7, 16, 3),',
        '"attention, your positions": [nn.Sequential(nn.Embedding(7, 16), nn.LayerNorm(16)),',
    ),
    Ablation(
        "Who was bitten does not depend on the length of the training.",
        "twice as many steps for the sentences",
        BLIND,
        "def share_right(words, mix, name, steps=150):",
        "def share_right(words, mix, name, steps=300):",
        holds=True,
    ),
    Ablation(
        "One matrix moves every row of the table on.",
        "a table whose hands do not turn evenly",
        "assert gap < 1e-5",
        "moved = table_of[:-7]",
        "table_of = table_of.roll(1, 1)\nmoved = table_of[:-7]",
    ),
    Ablation(
        "Rotated scores depend on distances alone.",
        "queries turned by another base",
        "assert (rotary(0) - rotary(500)).abs().max() < 1e-2",
        "return rotate(words @ w_q, place) @",
        "return rotate(words @ w_q, place, 9000.0) @",
    ),
    Ablation(
        "With added positions the scores depend on the place.",
        "nothing added",
        "assert (adding(0) - adding(500)).abs().max() > 1",
        "x = words + positions.sinusoidal(10, 8, start=first)",
        "x = words",
    ),
    Ablation(
        "Within the training length the five are right because of their positions.",
        "nothing turned",
        SHORT,
        '"your RoPE": trained("your RoPE", turn=rotate)',
        '"your RoPE": trained("your RoPE")',
    ),
    Ablation(
        "RoPE works because fast and slow pairs turn differently.",
        "one speed for all pairs",
        SHORT,
        '"your RoPE": trained("your RoPE", turn=rotate)',
        '"your RoPE": trained("your RoPE", turn=lambda x, place: rotate(x, place, 1.0))',
    ),
    Ablation(
        "RoPE needs one set of frequencies for queries and keys.",
        "the frequencies of the keys in another order",
        HOLD,
        "q, k = turn(q, torch.arange(n)), turn(k, torch.arange(n))",
        "q, k = turn(q, torch.arange(n)), turn(k.flip(-1), torch.arange(n)).flip(-1)",
    ),
    Ablation(
        "What no positions have they have from the mask.",
        "no mask against looking ahead",
        'assert 0.4 < short["no positions"] < 0.85',
        "past = torch.ones(n, n).tril().bool()      # (query, key)",
        "past = torch.ones(n, n).bool()",
    ),
    Ablation(
        "Table, clocks and T5 fail because the training was short.",
        "texts of 40 letters in the training",
        FAIL,
        LENGTH,
        LENGTH.replace("20", "40"),
    ),
    Ablation(
        "T5 fails at letter 40 because of its untouched buckets.",
        "a last bucket that training touches",
        FAIL,
        "num_buckets=16, max_distance=40)",
        "num_buckets=16, max_distance=16)",
    ),
    Ablation(
        "The three numbers are what fails.",
        "the three numbers left at zero",
        FILLED,
        "numbers[:, 13:] = numbers[:, 12:13]",
        "numbers[:, 13:] = 0 * numbers[:, 12:13]",
    ),
    Ablation("Twice the steps: who is right on short texts.", "twice as many steps, short texts", SHORT, STEPS, TWICE, holds=True),
    Ablation("Twice the steps: who fails.", "twice as many steps, the end of the four", FAIL, STEPS, TWICE, holds=True),
    Ablation("Twice the steps: who holds.", "twice as many steps, RoPE and ALiBi", HOLD, STEPS, TWICE, holds=True),
    Ablation(
        "It is hand 1 that fails beyond the training.",
        "hand 1 as it was",
        HAND,
        "slowed(slice(2, 4)), slowed(slice(4, 8))",
        "slowed(slice(0, 0)), slowed(slice(4, 8))",
    ),
    Ablation(
        "Slower hands 2 and 3 do not help.",
        "hand 1 slowed with them",
        OTHERS,
        "slowed(slice(2, 4)), slowed(slice(4, 8))",
        "slowed(slice(2, 4)), slowed(slice(2, 8))",
    ),
    Ablation("Twice the steps: hand 1.", "twice as many steps, hand 1 slower", OTHERS, STEPS, TWICE, holds=True),
    Ablation("Another seed: hand 1.", "another seed, hand 1 slower", OTHERS, SEED, SEED.replace("seed(0)", "seed(1)"), holds=True),
    Ablation("Twice the steps: the three numbers.", "twice as many steps, the numbers filled", FILLED, STEPS, TWICE, holds=True),
    Ablation("Another start: who fails.", "another seed", FAIL, SEED, SEED.replace("seed(0)", "seed(1)"), holds=True),
    Ablation(
        "Another start: the three numbers.",
        "another seed, the numbers filled",
        FILLED,
        SEED,
        SEED.replace("seed(0)", "seed(1)"),
        holds=True,
    ),
]

DEEPER = [
    Ablation(
        "A linear read-out finds words and places in their sums.",
        "words in three directions",
        'assert min(results["random words"]) > 0.85',
        "free = torch.randn(50, 64, generator=g)",
        "free = torch.randn(50, 3, generator=g) @ torch.randn(3, 64, generator=g)",
    ),
    Ablation(
        "Reordered rows turn one convention of RoPE into the other.",
        "the queries' rows as they were",
        "torch.testing.assert_close(converted, from_file",
        "all_scores(to_halves(w_q, heads), to_halves(w_k, heads), True)",
        "all_scores(w_q, to_halves(w_k, heads), True)",
    ),
    Ablation(
        "A larger base repairs the end of long sequences.",
        "the base as it was",
        'assert angles["base 100,000"][1] > angles["as trained"][1] + 0.1',
        '"base 100,000": with_angles(1.0, 1e5)',
        '"base 100,000": with_angles(1.0, 1e4)',
    ),
    Ablation(
        "A slope is slow at three places before.",
        "a rotation in both models",
        'assert three_back["ALiBi"][1] < 0.7',
        '(("RoPE", True), ("ALiBi", False))',
        '(("RoPE", True), ("ALiBi", True))',
    ),
    Ablation(
        "Vectors at the values say where a token comes from.",
        "no such vectors",
        'assert spread["keys only"] < 1e-6 and spread["and values"] > 0.1',
        '("and values", a_v))',
        '("and values", 0 * a_v))',
    ),
]

ABLATIONS = [*CHAPTER, *DEEPER]
