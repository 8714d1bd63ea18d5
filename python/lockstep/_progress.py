"""Progress of a training: on a terminal a bar of tqdm where it is installed, in a notebook a widget, else a line per
epoch on stderr."""
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
    """Rank 0 alone prints. Where groups of ranks train apart, that of the group with rank 0 of all, unless `verbose` says
    that each does."""
    if not (not _silent if verbose is None else verbose):
        return False
    if comm is None:
        return _core.rank() == 0
    if comm.Get_rank() != 0 or verbose is True:
        return bool(comm.Get_rank() == 0)
    mpi = sys.modules["mpi4py.MPI"]
    place = mpi.Group.Translate_ranks(mpi.COMM_WORLD.Get_group(), [0], comm.Get_group())[0]
    return bool(place != mpi.UNDEFINED)


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


class _Widget:
    """The progress of a training in the output of a notebook's cell: a bar, and a line per epoch. Needs no package."""

    def __init__(self) -> None:
        from IPython.display import display
        self.lines: list[str] = []
        self.handle = display(self._html("", 0.0), display_id=True)

    def _html(self, text: str, part: float | None) -> Any:
        import html

        from IPython.display import HTML
        bar = "" if part is None else (f'<progress value="{part:.3f}" max="1" style="width:20em"></progress> '
                                       f"<code>{html.escape(text)}</code>")
        return HTML(f"<div><pre>{html.escape(chr(10).join(self.lines))}</pre>{bar}</div>")

    def show(self, text: str, part: float | None) -> None:
        """None: the bar goes."""
        self.handle.update(self._html(text, part))


class Progress:
    """Shows steps and epochs."""

    def __init__(self, epochs: int) -> None:
        self.epochs = epochs
        self.bar: Any = None
        self.widget = _Widget() if _in_notebook() else None
        if self.widget is not None or not sys.stderr.isatty():
            return
        try:
            from tqdm import tqdm
        except ImportError:
            return
        self.bar = tqdm(total=1.0, leave=False, bar_format="{desc} {percentage:3.0f} %|{bar}| {elapsed}")

    def step(self, at: dict[str, Any]) -> None:
        """Called up to ten times a second."""
        text = f"epoch {at['epoch']}/{at['epochs']} loss {at['loss']:.4g}"
        if self.widget is not None:
            self.widget.show(text, at["step"] / at["steps"])
        elif self.bar is not None:
            self.bar.n = at["step"] / at["steps"]
            self.bar.set_description_str(text)

    def epoch(self, metrics: dict[str, Any]) -> None:
        """A line that stays."""
        names = {"loss": "loss", "accuracy": "accuracy", "validation_loss": "validation loss",
                 "validation_accuracy": "validation accuracy"}
        scores = ", ".join(f"{text} {metrics[key]:.4f}" for key, text in names.items() if key in metrics)
        line = f"epoch {metrics['epoch']}: {scores} ({metrics['seconds']:.2f} s)"
        if self.widget is not None:
            self.widget.lines.append(line)
            self.widget.show("", 1.0)
        elif self.bar is not None:
            self.bar.write(line, file=sys.stderr)
        else:
            print(line, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Takes the bar away; lines stay."""
        if self.widget is not None:
            self.widget.show("", None)
        elif self.bar is not None:
            self.bar.close()
