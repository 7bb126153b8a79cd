"""Exercises of chapter 03, self-attention. Oracles: torch.nn.functional, autograd, closed forms."""

from ..common import in_order

EXERCISES = in_order(
    __name__, "attention_scores scaled_dot_product_attention spread softmax_jacobian self_attention self_attention_layer order"
)
