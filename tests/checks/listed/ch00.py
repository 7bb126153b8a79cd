"""Chapter 00."""

from . import Listed

LISTED = (
    Listed("00.6", "positions counted from 1", """
def visibility(rule, n):
    return torch.tensor([[rule(i, j) for j in range(1, n + 1)] for i in range(1, n + 1)])
"""),
)
