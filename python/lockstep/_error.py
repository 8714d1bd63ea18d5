"""The one exception of the package, and checks that raise it."""
from __future__ import annotations

from typing import Any


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


def whole_number(value: Any, name: str, least: int = 0) -> int:
    """A whole number from `least`, of Python or NumPy."""
    import operator
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least or number >= 1 << 63 or isinstance(value, bool):
        raise Error(f"{name}: a whole number from {least} was expected, not {value!r:.60}")
    return number


def text(value: Any, name: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise Error(f"{name}: a text was expected, not {value!r:.60}")
    return value
