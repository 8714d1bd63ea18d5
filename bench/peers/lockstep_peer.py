"""Lockstep as a contender: the program itself, once per run; the time is the one it reports for its epochs. The image
is a program of its own (image_forward.cpp) that answers commands like the peers."""
import functools
import json
import pathlib
import shutil
import subprocess
import sys
import time

import numpy as np
from safetensors.numpy import save_file

import workloads

HERE = pathlib.Path(__file__).parent
NAMES = {"linear": "{{linear = {}}}", "max_pool2d": "{{max_pool2d = {}}}", "avg_pool2d": "{{avg_pool2d = {}}}",
         "lstm": "{{lstm = {}}}", "gru": "{{gru = {}}}"}
CLOSE_LOOKS = 0.001  # seconds between two looks for the first checkpoint
START_LIMIT = 120


def sgd(lr, momentum):
    return f'{{name = "momentum", lr = {lr}, momentum = {momentum}}}' if momentum else f'{{name = "sgd", lr = {lr}}}'


def layer_text(kind, *n):
    if kind == "conv2d":
        out, kernel, pad, *stride = n
        return f"{{conv2d = {{out = {out}, kernel = {kernel}, pad = {pad}, stride = {(stride or [1])[0]}}}}}"
    if kind == "residual":
        return f"{{residual = {{body = {layers_text(n[0])}, shortcut = {layers_text(n[1])}}}}}"
    return NAMES[kind].format(*n) if kind in NAMES else f'"{kind}"'


def layers_text(layers):
    return f"[{', '.join(layer_text(*layer) for layer in layers)}]"


def toml(workload, folder):
    kind, lr, *momentum = workload.optimizer
    optimizer = f'{{name = "adam", lr = {lr}}}' if kind == "adam" else sgd(lr, momentum[0])
    shape = f"shape = {list(workload.input)}" if len(workload.input) == 2 else ""
    return f"""[data]
source = "{folder / 'data.npz'}"
test = "{folder / 'test.npz'}"
{shape}
scale = {255 if workload.in_bytes else 1}
classes = {workload.classes}
[model]
input = {list(workload.input)}
layers = {layers_text(workload.layers)}
precision = "{workload.dtype}"
init = "{folder / 'init.safetensors'}"
[train]
loss = "{workload.loss}"
optimizer = {optimizer}
batch = {'"full"' if workload.batch == workload.samples else workload.batch}
epochs = {workload.epochs}
shuffle = false
"""


def version(program):
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]


def settings(sets):
    return [word for s in sets for word in ("--set", s)]


class Lockstep:
    def __init__(self, program, workload, backend, threads, folder):
        self.workload, self.folder = workload, pathlib.Path(folder)
        self.made_of = (program, backend, threads)
        self.folder.mkdir(parents=True, exist_ok=True)
        for part, name in (("train", "data.npz"), ("test", "test.npz")):
            x, labels = workloads.load(workload, part)
            if workload.in_bytes:
                x = np.rint(x * 255).astype(np.uint8)
            np.savez(self.folder / name, x=x, y=labels)
        save_file(workloads.initial_weights(workload), self.folder / "init.safetensors")
        (self.folder / "run.toml").write_text(toml(workload, self.folder))
        self.out = self.folder / f"out-{backend}"
        self.command = [str(program), "train", str(self.folder / "run.toml"), "--backend", backend,
                        "--threads", str(threads), "--out", str(self.out), "--overwrite", "--json", "--quiet"]
        self.version, self.memory = version(program), None

    def train(self, *sets):
        memory = self.folder / "memory"
        command = [sys.executable, "-S", "-E", HERE / "watched.py", memory, *self.command, *settings(sets)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            said = done.stderr.strip().splitlines()
            raise RuntimeError(said[-1] if said else f"the process ended with code {done.returncode}")
        self.memory = int(memory.read_text())
        return json.loads(done.stdout)

    @functools.cached_property
    def first_step(self):
        """Seconds from the start of the program to the end of its first step, seen by the checkpoint it leaves: the
        time to write that is included. The run is stopped then. None: it failed, or left no checkpoint."""
        shutil.rmtree(self.out, ignore_errors=True)
        begin = time.monotonic()
        process = subprocess.Popen(self.command + settings(["checkpoint.every_steps=1"]),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seconds = None
        while seconds is None and process.poll() is None and time.monotonic() - begin < START_LIMIT:
            time.sleep(CLOSE_LOOKS)
            if next(self.out.glob("checkpoint-*.safetensors"), None):
                seconds = time.monotonic() - begin
        process.kill()
        process.wait()
        return seconds

    def losses(self, count):
        """The loss of the first steps. A run reports the mean over its steps, epoch by epoch: so one run where a batch
        is an epoch, else runs over 1, 2, ... batches. Batch normalisation: with one slot, whose statistics are those of
        the batch, as the peers have them."""
        sets = ["train.slots=1"] if workloads.has(self.workload, "batch_norm") else []
        if self.workload.batch == self.workload.samples:
            self.train(f"train.epochs={count}", *sets)
            lines = map(json.loads, (self.out / "metrics.jsonl").read_text().splitlines())
            return [line["train"]["loss"] for line in lines if "train" in line]  # the last one is the test's
        sums = [0.0]
        for steps in range(1, count + 1):
            result = self.train(f"data.limit={steps * self.workload.batch}", "train.epochs=1", *sets)
            sums.append(result["train"]["loss"] * steps)
        return [b - a for a, b in zip(sums, sums[1:])]

    def exact_losses(self, count):
        program, backend, threads = self.made_of
        return Lockstep(program, workloads.exact(self.workload), backend, threads, self.folder / "exact").losses(count)

    def run(self):
        result = self.train()
        lines = (self.out / "timings.jsonl").read_text().splitlines()
        return {"seconds": sum(json.loads(line)["seconds"]["total"] for line in lines), "loss": result["train"]["loss"],
                "accuracy": result["test"].get("accuracy"), "weight_hash": result["weight_hash"],
                "memory": self.memory}

    def close(self):
        pass


def machine(program, threads):
    """What this machine can do now: rates of OpenBLAS' matrix products, by name and number of threads."""
    done = subprocess.run([str(program), "bench", "machine", "--json", "--threads", str(threads)],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["machine"]


def product_rate(description, dtype, threads):
    """Operations per second of sgemm or dgemm on 1 or on all threads of the description; None without OpenBLAS."""
    name = "sgemm" if dtype == "float32" else "dgemm"
    for rate in description["rates"]:
        if rate["name"].startswith(name):
            return 1e9 * rate["one_thread" if threads == 1 else "all_threads"]
    return None
