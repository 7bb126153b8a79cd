"""Exercises 06.1 and 06.7: masks that are rules about positions. Oracles: the rule, pair by pair."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from course_utils.models import masks as reference

from ...exercise import Case, Exercise, Twin, generator
from .common import MASKS, boolean, by_rule


def _causal_oracle(n: int, m: int | None = None) -> Tensor:
    m = n if m is None else m
    return by_rule(n, m, lambda i, j: j <= m - n + i)


def _causal(n: int, m: int | None = None, how: str = "right") -> Tensor:
    m = n if m is None else m
    row, key = torch.arange(n)[:, None], torch.arange(m)
    query = row + m - n
    match how:
        case "upper":
            return key >= query
        case "hide":
            return key > query
        case "strict":
            return key < query
        case "one ahead":
            return key <= query + 1
        case "top left":
            return key <= row
        case "cache hidden":
            return (key <= query) & (key >= m - n)
        case "cache only":
            return (key < m - n).expand(n, m) if m > n else key <= query
        case "square":
            return torch.arange(n) <= row
        case "keys":
            return key[:, None] <= key
        case "all keys":
            return key <= key[:, None]
        case "transposed":
            return (key <= query).T
        case "everything":
            return torch.ones(n, m, dtype=torch.bool)
        case "numbers":
            return (key <= query).float()
        case "additive":
            return reference.additive(key <= query)
        case "from the end":
            return key <= n - 1 - row + m - n
        case "shifted left":
            return key <= row - (m - n)
    return key <= query


def _draw_causal(seed: int) -> list[Case]:
    g = generator(seed)
    n, more = (int(torch.randint(low, high, (), generator=g)) for low, high in ((4, 7), (2, 4)))
    return [Case(f"{n} tokens", {"n": n}, part="square", shape="(query, key)"),
            Case(f"the last {n} of {n + more} tokens", {"n": n, "m": n + more}, part="cached", shape="(query, key)")]


CAUSAL = Exercise(
    id="06.1", title="No looking ahead", name="causal_mask", kind="function", stars=1, minutes=8,
    signature="causal_mask(n, m=None) -> (n, m)", oracle=_causal_oracle, reference=reference.causal_mask, draw=_draw_causal,
    raw=boolean, compared="True where a query may attend", parts={"square": 1, "cached": 2, "bad input": 1},
    forbidden=(MASKS + "causal_mask", MASKS + "sliding_window_mask", MASKS + "prefix_mask"),
    fixed=lambda: [
        Case("a single token", {"n": 1}, part="square", shape="(query, key)"),
        Case("70 tokens", {"n": 70}, part="square", shape="(query, key)"),
        Case("one new token after six", {"n": 1, "m": 7}, part="cached", shape="(query, key)"),
        Case("m given and equal to n", {"n": 3, "m": 3}, part="cached", shape="(query, key)"),
        Case("the last 5 of 80 tokens", {"n": 5, "m": 80}, part="cached", shape="(query, key)"),
        Case("the last 5 of 4 tokens", {"n": 5, "m": 4}, part="bad input", rejects=ValueError, mentions=("5", "4")),
        Case("the last 3 of no tokens, m = 0", {"n": 3, "m": 0}, part="bad input", rejects=ValueError, mentions=("3", "0"))],
    twins=(
        Twin("upper triangle", partial(_causal, how="upper"),
             "Your mask shows the future and hides the past. Row 0 belongs to the first query: how many keys may it see?"),
        Twin("True means hide", partial(_causal, how="hide"),
             "Yours is True where a key must be hidden. In this course True means “may attend”: every entry has to change."),
        Twin("own position hidden", partial(_causal, how="strict"),
             "A query may see its own position: the diagonal is True. Without it the first query has nothing to attend to."),
        Twin("one position too many", partial(_causal, how="one ahead"),
             "Every query sees one key beyond itself. But this next token is exactly what it has to predict."),
        Twin("new queries taken for the first", partial(_causal, how="top left"),
             "With cached keys, row 0 is not position 0: the queries are the last ones of the sequence. Shift them by the number of "
             "keys before them."),
        Twin("cached keys hidden", partial(_causal, how="cache hidden"),
             "The new queries see each other, but none of the earlier keys. Those are the past: all of them are permitted."),
        Twin("only cached keys seen", partial(_causal, how="cache only"),
             "The new queries see the cached keys, but neither themselves nor the new ones before them."),
        Twin("number of keys ignored", partial(_causal, how="square"),
             "Your mask is always square. Its columns are the keys, and there may be more of them than queries."),
        Twin("keys asking queries", partial(_causal, how="keys"),
             "You compared all keys with all keys, the wrong way round. Rows are the n queries, columns the m keys."),
        Twin("a row for every key", partial(_causal, how="all keys"),
             "The rule is right, but you make a row for each of the m positions. Only the last n of them are queries."),
        Twin("rows and columns swapped", partial(_causal, how="transposed"),
             "Rows belong to queries and columns to keys; yours are the other way round."),
        Twin("everything permitted", partial(_causal, how="everything"), "Nothing is hidden: every query sees every key, the future too."),
        Twin("numbers instead of booleans", partial(_causal, how="numbers"),
             "The pattern is right, but masks here are boolean. Ones and zeros would be taken for numbers to add to the scores."),
        Twin("zeros and minus infinity", partial(_causal, how="additive"),
             "That is the additive form of the right mask. The docstring asks for booleans; the additive form can be made from them."),
        Twin("triangle shifted to the left", partial(_causal, how="shifted left"),
             "With cached keys your triangle moves the wrong way, and the first new queries see nothing. More keys in the past mean more "
             "open columns on the left."),
        Twin("queries counted backwards", partial(_causal, how="from the end"),
             "Your first row sees most and your last row least. Row 0 belongs to the earliest query."),
    ),
)


def _window_oracle(n: int, prefix: int = 0, window: int | None = None) -> Tensor:
    return by_rule(n, n, lambda i, j: j < prefix or i - (n if window is None else window) < j <= i)


def _window(n: int, prefix: int = 0, window: int | None = None, how: str = "right") -> Tensor:
    i, j = torch.arange(n)[:, None], torch.arange(n)
    wide = n if window is None else window
    past, near, first = j <= i, i - j < wide, (j < prefix).expand(n, n)
    match how:
        case "wider":
            near = i - j <= wide
        case "narrower":
            near = i - j < (n if window is None else window - 1)
        case "strict":
            past = j < i
        case "both sides":
            return first | ((i - j).abs() < wide if window is not None else past)
        case "no past":
            return first | (near if window is not None else past)
        case "never causal":
            return first | near
        case "causal prefix":
            return past & (first | near)
        case "prefix rows":
            return (i < prefix) | (past & near)
        case "prefix alone":
            return ((i < prefix) & first) | (past & near)
        case "prefix long":
            first = (j <= prefix).expand(n, n)
        case "and":
            return (first if prefix else past) & past & near
        case "and, prefix 0 too":
            return first & past & near
        case "none is 1":
            near = i - j < (window or 1)
        case "no prefix":
            return past & near
        case "no window":
            return first | past
        case "window on prefix":
            return (first | past) & near
        case "transposed":
            return (first | (past & near)).T
        case "hide":
            return ~(first | (past & near))
        case "numbers":
            return (first | (past & near)).float()
    return first | (past & near)


def _checked_window(n: int, prefix: int = 0, window: int | None = None) -> Tensor:
    if not 0 <= prefix <= n:
        raise ValueError(f"prefix={prefix} must lie between 0 and n={n}")
    if window is not None and window < 1:
        raise ValueError(f"window={window} must be at least 1")
    return _window(n, prefix, window)


def _draw_window(seed: int) -> list[Case]:
    g = generator(seed)
    n = int(torch.randint(8, 11, (), generator=g))
    prefix, window = (int(torch.randint(3, 5, (), generator=g)) for _ in range(2))
    narrow = 2  # narrower than the prefix, or the prefix would be in reach anyway
    return [Case(f"{n} tokens, prefix {prefix}", {"n": n, "prefix": prefix}, part="prefix", shape="(query, key)"),
            Case(f"{n} tokens, window {window}", {"n": n, "window": window}, part="window", shape="(query, key)"),
            Case(f"{n} tokens, prefix {prefix} and window {narrow}", {"n": n, "prefix": prefix, "window": narrow}, part="both",
                 shape="(query, key)")]


WINDOW = Exercise(
    id="06.7", title="A prefix and a window", name="prefix_window_mask", kind="function", stars=2, minutes=10,
    signature="prefix_window_mask(n, prefix=0, window=None) -> (n, n)", oracle=_window_oracle, reference=_checked_window,
    draw=_draw_window, raw=boolean, compared="True where a query may attend",
    parts={"prefix": 1, "window": 1, "both": 1, "bad input": 1},
    forbidden=(MASKS + "prefix_mask", MASKS + "sliding_window_mask"),
    fixed=lambda: [
        Case("neither prefix nor window: plain causal", {"n": 4}, part="prefix"),
        Case("the prefix is everything", {"n": 5, "prefix": 5}, part="prefix"),
        Case("window 1: each token for itself", {"n": 4, "window": 1}, part="window"),
        Case("a window wider than the sequence", {"n": 4, "window": 9}, part="window"),
        Case("70 tokens, prefix 4 and window 3", {"n": 70, "prefix": 4, "window": 3}, part="both"),
        Case("a prefix of 9 among 8 tokens", {"n": 8, "prefix": 9}, part="bad input", rejects=ValueError, mentions=("9",)),
        Case("a prefix of -2", {"n": 8, "prefix": -2}, part="bad input", rejects=ValueError, mentions=("-2",)),
        Case("a window of 0", {"n": 8, "window": 0}, part="bad input", rejects=ValueError, mentions=("0",)),
        Case("a window of -4", {"n": 8, "window": -4}, part="bad input", rejects=ValueError, mentions=("-4",))],
    twins=(
        Twin("window one too wide", partial(_window, how="wider"),
             "Your window has one key more than it should. The query's own position counts as one of them."),
        Twin("window one too narrow", partial(_window, how="narrower"),
             "Your window has one key fewer than it should. Its width counts the query's own position and those before it."),
        Twin("own position hidden", partial(_window, how="strict"),
             "Outside the prefix your tokens do not see themselves. A token's own position counts as one of the keys in reach."),
        Twin("window on both sides", partial(_window, how="both sides"),
             "Your window also reaches forwards. Outside the prefix, no token may see a later one."),
        Twin("window forgets the future", partial(_window, how="no past"),
             "Near means within reach in the past. A key that comes later has a negative distance, which is also smaller than the window."),
        Twin("future never hidden", partial(_window, how="never causal"),
             "Nothing hides the future, with a window or without: a key that comes later has a negative distance, which is also smaller "
             "than the window. Outside the prefix only the past is open."),
        Twin("prefix read only backwards", partial(_window, how="causal prefix"),
             "Inside the prefix your tokens still see no later tokens. The whole prefix is open to every token, "
             "even to its own first one."),
        Twin("prefix on the queries", partial(_window, how="prefix rows"),
             "You opened the rows of the prefix: its tokens see the whole sequence. Open the keys of the prefix instead."),
        Twin("window cuts the prefix off", partial(_window, how="prefix alone"),
             "The tokens of the prefix see each other, but tokens far after it do not see it. The window must not hide the prefix."),
        Twin("prefix one too long", partial(_window, how="prefix long"),
             "Counting from 0, the number of the last token of a prefix is its length minus 1."),
        Twin("prefix and window both required", partial(_window, how="and"),
             "A pair is permitted if the prefix permits it or if the window does; you ask for both."),
        Twin("every rule required", partial(_window, how="and, prefix 0 too"),
             "You joined the rules by “and”, so a key outside the prefix is never seen. One of the two rules is enough."),
        Twin("no window taken for 1", partial(_window, how="none is 1"),
             "No window is given here, and yet your tokens see only themselves and the prefix. None means no limit: the whole past is in "
             "reach."),
        Twin("prefix ignored", partial(_window, how="no prefix"), "The result is the same for every length of the prefix."),
        Twin("window ignored", partial(_window, how="no window"), "The result is the same for every width of the window."),
        Twin("window laid over everything", partial(_window, how="window on prefix"),
             "You joined prefix and past and then cut the far keys from both. The window should restrict only the past."),
        Twin("rows and columns swapped", partial(_window, how="transposed"),
             "Rows belong to queries and columns to keys; yours are swapped."),
        Twin("True means hide", partial(_window, how="hide"),
             "Every entry is the opposite of what it should be: True means “may attend”."),
        Twin("numbers instead of booleans", partial(_window, how="numbers"),
             "The pattern is right, but masks here are boolean, and not numbers to add to the scores."),
    ),
)
