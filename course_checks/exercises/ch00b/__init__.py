"""Exercises of chapter 00b, a first network. Oracles: loops in double precision, closed forms, PyTorch's own losses and optimisers."""

from . import cross_entropy, optimisers, softmax, softmax_regression, squared_error, train

EXERCISES = (
    squared_error.EXERCISE,
    softmax.EXERCISE,
    cross_entropy.EXERCISE,
    softmax_regression.EXERCISE,
    train.EXERCISE,
    optimisers.EXERCISE,
)
