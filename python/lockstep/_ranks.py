"""Ranks of a script under mpirun or srun: they end together, and rank 0 alone prints."""
from __future__ import annotations

import atexit
import os
import sys
import types

from lockstep import _core
from lockstep._error import Error


def rank() -> int:
    """The number of this process among those that ``mpirun`` or ``srun`` started; 0 without a launcher.

    Examples
    --------
    >>> import lockstep as ls
    >>> ls.rank(), ls.ranks()
    (0, 1)
    """
    return _core.rank()


def ranks() -> int:
    """How many processes ``mpirun`` or ``srun`` started; 1 without a launcher."""
    return _core.ranks()


def started(own: int) -> None:
    """Called once by the module when MPI has started."""
    atexit.register(_end)
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: types.TracebackType | None) -> None:
        if isinstance(error, Error) and error._reported:
            _core.end_session()
            os._exit(0)  # a launcher that sees another exit code ends all ranks, perhaps before rank 0 has printed
        if own == 0 or not isinstance(error, (Error, KeyboardInterrupt)):
            before(kind, error, trace)  # all ranks meet those of Lockstep: rank 0 prints them

    sys.excepthook = hook


def _end() -> None:
    failed = getattr(sys, "last_value", None)
    if failed is not None and not isinstance(failed, (Error, KeyboardInterrupt, SystemExit)):
        sys.stderr.flush()
        _core.abort_session(f"the script failed: {type(failed).__name__}: {failed}".splitlines()[0])
    _core.end_session()
