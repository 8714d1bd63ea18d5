"""Runs from configuration files, as the program makes them."""
from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Mapping

from lockstep import _core
from lockstep._progress import Progress, is_wanted
from lockstep._ranks import communicator
from lockstep._records import config_of
from lockstep._run import Run

if TYPE_CHECKING:
    import pathlib


def toml_text(value: Any) -> str:
    """A value as TOML writes it."""
    value = config_of(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {toml_text(each)}" for key, each in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml_text, value)) + "]"
    if hasattr(value, "item"):  # a number of NumPy
        return toml_text(value.item())
    import json
    return json.dumps(str(value))


def assignments(overrides: Mapping[str, Any]) -> list[str]:
    """{"train.epochs": 1} as the command line writes it: train.epochs=1."""
    return [f"{key}={toml_text(value)}" for key, value in overrides.items()]


def train(config: str | pathlib.Path, overrides: Mapping[str, Any] | None = None, *,
          out: str | pathlib.Path | None = None, overwrite: bool = False, resume: bool = False, backend: str = "simd",
          threads: int = 0, comm: Any = None, profile: bool = False, verbose: bool | None = None) -> Run:
    """Trains what a configuration file describes and writes the run directory, as ``lockstep train`` does.

    Parameters
    ----------
    config : str or Path
        The TOML file.
    overrides : mapping, optional
        Changes: ``{"train.epochs": 1, "train.optimizer": ls.Adam(1e-3)}``.
    out : str or Path, optional
        The run directory; default ``runs/<config>-<n>``. `overwrite` replaces an earlier run there, `resume`
        continues it.
    backend, threads, comm, profile
        As in `Network.fit`: they change the time, not the weights.
    verbose : bool, optional
        Progress on stderr; default: unless `quiet` was called.

    Returns
    -------
    Run
        With `directory`, `model`, `metrics` and `report()`.
    """
    import json
    import pathlib
    group = communicator(comm)
    shown = is_wanted(verbose, comm)
    progress: list[Progress] = []

    def tell(kind: str, *values: Any) -> None:
        if not shown:
            return
        if kind == "begin":
            progress.append(Progress(values[0]))
        elif kind == "step":
            progress[-1].step(dict(zip(("epoch", "epochs", "step", "steps", "loss"), values)))
        elif kind == "warn":
            print(f"lockstep: warning: {values[0]}", file=sys.stderr)

    try:
        directory, text = _core.train(str(config), assignments(overrides or {}), "" if out is None else str(out),
                                      overwrite, resume, backend, threads, profile, "lockstep.train", group, tell)
    finally:
        for each in progress:
            each.close()
    if not directory:  # a rank other than 0: the files are rank 0's
        return Run([], "")
    path, result = pathlib.Path(directory), json.loads(text)
    run = Run(_records_of(path), result["weight_hash"], directory=path, result=result, profile=result.get("profile"))
    if shown:
        print(repr(run), file=sys.stderr)
    return run


def _records_of(path: pathlib.Path) -> list[dict[str, Any]]:
    """metrics.jsonl with the keys of Network.fit; times are in timings.jsonl."""
    import json
    lines = [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]
    timings = [json.loads(line) for line in (path / "timings.jsonl").read_text().splitlines()]
    seconds = {line["epoch"]: line["seconds"]["total"] for line in timings}
    records = []
    for line in lines:
        if "epoch" not in line:  # the scores of the final weights
            continue
        record = {"epoch": line["epoch"], "step": line["steps"], "lr": line["lr"], "loss": line["train"]["loss"]}
        if "accuracy" in line["train"]:
            record["accuracy"] = line["train"]["accuracy"]
        for key in ("loss", "accuracy"):
            if key in line.get("validation", {}):
                record[f"validation_{key}"] = line["validation"][key]
        records.append({**record, "weight_hash": line["weight_hash"], "seconds": seconds.get(line["epoch"], 0.0)})
    return records
