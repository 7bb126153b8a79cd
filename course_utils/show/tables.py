"""Results as a table that a page can show, with the same table in plain text where it cannot."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any


def table(
    rows: Mapping[Any, Any], columns: Sequence[str] | None = None, *, form: str | Sequence[str] = "{:.2f}", best: str = "", corner: str = ""
) -> None:
    """Show one row for each entry of ``rows``: its name, then its cells.

    ``rows`` maps a name to its cells: a mapping from column to cell, or a sequence with one cell for each of ``columns``.
    ``form`` formats the numbers, one form for all columns or one for each; text stays as it is. ``best`` is "max" or "min": the best
    number of each column is bold. ``corner`` names the rows. Raises ValueError where cells and columns do not fit.
    """
    import pandas
    from IPython.display import display

    if not rows:
        raise ValueError("a table needs rows")
    if best not in ("", "max", "min"):
        raise ValueError(f'best is "max", "min" or "", not {best!r}')
    names = list(columns if columns is not None else next(iter(rows.values())))
    cells = {name: list(row.values() if isinstance(row, Mapping) else row) for name, row in rows.items()}
    forms = [form] * len(names) if isinstance(form, str) else list(form)
    for name, row in [*cells.items(), ("form", forms)]:
        if len(row) != len(names):
            raise ValueError(f"{name}: {len(row)} cells for {len(names)} columns {names}")
    plain = {
        name: [cell if isinstance(cell, str) else each.format(_number(cell)) for cell, each in zip(row, forms, strict=True)]
        for name, row in cells.items()
    }
    marked = {name: [escape(cell, quote=False) for cell in row] for name, row in plain.items()}
    for place in range(len(names) if best else 0):
        column = {name: _number(row[place]) for name, row in cells.items() if not isinstance(row[place], str)}
        winner = (max if best == "max" else min)(column.values(), default=None)
        for name in (name for name, value in column.items() if value == winner):
            marked[name][place] = f"<b>{marked[name][place]}</b>"

    def frame(content: Mapping[str, list[str]], change: Callable[[str], str]) -> Any:
        lines = {change(str(name)): row for name, row in content.items()}
        heads = [change(str(name)) for name in names]
        return pandas.DataFrame.from_dict(lines, orient="index", columns=heads).rename_axis(columns=corner or None)

    shown = frame(marked, lambda name: escape(name, quote=False)).to_html(escape=False, border=0)
    display({"text/html": shown, "text/plain": frame(plain, str).to_string()}, raw=True)


def _number(cell: Any) -> Any:
    return cell.item() if hasattr(cell, "item") else cell
