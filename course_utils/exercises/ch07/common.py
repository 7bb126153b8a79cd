"""What the exercises of this chapter share: PyTorch's functions under names that stay usable while they are forbidden."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

fused_layer_norm, fused_rms_norm = F.layer_norm, F.rms_norm
fused_batch_norm, fused_instance_norm, fused_group_norm = F.batch_norm, F.instance_norm, F.group_norm
LAYER_NORMS = ("torch.nn.functional.layer_norm", "torch.layer_norm", "torch.native_layer_norm")
RMS_NORMS = ("torch.nn.functional.rms_norm", "torch.rms_norm")
OTHER_NORMS = tuple(f"torch.nn.functional.{name}_norm" for name in ("batch", "instance", "group")) + (
    "torch.batch_norm", "torch.instance_norm", "torch.group_norm", "torch.native_batch_norm", "torch.native_group_norm")
OUR_RMS_NORM = "course_utils.models.norms.RMSNorm.forward"


def spread(x: Tensor) -> Tensor:
    """The features of every token moved apart until their standard deviation is 0.6: where the epsilon stands has cases of its own."""
    mean, std = x.mean(-1, keepdim=True), x.std(-1, keepdim=True, unbiased=False)
    return mean + (x - mean) * (0.6 / std).clamp(min=1)
