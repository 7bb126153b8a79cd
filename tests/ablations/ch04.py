"""Ablations of chapter 04, Multi-head attention."""

from .ablation import Ablation

ABLATIONS = [
    Ablation(
        "One mixture of linear values leaves half of the variance.",
        "two heads",
        "assert all(abs(error - 0.5) < 0.04 for error, _, _ in one_head",
        "self.attend = reference.MultiHeadAttention(8, num_heads, bias=False)",
        "self.attend = reference.MultiHeadAttention(8, 2 * num_heads, bias=False)",
    ),
    Ablation(
        "A network before the values frees one head only if it is not linear.",
        "no ReLU between its two layers",
        "assert max(network) < 0.02 and max(product) < 1e-3",
        "nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 8))",
        "nn.Sequential(nn.Linear(8, 64), nn.Linear(64, 8))",
    ),
    Ablation(
        "Linear layers before the values do not free it.",
        "a function between the linear layers",
        "assert all(abs(error - 0.5) < 0.04 for error in linear)",
        "lambda: nn.Sequential(nn.Linear(8, 64), nn.Linear(64, 8)),",
        "lambda: nn.Sequential(nn.Linear(8, 64), nn.GELU(), nn.Linear(64, 8)),",
    ),
    Ablation(
        "The floor of one half belongs to a single mixture.",
        "the two contents not added up",
        "assert all(abs(mean - 0.5) < 0.02",
        "mixture = a * c[:, :1] + (1 - a) * c[:, 1:]",
        "mixture = torch.cat([a * c[:, :1], (1 - a) * c[:, 1:]], 1)",
    ),
    Ablation(
        "Two mixtures are enough.",
        "both heads with the same weights",
        "assert sizes == {264} and all(reader[0] < 0.02",
        "return self.attend(question, looks, self.prepare(words))[:, 0]",
        "weight = self.attend.w_qkv.weight.detach().view(3, -1, 8 // self.attend.num_heads, 8)\n"
        "        weight[:2] = weight[:2, :1].clone()\n"
        "        return self.attend(question, looks, self.prepare(words))[:, 0]",
    ),
    Ablation(
        "Equal heads part where their blocks of W_O differ.",
        "the blocks equal in every start",
        "assert max(found) < 1e-6 if stay else min(found) > 0.05",
        'if blocks == "equal":',
        'if blocks in ("equal", "random"):',
    ),
    Ablation(
        "Equal heads stay equal if nothing tells them apart.",
        "dropout in every start",
        "assert max(found) < 1e-6 if stay else min(found) > 0.05",
        "layer = reference.MultiHeadAttention(8, 2, bias=False, dropout=dropout)",
        "layer = reference.MultiHeadAttention(8, 2, bias=False, dropout=0.1)",
    ),
    Ablation(
        "A layer without a mark of the sentence cannot tag both.",
        "the sentences marked in the blind model too",
        "assert accuracy(blind) <= limit + 1e-6",
        "return self.embed(ids) + self.which(sentence) * self.tell",
        "return self.embed(ids) + self.which(sentence)",
    ),
    Ablation(
        "Heads look mostly inside their sentence.",
        "uniform weights",
        "assert all(0.55 < mean < 0.8 for mean in shares[..., 4].mean(1))",
        "weights = model.attend.weights(model.vectors(test[0]))",
        "weights = torch.full((len(test[0]), 4, 10, 10), 0.1)",
    ),
    Ablation(
        "Most heads with an average of one half look at one sentence.",
        "both sentences counted together",
        "assert undecided.sum() == 4 and (apart.abs()",
        '(("first", hard[:2]), ("second", hard[2:]))',
        '(("first", hard), ("second", hard))',
    ),
    Ablation(
        "The biases of the keys do nothing, and those of the values move to W_O.",
        "the biases of the values dropped",
        "torch.testing.assert_close(layer(x), before)",
        "    layer.w_o.bias += layer.w_o.weight @ of_values\n",
        "",
    ),
    Ablation(
        "Without the token before, two layers cannot copy.",
        "another place forbidden",
        "assert min(whole, other) > 0.95 and none < 0.1",
        '"in both": (both, 1)',
        '"in both": (both, 3)',
    ),
    Ablation(
        "One place alone is needed.",
        "the place before in place of two before",
        "assert min(whole, other) > 0.95 and none < 0.1",
        '"two before, in both": (both, 2)',
        '"two before, in both": (both, 1)',
    ),
    Ablation(
        "Training brings the subspaces of the heads nearer.",
        "untrained taggers in both rows",
        "assert after > max(before, usual)",
        '(("before", fresh), ("after", model))',
        '(("before", fresh), ("after", fresh))',
    ),
    Ablation(
        "The first of two layers supplies what stood before.",
        "a first layer that sees its own token alone",
        'assert min(final["two layers"]) > 0.95',
        "        for attend in self.layers:\n            x = x + attend(x, mask=past)\n        return self.scores(x)",
        "        for attend in self.layers:\n            alone = len(self.layers) == 2 and attend is self.layers[0]\n"
        "            x = x + attend(x, mask=torch.eye(32).bool() if alone else past)\n        return self.scores(x)",
    ),
    Ablation(
        "One layer is enough once it is told the token before.",
        "told the token itself once more",
        'assert min(final["one layer, told"]) > 0.97',
        "F.pad(self.embed(ids)[:, :-1], (0, 0, 1, 0))",
        "self.embed(ids)",
    ),
    Ablation(
        "One layer cannot find the token behind a copy.",
        "one layer, told what stood before",
        'assert min(final["two layers"]) > 0.95 and max(final["one layer"]) < 0.4',
        '"one layer": dict(layers=1),',
        '"one layer": dict(layers=1, told=True),',
    ),
    Ablation(
        "Two layers name the next token because the rows repeat.",
        "rows that do not repeat",
        'assert min(final["two layers"]) > 0.95',
        "return fresh.gather(1, place % period), (place >= period)[:, :-1]",
        "return fresh[:, :n], (place >= period)[:, :-1]",
    ),
    Ablation(
        "A narrow head misses what differs in other directions.",
        "every head as wide as the tokens",
        'assert max(partners["width 2"]) < 0.3',
        "nn.Parameter(torch.randn(d, width, generator=g)",
        "nn.Parameter(torch.randn(d, d, generator=g)",
    ),
]
