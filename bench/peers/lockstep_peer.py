"""Lockstep as a contender: the program itself, once per run; the time is the one it reports for its epochs. The image is
a program of its own (image_forward.cpp) that answers commands like the peers."""
import json
import pathlib
import subprocess

import numpy as np
from safetensors.numpy import save_file

import workloads

NAMES = {"conv2d": "{{conv2d = {{out = {}, kernel = {}, pad = {}}}}}", "linear": "{{linear = {}}}",
         "max_pool2d": "{{max_pool2d = {}}}"}


def sgd(lr, momentum):
    return f'{{name = "momentum", lr = {lr}, momentum = {momentum}}}' if momentum else f'{{name = "sgd", lr = {lr}}}'


def toml(workload, folder):
    layers = ", ".join(NAMES[kind].format(*n) if kind in NAMES else f'"{kind}"' for kind, *n in workload.layers)
    kind, lr, *momentum = workload.optimizer
    optimizer = f'{{name = "adam", lr = {lr}}}' if kind == "adam" else sgd(lr, momentum[0])
    return f"""[data]
source = "{folder / 'data.npz'}"
test = "{folder / 'test.npz'}"
scale = {255 if workload.dtype == 'float32' else 1}
[model]
input = {list(workload.input)}
layers = [{layers}]
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


class Lockstep:
    def __init__(self, program, workload, backend, threads, folder):
        self.workload, self.folder = workload, pathlib.Path(folder)
        self.made_of = (program, backend, threads)
        self.folder.mkdir(parents=True, exist_ok=True)
        for part, name in (("train", "data.npz"), ("test", "test.npz")):
            x, labels = workloads.load(workload, part)
            if workload.dtype == "float32":  # as users have it: bytes, converted on the way into the network
                x = np.rint(x * 255).astype(np.uint8)
            np.savez(self.folder / name, x=x, y=labels)
        save_file(workloads.initial_weights(workload), self.folder / "init.safetensors")
        (self.folder / "run.toml").write_text(toml(workload, self.folder))
        self.command = [str(program), "train", str(self.folder / "run.toml"), "--backend", backend,
                        "--threads", str(threads), "--out", str(self.folder / f"out-{backend}"), "--overwrite", "--json", "--quiet"]
        self.out = self.folder / f"out-{backend}"
        self.version = version(program)

    def train(self, *sets):
        command = self.command + [word for s in sets for word in ("--set", s)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        return json.loads(done.stdout)

    def losses(self, count):
        """The loss of the first steps, from runs over 1, 2, ... batches: a run reports the mean over its steps. Batch
        normalisation: with one slot, whose statistics are those of the batch, as the peers have them."""
        sums, sets = [0.0], ["train.slots=1"] if ("batch_norm",) in self.workload.layers else []
        for steps in range(1, count + 1):
            if self.workload.batch == self.workload.samples:
                sums.append(sums[-1] + self.train(f"train.epochs={steps}", *sets)["train"]["loss"])
            else:
                result = self.train(f"data.limit={steps * self.workload.batch}", "train.epochs=1", *sets)
                sums.append(result["train"]["loss"] * steps)
        return [b - a for a, b in zip(sums, sums[1:])]

    def exact_losses(self, count):
        program, backend, threads = self.made_of
        return Lockstep(program, workloads.exact(self.workload, count), backend, threads, self.folder / "exact").losses(count)

    def run(self):
        result = self.train()
        lines = (self.out / "timings.jsonl").read_text().splitlines()
        return {"seconds": sum(json.loads(line)["seconds"]["total"] for line in lines), "loss": result["train"]["loss"],
                "accuracy": result["test"].get("accuracy"), "weight_hash": result["weight_hash"]}

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
