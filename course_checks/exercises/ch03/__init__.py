"""Exercises of chapter 03, self-attention. Oracles: torch.nn.functional, autograd, closed forms."""

from ..common import in_order

NAMES = "attention_scores scaled_dot_product_attention spread roles self_attention self_attention_layer controls softmax_jacobian order"
EXERCISES = in_order(__name__, NAMES)
