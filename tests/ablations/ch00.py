"""Ablations of chapter 00, Start here."""

from .ablation import Ablation

ABLATIONS = [
    Ablation(
        "A look-up is a product with a one-hot vector.",
        "ones in the wrong place",
        "torch.testing.assert_close(one_hot @ table, rows)",
        "torch.nn.functional.one_hot(ids, len(table))",
        "torch.nn.functional.one_hot((ids + 1) % len(table), len(table))",
    ),
    Ablation(
        "Tokens that are used alike have rows that point the same way, because training made them so.",
        "rows in another order",
        'assert " tuple" in nearest(" list")',
        "table = gpt.token.weight.detach()",
        "table = gpt.token.weight.detach().roll(1, 0)",
    ),
    Ablation(
        "The product of rows and turned rows is all dot products.",
        "features added in place of multiplied",
        "torch.testing.assert_close(scores, slow)",
        "(rows[0, i] * rows[0, j]).sum()",
        "(rows[0, i] + rows[0, j]).sum()",
    ),
    Ablation(
        "A decoder sees the past and itself.",
        "the past alone",
        "assert seen == [36, 21, 24]",
        '"decoder": lambda query, key: key <= query',
        '"decoder": lambda query, key: key < query',
    ),
    Ablation(
        "No token sees a later one, because of the mask.",
        "the exchanged token read first",
        "assert (last[:-1] < 1e-4).all()",
        "difference = gpt(changed) - gpt(ids)",
        "difference = gpt(changed.flip(1)) - gpt(ids.flip(1))",
    ),
    Ablation(
        "The last token has seen the first.",
        "the last token changed in its place",
        "assert (first > 0.05).all()",
        "last, first = moved(-1), moved(0)",
        "last, first = moved(-1), moved(-1)",
    ),
]
