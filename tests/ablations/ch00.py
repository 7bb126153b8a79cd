"""Ablations of chapter 00, Start here."""

from .ablation import Ablation

ABLATIONS = [
    Ablation(
        "A look-up is a product with a one-hot vector.",
        "ones in the wrong place",
        "torch.testing.assert_close(one_hot @ table.weight, table(ids_of))",
        "one_hot = nn.functional.one_hot(ids_of, 26).float()",
        "one_hot = nn.functional.one_hot((ids_of + 1) % 26, 26).float()",
    ),
    Ablation(
        "Through the look-up a sentence trains only the rows of its words.",
        "the table used at the output as well",
        "assert set(rows) == set(ids)",
        "table(ids_of).sum().backward()",
        "(table(ids_of) @ table.weight.T).sum().backward()",
    ),
    Ablation(
        "A look-up is much cheaper than the product.",
        "the product on both sides",
        "assert product > 3 * lookup",
        "milliseconds(lambda: big(some))",
        "milliseconds(multiply)",
    ),
    Ablation(
        "Four ways give one table of scores.",
        "the axes of one way exchanged",
        "    torch.testing.assert_close(other, loop)",
        '"bid,bjd->bij", x, x)',
        '"bid,bjd->bji", x, x.flip(1))',
    ),
    Ablation(
        "The check recognises keys that were reshaped in place of transposed.",
        "keys transposed",
        "assert result.mistake ==",
        "key.reshape(key.shape[0], key.shape[2], key.shape[1])",
        "key.transpose(1, 2)",
    ),
    Ablation(
        "A decoder sees the past and itself.",
        "the past alone",
        "assert seen == [36, 21, 24]",
        '"decoder": lambda query, key: key <= query',
        '"decoder": lambda query, key: key < query',
    ),
]
