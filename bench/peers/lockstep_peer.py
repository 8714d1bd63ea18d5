"""Lockstep as a contender: the program itself, once per run; the time is the one it reports for its epochs."""
import json
import pathlib
import subprocess

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


class Lockstep:
    def __init__(self, program, workload, backend, threads, folder):
        import numpy as np
        self.workload, self.folder = workload, pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        x, labels = workloads.load(workload)
        if workload.dtype == "float32":  # as users have it: bytes, converted on the way into the network
            x = np.rint(x * 255).astype(np.uint8)
        np.savez(self.folder / "data.npz", x=x, y=labels)
        save_file(workloads.initial_weights(workload), self.folder / "init.safetensors")
        (self.folder / "run.toml").write_text(toml(workload, self.folder))
        self.command = [program, "train", str(self.folder / "run.toml"), "--backend", backend, "--threads", str(threads),
                        "--out", str(self.folder / "out"), "--overwrite", "--json", "--quiet", "--set", "data.scale=255"]
        if workload.dtype == "float64":
            self.command[-1] = "data.scale=1"
        self.version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]

    def train(self, *sets):
        command = self.command + [word for s in sets for word in ("--set", s)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
        return json.loads(done.stdout)

    def losses(self, count):
        """The loss of the first steps, from runs over 1, 2, ... batches: a run reports the mean over its steps."""
        sums = [0.0]
        for steps in range(1, count + 1):
            if self.workload.batch == self.workload.samples:
                result = self.train(f"train.epochs={steps}")["train"]["loss"]
                sums.append(sums[-1] + result)
            else:
                result = self.train(f"data.limit={steps * self.workload.batch}", "train.epochs=1")
                sums.append(result["train"]["loss"] * steps)
        return [b - a for a, b in zip(sums, sums[1:])]

    def run(self):
        result = self.train()
        lines = (self.folder / "out" / "timings.jsonl").read_text().splitlines()
        seconds = sum(json.loads(line)["total"] for line in lines)
        return {"seconds": seconds, "loss": result["train"]["loss"], "accuracy": result["train"].get("accuracy")}
