"""Ablations of chapter 12a, The family tree."""

from .ablation import Ablation

SHUFFLED = """
import torch
def no_distance(query, key, far_query, far_key, largest):
    n, d = query.shape[1:]
    order = torch.randperm(n * n, generator=torch.Generator().manual_seed(0)).view(n, n) % (2 * largest)
    content = query @ key.mT
    there = torch.einsum("bid,ijd->bij", query, far_key[order])
    return (content + there + torch.einsum("bjd,ijd->bij", key, far_query[order.mT])) / (3 * d) ** 0.5
"""
ABLATIONS = [
    Ablation(
        "BERT's guesses depend on the place.",
        "the window does not move",
        "assert 0.83 < 1 - asked < 0.87 and 0.2 < shaken < 0.45",
        "for shift in (0, 1):",
        "for shift in (0, 0):",
    ),
    Ablation("BERT learns from hidden letters.", "a twentieth of the steps", "assert 2.1 < reached < 2.55", "steps = 400", "steps = 20"),
    Ablation(
        "A gain is judged by every seed.",
        "patience compared with itself",
        "assert max(patient) < min(base) - 0.2",
        'base, patient = recorded("BERT"), recorded("BERT, 800")',
        'base, patient = recorded("BERT"), recorded("BERT")',
    ),
    Ablation(
        "New choices reach every token.",
        "the same choice in every epoch",
        "assert ten.float().mean() > 0.75",
        "hidden = torch.stack([relatives.hide(text, rows, g)[1][0] != -100\n"
        "                      for _ in range(40)])           # (epoch, token)",
        "hidden = (relatives.hide(text, rows, g)[1][0] != -100).repeat(40, 1)",
    ),
    Ablation(
        "A shared block gets the sum of the gradients of all depths.",
        "one depth of the two that are compared",
        "torch.testing.assert_close(slope(one.encoder.block)",
        "                           sum(map(slope, blocks)), rtol=1e-3, atol=1e-4)",
        "                           slope(blocks[0]), rtol=1e-3, atol=1e-4)",
    ),
    Ablation(
        "ALBERT stores half.",
        "two blocks of their own",
        "assert small < 0.6",
        "        self.block, self.depth = block, depth",
        "        self.block, self.depth, self.other = block, depth, deepcopy(block)",
    ),
    Ablation(
        "ELECTRA's question teaches BERT's body less than hidden letters.",
        "a body of hidden letters in its place",
        'assert missed["ELECTRA"] > missed["BERT"] + 0.03',
        '(("BERT", deepcopy(bert.body)), ("ELECTRA", electra))}',
        '(("BERT", deepcopy(bert.body)), ("ELECTRA", deepcopy(bert.body)))}',
    ),
    Ablation(
        "The student learns what its teacher knows.",
        "the labels alone",
        'assert ends["taught by teacher"] < ends["taught by labels"] - 0.1',
        '(("labels", 0.0), ("teacher", 1.0))',
        '(("labels", 0.0), ("teacher", 0.0))',
    ),
    Ablation(
        "A teacher must know something.",
        "a teacher with random weights",
        'assert ends["taught by teacher"] < ends["taught by labels"] - 0.1',
        "    teach(student, teacher, few, steps=60, share=share, loss=distil)",
        "    teach(student, type(teacher)(teacher.bert.config).eval(), few, steps=60, share=share, loss=distil)",
    ),
    Ablation(
        "DeBERTa gains by distances.",
        "distances shuffled",
        "assert nats_far < reached - 0.3",
        "    block.attention.head_scores = disentangled",
        "    block.attention.head_scores = no_distance",
        before=SHUFFLED,
    ),
    Ablation(
        "DeBERTa gains by distances, not by three terms.",
        "content alone",
        "assert nats_far < reached - 0.3",
        "    block.attention.head_scores = disentangled",
        "    block.attention.head_scores = lambda q, k, far_q, far_k, most: q @ k.mT / q.shape[-1] ** 0.5",
    ),
    Ablation(
        "The modern block gains by its rotations.",
        "queries and keys are not turned",
        "assert nats_modern < reached - 0.3",
        "        mixed, _ = attend(rotate(q, at), rotate(k, at), v, self.seen)",
        "        mixed, _ = attend(q, k, v, self.seen)",
    ),
    Ablation(
        "The gain of modern blocks is theirs.",
        "BERT's own blocks",
        "assert nats_modern < reached - 0.3",
        "modern, nats_modern = learns(body)",
        "modern, nats_modern = learns(relatives.body(text))",
    ),
]
