"""What a training came to."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstep._error import Error

if TYPE_CHECKING:
    import pathlib

    import pandas


class Metrics(list):  # type: ignore[type-arg]
    """One record (a dict) per epoch: ``epoch``, ``step``, ``lr``, ``loss``, ``accuracy`` (of classes),
    ``validation_loss``, ``validation_accuracy`` and the other ``metrics`` of fit (``validation_f1``), ``weight_hash``,
    ``seconds``."""

    def to_pandas(self) -> "pandas.DataFrame":
        """The records as a frame, one row per epoch."""
        try:
            import pandas
        except ImportError:
            raise Error("to_pandas needs pandas: pip install pandas", "usage") from None
        return pandas.DataFrame.from_records(list(self))


class Run:
    """The result of `Network.fit` or `train`.

    Attributes
    ----------
    metrics : Metrics
        One record per epoch.
    weight_hash : str
        SHA-256 of the weights at the end: the same for every number of threads, ranks and for every backend.
    stopped : bool
        Whether a callback ended it.
    profile : list of dict or None
        Where the time went, with ``profile=True``: a record per layer and phase.
    directory : pathlib.Path or None
        The run directory, of `train`.
    """

    def __init__(self, metrics: list[dict[str, Any]], weight_hash: str, *, stopped: bool = False,
                 profile: list[dict[str, Any]] | None = None, directory: pathlib.Path | None = None,
                 result: dict[str, Any] | None = None) -> None:
        self.metrics = Metrics(metrics)
        self.weight_hash = weight_hash
        self.stopped = stopped
        self.profile = profile
        self.directory = directory
        self.result = result

    @property
    def model(self) -> Any:
        """The trained network, of `train`."""
        from lockstep._network import Network
        if self.directory is None:
            raise Error("this run has no directory: the network that was fitted is the model", "usage")
        return Network.load(self.directory / "model.safetensors")

    def report(self, path: str | pathlib.Path | None = None) -> pathlib.Path:
        """Writes the run's page, one HTML file, and returns where it is. A run directory has one already."""
        import pathlib

        from lockstep import _html
        if self.directory is not None and path is None:
            return self.directory / "report.html"
        target = pathlib.Path(path if path is not None else "report.html")
        target.write_text(_html.page("Training", self._repr_html_()), encoding="utf-8")
        return target

    def __repr__(self) -> str:
        last = self.metrics[-1] if self.metrics else {}
        scores = ", ".join(f"{key}={last[key]:.4g}" for key in
                           ("loss", "accuracy", "validation_loss", "validation_accuracy") if key in last)
        return f"Run({len(self.metrics)} epochs, {scores}, weights {self.weight_hash[:8]})"

    def _repr_html_(self) -> str:
        from lockstep import _html
        return _html.run(self.metrics, self.weight_hash)
