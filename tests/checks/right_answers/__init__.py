"""For every exercise at least two right answers written differently from the solution: all must score full marks.

One module a chapter, ``chNN.py``, with ``ANSWERS = {exercise id: [answer, answer, ...]}``.
"""

import importlib
import pkgutil

ANSWERS = {}
for _module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
    ANSWERS |= importlib.import_module(f"{__name__}.{_module}").ANSWERS
