"""Controls of chapter 03, Scaled dot-product self-attention."""

from .control import Control

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

CONTROLS = [
    Control("A product of independent queries and keys has variance d_k.",
            "the key is the query", "assert abs(variance / d_k - 1) < 0.05",
            "    key = torch.randn(20_000, d_k)", "    key = query"),
    Control("For normal entries the excess kurtosis of the product is 6/d_k.",
            "queries of entries +1 and -1", "assert abs(kurtosis - expected) < max(",
            "query = torch.randn(20_000, d_k)", "query = torch.randn(20_000, d_k).sign()"),
    Control("Divided by d_k, random scores give nearly uniform weights.",
            "the root in place of d_k", 'assert entropy["d_k"][-1] > 2.76',
            '"d_k": lambda d: d}', '"d_k": math.sqrt}'),
    Control("Without the root training starts late.",
            "the root for both", "assert scaled[:, 4].min() > 0.8 and unscaled[:, 4].max() < 0.2",
            '"not scaled": 1.0', '"not scaled": 8.0'),
    Control("The projections learn which key belongs to the query.",
            "a query that belongs to no key", "assert scaled[:, 4].min() > 0.8",
            "query = keys[rows, pick] @ rotation", "query = torch.randn(64, d) @ rotation"),
    Control("After training a query points the way of its own key.",
            "the cosine with another key", "assert all(run[:, 0, 1].abs().max() < 0.1",
            "scores.argmax(-1) == pick, k[rows, pick]", "scores.argmax(-1) == pick, k[rows, pick - 1]"),
    Control("In float16 the product of large queries and keys overflows.",
            "bfloat16, which reaches further", 'rows["not scaled"][3:])', HALF, HALF.replace(".half()", ".bfloat16()")),
    Control("Against the overflow the query must be divided before the product.",
            "divided after it", 'assert rows["query ÷ 16 first, then product"]', "(q16 / 16) @ k16.T}", "q16 @ k16.T / 16}"),
    Control("Attention over the neighbours tells the two kinds of flies apart.",
            "the layer left out", "assert min(ambiguous for _, ambiguous in rows.values()) >= 0.95",
            "return self.attend(self.embed(ids))  # (batch, token, d_model)", "return self.embed(ids)"),
    Control("The last word decides, not the word with the largest weight.",
            "the last word taken from the other sentence", 'assert tags == (["verb", "preposition"] if verb',
            "rows[sentence] = tags_of(tagger, sentence)[1:3]",
            'rows[sentence] = tags_of(tagger, sentence.replace("an arrow", "a banana"))[1:3]'),
    Control("With a causal mask attention is not equivariant.",
            "no mask", "assert small == [True, False, True, False]", MASKED, MASKED.replace(", causal)", ")")),
    Control("A bias by offset brings the order back.",
            "no bias", "assert gap > 0.01", "q @ k.mT / math.sqrt(16) + bias", "q @ k.mT / math.sqrt(16)"),
    Control("With its projections attention costs as much as a GRU at n = d.",
            "the projections left out", "assert attention == sum(operations(n, 64))",
            "q, k, v = x @ w_q, x @ w_k, x @ w_v\n", "q = k = v = x\n"),
    Control("A softmax can be computed in pieces.",
            "old sums kept in the old unit", "torch.testing.assert_close(pieces, whole",
            "mixed = shrink * mixed + p @ v", "mixed = mixed + p @ v"),
    Control("Both networks report the content of the marked token.",
            "no mark", 'assert errors["GRU"][2] < 0.05', "torch.cat([content, mark,", "torch.cat([content, 0 * mark,"),
    Control("How fast tokens become alike depends on the size of the scores.",
            "queries and keys as they are", "assert even[1] > 0.98 and sharp[1] < 0.75", LONGER, "            pass\n"),
    Control("Adding the input back slows it down.",
            "the input not added", "assert even_kept[2] < 0.7", "x = keep * x + layer(x)", "x = layer(x)"),
]
