"""The errors an author sees."""

from __future__ import annotations


class AuthoringError(Exception):
    """Something an author can mend; the message is all they see."""


class SourceError(AuthoringError):
    """A chapter's text breaks a convention."""

    def __init__(self, name: str, line: int, message: str) -> None:
        super().__init__(f"{name}:{line}: {message}")


class LedgerError(AuthoringError):
    """The ledger, or a marker that points into it, cannot be read."""


class BuildError(AuthoringError):
    """A notebook could not be made; the notebooks on disk are as they were."""
