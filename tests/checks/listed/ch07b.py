"""Chapter 07b."""

from . import Listed

RMS = """
def rms_norm(x, weight, eps=1e-6):
    wide = x.float()
    divisor = torch.sqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    return {output}, divisor
"""

LISTED = (
    Listed("07b.1", "divided in half precision", RMS.format(output="x / divisor.to(x.dtype) * weight"),
           says=("Divided in half precision",)),
    Listed("07b.1", "weight multiplied in float32", RMS.format(output="(wide / divisor * weight.float()).to(x.dtype)"), right=True),
    Listed("07b.1", "the course's own RMSNorm", "from course_utils.models.norms import RMSNorm" + """
def rms_norm(x, weight, eps=1e-6):
    layer = RMSNorm(x.shape[-1], eps)
    layer.weight = nn.Parameter(weight.detach())
    divisor = torch.sqrt(x.float().pow(2).mean(-1, keepdim=True) + eps)
    return layer(x), divisor
""", says=("out of bounds",)),
    Listed("07b.1", "default eps written out", RMS.format(output="(wide / divisor).to(x.dtype) * weight").replace("+ eps", "+ 1e-6"),
           says=("Eps argument ignored",)),
    Listed("07b.2", "exponentials that overflow", """
def swiglu(x, w_gate, w_up, w_down):
    g = x @ w_gate
    return (g * torch.e**g / (1 + torch.e**g) * (x @ w_up)) @ w_down
""", says=("gates of several hundred",)),
)
