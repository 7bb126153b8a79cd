"""Chapter 07a."""

from . import Listed

NORM = """
def layer_norm(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = {var}
    return (x - mean) / {scale} * weight + bias
"""

FOUR = """
def normalise(x, kind, groups=2, eps=1e-5):
    axes = {{"batch": (0, 1), "layer": (2,), "instance": (1,), "group": (1, 3)}}
    if kind not in axes:
        raise ValueError(kind)
    {test}
    y = x.unflatten(-1, (groups, -1)) if kind == "group" else x
    y = y - y.mean(axes[kind], keepdim=True)
    return (y / (y.pow(2).mean(axes[kind], keepdim=True) + eps).sqrt()).reshape(x.shape)
"""

BLOCK = "from course_utils.models.multihead import MultiHeadAttention" + """
class EncoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_place="pre", dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout, self.norm_place = nn.Dropout(dropout), norm_place

    def feed(self, x):
        return {feed}(self.linear2(torch.relu(self.linear1(x))))

    def forward(self, x, mask=None):
        {first}
        attend = lambda h: {attend}(self.attention(h, mask=mask))
        if self.norm_place == "pre":
            x = x + attend(self.norm1(x))
            return x + self.feed(self.norm2(x))
        x = self.norm1(x + attend(x))
        return self.norm2(x + self.feed(x))
"""

ENCODER = BLOCK.format(first="pass", feed="self.dropout", attend="self.dropout") + """
class Encoder(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, num_layers):
        super().__init__()
        self.layers = LAYERS
        NORM

    def forward(self, x, mask=None):
        start = x
        for layer in self.layers:
            STEP
        return END
"""
HANDED = "nn.ModuleList([EncoderBlock(d_model, num_heads, d_ff)] * num_layers)"
APART = "nn.ModuleList(EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers))"
UNTOUCHED = ("exactly like the code that was handed out", "ot attempted")


def encoder(layers: str = HANDED, norm: str = "pass", step: str = "output = layer(x)", end: str = "output") -> str:
    """The cell of 07a.5; as it stands here, the one that is handed out."""
    text = ENCODER
    for name, code in (("LAYERS", layers), ("NORM", norm), ("STEP", step), ("END", end)):
        text = text.replace(name, code)
    return text


LISTED = (
    Listed("07a.1", "mean square minus squared mean", NORM.format(var="(x ** 2).mean(-1, keepdim=True) - mean ** 2",
                                                                 scale="torch.sqrt(var + eps)"),
           says=("Mean square minus squared mean",)),
    Listed("07a.1", "the root clamped at eps", NORM.format(var="x.var(-1, keepdim=True, correction=0)", scale="var.sqrt().clamp(min=eps)"),
           says=("Eps as the smallest divisor",), never=("Eps squared", "Eps outside the root")),
    Listed("07a.1", "the variance clamped at eps", NORM.format(var="x.var(-1, keepdim=True, correction=0)",
                                                              scale="var.clamp(min=eps).sqrt()"),
           says=("Eps as the smallest variance",), never=("Eps squared", "Eps outside the root")),
    Listed("07a.1", "group norm with one group", """
def layer_norm(x, weight, bias, eps=1e-5):
    rows = x.reshape(-1, x.shape[-1])
    return F.group_norm(rows, 1, weight, bias, eps).reshape(x.shape)
""", says=("out of bounds",)),
    Listed("07a.1", "instance norm", """
def layer_norm(x, weight, bias, eps=1e-5):
    rows = x.reshape(1, -1, x.shape[-1])
    return F.instance_norm(rows, eps=eps).reshape(x.shape) * weight + bias
""", says=("out of bounds",)),
    Listed("07a.1", "batch norm of the transpose", """
def layer_norm(x, weight, bias, eps=1e-5):
    rows = x.reshape(-1, x.shape[-1])
    return F.batch_norm(rows.T, None, None, training=True, eps=eps).T.reshape(x.shape) * weight + bias
""", says=("out of bounds",)),
    Listed("07a.1", "statistics detached", NORM.format(var="x.var(-1, keepdim=True, correction=0).detach()",
                                                      scale="torch.sqrt(var + eps)").replace(
        "keepdim=True)\n", "keepdim=True).detach()\n", 1),
           says=("Mean and variance cut off",)),
    Listed("07a.3", "groups = 0 divides by zero", FOUR.format(test='''if kind == "group" and x.shape[-1] % groups:
        raise ValueError(f"{x.shape[-1]} features, {groups} groups")'''), says=("0 groups",)),
    Listed("07a.3", "divisibility demanded of every kind", FOUR.format(test='''if groups < 1 or x.shape[-1] % groups:
        raise ValueError(f"{x.shape[-1]} features, {groups} groups")''')),
    Listed("07a.3", "an assertion instead of the error", FOUR.format(
        test='assert kind != "group" or groups > 0 and x.shape[-1] % groups == 0, f"{x.shape[-1]} features, {groups} groups"'),
        says=("ValueError",), never=("by accident", "ccepts bad input")),
    Listed("07a.3", "two groups whatever is asked", FOUR.format(test='''if kind == "group" and (groups < 1 or x.shape[-1] % groups):
        raise ValueError(f"{x.shape[-1]} features, {groups} groups")
    groups = 2'''), says=("Groups argument ignored",)),
    Listed("07a.4", "the mask of the last call kept", BLOCK.format(
        first='self.last = mask = mask if mask is not None else getattr(self, "last", None)', feed="self.dropout",
        attend="self.dropout")),
    Listed("07a.4", "dropout after feed-forward only", BLOCK.format(first="pass", feed="self.dropout", attend=""),
           says=("Dropout after feed-forward only",)),
    Listed("07a.4", "the post form by default", BLOCK.format(first="pass", feed="self.dropout", attend="self.dropout").replace(
        'norm_place="pre", dropout', 'norm_place="post", dropout'), says=("Post form by default",)),
    Listed("07a.5", "only the chain mended", encoder(step="x = output = layer(x)"), never=UNTOUCHED),
    Listed("07a.5", "only the mask mended", encoder(step="output = layer(x, mask)"), never=UNTOUCHED),
    Listed("07a.5", "chain and mask mended", encoder(step="x = output = layer(x, mask)"), never=UNTOUCHED),
    Listed("07a.5", "a closing norm without parameters", encoder(
        APART, "self.norm = nn.LayerNorm(d_model, elementwise_affine=False)", "x = layer(x, mask)", "self.norm(x)"),
        never=("No final norm",)),
    Listed("07a.5", "a closing norm that is the last block's", encoder(
        APART, "self.norm = self.layers[-1].norm2", "x = layer(x, mask)", "self.norm(x)"), never=("No final norm",)),
    Listed("07a.5", "everything mended", encoder(APART, "self.norm = nn.LayerNorm(d_model)", "x = layer(x, mask)", "self.norm(x)"),
           right=True),
    Listed("07a.5", "residual around the stack", encoder(
        APART, "self.norm = nn.LayerNorm(d_model)", "x = layer(x, mask)", "self.norm(start + x)"), says=("Residual around the stack",)),
)
