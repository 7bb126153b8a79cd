"""Exercises of chapter 00b, a first network. Oracles: loops in double precision, closed forms, PyTorch's own losses and gradients."""

from ..common import in_order

EXERCISES = in_order(__name__, "squared_error softmax cross_entropy ways engine train controls")
