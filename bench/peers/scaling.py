"""How cost grows: time per sample against batch, width and depth of an MLP, on every number of threads, in Lockstep and
in PyTorch (eager, fused optimiser), turn about; run.py --scaling. `scaling.py --worker THREADS` is PyTorch's process:
it answers each line, a workload as JSON, with the seconds of its runs."""
import dataclasses
import json
import statistics
import subprocess
import sys

import report
import workloads
from lockstep_peer import Lockstep

INPUTS, OUTPUTS = 64, 10
BATCH, WIDTH, DEPTH = 64, 256, 4  # where another one is varied
AXES = {"batch": [2 ** n for n in range(11)], "width": [2 ** n for n in range(6, 13)],
        "depth": [2 ** n for n in range(1, 7)]}
ROUNDS = 3
WORK, FEWEST, MOST = 1e10, 2, 400  # operations of one epoch, and how many steps it has


def network(batch=BATCH, width=WIDTH, depth=DEPTH, work=WORK):
    """An MLP of `depth` hidden layers; as many steps as the work allows. Two epochs: the first one warms up."""
    layers, inputs = workloads.mlp(INPUTS, width, depth, OUTPUTS, workloads.RELU)
    one = workloads.Workload("scaling", "", layers, inputs, batch, ("sgd", 0.01, 0.9), batch, unit="step",
                             source="drawn", tested=8)
    steps = max(FEWEST, min(MOST, int(work / one.flops)))
    return dataclasses.replace(one, samples=batch * steps)


def points(quick):
    """(axis, value, workload): --quick takes every third value, and less work for each."""
    return [(axis, value, network(**{axis: value}, work=WORK / (20 if quick else 1)))
            for axis, values in AXES.items() for value in values[::3 if quick else 1]]


class Torch:
    def __init__(self, threads):
        self.process = subprocess.Popen([sys.executable, "-B", __file__, "--worker", str(threads)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self.process.stdout.readline() == "":
            raise RuntimeError("PyTorch did not start")

    def seconds(self, workload):
        print(json.dumps(dataclasses.asdict(workload)), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait(20)


def worker(threads):
    import torch
    from torch_peer import training

    torch.set_num_threads(threads)
    print("ready", flush=True)
    last, commands = None, {}
    for line in sys.stdin:
        if line != last:
            last, commands = line, training(workloads.described(line), "fused")[1]
        print(json.dumps(commands["run"]()["seconds"]), flush=True)


class Ours(Lockstep):
    """Two epochs, of which the second is timed: PyTorch's process is warm too."""

    def seconds(self):
        self.train("train.epochs=2")
        return json.loads((self.out / "timings.jsonl").read_text().splitlines()[-1])["seconds"]["total"]


def measure(options, progress):
    """Results: axis, value, threads, contender, seconds per sample with their samples."""
    results = []
    for threads in options.threads:
        theirs = Torch(threads)
        for axis, value, workload in points(options.quick):
            progress(f"how cost grows on {threads} thread{'s' * (threads > 1)}: {axis}", f" {value}")
            ours = Ours(options.program, workload, options.backends[0], threads, options.folder / "scaling")
            samples = {"lockstep": [], "torch fused": []}
            for _ in range(1 if options.quick else ROUNDS):
                samples["lockstep"].append(ours.seconds() / workload.samples)
                samples["torch fused"].append(theirs.seconds(workload) / workload.samples)
            for contender, times in samples.items():
                results.append({"axis": axis, "value": value, "threads": threads, "contender": contender,
                                "batch": workload.batch, "steps": workload.steps_per_epoch,
                                "seconds": statistics.median(times), "samples": times})
        theirs.close()
    return results


def seconds_of(results, axis, value, threads, contender):
    return next((r["seconds"] for r in results if (r["axis"], r["value"], r["threads"], r["contender"])
                 == (axis, value, threads, contender)), None)


def title(axis):
    fixed = {"batch": f"batch {BATCH}", "width": f"width {WIDTH}", "depth": f"{DEPTH} hidden layers"}
    return f"MLP with {INPUTS} inputs, " + ", ".join(text for name, text in fixed.items() if name != axis)


def table(results, axis):
    """A line per value: microseconds per sample of both on every number of threads, and the ratio."""
    threads = sorted({r["threads"] for r in results})
    lines = [[axis] + [f"{who}, {n} thread{'s' * (n > 1)}" for n in threads for who in ("lockstep", "torch", "speed")]]
    for value in sorted({r["value"] for r in results if r["axis"] == axis}):
        line = [str(value)]
        for n in threads:
            ours, theirs = (seconds_of(results, axis, value, n, who) for who in ("lockstep", "torch fused"))
            line += [f"{ours * 1e6:.2f}", f"{theirs * 1e6:.2f}", f"{theirs / ours:.2f}x"]
        lines.append(line)
    return lines


def text(results):
    return "\n\n".join(f"Microseconds per sample against {axis}: {title(axis)}\n{report.aligned(table(results, axis))}"
                       for axis in AXES if any(r["axis"] == axis for r in results))


if __name__ == "__main__":
    worker(int(sys.argv[sys.argv.index("--worker") + 1]))
