"""The one exception of the package."""
from __future__ import annotations


class Error(Exception):
    """A failure that a user can meet: one line that says what, where and what to do.

    Attributes
    ----------
    code : str
        The name of the program's exit code: ``usage``, ``data``, ``checkpoint``, ``resources``, ``in_use``,
        ``peer_lost``, ``diverged``, ``integrity``, ``preempted`` or ``bug``.
    """

    def __init__(self, message: str, code: str = "usage", reported: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self._reported = reported  # by rank 0; the other ranks stay silent

    def __reduce__(self) -> tuple[object, ...]:
        return (Error, (str(self), self.code, self._reported))
