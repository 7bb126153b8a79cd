"""Grading a class: submissions run in a sandbox, the judge stays outside.

Read in this order: :mod:`.collect` (what was handed in), :mod:`.cells` and :mod:`.dependencies` (which cells count), :mod:`.messages` and
:mod:`.wire` (what crosses), :mod:`.worker` (inside the sandbox), :mod:`.sandbox` (what surrounds it), :mod:`.notebook_grader` and
:mod:`.judging` (the judge), :mod:`.run`, :mod:`.jobs` and :mod:`.engines` (a whole class), :mod:`.write_results` (what people read).
"""
