# Written by python/make_stubs.py from the lists of fields of the C++ library.
from __future__ import annotations

import os
from typing import Any, Callable, Mapping, Sequence

from lockstep._data import Data as Data, load_data as load_data
from lockstep._error import Error as Error
from lockstep._ladder import Ladder as Ladder, ladder as ladder
from lockstep._network import Network as _Network, Scores as Scores, Weights as Weights
from lockstep._progress import quiet as quiet
from lockstep._ranks import rank as rank, ranks as ranks
from lockstep._records import Init as Init, Layer as Layer, Optimizer as Optimizer, Schedule as Schedule
from lockstep._run import Metrics as Metrics, Run as Run
from lockstep._train import train as train

__version__: str
numerics_version: int

def layers() -> list[str]: ...
def optimizers() -> list[str]: ...
def losses() -> list[str]: ...
def backends() -> list[str]: ...

class Network(_Network):
    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Network: ...
    def fit(self, x: Any, y: Any = None, *, sample_weight: Any = None, validation: Any = None, backend: str = "simd",
            threads: int = 0, comm: Any = None, on_step: Callable[[dict[str, Any]], Any] | None = None,
            on_epoch: Callable[[dict[str, Any]], Any] | None = None, profile: bool = False,
            resume: bool | None = None, verbose: bool | None = None,
            loss: str = 'cross-entropy', label_smoothing: float = 0.0, focal_gamma: int = 2,
            huber_delta: float = 1.0, optimizer: Optimizer | str = 'adam',
            schedule: Schedule | str = 'constant', batch: int | str = 64,
            slots: int | str = 'auto', reduction: str = 'mean',
            class_weights: str | Sequence[float] | None = None, l2: float = 0.0,
            clip_norm: float = 0.0, truncate: int = 0,
            average: str | Mapping[str, Any] = 'none', frozen: Sequence[str] = (),
            shuffle: bool = True, epochs: int = 1, metrics: Sequence[str] = (),
            early_stopping: int | Mapping[str, Any] | None = None, seed: int = 1) -> Run: ...

class Linear(Layer):
    def __init__(self, out: int, *, bias: bool = True, init: Init | str | None = None,
                 per_step: bool = False) -> None: ...
    out: int
    bias: bool
    init: Init | str | None
    per_step: bool

class Conv2d(Layer):
    def __init__(self, out: int, kernel: int | tuple[int, int], *,
                 stride: int | tuple[int, int] = 1, pad: int | tuple[int, int] = 0,
                 dilation: int | tuple[int, int] = 1, groups: int = 1, bias: bool = True,
                 init: Init | str | None = None) -> None: ...
    out: int
    kernel: int | tuple[int, int]
    stride: int | tuple[int, int]
    pad: int | tuple[int, int]
    dilation: int | tuple[int, int]
    groups: int
    bias: bool
    init: Init | str | None

class MaxPool2d(Layer):
    def __init__(self, window: int | tuple[int, int] = 2, *,
                 stride: int | tuple[int, int] | None = None, pad: int | tuple[int, int] = 0) -> None: ...
    window: int | tuple[int, int]
    stride: int | tuple[int, int] | None
    pad: int | tuple[int, int]

class AvgPool2d(Layer):
    def __init__(self, window: int | tuple[int, int] = 2, *,
                 stride: int | tuple[int, int] | None = None, pad: int | tuple[int, int] = 0) -> None: ...
    window: int | tuple[int, int]
    stride: int | tuple[int, int] | None
    pad: int | tuple[int, int]

class ReLU(Layer):
    def __init__(self) -> None: ...

class LeakyReLU(Layer):
    def __init__(self, slope: float = 0.01) -> None: ...
    slope: float

class Tanh(Layer):
    def __init__(self) -> None: ...

class AbsTanh(Layer):
    def __init__(self) -> None: ...

class Sigmoid(Layer):
    def __init__(self, lambda_: float = 1.0) -> None: ...
    lambda_: float

class GELU(Layer):
    def __init__(self) -> None: ...

class Softmax(Layer):
    def __init__(self) -> None: ...

class BatchNorm(Layer):
    def __init__(self, momentum: float = 0.1, *, eps: float = 1e-05, over: str = 'slot') -> None: ...
    momentum: float
    eps: float
    over: str

class LayerNorm(Layer):
    def __init__(self, eps: float = 1e-05, *, per_step: bool = False) -> None: ...
    eps: float
    per_step: bool

class Dropout(Layer):
    def __init__(self, p: float = 0.5) -> None: ...
    p: float

class Embedding(Layer):
    def __init__(self, out: int, vocabulary: int, *, init: Init | str | None = None) -> None: ...
    out: int
    vocabulary: int
    init: Init | str | None

class Positions(Layer):
    def __init__(self, init: Init | str | None = None, *, sinusoidal: bool = False) -> None: ...
    init: Init | str | None
    sinusoidal: bool

