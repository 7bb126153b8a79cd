"""Chapter 06."""

from . import Listed

DECODER = """
def decoder_mask(ids, pad_id=0, n=None):
    {test}
    m = ids.shape[-1]
    n = m if n is None else n
    causal = torch.arange(m) <= torch.arange(m - n, m)[:, None]
    return (ids != pad_id)[:, None, :] & causal
"""

WINDOW = """
def prefix_window_mask(n, prefix=0, window=None):
    {test}
    i, j = torch.arange(n)[:, None], torch.arange(n)
    return (j < prefix) | (j <= i) & (i - j < (n if window is None else window))
"""

CAUSAL = """
class CausalAttention(nn.Module):
    def __init__(self, d_model, d_k, max_len):
        super().__init__()
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_k, bias=False) for _ in range(3))
        self.register_buffer("visible", torch.ones(max_len, max_len).tril().bool())

    def forward(self, x):
        n = x.shape[1]
{body}
"""

LISTED = (
    Listed("06.1", "m or n, so that m = 0 is no error", """
def causal_mask(n, m=None):
    m = m or n
    if m < n:
        raise ValueError(f"{n} queries cannot be the last of {m} keys")
    return torch.arange(m) <= torch.arange(m - n, m)[:, None]
""", says=("m = 0",)),
    Listed("06.1", "an assertion instead of the error", """
def causal_mask(n, m=None):
    m = n if m is None else m
    assert m >= n, f"{n} queries cannot be the last of {m} keys"
    return torch.arange(m) <= torch.arange(m - n, m)[:, None]
""", says=("ValueError",), never=("by accident", "ccepts bad input")),
    Listed("06.1", "the diagonal's sign", """
def causal_mask(n, m=None):
    m = n if m is None else m
    if m < n:
        raise ValueError(f"{n} queries cannot be the last of {m} keys")
    return torch.ones(n, m, dtype=torch.bool).tril(n - m)
""", says=("Triangle shifted to the left",)),
    Listed("06.3", "ids with three axes accepted", DECODER.format(test='''if ids.dim() < 2:
        raise ValueError(f"ids has shape {tuple(ids.shape)}")'''), says=("three axes",)),
    Listed("06.3", "an assertion instead of the error", DECODER.format(test='assert ids.dim() == 2, f"{tuple(ids.shape)}"'),
           says=("ValueError",), never=("by accident", "ccepts bad input")),
    Listed("06.4", "nanmean and where", """
def masked_mean(x, mask):
    filled = x.masked_fill(~mask[..., None], float("nan"))
    return torch.where(mask.any(1, keepdim=True), filled.nanmean(1), 0.0)
""", right=True),
    Listed("06.4", "nanmean and nan_to_num", """
def masked_mean(x, mask):
    return torch.nan_to_num(x.masked_fill(~mask[..., None], float("nan")).nanmean(1))
""", right=True),
    Listed("06.5", "finite differences with a step of 1e-3", """
def reads(f, x):
    before = f(x)
    columns = []
    for j in range(len(x)):
        moved = torch.zeros(len(before), dtype=torch.bool)
        for k in range(x.shape[1]):
            other = x.clone()
            other[j, k] += 1e-3
            moved |= (f(other) != before).any(1)
        columns.append(moved)
    return torch.stack(columns, 1)
"""),
    Listed("06.5", "gradients asked of the tensor that came in", """
def reads(f, x):
    x.requires_grad_(True)
    y = f(x)
    rows = []
    for i in range(len(y)):
        row = torch.zeros(len(x), dtype=torch.bool)
        for k in range(y.shape[1]):
            x.grad = None
            y[i, k].backward(retain_graph=True)
            row |= (x.grad != 0).any(1)
        rows.append(row)
    return torch.stack(rows)
""", right=True),
    Listed("06.6", "the buffer cut down in every call", CAUSAL.format(body="""
        self.visible = self.visible[:n, :n]
        scores = self.w_q(x) @ self.w_k(x).mT / math.sqrt(self.w_q.out_features)
        return torch.softmax(scores.masked_fill(~self.visible, -torch.inf), dim=-1) @ self.w_v(x)
""")),
    Listed("06.6", "the course's own attention", "from course_utils.models.attention import scaled_dot_product_attention\n"
           + CAUSAL.format(body="""
        return scaled_dot_product_attention(self.w_q(x), self.w_k(x), self.w_v(x), self.visible[:n, :n])[0]
"""), says=("out of bounds",)),
    Listed("06.6", "the course's own masked softmax", "from course_utils.models.attention import masked_softmax\n"
           + CAUSAL.format(body="""
        scores = self.w_q(x) @ self.w_k(x).mT / math.sqrt(self.w_q.out_features)
        return masked_softmax(scores, self.visible[:n, :n]) @ self.w_v(x)
"""), says=("out of bounds",)),
    Listed("06.6", "one position too many", CAUSAL.format(body="""
        scores = self.w_q(x) @ self.w_k(x).mT / math.sqrt(self.w_q.out_features)
        return torch.softmax(scores.masked_fill(~torch.ones(n, n).tril(1).bool(), -torch.inf), dim=-1) @ self.w_v(x)
"""), says=("One position too many",)),
    Listed("06.6", "scaled by d_model", CAUSAL.format(body="""
        scores = self.w_q(x) @ self.w_k(x).mT / math.sqrt(x.shape[-1])
        return torch.softmax(scores.masked_fill(~self.visible[:n, :n], -torch.inf), dim=-1) @ self.w_v(x)
"""), says=("Scaled by the token width",)),
    Listed("06.7", "a negative prefix accepted", WINDOW.format(test='''if prefix > n:
        raise ValueError(f"prefix={prefix}")
    if window is not None and window < 1:
        raise ValueError(f"window={window}")'''), says=("a prefix of -2",)),
    Listed("06.7", "must be above 0, without the number", WINDOW.format(test='''if not 0 <= prefix <= n:
        raise ValueError(f"prefix={prefix}")
    if window is not None and window < 1:
        raise ValueError("window must be above 0")''')),
    Listed("06.7", "an assertion instead of the error", WINDOW.format(test='''assert 0 <= prefix <= n, f"prefix={prefix}"
    assert window is None or window >= 1, f"window={window}"'''), says=("ValueError",), never=("by accident", "ccepts bad input")),
    Listed("06.7", "own position hidden", WINDOW.format(test='''if not 0 <= prefix <= n:
        raise ValueError(f"prefix={prefix}")
    if window is not None and window < 1:
        raise ValueError(f"window={window}")''').replace("j <= i", "j < i"), says=("Own position hidden",)),
)
