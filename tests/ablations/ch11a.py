"""Ablations of chapter 11a, GPT, and of its companion."""

from .ablation import Ablation

NEW_CONTEXTS = "assert known[4] > 0.9 and known[32] < 0.1"
LAST_ROW = 'assert 0.4 < learned["the last row"] - learned["all 32 rows"] < 2'
PREFIXES = "torch.testing.assert_close(once, prefixes, rtol=1e-4, atol=1e-5)"
COUNTS_WIN = 'assert min(scores["16 characters"], scores["5 tokens"]) < own - 0.1'
LEARNED = "assert losses[0] > 6.5 and sum(losses[-50:]) / 50 < 3.8"
TOGETHER = 'assert mixed["GPT and counting"] < mixed["counting"] - 0.02'
SIMILAR = "assert new[0] < new[1] + 0.05 and known_well[1] < known_well[0] - 0.3"
NEAR = "assert right > 10 * share[comes].mean()"
LONE = "assert not any(joined)"
BEFORE = 'assert follows["which"] > 10 * follows["same"]'
COSTS = "assert costs[2] > costs[3] + 0.2 and costs[4] < 0.4 and costs[1] == 1"
STARTS = "        starts = torch.randint(len(stream) - size, (16, 1))\n"
DRAWN = "        ids = stream[starts + torch.arange(size)]      # (16, size)\n"

CHAPTER = [
    Ablation(
        "Contexts of half a line are new.",
        "the held-out text is training text",
        NEW_CONTEXTS,
        "    places = range(0, len(held_text) - n, 7)\n",
        "    held_text = train_text\n    places = range(0, len(held_text) - n, 7)\n",
    ),
    Ablation(
        "English pays the least, because the merges were learned from English.",
        "merges learned from the German sentence",
        COSTS,
        "tokenizer = ByteBPE.train(corpus.training, 1_024)",
        'tokenizer = ByteBPE.train(["Das Wetter ist schön, wir fahren an den See. "] * 9, 290)',
    ),
    Ablation(
        "Every row of the output is a lesson: the last row alone learns less.",
        "the last row in both runs",
        LAST_ROW,
        '"all 32 rows": learn_from(32)',
        '"all 32 rows": learn_from(1)',
    ),
    Ablation(
        "The last row alone learns less, however long it learns.",
        "twice as many steps for both",
        LAST_ROW,
        "def learn_from(rows, steps=150):",
        "def learn_from(rows, steps=300):",
        holds=True,
    ),
    Ablation(
        "One pass equals the passes over every prefix, because nobody sees what follows.",
        "no mask",
        PREFIXES,
        "        see = causal_mask(ids.shape[1])\n",
        "        see = torch.ones(ids.shape[1], ids.shape[1]).bool()\n",
    ),
    Ablation(
        "The GPT learns from the order of the tokens.",
        "the GPT reads shuffled text",
        LEARNED,
        DRAWN,
        DRAWN + "        ids = ids[:, torch.randperm(size)]\n",
    ),
    Ablation(
        "In new contexts the GPT keeps level with counting, because tokens farther back help.",
        "the GPT has two tokens in sight",
        SIMILAR,
        "longest = longest_known(stream, held_stream, 12) ",
        "p = token_p(gpt, held_stream, 2, 1)\nlongest = longest_known(stream, held_stream, 12) ",
    ),
    Ablation(
        "Contexts that end differently and are near as vectors go on alike, because the model has learned.",
        "a model that has learned nothing",
        NEAR,
        "new = (longest <= 1).nonzero()[:, 0] ",
        "gpt = GPT(len(tokenizer))\nnew = (longest <= 1).nonzero()[:, 0] ",
    ),
    Ablation(
        "A space stays alone only where no merge has joined it to what follows.",
        "every token, not only those after a lone space",
        LONE,
        'after = stream[1:][stream[:-1] == tokenizer.encode(" ")[0]] ',
        "after = stream[1:] ",
    ),
    Ablation(
        "The held-out pages are new to the model.",
        "the held-out pages leaked into the training text",
        COUNTS_WIN,
        STARTS + DRAWN,
        "        text = torch.cat([stream, held_stream.repeat(9)])\n"
        + STARTS.replace("len(stream)", "len(text)")
        + DRAWN.replace("stream[", "text["),
    ),
    Ablation(
        "Counting is better than this GPT, although it learns longer.",
        "twice as many steps",
        COUNTS_WIN,
        "in train(gpt, steps=500)",
        "in train(gpt, steps=1_000)",
        holds=True,
    ),
    Ablation(
        "Model and counting know different things, although the model learns longer.",
        "twice as many steps for the model",
        TOGETHER,
        "in train(gpt, steps=500)",
        "in train(gpt, steps=1_000)",
        holds=True,
    ),
    Ablation(
        "Counting beats this GPT with long contexts.",
        "short runs only",
        COUNTS_WIN,
        "q = counted(stream, held_stream, 5, 1_024)[1:]         # (tokens - 1,)\n",
        "q = counted(stream, held_stream, 2, 1_024)[1:]\nlong = counted\n"
        "def counted(ids, text, order, size):\n    return long(ids, text, min(order, 3), size)\n",
    ),
    Ablation(
        "Model and counting know different things: together they are better.",
        "counting mixed with itself",
        TOGETHER,
        "both = (p + q) / 2\n",
        "both = (q + q) / 2\n",
    ),
    Ablation(
        "A word is judged by what stands before it, not by how often it occurs.",
        "pairs counted as often as they occur",
        BEFORE,
        "follows = Counter(b for a, b in pairs) ",
        "follows = Counter(b for a, b in pairs.elements()) ",
    ),
]

COMPANION = [
    Ablation(
        "Rows of single sentences are mostly padding.",
        "every sentence as long as the longest",
        'assert costs["one sentence a row"][0] > 3 * costs["one sentence a row"][1]',
        "longest = max(map(len, rows))",
        "longest = sum(map(len, rows)) // len(rows)",
    )
]

ABLATIONS = [*CHAPTER, *COMPANION]
