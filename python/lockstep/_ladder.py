"""The ladder: one training on every rung that this machine has, measured by the program."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

from lockstep import _core
from lockstep._error import Error
from lockstep._progress import is_wanted
from lockstep._train import assignments

if TYPE_CHECKING:
    import pathlib


class Ladder:
    """The rungs of a ladder as records; a notebook shows table and figure.

    Attributes
    ----------
    rungs : list of dict
        One record per rung, as ``lockstep ladder --json`` gives them.
    directory : pathlib.Path
        The results and the report.
    """

    def __init__(self, rungs: list[dict[str, Any]], directory: pathlib.Path) -> None:
        self.rungs = rungs
        self.directory = directory

    def report(self) -> pathlib.Path:
        """The page of the ladder."""
        return self.directory / "report.html"

    def to_pandas(self) -> Any:
        """The rungs as a frame."""
        try:
            import pandas
        except ImportError:
            raise Error("to_pandas needs pandas: pip install pandas", "usage") from None
        return pandas.json_normalize(self.rungs)

    def __repr__(self) -> str:
        return f"Ladder({len(self.rungs)} rungs)"

    def _repr_html_(self) -> str:
        import html

        from lockstep import _html
        page = self.report().read_text(encoding="utf-8") if self.report().exists() else ""
        framed = (f'<iframe srcdoc="{html.escape(page, quote=True)}" sandbox="" width="100%" height="600"></iframe>'
                  if page else "")
        return _html.table(["rung"], [[str(rung.get("title", rung.get("name", "")))] for rung in self.rungs]) + framed


def ladder(config: str | pathlib.Path, overrides: Mapping[str, Any] | None = None, *, budget: float = 20,
           rungs: list[str] | None = None, out: str | pathlib.Path | None = None,
           verbose: bool | None = None) -> Ladder:
    """Measures one training on every rung that this machine has: plain loops, libraries, SIMD, threads, ranks, devices.

    Parameters
    ----------
    config : str or Path
        The TOML file.
    overrides : mapping, optional
        Changes: ``{"train.batch": 128}``.
    budget : float
        Seconds of measuring.
    rungs : list of str, optional
        Only these: ``["naive", "simd", "threads"]``.
    out : str or Path, optional
        Where results and report go; default: a new temporary folder.
    """
    import json
    import pathlib
    import subprocess
    import tempfile

    from lockstep import _program
    if _core.ranks() > 1:
        raise Error("ladder starts its own ranks: call it without mpirun", "usage")
    directory = pathlib.Path(out) if out is not None else pathlib.Path(tempfile.mkdtemp(prefix="lockstep-ladder-"))
    command = [_program.path(), "ladder", str(config), "--budget", str(budget), "--out", str(directory), "--overwrite",
               "--json"]
    for assignment in assignments(overrides or {}):
        command += ["--set", assignment]
    if rungs:
        command += ["--rungs", ",".join(rungs)]
    if not is_wanted(verbose):
        command.append("--quiet")
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=None if is_wanted(verbose) else subprocess.PIPE,
                          text=True)
    if done.returncode:
        lines = (done.stderr or "").strip().splitlines()
        raise Error(lines[-1].removeprefix("lockstep: ") if lines else f"ladder ended with exit code {done.returncode}",
                    _code_name(done.returncode))
    return Ladder([json.loads(line) for line in done.stdout.splitlines() if line], directory)


def _code_name(code: int) -> str:
    names = ["done", "bug", "usage", "data", "checkpoint", "resources", "in_use", "peer_lost", "diverged", "integrity",
             "preempted"]
    return names[code] if 0 <= code < len(names) else "bug"
