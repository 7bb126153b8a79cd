"""A chapter of a few cells, its stored notebooks, and a place to build it: for the tests of authoring."""

from __future__ import annotations

from pathlib import Path

TEXT = """\
# A tiny chapter

It promises $x^2$.

<!-- ledger: 03-06 E-31 -->

And goes on.

## Drag

```python
import matplotlib.pyplot as plt
import ipywidgets

def show(n=3):
    print("n =", n)
    plt.plot(range(n))
    plt.show()

show()
ipywidgets.interact(show, n=(1, 5));
```

## Exercise

```python course={"exercise": "03.1", "role": "answer"}
def double(x):
    \"\"\"Return twice x.\"\"\"
    ### BEGIN SOLUTION
    twice = x + x
    return twice
    ### END SOLUTION
```

```python course={"exercise": "03.1", "role": "check"}
import os
try:
    print(double(2), os.environ.get("COURSE_STRICT"))
except NotImplementedError:
    print("not attempted", os.environ.get("COURSE_STRICT"))
```

<!-- #region course={"exercise": "03.1", "role": "hint"} -->
<details><summary>Hint</summary>

```python
1 + 1
```

</details>
<!-- #endregion -->

<!-- #region course={"exercise": "03.1", "role": "hint"} -->
<details><summary>Another hint</summary>

Add.

</details>
<!-- #endregion -->

```python course={"exercise": "03.2", "role": "answer"}
### BEGIN SOLUTION
guess = 4
### STUB
guess = None  # your number
### END SOLUTION
```

```python course={"exercise": "03.2", "role": "check"}
print(guess)
```

<!-- #region course={"exercise": "03.2", "role": "hint"} -->
<details><summary>Hint</summary>

Count.

</details>
<!-- #endregion -->

### Deeper: more

Folded words.

```python
print("folded")
```

## End

Twice the same:

```python
1 + 1
```

```python
1 + 1
```
"""


def write(root: Path, text: str = TEXT, name: str = "03_tiny.md") -> Path:
    path = root / "solutions" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def stored(root: Path) -> dict[Path, tuple[bytes, int]]:
    return {
        path: (path.read_bytes(), path.stat().st_mtime_ns)
        for folder in ("chapters", "solutions")
        for path in sorted((root / folder).glob("*.ipynb"))
    }
