"""Exercises of chapter 03, self-attention. Oracles: torch.nn.functional, autograd, closed forms."""

from . import attention_scores, order, scaled_dot_product_attention, self_attention, self_attention_layer, softmax_jacobian, spread

EXERCISES = (
    attention_scores.EXERCISE,
    scaled_dot_product_attention.EXERCISE,
    spread.EXERCISE,
    softmax_jacobian.EXERCISE,
    self_attention.EXERCISE,
    self_attention_layer.EXERCISE,
    order.EXERCISE,
)
