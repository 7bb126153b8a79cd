"""Ablations of chapter 03, Scaled dot-product self-attention, and of its companion."""

from .ablation import Ablation

PAIR = "query, key = torch.randn(2, count, d_k, generator=g)"
LISTEN = '"your attention": SelfAttention(16, 16, 16)'
TESTS = "senses.draw(300, count, seed=100 + count, held_out=True)"
CHOOSING = "assert min(choosing) > 0.9 and mean[0] > 0.9"
LONGER = "assert choosing[7] > network[7] + 0.05"

CHAPTER = [
    Ablation(
        "A product of independent queries and keys is typically as large as the root of the width.",
        "the key is the query",
        "assert all(abs(v - 1) < 0.05 for v in by_root)",
        PAIR,
        "query = key = torch.randn(count, d_k, generator=g)",
    ),
    Ablation(
        "Undivided scores grow with the width.",
        "every pair divided by its root",
        "assert 30 < undivided[-1] < 34",
        "(query * key).sum(-1) / divisor",
        "(query * key).sum(-1) / math.sqrt(d_k)",
    ),
    Ablation(
        "The words of the first row move because they listen.",
        "nobody listens to anybody else",
        "assert (mixed[1] - torch.tensor([1.34, 0.45])).abs().max() < 0.01",
        "weights = torch.softmax(scores, dim=-1)        # (query, key)",
        "weights = torch.eye(3)",
    ),
    Ablation(
        "A forbidden pair gets the weight 0.",
        "the mask left out",
        "torch.testing.assert_close(output, fused",
        "output, weights = scaled_dot_product_attention(query, key, value, mask)",
        "output, weights = scaled_dot_product_attention(query, key, value)",
    ),
    Ablation("Choosing helps, and not mixing alone.", "the plain mean in its place", CHOOSING, LISTEN, '"your attention": PlainMean(16)'),
    Ablation(
        "With one clause the plain mean is as good.",
        "three clauses in the shortest test",
        CHOOSING,
        TESTS,
        TESTS.replace("300, count,", "300, max(count, 3),"),
    ),
    Ablation(
        "What the network lacks is room for more clauses.",
        "no test longer than the training",
        LONGER,
        TESTS,
        TESTS.replace("300, count,", "300, min(count, 3),"),
    ),
    Ablation(
        "The comparison of the three ways does not depend on the length of the training.",
        "twice as many steps",
        LONGER,
        "steps=300, lr=1e-2, label=name",
        "steps=600, lr=1e-2, label=name",
        holds=True,
    ),
    Ablation(
        "The network's place in the comparison does not depend on its width.",
        "a network twice as wide",
        LONGER,
        "def __init__(self, d_model, hidden=32):",
        "def __init__(self, d_model, hidden=64):",
        holds=True,
    ),
    Ablation(
        "The layer moves “flies”.",
        "the vectors before the layer",
        "assert gaps[0] > 0.5 > gaps[1]",
        "model.vectors(text.ids)[here]",
        "model.embed(text.ids)[here]",
    ),
    Ablation(
        "The network falls behind because it was trained on three clauses.",
        "eight clauses in the training",
        LONGER,
        "loss_on(tagger, train)",
        'loss_on(tagger, train if "network" not in name else senses.draw(400, topics=8, seed=0))',
    ),
    Ablation(
        "“Cheese” in place of “screen” makes an animal of the mouse.",
        "another word of the same meaning",
        "assert turned[0] < 0.2 and turned[1] > 0.8",
        "behind the cheese and",
        "behind the laptop and",
    ),
    Ablation(
        "“Stadium” in place of “cave” makes a piece of wood of the bat.",
        "another animal's place",
        "assert turned[0] < 0.2 and turned[1] > 0.8",
        'is in the stadium")',
        'is in the barn")',
    ),
    Ablation(
        "With the plain mean the clouds overlap, because the other clauses speak in.",
        "sentences of one clause alone",
        "assert gaps[0] > 0.5 > gaps[1]",
        "for text in tests[:3]]",
        "for text in tests[:1]]",
    ),
    Ablation(
        "The plain mean is a vote of the clauses.",
        "a vote of one clause fewer",
        "assert all(abs(m - v) < 0.06",
        "votes = [vote(count) for count in topics]",
        "votes = [vote(max(1, count - 1)) for count in topics]",
    ),
]

