"""Rules that exercise 00.4 hands to an answer; nothing here tells what is right."""

from ...case import register


@register
def everyone(query: int, key: int) -> bool:
    """An encoder: every token sees every token."""
    return True


@register
def no_looking_ahead(query: int, key: int) -> bool:
    """A decoder: a token sees itself and what came before."""
    return key <= query


@register
def the_first_two_or_what_came_before(query: int, key: int) -> bool:
    """Every token sees the tokens 0 and 1; from token 2 on, a token also sees itself and everything before it."""
    return key < 2 or (query >= 2 and key <= query)


@register
def only_the_token_before(query: int, key: int) -> bool:
    """Made up, so that rows and columns cannot be confused and some row is empty."""
    return key == query - 1
