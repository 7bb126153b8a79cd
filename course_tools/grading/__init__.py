"""Grading a class: submissions run in a sandbox, the judge stays outside.

Read in this order: :mod:`.collect` (what was handed in), :mod:`.cells` (which cells count), :mod:`.worker` (inside the
sandbox), :mod:`.sandbox` (what surrounds it), :mod:`.marks` (the judge), :mod:`.run` (a whole class), :mod:`.report`.
"""
