"""Exercises of chapter 00: one of every kind."""

from . import all_scores, labels_of_boxes, lookup, sentence_vector, shapes, split_word, visibility

EXERCISES = (
    shapes.EXERCISE,
    split_word.EXERCISE,
    lookup.EXERCISE,
    all_scores.EXERCISE,
    sentence_vector.EXERCISE,
    visibility.EXERCISE,
    labels_of_boxes.EXERCISE,
)
