"""Ablations of chapter 07a, The Transformer block, and of its companion."""

from .ablation import Ablation

DIFFER = 'assert max(differ[kind][8] for kind in ("neither", "norm alone")) < 1e-3'
KEPT = 'assert min(differ[kind][-1] for kind in ("residual alone", "both")) > 0.1'
CONTROLS = "assert done[0] < 0.05 and done[4] < 0.3"
FAILED = "assert min(done[1:4]) > 1.5"
KEPT_SIZE = "assert 0.5 < kept.pow(2).mean().sqrt() < 2 and alike < 1e-4"
TIME = "assert done[3] > 2.05"
SLOPE = 'assert 0.2 < first["both"] < 20 and first["residual alone"] > 1e3'
OWN = "assert max(own.values()) < 0.3"
PUSHED = "assert towards[0] < -1 and towards[1] > 1"

CHAPTER = [
    Ablation(
        "Without a residual all tokens become one vector.",
        "added, and not replaced",
        DIFFER,
        "found.append(found[-1] + said if self.add else said)",
        "found.append(found[-1] + said)",
    ),
    Ablation(
        "With a residual the tokens stay different.",
        "replaced, and not added",
        KEPT,
        "found.append(found[-1] + said if self.add else said)",
        "found.append(said)",
    ),
    Ablation(
        "It is the fresh attention, nearly a mean, that makes tokens alike.",
        "no attention",
        DIFFER,
        "self.branches.append(nn.Sequential(normed(norm), Fused(d, 2)))",
        "self.branches.append(nn.Sequential(normed(norm), nn.Linear(d, d)))",
    ),
    Ablation(
        "Without norms the sum grows faster.",
        "norms in both",
        'assert size["residual alone"][-1] > 1.5 * size["both"][-1]',
        '"residual alone": dict(norm=False)',
        '"residual alone": dict(norm=True)',
    ),
    Ablation(
        "Without norms 32 blocks learn if their branches are small.",
        "branches as they are",
        CONTROLS,
        "seeded(32, norm=False, part=1 / 8)",
        "seeded(32, norm=False)",
    ),
    Ablation(
        "A norm at the end does not replace those of the blocks.",
        "norms in the blocks, too",
        FAILED,
        "seeded(32, norm=False, last=True)",
        "seeded(32, norm=True, last=True)",
    ),
    Ablation(
        "Numbers of the right size do not help a stack without residual and norm.",
        "residual and norm for both",
        FAILED,
        "model, kept = kept_at_size_one()",
        "model, kept = Stack(8), kept_at_size_one()[1]",
    ),
    Ablation(
        "More time does not help the plain stack at this rate; at a tenth of it it gets below guessing.",
        "a tenth of the rate for the plain stack",
        TIME,
        'seeded(8, steps=200, **KINDS["neither"])',
        'learn(Stack(8, **KINDS["neither"]), 200, lr=1e-3)',
    ),
    Ablation(
        "However long it is trained, the plain stack gets nowhere at this rate.",
        "ten times the steps for the plain stack",
        TIME,
        'seeded(8, steps=200, **KINDS["neither"])',
        'seeded(8, steps=1200, **KINDS["neither"])',
        holds=True,
    ),
    Ablation(
        "At a tenth of the rate the plain stack stays within 0.15 nats of guessing: it cannot say where the letters are.",
        "a tenth of the rate for the plain stack, and more steps",
        TIME,
        'seeded(8, steps=200, **KINDS["neither"])',
        '0.15 + learn(Stack(8, **KINDS["neither"]), 600, lr=1e-3)',
        holds=True,
    ),
    Ablation(
        "32 blocks without norms stay worse than guessing at a tenth of the rate, by more than 0.02 nats.",
        "a tenth of the rate for 32 blocks without norms",
        FAILED,
        "seeded(32, norm=False, last=True)",
        "learn(Stack(32, norm=False), lr=1e-3) - 0.6",
        holds=True,
    ),
    Ablation(
        "Your stack learns at all depths, however long it is trained.",
        "twice as many steps",
        OWN,
        "own[depth] = learn(Turner(depth))",
        "own[depth] = learn(Turner(depth), steps=200)",
        holds=True,
    ),
    Ablation(
        "Tokens become alike though the size is kept, because attention is nearly a mean.",
        "no attention, case 2",
        KEPT_SIZE,
        'model, ids = Stack(8, **KINDS["neither"]), letters(64)[0]',
        """model, ids = Stack(8, **KINDS["neither"]), letters(64)[0]
    for at in range(0, 16, 2):
        model.branches[at] = nn.Sequential(nn.Identity(), nn.Linear(16, 16))""",
    ),
    Ablation(
        "With both parts every block gets the same gradient.",
        "no residual",
        SLOPE,
        "model = Stack(32, **options)",
        'model = Stack(32, **options | {"add": False})',
    ),
    Ablation(
        "Without norms the gradient explodes.",
        "norms in both, case 2",
        SLOPE,
        "model = Stack(32, **options)",
        'model = Stack(32, **options | {"norm": True})',
    ),
    Ablation(
        "A norm over one token leaks to no other token.",
        "a norm over tokens and features",
        'assert max(leaks["layer norm"]) < 1e-5',
        '"layer norm": lambda x: F.layer_norm(x, (16,))',
        '"layer norm": lambda x: F.layer_norm(x, x.shape[1:])',
    ),
    Ablation(
        "The ReLU makes room for many pairs.",
        "no ReLU",
        "assert memory[True][-1] > 0.99",
        "hidden = torch.relu(hidden - 0.5)",
        "hidden = hidden - 0.5",
    ),
    Ablation(
        "In a post-norm block the norm stands in the way of doing nothing.",
        "pre-norm in its place",
        'assert max(far["pre"]) < 1e-6 and far["post"][0] > 1',
        "block = EncoderBlock(12, 3, 48, norm_place=place)",
        "block = EncoderBlock(12, 3, 48)",
    ),
    Ablation(
        'The blocks write the meaning of "flies" onto its stream.',
        "no blocks",
        "assert right > 0.97",
        "return self.head(self.encoder(self.come_in(ids)))",
        "return self.head(self.encoder.norm(self.come_in(ids)))",
    ),
    Ablation(
        "Only attention brings the reason to the word.",
        "every token hears itself alone",
        "assert right > 0.97",
        "return self.head(self.encoder(self.come_in(ids)))",
        "return self.head(self.encoder(self.come_in(ids), torch.eye(5).bool()))",
    ),
    Ablation(
        "The tagger's numbers do not depend on the length of the training.",
        "twice as many steps for the tagger",
        PUSHED,
        "fit(tagger, tag_loss, steps=120, lr=5e-3)",
        "fit(tagger, tag_loss, steps=200, lr=5e-3)",
        holds=True,
    ),
    Ablation(
        "The branches push flies to noun and to verb because they were trained.",
        "a single step",
        PUSHED,
        "fit(tagger, tag_loss, steps=120, lr=5e-3)",
        "fit(tagger, tag_loss, steps=1, lr=5e-3)",
    ),
]

