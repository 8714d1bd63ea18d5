"""run.py [--threads 1,2] [--repeats 7] [--workloads NAME,...] [--json FILE]: Lockstep, PyTorch and JAX train the same
networks on the same data from the same weights with the same number of threads, interleaved: every contender once per
round, so that noise hits all alike. Prints the median time with its 95 % interval (order statistics), the ratio to the
fastest variant of any peer, the final loss and accuracy, and what the machine was doing meanwhile."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

import workloads
from lockstep_peer import Lockstep

HERE = pathlib.Path(__file__).parent
TORCH = ("eager", "fused", "channels_last", "compile")
JAX = ("jit", "scan")


class Peer:
    """A contender in a process of its own that answers commands."""

    def __init__(self, script, workload, variant, threads):
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
        self.process = subprocess.Popen([sys.executable, HERE / script, workload, variant, str(threads)], text=True, env=environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.version = self.answer()["ready"]

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the process ended")
        return json.loads(line)

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.answer()

    def run(self):
        return self.ask("run")

    def losses(self, count):
        return self.ask(f"losses {count}")["losses"]

    def close(self):
        self.process.stdin.close()
        self.process.wait(20)


def interval(samples):
    """Median and its 95 % interval by order statistics (the whole range where there are too few samples for 95 %)."""
    ordered, n = sorted(samples), len(samples)
    rank = max(0, int((n - 1.96 * n ** 0.5) / 2))
    return statistics.median(ordered), ordered[rank], ordered[n - 1 - rank]


def contenders(workload, threads, program, folder):
    variants = [("torch_peer.py", "torch", v) for v in TORCH if v != "channels_last" or len(workload.input) == 3]
    variants += [("jax_peer.py", "jax", v) for v in JAX]
    result = {"lockstep": Lockstep(program, workload, "simd", threads, folder / f"{workload.name}-{threads}")}
    for script, package, variant in variants:
        try:
            result[f"{package} {variant}"] = Peer(script, workload.name, variant, threads)
        except RuntimeError as error:
            print(f"  {package} {variant}: left out, {error}")
    return result


def same_work(workload, entries):
    """The losses of the first steps, which must agree to 1e-4 (batch normalisation: Lockstep normalises by slot)."""
    steps = 3
    ours = entries["lockstep"].losses(steps)
    worst = max(abs(a - b) for name, e in entries.items() if name != "lockstep" for a, b in zip(ours, e.losses(steps)))
    print(f"  losses of the first {steps} steps: {', '.join(f'{l:.6f}' for l in ours)}; largest difference {worst:.1e}")
    return worst


def compare(workload, threads, options, folder):
    print(f"\n{workload.name}, {threads} thread{'s' * (threads > 1)}, time per {workload.unit}")
    entries = contenders(workload, threads, options.program, folder)
    worst = same_work(workload, entries)
    results = {name: [] for name in entries}
    load = []
    for _ in range(options.repeats):
        load.append(os.getloadavg()[0])
        for name, entry in entries.items():
            results[name].append(entry.run())
    rows = {name: interval([r["seconds"] / workload.units for r in runs]) for name, runs in results.items()}
    best = min(rows[name][0] for name in rows if name != "lockstep")
    for name, (median, low, high) in sorted(rows.items(), key=lambda row: row[1][0]):
        last = results[name][-1]
        accuracy = "" if last.get("accuracy") is None else f"  accuracy {last['accuracy']:.4f}"
        print(f"  {name:22} {median * 1e3:10.2f} ms  [{low * 1e3:.2f}, {high * 1e3:.2f}]  {best / median:5.2f}x"
              f"  loss {last['loss']:.6f}{accuracy}  {entries[name].version}")
    ratio, goal = best / rows["lockstep"][0], workload.target[min(threads, 2) - 1]
    print(f"  Lockstep is {ratio:.2f} times as fast as the fastest peer (goal {goal}); load {min(load):.1f} to {max(load):.1f}")
    for name, entry in entries.items():
        if name != "lockstep":
            entry.close()
    return {"workload": workload.name, "threads": threads, "unit": workload.unit, "ratio": ratio, "goal": goal,
            "first_losses_differ_by": worst, "load": load,
            "samples": {name: [r["seconds"] / workload.units for r in runs] for name, runs in results.items()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="build/lockstep")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--workloads", default=",".join(w.name for w in workloads.TRAINING))
    parser.add_argument("--folder", default="build/peers")
    parser.add_argument("--json", default="build/peers/results.json")
    options = parser.parse_args()
    results = []
    for name in options.workloads.split(","):
        for threads in map(int, options.threads.split(",")):
            results.append(compare(workloads.by_name(name), threads, options, pathlib.Path(options.folder).resolve()))
            pathlib.Path(options.json).write_text(json.dumps(results, indent=1))
    print(f"\nall samples: {options.json}")


main()
