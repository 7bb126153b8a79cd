"""Ablations of chapter 04, Multi-head attention, and of its companion."""

from .ablation import Ablation

STUCK = "assert all(abs(errors[name] - 0.5) < 0.04 for name in errors"
TWO = 'assert errors["two heads"] < 0.01'
NETWORK = "nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 8))"
COPIED = 'assert final["two layers"] > 0.95 and final["one layer"] < 0.4'
LOOKS = "x = x + attend(x, mask=past if number else first)"
TWINS = "assert max(stay) < 1e-6 and sorted(gaps.values())[2] > 0.05"
TAGGED = "assert min(accuracy(each)"

CHAPTER = [
    Ablation(
        "The floor of one half belongs to a single mixture.",
        "the two contents not added up",
        "assert abs(errors[2] - 0.5) < 0.02",
        "mixture = dark * content[:, :1] + (1 - dark) * content[:, 1:]",
        "mixture = content * torch.tensor([dark, 1 - dark])",
    ),
    Ablation(
        "One head is stuck at one half.",
        "two heads, each half as wide",
        "assert abs(stuck - 0.5) < 0.04",
        "train_reader(num_heads=1, d_k=8)",
        "train_reader(num_heads=2, d_k=4)",
    ),
    Ablation(
        "Two heads help by a second look.",
        "both at the same places",
        TWO,
        '"two heads": train_reader(2, 4),',
        '"two heads": train_reader(2, 4, layer=SamePlaces),',
    ),
    Ablation(
        "Two heads at the same places are stuck because they look alike.",
        "free to look elsewhere",
        STUCK,
        "train_reader(2, 4, layer=SamePlaces)",
        "train_reader(2, 4)",
    ),
    Ablation(
        "A network before the values frees one head only if it is not linear.",
        "no ReLU between its two layers",
        'assert errors["one head, a network first"] < 0.05',
        NETWORK,
        NETWORK.replace("nn.ReLU(), ", ""),
    ),
    Ablation(
        "One head of twice the width stays stuck.",
        "four times as wide, and twice the steps",
        STUCK,
        "train_reader(1, 16)",
        "train_reader(1, 32, steps=400)",
        holds=True,
    ),
    Ablation(
        "The comparison of the readers does not depend on the length of the training.",
        "twice as many steps for all",
        STUCK,
        "steps=200, lr=3e-2",
        "steps=400, lr=3e-2",
        holds=True,
    ),
    Ablation(
        "Two heads learn from another start, too.",
        "another start",
        TWO,
        '"two heads": train_reader(2, 4),',
        '"two heads": train_reader(2, 4, seed=3),',
        holds=True,
    ),
    Ablation(
        "Every head reads the whole word, because the projection stands before the cut.",
        "the word cut without a projection",
        "assert noticed.all() and believed.sum() == d",
        "return w_q(x).reshape(n, h, d_k)",
        "return x.reshape(n, h, d_k)",
    ),
    Ablation(
        "A head of the layer is a run of neighbouring features.",
        "the loop's heads dealt out like cards",
        "torch.testing.assert_close(yours(x), wanted)",
        "layer.weight.copy_(stack)",
        "layer.weight.copy_(stack.unflatten(0, (3, 4)).transpose(0, 1).flatten(0, 1))",
    ),
    Ablation(
        "PyTorch keeps queries, keys and values in this order.",
        "values first",
        "torch.testing.assert_close(theirs(x, x, x)[0], wanted)",
        "theirs.in_proj_weight.copy_(torch.cat(stacks))",
        "theirs.in_proj_weight.copy_(torch.cat(stacks[::-1]))",
    ),
    Ablation(
        "Without the swap back tokens hear later ones.",
        "the swap back in its place",
        'assert heard["1"].triu(1).any()',
        "unswapped = lambda t: t.reshape(1, 5, 12)",
        "unswapped = merge_heads",
    ),
    Ablation(
        "With the wrong reshape tokens hear only their neighbours.",
        "the right cut",
        'assert not heard["3"].triu(1).any()',
        "uncut = lambda t: t.reshape(1, 3, 5, 4)",
        "uncut = lambda t: split_heads(t, 3)",
    ),
    Ablation("The tagger needs to listen.", "nobody listens", TAGGED, "return self.guess(x + self.listen(x))", "return self.guess(x)"),
    Ablation(
        "One head is as good as four, however long they learn.",
        "twice as many steps",
        TAGGED,
        "def train_tagger(num_heads, seed=1, steps=100):",
        "def train_tagger(num_heads, seed=1, steps=200):",
        holds=True,
    ),
    Ablation(
        "Each head has its own rows of W_O.",
        "the columns of its weight in place of the rows",
        "torch.testing.assert_close(terms.sum(0), layer(x)[0]",
        "w_o = layer.w_o.weight.T",
        "w_o = layer.w_o.weight",
    ),
    Ablation(
        "The right answer on ripe banana hangs on a clause about another animal.",
        "the clause kept",
        "assert fruit > 0.5 and shown_wrong[0] > 0 > shown_wrong[1]",
        'the mouse is behind "\n                 "the screen"):',
        'the mouse is behind "\n                 "the screen and the bat is in the cave"):',
    ),
    Ablation(
        "The first of two layers supplies what stood before.",
        "a first layer that sees its own token alone",
        COPIED,
        LOOKS,
        "alone = torch.eye(32).bool() if len(self.layers) == 2 else past\n            x = x + attend(x, mask=past if number else alone)",
    ),
    Ablation(
        "One layer is enough once it is told the token before.",
        "told the token itself once more",
        'assert final["one layer, told"] > 0.97',
        "self.before(self.embed(F.pad(ids[:, :-1], (1, 0))))",
        "self.before(self.embed(ids))",
    ),
    Ablation(
        "What one layer lacks is the token before.",
        "one layer, told what stood before",
        COPIED,
        '"one layer": dict(layers=1, steps=440),',
        '"one layer": dict(layers=1, told=True),',
    ),
    Ablation(
        "Two layers name the next token because the rows repeat.",
        "rows that do not repeat",
        COPIED,
        "return fresh.gather(1, place % period),",
        "return fresh[:, :n],",
    ),
    Ablation(
        "What one layer and two layers learn does not depend on the length of the training.",
        "twice as many steps for the copiers",
        COPIED,
        "fit(model, loss, steps, lr=8e-3",
        "fit(model, loss, 2 * steps, lr=8e-3",
        holds=True,
    ),
    Ablation(
        "Two layers copy from another start, too.",
        "two layers from another start",
        COPIED,
        "    torch.manual_seed(0)\n    model, right = Copier(**kind), []",
        "    torch.manual_seed(1)\n    model, right = Copier(**kind), []",
        holds=True,
    ),
    Ablation(
        "It is training that makes the heads look back.",
        "an untrained model",
        "assert before.max() > 0.3 and behind.max() > 0.8",
        'model = copiers["two layers"][0]',
        "model = Copier(2)",
    ),
    Ablation(
        "Without the token before, two layers cannot copy; the place is what counts.",
        "the next place forbidden in its stead",
        "assert right_without(1) < 0.1",
        "place = torch.ones(32, 32).tril(-back).triu(-back).bool()",
        "place = torch.ones(32, 32).tril(-back - 1).triu(-back - 1).bool()",
    ),
    Ablation(
        "One place alone is needed.",
        "all places from this one on forbidden",
        "assert right_without(1) < 0.1",
        "place = torch.ones(32, 32).tril(-back).triu(-back).bool()",
        "place = torch.ones(32, 32).tril(-1).triu(-back).bool()",
    ),
    Ablation(
        "Equal heads part where their blocks of W_O differ.",
        "the blocks equal in every start",
        TWINS,
        'if blocks == "equal":',
        'if blocks in ("equal", "random"):',
    ),
    Ablation("Dropout is enough to part equal heads.", "no dropout", TWINS, "bias=False, dropout=dropout)", "bias=False)"),
    Ablation("Equal heads stay equal because they start equal.", "different heads", TWINS, "rows[:, 1] = rows[:, 0]", "pass"),
]

