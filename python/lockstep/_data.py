"""What users hand over as arrays, and the data sources of the program."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any

from lockstep import _core
from lockstep._error import Error

if TYPE_CHECKING:
    import numpy as np


def _stacked(items: Iterable[Any], name: str) -> Any:
    import numpy as np
    try:
        return np.stack([np.asarray(item) for item in items])
    except ValueError as error:
        if "need at least one array" in str(error):
            raise Error(f"{name} holds no samples", "data") from None
        raise Error(f"{name}: samples of different shapes ({error}); give all of them one shape", "data") from None


def _converted(values: Any, name: str) -> Any:
    """Anything that is not an array of NumPy yet, as one in C order."""
    import numpy as np
    if hasattr(values, "to_numpy"):  # pandas
        return np.ascontiguousarray(values.to_numpy())
    if hasattr(values, "__dlpack__"):
        try:
            return np.from_dlpack(values)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:  # on a device, or with a gradient
            raise Error(f"{name}: {type(values).__name__} cannot be read where it lies ({error}); hand over an array of "
                        "NumPy", "data") from None
    if isinstance(values, (list, tuple, memoryview)) or hasattr(values, "__array__"):
        try:
            return np.asarray(values)
        except ValueError as error:
            raise Error(f"{name}: no array can be made of it ({error})", "data") from None
    if isinstance(values, (str, bytes, bytearray, Mapping, Set)):
        hint = "; np.load or ls.load_data reads files" if isinstance(values, str) else (
            "; np.frombuffer makes arrays of them" if isinstance(values, (bytes, bytearray)) else "")
        raise Error(f"{name}: an array, a list, a frame or a data set was expected, not {type(values).__name__}{hint}")
    if hasattr(values, "__len__") and hasattr(values, "__getitem__"):
        return _stacked((values[i] for i in range(len(values))), name)
    if hasattr(values, "__iter__"):
        return _stacked(values, name)
    raise Error(f"{name}: an array, a list, a frame or a data set was expected, not {type(values).__name__}")


def as_array(values: Any, name: str) -> Any:
    """An array that the module can read: numbers of the machine's byte order. Arrays of NumPy are not copied."""
    import numpy as np
    array = values if isinstance(values, np.ndarray) else _converted(values, name)
    if isinstance(array, np.ma.MaskedArray):
        raise Error(f"{name} is a masked array; {name}.filled(number) says what stands in masked places", "data")
    if array.dtype == np.bool_:
        return array.astype(np.float32 if name.startswith("x") else np.uint8)
    is_text = array.dtype.kind in "USTO" and array.size > 0 and isinstance(array.flat[0], (str, bytes))
    if is_text and name.startswith("y"):
        raise Error(f"{name} holds text, not numbers; np.unique({name}, return_inverse=True)[1] numbers the classes",
                    "data")
    if is_text or array.dtype.kind == "O":
        raise Error(f"{name} holds {'text' if is_text else 'objects'}, not numbers; select columns of numbers, or "
                    f"{name}.astype(np.float32) where every entry is one", "data")
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8 or array.dtype == np.float16:
        cure = "" if array.dtype.kind in "cV" else f"; {name}.astype(np.float32) can be read"
        raise Error(f"{name} has the type {array.dtype}, which is not read; float32, float64 and whole numbers are{cure}",
                    "data")
    if not array.dtype.isnative:
        raise Error(f"{name} has another byte order than this machine; {name}.astype({name}.dtype.newbyteorder('=')) "
                    "has its own", "data")
    return array


def pairs_of(data: Any, name: str, input: tuple[int, ...]) -> tuple[Any, Any]:
    """The samples and targets of an object whose items are pairs: (sample, target), or batches of both."""
    import numpy as np
    what = f"x{name}"
    if not isinstance(data, (str, bytes, bytearray, Mapping, Set)) and hasattr(data, "__len__") and hasattr(
            data, "__getitem__"):
        items = [data[i] for i in range(len(data))]
    elif hasattr(data, "__iter__") and not isinstance(data, (str, bytes, bytearray, Mapping, Set)):
        items = list(data)
    else:
        raise Error(f"{what}: an array, a list, a frame or a data set was expected, not {type(data).__name__}")
    if not items or not all(isinstance(item, (tuple, list)) and len(item) == 2 for item in items):
        raise Error(f"{what} comes without y{name}: then its items must be pairs (sample, target), or it must be Samples "
                    "of load_data")
    xs, ys = ([np.asarray(item[i]) for item in items] for i in (0, 1))
    if all(x.shape[1:] == input and y.shape[:1] == x.shape[:1] for x, y in zip(xs, ys)):  # a loader that makes batches
        return np.concatenate(xs), np.concatenate(ys)
    return _stacked(xs, what), _stacked(ys, f"y{name}")


class Data:
    """The parts of a data source: `train`, and where the source has them `validation` and `test`.

    Each part can be given to `Network.fit` and `Network.evaluate` in place of arrays, and has its samples as `x`
    (float32, as the network gets them) and targets as `y`.
    """

    def __init__(self, parts: tuple[Any, Any, Any]) -> None:
        self.train, self.validation, self.test = parts

    def __repr__(self) -> str:
        parts = [f"{name}: {part.describe()}" for name, part in vars(self).items() if part is not None]
        return "Data(" + "; ".join(parts) + ")"


def load_data(source: str, **keys: Any) -> Data:
    """Reads or generates data as the section [data] of a configuration describes them.

    Parameters
    ----------
    source : str
        ``mnist``, ``fashion-mnist``, ``moons``, ``circles``, ``blobs``, ``quadrants``, or a file or folder.
    **keys
        Any other key of the section: ``limit=1000``, ``scale=255``, ``split={"test": 0.2}``.

    Examples
    --------
    >>> import lockstep as ls
    >>> data = ls.load_data("moons", count=200, test_count=50)
    >>> len(data.train), data.train.x.shape, data.train.classes
    (200, (200, 2), 2)
    """
    from lockstep._train import assignments
    return Data(_core.load_data(source, assignments({f"data.{key}": value for key, value in keys.items()})))
