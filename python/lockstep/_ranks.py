"""Ranks of a script under mpirun or srun: they end together, and rank 0 alone prints."""
from __future__ import annotations

import atexit
import os
import sys
import types
from typing import Any

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


def communicator(comm: Any) -> tuple[str, int, int] | None:
    """A communicator of mpi4py as the module takes it: MPI library, handle of Fortran, size. None: all ranks there are."""
    if comm is None:
        return None
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is None or not isinstance(comm, mpi.Comm):
        raise Error(f"comm: a communicator of mpi4py was expected, as MPI.COMM_WORLD, not {type(comm).__name__}")
    if comm == mpi.COMM_NULL:
        raise Error("comm is MPI.COMM_NULL: this process is none of its ranks, and takes no part")
    if comm.Is_inter():
        raise Error("comm: an intercommunicator has two groups of ranks; comm.Merge() makes one of them")
    found = mpi.COMM_WORLD.Get_size()
    if found == 1 and _core.launched_ranks() > 1:
        raise Error(f"the launcher started {_core.launched_ranks()} processes, but mpi4py finds 1: it uses another MPI "
                    f"library ({mpi.get_vendor()[0]}) than the launcher")
    return str(mpi.get_vendor()[0]), int(comm.py2f()), int(comm.Get_size())


_is_started = False


def started(own: int) -> None:
    """Called by the module when ranks have met; the first time counts."""
    global _is_started
    if _is_started:
        return
    _is_started = True
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