PART = "t.repeat_interleave(each, dim=1) for t in (k, v)"
LEFT = "assert max(min(row[1:5]) for row in rows.values()) < 0.9"

DEEPER = [
    Ablation(
        "A narrow head misses what differs in other directions.",
        "every head as wide as the tokens",
        'assert max(partners["width 2"]) < 0.3',
        "nn.Parameter(torch.randn(d, width, generator=g)",
        "nn.Parameter(torch.randn(d, d, generator=g)",
    ),
    Ablation(
        "Neighbouring heads share a set of keys.",
        "the sets dealt out in turn",
        "torch.testing.assert_close(grouped(q, k, v), theirs)",
        PART,
        PART.replace("repeat_interleave(each, dim=1)", "repeat(1, each, 1, 1)"),
    ),
    Ablation(
        "Our mask means the opposite in PyTorch's layer.",
        "turned round before it is passed",
        "assert (good - bad)[:, :4].abs().max() > 0.05",
        '"our mask": theirs(x, x, x, attn_mask=ours)[0]',
        '"our mask": theirs(x, x, x, attn_mask=~ours)[0]',
    ),
    Ablation(
        "The order of the copies matters.",
        "all sentences for head 0 first",
        "torch.testing.assert_close(again, output)",
        "hidden = mask_for_pytorch(mask, 3)",
        "hidden = ~mask.repeat(3, 1, 1)",
    ),
    Ablation(
        "The biases of the keys do nothing, and those of the values move to W_O.",
        "the biases of the values dropped",
        "torch.testing.assert_close(layer(x), before)",
        "    layer.w_o.bias += layer.w_o.weight @ layer.w_v.bias\n",
        "",
    ),
    Ablation("There is a head that cannot be spared.", "nobody silenced", LEFT, "outputs[:, silent] = means[:, silent]", "pass"),
    Ablation(
        "That a head cannot be spared does not depend on the length of the training.",
        "twice as many steps for the three taggers",
        LEFT,
        "def train_tagger(start, steps=150):",
        "def train_tagger(start, steps=300):",
        holds=True,
    ),
]

ABLATIONS = [*CHAPTER, *DEEPER]
