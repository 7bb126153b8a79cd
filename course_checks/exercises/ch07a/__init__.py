"""Exercises of chapter 07a, the Transformer block. Oracles: torch.nn and torch.nn.functional, autograd."""

from ..common import in_order

EXERCISES = in_order(__name__, "layer_norm controls who_reads encoder_block encoder pushes")
