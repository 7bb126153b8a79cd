"""Ablations of chapter 06, Masking, and of its companion."""

from .ablation import Ablation

REPAIRED = "assert honest < 2.0 and difference < 1e-3"
COPIES = "assert another_answer(unmasked) > 0.8"
CHEATS = "assert held_out(unmasked) < 0.2"
LEAKS = 'assert found["without mask"].all()'
PROMPT = 'assert last["without mask"] > last["with mask"] + 0.05'
PACKED = "assert max(both) < 1e-5 and max(plain[0], apart[0])"

CHAPTER = [
    Ablation(
        "A model without a mask learns nothing but to read the answer.",
        "a mask",
        CHEATS,
        "return F.cross_entropy(scores.transpose(1, 2), targets)\n",
        "scores = model(inputs, torch.ones(n, n).tril().bool())\n    return F.cross_entropy(scores.transpose(1, 2), targets)\n",
    ),
    Ablation(
        "The loss near zero does not depend on the length of the training.",
        "twice as many steps",
        CHEATS,
        "def learn(model, mask=None, steps=200):",
        "def learn(model, mask=None, steps=400):",
        holds=True,
    ),
    Ablation(
        "Without a mask the guess follows the letter right after it.",
        "the guess one place before",
        COPIES,
        "guess = model(other, mask).argmax(-1)[:, 10]",
        "guess = model(other, mask).argmax(-1)[:, 9]",
    ),
    Ablation(
        "The mask makes one pass equal to 32 beginnings.",
        "no mask in the repaired model",
        REPAIRED,
        "honest, difference = exam(masked, causal_mask)",
        "honest, difference = exam(unmasked, nothing)",
    ),
    Ablation(
        "One position too many is enough to spoil the repair.",
        "a mask that shows the next letter, too",
        REPAIRED,
        "history_masked = learn(masked, mask=causal_mask(n), steps=400)",
        "history_masked = learn(masked, mask=torch.ones(n, n).tril(1).bool(), steps=400)",
    ),
    Ablation(
        "The repaired model is honest, however long it learns.",
        "twice as many steps for the repaired model",
        REPAIRED,
        "history_masked = learn(masked, mask=causal_mask(n), steps=400)",
        "history_masked = learn(masked, mask=causal_mask(n), steps=800)",
        holds=True,
    ),
    Ablation(
        "A score of 0 does not hide a key.",
        "a score far below",
        'assert abs(left["times 1 or 0"][~keep].sum() - 0.165) < 0.001',
        '"times 1 or 0": row * keep,',
        '"times 1 or 0": row * keep - 1e9 * ~keep,',
    ),
    Ablation(
        "Only minus infinity leaves nothing.",
        "a modest number in its place",
        'assert (left["minus infinity"][~keep] == 0).all()',
        "row.masked_fill(~keep, -torch.inf)}",
        "row.masked_fill(~keep, -10.0)}",
    ),
    Ablation(
        "An empty row of infinities spoils gradients.",
        "a finite number in the first policy, too",
        'assert [finite for _, finite in rows.values()] == ["no", "yes", "yes"]',
        '"fill with -inf": filled_with(-torch.inf)',
        '"fill with -inf": filled_with(-1e8)',
    ),
    Ablation(
        "Behind the softmax a mask comes too late.",
        "the mask before the softmax",
        "assert reads(lambda x: late(x)[1], x).all()",
        "weights = torch.softmax(x @ x.T / x.shape[-1] ** 0.5, -1)",
        "weights = torch.softmax((x @ x.T).masked_fill(~causal_mask(len(x)), -torch.inf), -1)",
    ),
    Ablation(
        "The test tells a masked model from one without a mask.",
        "no mask in either",
        'assert torch.equal(found["with mask"], causal_mask(8))',
        "fresh.from_vectors(x[None], mask)[0]",
        "fresh.from_vectors(x[None], None)[0]",
    ),
    Ablation(
        "The leak is found before training.",
        "a mask in both",
        LEAKS,
        "fresh.from_vectors(x[None], mask)[0]",
        "fresh.from_vectors(x[None], causal_mask(8))[0]",
    ),
    Ablation(
        "A prompt needs the mask in use, too.",
        "the mask kept both times",
        PROMPT,
        "scores = masked(prompts, mask)[:, -1]",
        "scores = masked(prompts, causal_mask(8))[:, -1]",
    ),
    Ablation(
        "It is the second layer that reads letters which have looked ahead.",
        "a single layer",
        PROMPT,
        "self.blocks = nn.ModuleList([Block(d), Block(d)])",
        "self.blocks = nn.ModuleList([Block(d)])",
    ),
    Ablation(
        "The cheater has to guess at the last position alone.",
        "nothing to copy from",
        "assert costs[:-1].mean() < 0.1 and costs[-1] > 1",
        "with torch.no_grad():\n    costs = F.cross_entropy(unmasked(inputs)",
        "with torch.no_grad():\n    costs = F.cross_entropy(unmasked(inputs, torch.eye(n).bool())",
    ),
]

DEEPER = [
    Ablation(
        "With the source's padding mask nothing on a pad reaches the target.",
        "other content on a real token",
        'assert moved["no mask"] > 0.1 and moved["padding',
        "other[:, 4] = torch.randn(12)",
        "other[:, 3] = torch.randn(12)",
    ),
    Ablation(
        "A hidden NaN reaches output and gradient through 0 times NaN.",
        "a finite number on the pad",
        'assert in_value == ["no", "no"]',
        "bad = torch.tensor([0.0, 0.0, torch.nan])",
        "bad = torch.tensor([0.0, 0.0, 1e3])",
    ),
    Ablation(
        "Pads that are set to 0 do no harm.",
        "pads left as they are",
        'assert in_value == ["no", "no"]',
        "cleaned = (good + bad).masked_fill(~real[:, None], 0.0)",
        "cleaned = good + bad",
    ),
    Ablation("Slopes miss a detached statistic.", "not detached", "assert list(future.values()) ==", "x.mean(0).detach()", "x.mean(0)"),
    Ablation(
        "Pushing finds what slopes miss.",
        "pushes that hardly push",
        "assert list(future.values()) ==",
        "other[j] += 5 * torch.randn(x.shape[1])",
        "other[j] += 1e-3 * torch.randn(x.shape[1])",
    ),
    Ablation(
        "Packed texts need a mask between them.",
        "no mask between the texts",
        PACKED,
        '"texts apart, positions anew": (anew, causal_mask(14) & same_text)}',
        '"texts apart, positions anew": (anew, causal_mask(14))}',
    ),
    Ablation(
        "Packed texts need positions that begin anew.",
        "positions that run on",
        PACKED,
        "anew = torch.cat([torch.arange(n) for n in (5, 3, 6)])",
        "anew = torch.arange(14)",
    ),
]

ABLATIONS = [*CHAPTER, *DEEPER]
