"""Ablations of chapter 03, Scaled dot-product self-attention."""

from .ablation import Ablation

HALF = """q16 = torch.full((1, 256), 20.0).half()             # (query, d_k)
sizes16 = torch.tensor([[20.0], [15.0], [-3.0]])
k16 = sizes16.expand(3, 256).half()                 # (key, d_k)
"""
MASKED = """out, out_causal = layer(x), layer(x, causal)
    new, new_causal = layer(x[:, order]), layer(x[:, order], causal)
"""
LONGER = """            layer.w_q.weight *= gain
            layer.w_k.weight *= gain
"""

ABLATIONS = [
    Ablation(
        "A product of independent queries and keys has variance d_k.",
        "the key is the query",
        "assert abs(variance / d_k - 1) < 0.05",
        "    key = torch.randn(20_000, d_k)",
        "    key = query",
    ),
    Ablation(
        "For normal entries the excess kurtosis of the product is 6/d_k.",
        "queries of entries +1 and -1",
        "assert abs(kurtosis - expected) < max(",
        "query = torch.randn(20_000, d_k)",
        "query = torch.randn(20_000, d_k).sign()",
    ),
    Ablation(
        "Divided by d_k, random scores give nearly uniform weights.",
        "the root in place of d_k",
        'assert entropy["d_k"][-1] > 2.76',
        '"d_k": lambda d: d}',
        '"d_k": math.sqrt}',
    ),
    Ablation(
        "Undivided scores give the longest gradient, the root one length at every width.",
        "the root in place of 1",
        "assert none[0] > 5 * root[0]",
        '"1": (1, 1), "√d_k"',
        '"1": (root, 1), "√d_k"',
    ),
    Ablation(
        "With the root the gradient has one length at every width.",
        "the power 3/4 in place of the root",
        "assert root.max() < 1.3 * root.min()",
        '"√d_k": (root, 1)',
        '"√d_k": (root ** 1.5, 1)',
    ),
    Ablation(
        "Large scores make the gradients of two batches disagree.",
        "a smaller start for the undivided way, its gradient made longer",
        'assert agreements["1"][1:].max() < 0.03',
        "loss = retrieve(system, w_q, w_k, divisor)[0]\n",
        "loss = retrieve(system, w_q / (math.sqrt(d_k) if divisor == smaller else 1), w_k, divisor)[0]\n"
        "        loss = loss * (d_k if divisor == smaller else 1)\n",
    ),
    Ablation(
        "Undivided scores need another learning rate.",
        "the root for both",
        "assert none[:, 1].max() < 0.3 and root[:, 1].min() > 0.9",
        "learn(seed, *way, lr)[0]",
        'learn(seed, *(four_ways(64)["√d_k"] if name == "1" else way), lr)[0]',
    ),
    Ablation(
        "The projections learn which key belongs to the query.",
        "another coordinate system in every step",
        "assert none[:, 1].max() < 0.3 and root[:, 1].min() > 0.9",
        "loss, right, cosine = retrieve(system, w_q, w_k, divisor)",
        "loss, right, cosine = retrieve(start(_, d_k)[0], w_q, w_k, divisor)",
    ),
    Ablation(
        "What batches agree on is the task.",
        "a query that belongs to no key",
        'assert agreements["1"][1:].max() < 0.03',
        "query, key = x @ rotation @ w_q, x @ w_k",
        "query, key = torch.randn(2, 64, len(w_q)) @ w_q, x @ w_k",
    ),
    Ablation(
        "With a smaller start a lower rate is enough.",
        "the usual start, divided by the root",
        "assert root[:, 0].max() < 0.3 and small[:, 0].min() > 0.9",
        "learn(seed, *way, lr)[0]",
        'learn(seed, *(four_ways(64)["√d_k"] if way[1] > 1 else way), lr)[0]',
    ),
    Ablation(
        "A smaller start and a smaller rate are the same as the root.",
        "the same rate",
        "torch.testing.assert_close(8 * without[2], with_root[2]",
        "smaller=8, slower=8)",
        "smaller=8)",
    ),
    Ablation(
        "After training a query points the way of its own key.",
        "the cosine with another key",
        "assert all(abs(before) < 0.1 and after > 0.3",
        "F.cosine_similarity(query, key, dim=-1)",
        "F.cosine_similarity(query, key.roll(1, 1), dim=-1)",
    ),
    Ablation(
        "Scores of nn.Linear's own start have a third of the size.",
        "numbers of variance 1/d",
        "assert abs(usual / 8 - 1 / 3) < 0.03",
        "    query, key = to_q(torch.randn(5000, 768))",
        "    for part in (to_q, to_k):\n        nn.init.normal_(part.weight, std=768 ** -0.5)\n"
        "    query, key = to_q(torch.randn(5000, 768))",
    ),
    Ablation(
        "In float16 the product of large queries and keys overflows.",
        "bfloat16, which reaches further",
        'rows["not scaled"][3:])',
        HALF,
        HALF.replace(".half()", ".bfloat16()"),
    ),
    Ablation(
        "Against the overflow the query must be divided before the product.",
        "divided after it",
        'assert rows["query ÷ 16 first, then product"]',
        "(q16 / 16) @ k16.T}",
        "q16 @ k16.T / 16}",
    ),
    Ablation(
        "Attention over the neighbours tells the two kinds of flies apart.",
        "the layer left out",
        "assert min(ambiguous for _, ambiguous in rows.values()) >= 0.95",
        "return self.attend(self.embed(ids))  # (batch, token, d_model)",
        "return self.embed(ids)",
    ),
    Ablation(
        "The last word decides, not the word with the largest weight.",
        "the last word taken from the other sentence",
        'assert tags == (["verb", "preposition"] if verb',
        "rows[sentence] = tags_of(tagger, sentence)[1:3]",
        'rows[sentence] = tags_of(tagger, sentence.replace("arrow", "apple"))[1:3]',
    ),
    Ablation(
        "With a causal mask attention is not equivariant.",
        "no mask",
        "assert small == [True, False, True, False]",
        MASKED,
        MASKED.replace(", causal)", ")"),
    ),
    Ablation(
        "A bias by offset brings the order back.",
        "no bias",
        "assert shuffled > 0.01 and backwards < 1e-5",
        "q @ k.mT / math.sqrt(16) + bias",
        "q @ k.mT / math.sqrt(16)",
    ),
    Ablation(
        "Only a bias that knows the side tells a sentence from its reverse.",
        "both sides alike",
        "assert shuffled > 0.01 and backwards < 1e-5",
        "-offset.abs() - 2 * (offset < 0)}",
        "-offset.abs() - 2 * (offset != 0)}",
    ),
    Ablation(
        "Keys, too, are an exchange.",
        "the query pushed in place of the key",
        "assert all(rows == list(range(5)) for rows in found.values())",
        '"the key": attend(query, k, value)',
        '"the key": attend(q, key, value)',
    ),
    Ablation(
        "With its projections attention costs as much as a GRU at n = d.",
        "the projections left out",
        "assert attention == sum(operations(n, 64))",
        "q, k, v = x @ w_q, x @ w_k, x @ w_v\n",
        "q = k = v = x\n",
    ),
    Ablation(
        "A softmax can be computed in pieces.",
        "old sums kept in the old unit",
        "torch.testing.assert_close(pieces, whole",
        "mixed = shrink * mixed + p @ v",
        "mixed = mixed + p @ v",
    ),
    Ablation(
        "Both networks report the content of the marked token.",
        "no mark",
        'assert errors["GRU"][2] < 0.05',
        "torch.cat([content, mark,",
        "torch.cat([content, 0 * mark,",
    ),
    Ablation(
        "How fast tokens become alike depends on the size of the scores.",
        "queries and keys as they are",
        "assert even[1] > 0.98 and sharp[1] < 0.75",
        LONGER,
        "            pass\n",
    ),
    Ablation(
        "Adding the input back slows it down.",
        "the input not added",
        "assert even_kept[2] < 0.7",
        "x = keep * x + layer(x)",
        "x = layer(x)",
    ),
]
