"""Layers, optimisers, schedules and initialisers: classes made from the lists of fields of the C++ library, which has
their names, types, defaults, ranges and lines of help. A new layer there is a new class here."""
from __future__ import annotations

import keyword
from typing import TYPE_CHECKING, Any

from lockstep import _core

if TYPE_CHECKING:
    import inspect

# Words that are not written with one capital letter; a name without such a word needs no entry.
_SPELLING = {"relu": "ReLU", "gelu": "GELU", "sgd": "SGD", "adamw": "AdamW", "rmsprop": "RMSProp", "he": "He"}


class _Described(type):
    """Classes that tell their parameters when they are asked; inspect takes a while to import."""

    @property
    def __signature__(cls) -> "inspect.Signature":
        return signature_of(cls._fields, cls._positional())  # type: ignore[attr-defined]


class Record(metaclass=_Described):
    """What layers, optimisers, schedules and initialisers share: a name and options."""

    _kind: str
    _fields: list[dict[str, Any]]
    _values: dict[str, Any]

    def __init__(self, *args: Any, **options: Any) -> None:
        names = {_parameter(field["name"]): field for field in self._fields}
        what = f"{type(self).__name__}()"
        most = self._positional()
        if len(args) > most:
            more = f"; the others by name: {', '.join(list(names)[most:])}" if len(names) > most else ""
            raise TypeError(f"{what} takes {most or 'no'} option{'s' * (most != 1)} without a name "
                            f"({', '.join(list(names)[:most]) or 'none'}), and {len(args)} were given{more}{self._note}")
        given = dict(zip(names, args))
        for name, value in options.items():
            if name not in names:
                raise TypeError(f"{what} has no option {name!r}; there are {', '.join(names) or 'none'}")
            if name in given:
                raise TypeError(f"{what} got {name!r} twice")
            given[name] = value
        missing = [name for name, field in names.items() if field["required"] and name not in given]
        if missing:
            raise TypeError(f"{what} needs {missing[0]!r}: {names[missing[0]]['help']}")
        self._values = {field["name"]: given[name] for name, field in names.items() if given.get(name) is not None}
        self._check()

    _note = ""

    @classmethod
    def _positional(cls) -> int:
        """How many options may be given without their names."""
        return len(cls._fields)

    def _check(self) -> None:
        raise NotImplementedError

    def _options(self) -> dict[str, Any]:
        return {name: config_of(value) for name, value in self._values.items()}

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            for field in type(self).__dict__.get("_fields", ()):
                if _parameter(field["name"]) == name:
                    return self._values.get(field["name"], field["default"])
        raise AttributeError(f"{type(self).__name__} has no option {name!r}")

    def __repr__(self) -> str:
        options = ", ".join(f"{_parameter(name)}={value!r}" for name, value in self._values.items())
        return f"{type(self).__name__}({options})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._options() == other._options()  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(repr(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self).__name__, self._values))


class Layer(Record):
    """A layer of a network."""

    _note = "; the inputs of a layer follow from the layer before"

    @classmethod
    def _positional(cls) -> int:
        """Those that are required: Conv2d(1, 6, 5) means something else in PyTorch, and must not pass."""
        return max(sum(field["required"] for field in cls._fields), min(len(cls._fields), 1))

    def _config(self) -> Any:
        return {self._kind: self._options()} if self._fields else self._kind

    def _check(self) -> None:
        _core.check_layer({self._kind: self._options()}, type(self).__name__)


class Optimizer(Record):
    """How weights follow their gradients."""

    _key = "optimizer"

    def _config(self) -> Any:
        return {"name": self._kind, **self._options()}

    def _check(self) -> None:
        _core.check_train(self._key, self._config(), type(self).__name__)


class Schedule(Optimizer):
    """How the learning rate changes from step to step."""

    _key = "schedule"


class Init(Record):
    """How the first weights are drawn."""

    def _config(self) -> Any:
        return {"name": self._kind, **self._options()}

    def _check(self) -> None:
        _core.check_layer({"linear": {"out": 1, "init": self._config()}}, type(self).__name__)


classes: dict[str, type[Record]] = {}
described: dict[str, Any] = _core.describe_records()


def config_of(value: Any) -> Any:
    """A record, or a list with records in it, as the configuration writes it."""
    if isinstance(value, Record):
        return value._config()  # type: ignore[attr-defined]
    if isinstance(value, (list, tuple)):
        return [config_of(each) for each in value]
    return value.tolist() if hasattr(value, "tolist") else value  # of NumPy


def _parameter(name: str) -> str:
    return name + "_" if keyword.iskeyword(name) else name


def _class_name(kind: str, suffix: str) -> str:
    words = kind.replace("-", "_").split("_")
    return "".join(_SPELLING.get(word, word[:1].upper() + word[1:]) for word in words) + suffix


def _rebuild(name: str, values: dict[str, Any]) -> Record:
    return classes[name](**{_parameter(key): value for key, value in values.items()})


def option_lines(fields: list[dict[str, Any]]) -> str:
    """The options as a section of a docstring in NumPy style."""
    lines = []
    for field in fields:
        usual = "" if field["required"] else f", default {field['default']!r}"
        lines.append(f"{_parameter(field['name'])} : {field['type']}{usual}")
        text = field["help"].split(", see [")[0].split("; see [")[0].replace("see [losses](#losses)", "see `losses`")
        lines.append("    " + text + (f" ({field['range']})" if field["range"] else "") + ".")
    return "\n".join(lines)


def signature_of(fields: list[dict[str, Any]], positional: int) -> "inspect.Signature":
    """Options in the order of the list; those without a default come first there."""
    from inspect import Parameter, Signature
    return Signature([
        Parameter(_parameter(field["name"]),
                  Parameter.POSITIONAL_OR_KEYWORD if i < positional else Parameter.KEYWORD_ONLY,
                  default=Parameter.empty if field["required"] else field["default"])
        for i, field in enumerate(fields)])


def _make(base: type[Record], entry: dict[str, Any], suffix: str) -> type[Record]:
    name = _class_name(entry["name"], suffix)
    doc = entry["help"][:1].upper() + entry["help"][1:] + "."
    if entry["fields"]:
        doc += "\n\nParameters\n----------\n" + option_lines(entry["fields"])
    return type(name, (base,), {"_kind": entry["name"], "_fields": entry["fields"], "__doc__": doc,
                                "__module__": "lockstep"})


for _base, _key, _suffix in ((Layer, "layers", ""), (Optimizer, "optimizers", ""), (Schedule, "schedules", "Schedule"),
                             (Init, "inits", "Init")):
    for _entry in described[_key]:
        _class = _make(_base, _entry, _suffix)
        classes[_class.__name__] = _class
