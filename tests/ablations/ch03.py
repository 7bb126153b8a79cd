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
        "torch.testing.assert_close(by_hand, output[3])",
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
        "steps=150, lr=1e-2, label=name",
        "steps=300, lr=1e-2, label=name",
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
        "tagger.vectors(text.ids)[here]",
        "tagger.embed(text.ids)[here]",
    ),
    Ablation(
        "The network falls behind because it was trained on three clauses.",
        "eight clauses in the training",
        LONGER,
        "loss_on(tagger, train)",
        'loss_on(tagger, train if "network" not in name else senses.draw(400, topics=8, seed=0))',
    ),
    Ablation(
        "Without “screen” the mouse is taken for an animal, because the layer cannot look at it.",
        "the layer looks at what is hidden",
        'assert answers("screen")[1] > 0.5',
        "scores = model.head(x + listen(x, mask))",
        "scores = model.head(x + listen(x))",
    ),
    Ablation(
        "Both “flies” get the same answer, because nothing says where they stand.",
        "a number for each place",
        "torch.testing.assert_close(animal[1], animal[8])",
        "x = model.embed(senses.encode(text))  # (1, token, d_model)",
        "x = model.embed(senses.encode(text)) + torch.arange(len(seen))[:, None] / 2",
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
STRETCHED = 'assert long["attention"][4] > 10'
REPORTS = 'assert far["GRU"][2] < 0.05'

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
        "assert none[:, 2].max() < 0.4 and root[:, 2].min() > 0.9",
        RATES,
        'share_right(learn(seed, *(four_ways(64)["÷ √d_k"] if name == "÷ 1" else way), lr))',
    ),
    Ablation(
        "The projections learn which key belongs to the query.",
        "another rotation in every step",
        "assert none[:, 2].max() < 0.4 and root[:, 2].min() > 0.9",
        "translate(rotation, w_q, w_k, divisor)[0].backward()",
        "translate(start(_, d_k)[0], w_q, w_k, divisor)[0].backward()",
    ),
    Ablation(
        "With a smaller start a lower rate is enough.",
        "the usual start, divided by the root",
        "assert root[:, 1].max() < 0.4 and small[:, 1].min() > 0.9",
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
        "Divided by d_k, one rate serves all widths.",
        "divided by the root",
        "assert (whole.max(0).values - whole.min(0).values).max() < 0.25",
        "right_weight(d, d, r) for r in",
        "right_weight(d, math.sqrt(d), r) for r in",
    ),
    Ablation(
        "Under the root a wider layer needs a smaller rate.",
        "divided by d_k",
        "assert (root.max(0).values - root.min(0).values)[1] > 0.7",
        "right_weight(d, math.sqrt(d), r) for r in",
        "right_weight(d, d, r) for r in",
    ),
    Ablation(
        "It is the right key that gains the weight.",
        "the weight of another key",
        "assert (root.max(0).values - root.min(0).values)[1] > 0.7",
        "weights.diagonal(dim1=1, dim2=2)",
        "weights.roll(1, -1).diagonal(dim1=1, dim2=2)",
    ),
    Ablation(
        "Without the root some queries are silent and others react most of all.",
        "the root in both columns",
        "assert none.mean() > root.mean()",
        '(("÷ 1", 1), ("÷ √d_k", 8))',
        '(("÷ 1", 8), ("÷ √d_k", 8))',
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
        'assert found["cross-entropy"][2] > 0.99',
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
        "two = one @ torch.randn(256, 64) / 16  #",
        "two = torch.relu(one @ torch.randn(256, 64) / 16)  #",
    ),
    Ablation(
        "Two thirds of a block's weights are in a feed-forward layer that is four times as wide in between.",
        "no wider in between",
        "assert abs(share / sum(weights.values()) - 2 / 3) < 0.01",
        "dim_feedforward=4 * 64",
        "dim_feedforward=64",
    ),
    Ablation(
        "Both networks report the content of the marked token.",
        "no mark",
        REPORTS,
        "torch.cat([content, mark,",
        "torch.cat([content, 0 * mark,",
    ),
    Ablation(
        "It is the distance that the GRU does not bear.",
        "the length alone grows",
        'assert far["GRU"][5] > 20',
        "far[name] = [sum(asked(m, 100, k, stretch)",
        "far[name] = [sum(asked(m, k + 4, min(k, 6), stretch)",
    ),
    Ablation(
        "It is the length that attention does not bear, and not the distance.",
        "the length grows with the distance",
        'assert max(far["attention"]) < 1.3',
        "far[name] = [sum(asked(m, 100, k, stretch)",
        "far[name] = [sum(asked(m, k + 4, k, stretch)",
    ),
    Ablation(
        "In a long sequence too many keys share the softmax.",
        "scores not stretched",
        STRETCHED,
        "model.mix.w_q.weight *= math.log(length) / math.log(13)",
        "pass",
    ),
    Ablation(
        "What distance costs does not depend on the length of the training.",
        "twice as many steps for both networks, seen at the distance",
        'assert far["GRU"][5] > 20',
        "steps=300, lr=5e-3",
        "steps=600, lr=5e-3",
        holds=True,
    ),
    Ablation(
        "What length costs does not depend on the length of the training.",
        "twice as many steps for both networks, seen at the length",
        STRETCHED,
        "steps=300, lr=5e-3",
        "steps=600, lr=5e-3",
        holds=True,
    ),
    Ablation(
        "How fast tokens become alike depends on the size of the scores.",
        "queries and keys as they are",
        "assert even[2, 0] > 0.98 and sharp[2, 0] < 0.75",
        "        layer.w_q.weight *= gain\n        layer.w_k.weight *= gain\n",
        "",
    ),
    Ablation(
        "With the input added the differences stay.",
        "the input not added",
        "assert even_kept[:, 1].min() > 0.95",
        "x = keep * x + layer(x[None])[0]",
        "x = layer(x[None])[0]",
    ),
    Ablation(
        "It is the common part that grows and drowns the differences.",
        "the common part taken away in every step",
        "assert even_kept[-1, 2] > 20",
        "x = keep * x + layer(x[None])[0]",
        "x = keep * x + layer(x[None])[0]\n        x = x - keep * x.mean(0)",
    ),
]

ABLATIONS = [*CHAPTER, *DEEPER]
