"""Exercises of chapter 00: one of every kind."""

from ..common import in_order

EXERCISES = in_order(__name__, "shapes split_word lookup all_scores sentence_vector visibility labels_of_boxes")
