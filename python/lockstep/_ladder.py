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
    """The rungs of a ladder: printed as a table; a notebook shows table and report.

    Attributes
    ----------
    rungs : list of dict
        A record per rung: ``name``, ``title``, ``threads``, ``ranks``, ``seconds`` (per epoch, the median), ``low`` and
        ``high`` (of its interval; None: too few samples), ``speedup`` over the rung ``baseline``, ``accuracy``,
        ``weight_hash``, ``verdict``.
    results : list of dict
        Everything that was measured, as ``lockstep ladder --json`` gives it.
    directory : pathlib.Path
        The results and the report.
    """

    def __init__(self, results: list[dict[str, Any]], directory: pathlib.Path) -> None:
        self.results = results
        self.rungs = _rungs_of(results)
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
        return pandas.DataFrame.from_records(self.rungs)

    def _rows(self) -> list[tuple[str, str, str, str]]:
        return [(str(rung["title"]), "" if rung["seconds"] is None else f"{rung['seconds']:.4g}",
                 "" if rung["speedup"] is None else f"{rung['speedup']:.2f}", rung["weight_hash"][:16])
                for rung in self.rungs]

    def __repr__(self) -> str:
        rows = [_HEADS, *self._rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADS))]
        return "\n".join("  ".join(text.ljust(width) if i in (0, 3) else text.rjust(width)
                                   for i, (text, width) in enumerate(zip(row, widths))).rstrip() for row in rows)

    def _repr_html_(self) -> str:
        import html

        from lockstep import _html
        page = self.report().read_text(encoding="utf-8") if self.report().exists() else ""
        framed = (f'<iframe srcdoc="{html.escape(page, quote=True)}" sandbox="" width="100%" height="600"></iframe>'
                  if page else "")
        rows = [(rung["title"], rung["seconds"] or 0.0, rung["speedup"] or 0.0, rung["weight_hash"][:16])
                for rung in self.rungs]
        return _html.table(_HEADS, rows) + framed


_HEADS = ("rung", "seconds per epoch", "speed-up", "weights")


def _rungs_of(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    measured = [line for line in results if line["kind"] == "ladder"]
    medians = {line["name"]: line.get("median") for line in measured}
    rungs = []
    for line in measured:
        own, base = line.get("median"), medians.get(line["baseline"])
        numbers, words = line["numbers"], line["words"]
        rungs.append({"name": line["name"], "title": words.get("title", line["name"]),
                      "threads": int(numbers.get("threads", 1)), "ranks": int(numbers.get("ranks", 1)), "seconds": own,
                      "low": line.get("low"), "high": line.get("high"), "baseline": line["baseline"],
                      "speedup": base / own if base and own else None, "accuracy": numbers.get("accuracy"),
                      "weight_hash": line["weight_hash"], "verdict": words.get("verdict", "")})
    return rungs


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
