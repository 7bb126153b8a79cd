"""Ablations of chapter 00b, A first network."""

from .ablation import Ablation

ABLATIONS = [
    Ablation(
        "A network of counts and weights beats guessing because letters tell languages apart.",
        "the languages shuffled over the held-out words",
        "assert 0.91 < counting < 0.95",
        "counting = accuracy(scores, target_held)",
        "counting = accuracy(scores, target_held[torch.randperm(5400)])",
    ),
    Ablation(
        "Gradients of two ways are added.",
        "a Value whose gradients overwrite",
        "torch.testing.assert_close(torch.tensor(gradient[:3])",
        "        self.grad += arriving\n",
        "        self.grad = arriving\n",
    ),
    Ablation(
        "The gradient by the scores is probability minus what happened.",
        "another class happened",
        "torch.testing.assert_close(torch.tensor(gradient[:3])",
        "happened = torch.tensor([0.0, 1.0, 0.0])",
        "happened = torch.tensor([1.0, 0.0, 0.0])",
    ),
    Ablation(
        "The neuron learns from the sum of all ways.",
        "a Value whose gradients overwrite: each weight hears the last word only",
        "assert abs(way[0] - math.log(2)) < 1e-3 and way[-1] < 0.1",
        "    loss, gradient = slopes(mean_surprise, neuron)\n",
        "    class Last(Value):\n        def __add__(self, other):\n"
        "            return Last(self.data + other.data, [(self, 1.0), (other, 1.0)])\n"
        "        def __mul__(self, other):\n            return Last(self.data * other.data, [(self, other.data), (other, self.data)])\n"
        "        def exp(self):\n            return Last(math.exp(self.data), [(self, math.exp(self.data))])\n"
        "        def log(self):\n            return Last(math.log(self.data), [(self, 1 / self.data)])\n"
        "        def backward(self, arriving=1.0):\n            self.grad = arriving\n            for part, slope in self.made_of:\n"
        "                part.backward(slope * arriving)\n"
        "    parts = [Last(w) for w in neuron]\n    end = mean_surprise(*parts)\n    end.backward()\n"
        "    loss, gradient = end.data, [part.grad for part in parts]\n",
    ),
    Ablation(
        "The neuron is trained long enough.",
        "twice as many steps of the neuron",
        "assert neuron_right > 0.95",
        "for step in range(100):",
        "for step in range(200):",
        holds=True,
    ),
    Ablation(
        "PyTorch adds to the gradients that are there.",
        "the gradient cleared before the second pass",
        "assert w.grad == 60",
        "    y = (3 * w - 1) ** 2\n",
        "    w.grad = None\n    y = (3 * w - 1) ** 2\n",
    ),
    Ablation(
        "Training finds better weights than counting.",
        "a learning rate so small that nothing is learned",
        "assert abs(losses[0] - 1.792) < 0.001 and losses[-1] < 0.2",
        "x_held, 1000, lr=0.2)",
        "x_held, 1000, lr=1e-5)",
    ),
    Ablation(
        "Softmax regression is trained long enough.",
        "twice as many steps of softmax regression",
        "assert linear > counting + 0.01",
        "x_held, 1000, lr=0.2)",
        "x_held, 2000, lr=0.2)",
        holds=True,
    ),
    Ablation(
        "Letters that all languages share get small weights because they tell no language apart.",
        "e tells German apart",
        "assert learned[rare] > 2 * learned[common]",
        "regression = SoftmaxRegression(26, 6)",
        "for some, whose in ((x, target), (x_held, target_held)):\n    some[:, 4] = 2 + 2.0 * (whose == 1)\n"
        "regression = SoftmaxRegression(26, 6)",
    ),
    Ablation(
        "In a long valley momentum and Adam arrive sooner than the best plain rate.",
        "a round valley",
        'assert best["plain"] > 2.5',
        "steepness = torch.tensor([1.0, 100.0])",
        "steepness = torch.tensor([1.0, 1.0])",
    ),
    Ablation(
        "Momentum and Adam arrive, and it is what they keep that does it.",
        "momentum that keeps nothing",
        'assert max(best["momentum"], best["Adam"]) < 0.3 * best["plain"]',
        "momentum=0.9",
        "momentum=0.0",
    ),
    Ablation(
        "The border bends because of the ReLU.",
        "no ReLU in the second network either",
        'assert shares["with ReLU"] > shares["without ReLU"] + 0.15',
        '"with ReLU": nn.ReLU}',
        '"with ReLU": nn.Identity}',
    ),
    Ablation(
        "The two borders are those of networks trained to the end.",
        "twice as many steps of the two borders",
        'assert shares["with ReLU"] > shares["without ReLU"] + 0.15',
        "learn(model, plane_x, kind, 400, lr=0.03)",
        "learn(model, plane_x, kind, 800, lr=0.03)",
        holds=True,
    ),
    Ablation(
        "The loss on new words turns because the network fits the few words that it saw.",
        "trained on the new words as well",
        "assert plain[-1][1] > 1.1 * lowest",
        "    curves[name] = learn(model, x, target, watch=lambda: watched(model))",
        "    curves[name] = learn(model, torch.cat([x, x_held]), torch.cat([target, target_held]), watch=lambda: watched(model))",
    ),
    Ablation(
        "Dropout keeps the loss on new words lower.",
        "the second network without dropout, too",
        "assert dropped[-1][1] < 0.85 * plain[-1][1]",
        '"network with dropout": 0.5}',
        '"network with dropout": 0.0}',
    ),
    Ablation(
        "The network leads over softmax regression and all who count, and goes on to.",
        "twice as many steps of both networks",
        "assert max(opponents) < plain[-1][2]",
        "    curves[name] = learn(model, x, target, watch=lambda: watched(model))",
        "    curves[name] = learn(model, x, target, 400, watch=lambda: watched(model))[1::2]",
        holds=True,
    ),
    Ablation(
        "The network's lead needs the hidden layer's ReLU.",
        "no ReLU in any network",
        "assert max(opponents) < plain[-1][2]",
        "model = models[name] = network(dropout=dropout)",
        "model = models[name] = network(dropout=dropout, between=nn.Identity)",
    ),
    Ablation(
        "Held out by digit, the network loses because the pieces of the words are new.",
        "trained on numbers with the digit as well",
        "assert all(max(without[digit][:3]) > without[digit][3]",
        "others = [n for n in range(1000) if digit not in str(n)]",
        "others = list(range(1000))",
    ),
    Ablation(
        "The networks that never saw a digit are trained to the end.",
        "twice as many steps without a digit",
        "assert all(max(without[digit][:3]) > without[digit][3]",
        "learn(model, x, target, lr=rate)",
        "learn(model, x, target, 400, lr=rate)",
        holds=True,
    ),
    Ablation(
        "AdamW shrinks all weights by the same share.",
        "decay through the gradient",
        "assert abs(beside[0] - beside[1]) < 0.01",
        "partial(torch.optim.AdamW, lr=0.01, weight_decay=0.3)",
        "partial(torch.optim.Adam, lr=0.01, weight_decay=0.3)",
    ),
    Ablation(
        "A schedule forgives a large rate because its end is quiet.",
        "gradients without noise",
        "assert max(ends[rate][2]) < 0.75 * min(ends[rate][0])",
        "noise = torch.randn(500, generator=g)",
        "noise = torch.zeros(500)",
    ),
    Ablation(
        "Clipping survives odd batches.",
        "no odd batches",
        "assert max(clipped[3]) < 0.3 * min(lower[at])",
        "rare = torch.rand(500, generator=g) < odd",
        "rare = torch.zeros(500) > 1",
    ),
    Ablation(
        "The size of the signal is kept by n Var(w) = 2 because ReLU keeps half of it.",
        "no ReLU",
        "assert ends_at[1 / 3] < 0.01 * ends_at[1] and ends_at[1] < 0.1",
        "h = torch.relu(h @ w.T)        # (word, unit)",
        "h = h @ w.T",
    ),
    Ablation(
        "A network must not start with equal weights.",
        "different weights",
        "assert stuck.std(dim=0).max() < 1e-4",
        "nn.init.constant_(layer.weight, 0.1)",
        "nn.init.normal_(layer.weight, std=0.1)",
    ),
    Ablation(
        "In this valley the cosine does the work, and a warm-up does nothing.",
        "a warm-up of half the steps",
        "assert abs(warm / plain - 1) < 0.1",
        "for warmup in (0, 5))",
        "for warmup in (0, 60))",
    ),
    Ablation(
        "A word whose letters stood in the training data is easy.",
        "twins of another language",
        "assert 0.05 < twin.float().mean() < 0.09",
        "    map(tuple, x_held.tolist()), target_held.tolist())])",
        "    map(tuple, x_held.tolist()), target_held.roll(1).tolist())])",
    ),
]
