"""Ablations of chapter 12a, The family tree."""

from .ablation import Ablation

SHUFFLED = """
import torch
from course_utils.models.zoo import deberta
def shuffled(n, largest, real=deberta.distance_index, order=torch.randperm(256, generator=torch.Generator().manual_seed(0))):
    return real(n, largest).flatten()[order[order < n * n]].view(n, n)  # the chapter has names of its own for real and order
deberta.distance_index = shuffled
"""
ABLATIONS = [
    Ablation(
        "BERT's guesses depend on the places of a letter's neighbours.",
        "the window does not move",
        "assert shaken > 0.1",
        "for shift in (0, by):",
        "for shift in (0, 0):",
    ),
    Ablation(
        "What BERT learned from hidden letters helps to find spaces.",
        "a body with random weights in BERT's place",
        'assert f1["BERT"] > f1["random weights"] + 0.15',
        'f1 = {"BERT": spaces_found(bert)',
        'f1 = {"BERT": spaces_found(fresh)',
    ),
    Ablation(
        "A body that was trained from left to right cannot simply read both sides.",
        "no causal mask in training",
        'assert f1["GPT"] > f1["GPT, both sides"] + 0.05',
        "causal = place <= place[:, None]  ",
        "causal = place <= place[:, None] + 16  ",
    ),
    Ablation(
        "A task learns which of ELMo's layers it needs.",
        "the mix frozen at one layer",
        'assert 0.45 < shares["both"][2] < 0.9',
        "s = self.scores.softmax(0)               # adds up to 1",
        "s = F.one_hot(torch.tensor(len(layers) - 1), len(layers)).float()",
    ),
    Ablation(
        "Fresh masks keep a body from learning its gaps by heart.",
        "the same masks in each epoch",
        'assert found["one mask"][0] < found["new masks"][0] - 0.3',
        "relatives.hide(text, few[rows], g))",
        "(part[rows] for part in prepared))",
    ),
    Ablation(
        "A shared block gets the sum of the gradients of all depths.",
        "ALBERT unshared",
        "torch.testing.assert_close(one, each + other",
        "nn.ModuleList([stack[0]] * 2)",
        "nn.ModuleList([stack[0], deepcopy(stack[0])])",
    ),
    Ablation(
        "A judge of shared words can tell strangers from neighbours, and not the order of neighbours.",
        "strangers in place of swapped neighbours",
        "assert nsp > 0.7 and sop == 0.5",
        "[Pair(p.second, p.first, False) for p in real]",
        "[pair for pair in found if not pair.is_next]",
    ),
    Ablation(
        "ELECTRA's generator draws.",
        "the best guess instead of drawing",
        "assert abs(lucky - promised) < 0.02",
        "drawn = torch.multinomial(p, 1, generator=generator)[:, 0]",
        "drawn = p.argmax(-1)",
    ),
    Ablation(
        "The factor T² keeps the size of the gradient.",
        "no factor",
        "assert 0.5 < rows[64][1] / rows[4][1] < 2",
        "T**2 * slope.norm().item()",
        "slope.norm().item()",
    ),
    Ablation(
        "The student learns what its teacher knows.",
        "a teacher with random weights",
        'assert found["taught by the teacher"][0] < untaught - 0.3',
        "    teach(student, teacher, few,",
        "    teach(student, type(teacher)(teacher.bert.config).eval(), few,",
    ),
    Ablation(
        "A step follows the advice for this token.",
        "the advice is not shuffled in the control",
        'assert ends["right advice"] < 0.3 * ends["shuffled advice"]',
        "wrong = advice[torch.randperm(200, generator=g)]",
        "wrong = advice",
    ),
    Ablation("DeBERTa gains by distances.", "distances shuffled", "assert nats_400 < reached - seeds", before=SHUFFLED),
    Ablation(
        "Spans and target together hold the text.",
        "span noise with everything visible",
        "assert noise.restore_spans(source, target, marks) == counted",
        "source += [*ids[place:start], sentinel]",
        "source += [*ids[place:start + length], sentinel]",
    ),
    Ablation(
        "Two global blocks carry the answer to the other end.",
        "a window alone",
        "assert far_here > 0.9 and",
        'long_inputs.train(masks["window, global"]',
        'long_inputs.train(masks["window"]',
    ),
    Ablation(
        "The block of the exercise is ModernBERT's.",
        "queries and keys are not turned",
        "torch.testing.assert_close(mine, block(x)",
        before="from course_utils.models.zoo import modern as parts\nparts.rope = lambda x, **options: x\n",
    ),
    Ablation(
        "Modern blocks reach in half of the steps what BERT reaches.",
        "BERT's own blocks for half of the steps",
        "assert nats_modern < reached + seeds",
        'relatives.train_masked(text, "modern", steps=400)',
        'relatives.train_masked(text, "bert", steps=400)',
    ),
    Ablation(
        "A live row of the table says what was measured.",
        "BERT measured in DeBERTa's place",
        'assert surprises == ["ELMo: mix"]',
        'note("DeBERTa", reached, nats_400, seeds)',
        'note("DeBERTa", reached, relatives.held_out_nats(text, bert), seeds)',
    ),
]