WAYS = '"÷ 1": (1, 1), "÷ √d_k": (root, 1)'
RATES = "share_right(learn(seed, *way, lr))"
GRADIENT = "    loss, _ = translate(rotation, w_q, w_k, divisor)\n"
HALF = """q = torch.full((1, 256), 20.0).half()                  # (query, d_k)
sizes = torch.tensor([[20.0], [15.0], [-3.0]])
k, v = sizes.expand(3, 256).half(), torch.eye(3).half()  # (key, …)
"""
CAUSAL = "layer(x, causal), layer(x[:, order], causal)"
FAR = "assert gru[5] > 1.3 * plain[5]"

DEEPER = [
    Ablation(
        "Undivided scores give the longest gradient.",
        "the root in place of 1",
        "assert none[0] > 5 * root[0]",
        WAYS,
        WAYS.replace("(1, 1)", "(root, 1)"),
    ),
    Ablation(
        "With the root the gradient has one length at every width.",
        "the power 3/4 in place of the root",
        "assert root.max() < 1.3 * root.min()",
        WAYS,
        WAYS.replace("(root, 1)", "(root ** 1.5, 1)"),
    ),
    Ablation(
        "Large scores make the gradients of two batches disagree.",
        "a smaller start for the undivided way, its gradient made longer",
        'assert agreements["÷ 1"][1:].max() < 0.03',
        GRADIENT,
        "    loss, _ = translate(rotation, w_q / (math.sqrt(d_k) if divisor == smaller else 1), w_k, divisor)\n"
        "        loss = loss * (d_k if divisor == smaller else 1)\n",
    ),
    Ablation(
        "What batches agree on is the task.",
        "a query that belongs to no key",
        'assert agreements["÷ 1"][1:].max() < 0.03',
        "query, key = words @ rotation @ w_q, words @ w_k",
        "query, key = torch.randn(2, 64, len(w_q)) @ w_q, words @ w_k",
    ),
    Ablation(
        "Undivided scores need another learning rate.",
        "the root for both",
        "assert none[:, 1].max() < 0.4 and root[:, 1].min() > 0.9",
        RATES,
        'share_right(learn(seed, *(four_ways(64)["÷ √d_k"] if name == "÷ 1" else way), lr))',
    ),
    Ablation(
        "The projections learn which key belongs to the query.",
        "another rotation in every step",
        "assert none[:, 1].max() < 0.4 and root[:, 1].min() > 0.9",
        "translate(rotation, w_q, w_k, divisor)[0].backward()",
        "translate(start(_, d_k)[0], w_q, w_k, divisor)[0].backward()",
    ),
    Ablation(
        "With a smaller start a lower rate is enough.",
        "the usual start, divided by the root",
        "assert root[:, 0].max() < 0.4 and small[:, 0].min() > 0.9",
        RATES,
        'share_right(learn(seed, *(four_ways(64)["÷ √d_k"] if way[1] > 1 else way), lr))',
    ),
    Ablation(
        "At a large rate more steps do not help the undivided layer.",
        "the root in its place",
        "assert late[0] > 0.9 and late[1] < 0.9",
        "learn(0, 1, lr=lr, steps=400)",
        "learn(0, 8, lr=lr, steps=400)",
    ),
    Ablation(
        "A smaller start and a smaller rate are the same as the root.",
        "the same rate",
        "torch.testing.assert_close(without, with_root",
        "smaller=8, slower=8, lr=3e-4)",
        "smaller=8, lr=3e-4)",
    ),
    Ablation(
        "Divided by d_k, all widths learn in step.",
        "divided by the root",
        "assert wide[2] > 3 * wide[0] and max(level) < 1.6 * min(level)",
        "right_score(d, d, steps)",
        "right_score(d, math.sqrt(d), steps)",
    ),
    Ablation(
        "It is the right key whose score grows.",
        "the score of another key",
        "assert wide[2] > 3 * wide[0] and max(level) < 1.6 * min(level)",
        "scores.diagonal(dim1=1, dim2=2)",
        "scores.roll(1, -1).diagonal(dim1=1, dim2=2)",
    ),
    Ablation(
        "In float16 the product of large queries and keys overflows.",
        "bfloat16, which reaches further",
        'assert all(math.isnan(weight) for weight in rows["no root"][3:])',
        HALF,
        HALF.replace(".half()", ".bfloat16()"),
    ),
    Ablation(
        "Against the overflow the query must be divided before the product.",
        "divided after it",
        'assert rows["query ÷ 16, then product"]',
        "(q / 16) @ k.T}",
        "q @ k.T / 16}",
    ),
    Ablation(
        "The logarithm makes up for the flat softmax.",
        "the probability in its place",
        'assert found["cross-entropy"][12] > 0.99',
        "-torch.log(p[1])",
        "-p[1]",
    ),
    Ablation(
        "With a causal mask attention is not equivariant.",
        "no mask",
        "assert small == [True, False, True, False]",
        CAUSAL,
        CAUSAL.replace(", causal", ""),
    ),
    Ablation(
        "A bias by offset brings the order back.",
        "no bias",
        'assert gap["offset"] > 0.01',
        "math.sqrt(8) + bias, dim=-1",
        "math.sqrt(8), dim=-1",
    ),
    Ablation(
        "Only a bias that knows the side tells a sentence from its reverse.",
        "both sides alike",
        'assert gap["offset"] > 0.01',
        '"offset": 1.0 * offset,',
        '"offset": 1.0 * offset.abs(),',
    ),
    Ablation(
        "With its projections attention costs as much as a GRU at n = d.",
        "the projections left out",
        "assert attention == sum(operations(n, 64))",
        "q, k, v = x @ w_q, x @ w_k, x @ w_v\n",
        "q = k = v = x\n",
    ),
    Ablation("A window hides what is far.", "no window", "assert count == [64, 22, 22, 8]", "attend(x, near)", "attend(x)"),
    Ablation(
        "A feed-forward layer of two matrices can subtract.",
        "a ReLU behind the second",
        "assert two.min() < -1",
        "two = one @ torch.randn(256, 64) / 16                # (token, 64)",
        "two = torch.relu(one @ torch.randn(256, 64) / 16)",
    ),
    Ablation(
        "Both networks report the content of the marked token.",
        "no mark",
        "assert gru[2] < 0.05 and plain[2] < 0.05",
        "torch.cat([content, mark,",
        "torch.cat([content, 0 * mark,",
    ),
    Ablation(
        "Far away too many keys share the softmax.", "scores not stretched", FAR, "max(1, math.log(distance + 4) / math.log(13))", "1"
    ),
    Ablation(
        "What is learned of distances does not depend on the length of the training.",
        "twice as many steps for both networks",
        FAR,
        "steps=300, lr=5e-3",
        "steps=600, lr=5e-3",
        holds=True,
    ),
    Ablation(
        "How fast tokens become alike depends on the size of the scores.",
        "queries and keys as they are",
        "assert even[2] > 0.98 and sharp[2] < 0.75",
        "        layer.w_q.weight *= gain\n        layer.w_k.weight *= gain\n",
        "",
    ),
    Ablation(
        "Adding the input back slows it down.",
        "the input not added",
        "assert even_kept[4] < 0.7",
        "x = keep * x + layer(x)",
        "x = layer(x)",
    ),
]

ABLATIONS = [*CHAPTER, *DEEPER]