DEEPER = [
    Ablation(
        "LayerNorm loses two directions, because it is two projections.",
        "no centring: one direction is lost",
        "assert rank == d - 2",
        "norm = lambda t: F.layer_norm(t, (d,), eps=0)",
        "norm = lambda t: F.rms_norm(t, (d,), eps=0)",
    ),
    Ablation(
        "A token three times as long gets a third of the gradient.",
        "the same token again",
        "assert abs(J3.norm() / J.norm() - 1 / 3) < 1e-6",
        "jacobian(norm, 3 * x)",
        "jacobian(norm, x)",
    ),
    Ablation(
        "Every block brings the prediction closer.",
        "blocks that add nothing",
        "assert all(low < high for high, low in zip(last, last[1:]))",
        "found.append(one(found[-1], self.mask))",
        "found.append(found[-1])",
    ),
    Ablation(
        "Units promote the letters that follow where they are active.",
        "each unit with another one's value",
        "assert own.mean() > 1.4 * neighbour.mean()",
        "own, neighbour = agreement(promoted)",
        "own, neighbour = agreement(promoted.roll(2, 0))",
    ),
    Ablation(
        "The norm keeps the cell out of saturation.",
        "smaller weights: nothing to be kept out of",
        "assert saturated[0] > 0.3 and saturated[1] < 0.12",
        "w_h, w_x = 3 * torch.randn(64, 64) / 8, torch.randn(64, 64) / 8",
        "w_h, w_x = torch.randn(64, 64) / 16, torch.randn(64, 64) / 16",
    ),
]

ABLATIONS = [*CHAPTER, *DEEPER]
