"""Progress of a training on stderr: a bar of tqdm where it is installed and somebody looks, else a line per epoch."""
from __future__ import annotations

import sys
from typing import Any

from lockstep import _core

_silent = False


def quiet(on: bool = True) -> None:
    """Silences every training that does not say ``verbose=True`` itself."""
    global _silent
    _silent = on


def is_wanted(verbose: bool | None, comm: Any = None) -> bool:
    """Rank 0 alone prints. Where ranks train apart, rank 0 of all unless `verbose` says that each rank 0 does."""
    if not (not _silent if verbose is None else verbose):
        return False
    if comm is None:
        return _core.rank() == 0
    return comm.Get_rank() == 0 and (verbose is True or sys.modules["mpi4py.MPI"].COMM_WORLD.Get_rank() == 0)


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


class Progress:
    """Shows steps and epochs."""

    def __init__(self, epochs: int) -> None:
        self.epochs = epochs
        self.bar: Any = None
        if not (sys.stderr.isatty() or _in_notebook()):
            return
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return
        self.bar = tqdm(total=1.0, leave=False, bar_format="{desc} {percentage:3.0f} %|{bar}| {elapsed}")

    def step(self, at: dict[str, Any]) -> None:
        """Called up to ten times a second."""
        if self.bar is not None:
            self.bar.n = at["step"] / at["steps"]
            self.bar.set_description_str(f"epoch {at['epoch']}/{at['epochs']} loss {at['loss']:.4g}")

    def epoch(self, metrics: dict[str, Any]) -> None:
        """A line that stays."""
        names = {"loss": "loss", "accuracy": "accuracy", "validation_loss": "validation loss",
                 "validation_accuracy": "validation accuracy"}
        scores = ", ".join(f"{text} {metrics[key]:.4f}" for key, text in names.items() if key in metrics)
        line = f"epoch {metrics['epoch']}: {scores} ({metrics['seconds']:.2f} s)"
        if self.bar is not None:
            self.bar.write(line, file=sys.stderr)
        else:
            print(line, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Takes the bar away."""
        if self.bar is not None:
            self.bar.close()