class Lstm(Layer):
    def __init__(self, hidden: int, *, layers: int = 1, bidirectional: bool = False,
                 all_steps: bool = False, bias: bool = True, init: Init | str | None = None) -> None: ...
    hidden: int
    layers: int
    bidirectional: bool
    all_steps: bool
    bias: bool
    init: Init | str | None

class Gru(Layer):
    def __init__(self, hidden: int, *, layers: int = 1, bidirectional: bool = False,
                 all_steps: bool = False, bias: bool = True, init: Init | str | None = None) -> None: ...
    hidden: int
    layers: int
    bidirectional: bool
    all_steps: bool
    bias: bool
    init: Init | str | None

class Rnn(Layer):
    def __init__(self, hidden: int, *, layers: int = 1, bidirectional: bool = False,
                 all_steps: bool = False, bias: bool = True, init: Init | str | None = None,
                 relu: bool = False) -> None: ...
    hidden: int
    layers: int
    bidirectional: bool
    all_steps: bool
    bias: bool
    init: Init | str | None
    relu: bool

class Attention(Layer):
    def __init__(self, heads: int, *, causal: bool = False, bias: bool = True,
                 init: Init | str | None = None) -> None: ...
    heads: int
    causal: bool
    bias: bool
    init: Init | str | None

class Flatten(Layer):
    def __init__(self) -> None: ...

class Residual(Layer):
    def __init__(self, body: Sequence[Layer], *, shortcut: Sequence[Layer] = ()) -> None: ...
    body: Sequence[Layer]
    shortcut: Sequence[Layer]

class SGD(Optimizer):
    def __init__(self, lr: float = 0.01) -> None: ...
    lr: float

class Momentum(Optimizer):
    def __init__(self, lr: float = 0.01, momentum: float = 0.9) -> None: ...
    lr: float
    momentum: float

class Nesterov(Optimizer):
    def __init__(self, lr: float = 0.01, momentum: float = 0.9) -> None: ...
    lr: float
    momentum: float

class Adam(Optimizer):
    def __init__(self, lr: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-08) -> None: ...
    lr: float
    beta1: float
    beta2: float
    eps: float

class AdamW(Optimizer):
    def __init__(self, lr: float = 0.001, beta1: float = 0.9, beta2: float = 0.999,
                 eps: float = 1e-08, weight_decay: float = 0.01) -> None: ...
    lr: float
    beta1: float
    beta2: float
    eps: float
    weight_decay: float

class RMSProp(Optimizer):
    def __init__(self, lr: float = 0.01, alpha: float = 0.99, eps: float = 1e-08) -> None: ...
    lr: float
    alpha: float
    eps: float

class Lion(Optimizer):
    def __init__(self, lr: float = 0.0001, beta1: float = 0.9, beta2: float = 0.99,
                 weight_decay: float = 0.0) -> None: ...
    lr: float
    beta1: float
    beta2: float
    weight_decay: float

class ConstantSchedule(Schedule):
    def __init__(self, warmup_steps: int = 0) -> None: ...
    warmup_steps: int

class StepSchedule(Schedule):
    def __init__(self, warmup_steps: int = 0, every: int = 10, factor: float = 0.1) -> None: ...
    warmup_steps: int
    every: int
    factor: float

class CosineSchedule(Schedule):
    def __init__(self, warmup_steps: int = 0, final: float = 0.0) -> None: ...
    warmup_steps: int
    final: float

class OneCycleSchedule(Schedule):
    def __init__(self, warmup_steps: int = 0, final: float = 0.0, start: float = 0.04, peak: float = 0.3) -> None: ...
    warmup_steps: int
    final: float
    start: float
    peak: float

class PlateauSchedule(Schedule):
    def __init__(self, warmup_steps: int = 0, factor: float = 0.1, final: float = 0.0,
                 patience: int = 5, metric: str = 'loss', min_gain: float = 0.0) -> None: ...
    warmup_steps: int
    factor: float
    final: float
    patience: int
    metric: str
    min_gain: float

class UniformInit(Init):
    def __init__(self, scale: float, biases: bool = False) -> None: ...
    scale: float
    biases: bool

class NormalInit(Init):
    def __init__(self, scale: float, biases: bool = False) -> None: ...
    scale: float
    biases: bool

class XavierUniformInit(Init):
    def __init__(self, biases: bool = False) -> None: ...
    biases: bool

class XavierNormalInit(Init):
    def __init__(self, biases: bool = False) -> None: ...
    biases: bool

class FanInUniformInit(Init):
    def __init__(self, biases: bool = False) -> None: ...
    biases: bool

class HeUniformInit(Init):
    def __init__(self, biases: bool = False) -> None: ...
    biases: bool

class HeNormalInit(Init):
    def __init__(self, biases: bool = False) -> None: ...
    biases: bool

class ZerosInit(Init):
    def __init__(self, biases: bool = False) -> None: ...
    biases: bool

class ConstantInit(Init):
    def __init__(self, scale: float, biases: bool = False) -> None: ...
    scale: float
    biases: bool

class SinusoidalInit(Init):
    def __init__(self, biases: bool = False) -> None: ...
    biases: bool
