"""run.py [--threads 1,2] [--repeats 7] [--workloads NAME,...] [--backends simd,library] [--quick]: Lockstep, PyTorch and
JAX do the same work from the same weights with the same number of threads, interleaved: every contender once per round,
so that noise hits all alike (peers that are far behind after two rounds are left out of the others). Prints median times
with their 95 % intervals, the ratio to the fastest variant of any peer, the share of the machine's matrix product, losses
and accuracies; writes results.json (with every sample) and results.md."""
import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import time

import report
import workloads
from lockstep_peer import Lockstep, machine, product_rate

HERE = pathlib.Path(__file__).parent
TORCH = ("eager", "fused", "channels_last", "compile")
JAX = ("jit", "scan")
STEPS = 3  # whose losses are compared
ROUNDS_FOR_ALL, BEHIND = 2, 2.0  # whoever is so far behind the fastest after so many rounds cannot win: no more rounds
SETTLE = 0.5  # seconds before a turn: the threads of the contender before it may still spin
AGREE = 1e-4  # how far outputs, the first of them in float32 and all in float64 (workloads.exact) may lie apart


def progress(text, detail=""):
    """On a terminal one line that is drawn anew; else a line without the details where it differs from the last."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}{detail}", end="", file=sys.stderr, flush=True)
    elif text and text != progress.last:
        print(text, file=sys.stderr, flush=True)
    progress.last = text


progress.last = ""


def on_threads(workload, threads):
    return f"{workload.name} on {threads} thread{'s' * (threads > 1)}"


class Peer:
    """A contender in a process of its own that answers commands by lines of JSON; what else it says goes to a file."""

    def __init__(self, command, threads, log):
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
        self.log = log
        with open(log, "w", encoding="utf-8") as errors:
            self.process = subprocess.Popen(list(map(str, command)), text=True, env=environment, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=errors)
        self.version = self.answer()["ready"]

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            said = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            raise RuntimeError(said[-1] if said else f"the process ended with code {self.process.returncode}")
        return json.loads(line)

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.answer()

    def run(self):
        return self.ask("run")

    def losses(self, count):
        return self.ask(f"losses {count}")["losses"]

    def exact_losses(self, count):
        return self.ask(f"exact_losses {count}")["losses"]

    def outputs(self):
        return self.ask("outputs")["outputs"]

    def close(self):
        self.process.stdin.close()
        self.process.wait(20)


def variants_of(workload):
    """(script, package, variant): without an optimiser or pictures some variants are the same as others."""
    image = isinstance(workload, workloads.Image)
    pictures = image or len(workload.input) == 3
    torch = [v for v in TORCH if (v != "channels_last" or pictures) and (v != "fused" or not image)]
    return [("torch_peer.py", "torch", v) for v in torch] + [("jax_peer.py", "jax", v) for v in (JAX[:1] if image else JAX)]


def contenders(workload, threads, options):
    """name -> contender, and why others were left out."""
    folder = options.folder / f"{workload.name}-{threads}"
    folder.mkdir(parents=True, exist_ok=True)
    makers = {}
    for backend in options.backends:
        name = report.LOCKSTEP if backend == options.backends[0] else f"{report.LOCKSTEP} {backend}"
        if isinstance(workload, workloads.Image):
            command = [options.image_program, threads, backend]
            makers[name] = lambda c=command, n=name: Peer(c, threads, folder / f"{n}.log")
        else:
            makers[name] = lambda b=backend: Lockstep(options.program, workload, b, threads, folder)
    for script, package, variant in variants_of(workload):
        command = [sys.executable, HERE / script, workload.name, variant, threads] + ["quick"] * options.quick
        name = f"{package} {variant}"
        makers[name] = lambda c=command, n=name: Peer(c, threads, folder / f"{n}.log")
    entries, left_out = {}, []
    for name, make in makers.items():
        progress(f"{on_threads(workload, threads)}: starting", f" {name}")
        try:
            entries[name] = make()
        except (RuntimeError, OSError) as error:
            left_out.append(f"{name}: {error}")
    return entries, left_out


def apart(answers):
    """The largest distance between the first answer and another."""
    first = next(iter(answers.values()))
    return max(abs(a - b) for answer in answers.values() for a, b in zip(first, answer, strict=True))


def same_work(workload, entries):
    """Whether all do the same, with a sentence on how far losses (or outputs) lie apart."""
    if isinstance(workload, workloads.Image):
        distance = apart({name: entry.outputs() for name, entry in entries.items()})
        same, sentence = distance <= AGREE, f"Some outputs differ by at most {distance:.1e}"
    else:
        losses = {name: entry.losses(STEPS) for name, entry in entries.items()}
        first, distance = apart({name: values[:1] for name, values in losses.items()}), apart(losses)
        by_package = {name.split()[0]: entry for name, entry in reversed(entries.items())}
        exact = apart({name: entry.exact_losses(STEPS) for name, entry in by_package.items()})
        same = first <= AGREE and exact <= AGREE
        sentence = (f"Losses differ by at most {first:.1e} in the first step, {distance:.1e} in the first {STEPS}, "
                    f"{exact:.1e} in float64")
    return same, f"{sentence}: {'the same work' if same else 'NOT the same work'}."


def in_the_race(runs):
    """Lockstep, and the peers whose best time is not far behind the best of all peers."""
    best = {name: min(answer["seconds"] for answer in answers) for name, answers in runs.items()}
    fastest = min((t for name, t in best.items() if not name.startswith(report.LOCKSTEP)), default=0)
    return [name for name, t in best.items() if name.startswith(report.LOCKSTEP) or t <= BEHIND * fastest]


def compare(workload, threads, options):
    entries, left_out = contenders(workload, threads, options)
    description = machine(options.program, threads)
    rate = product_rate(description, workload.dtype, threads)
    progress(f"{on_threads(workload, threads)}: comparing first results")
    same, sentence = same_work(workload, entries)
    runs, load = {name: [] for name in entries}, [os.getloadavg()[0]]
    for number in range(options.repeats):
        for name in in_the_race(runs) if number >= ROUNDS_FOR_ALL else entries:
            entry = entries[name]
            progress(f"{on_threads(workload, threads)}: round {number + 1} of {options.repeats}", f", {name}")
            time.sleep(SETTLE)
            runs[name].append(entry.run())
        load.append(os.getloadavg()[0])
    for entry in entries.values():
        entry.close()
    result = report.summarise(workload, threads, runs, {name: entry.version for name, entry in entries.items()}, rate)
    return result | {"same_work": sentence, "same": same, "load": [min(load), max(load)], "left_out": left_out,
                     "gemm_rate": rate, "samples": {name: [r["seconds"] / workload.units for r in answers] for name, answers in runs.items()}}


def show(result):
    progress("")
    print(f"\n{result['title']}; {result['threads']} thread{'s' * (result['threads'] > 1)}")
    print(report.comparison_text(result))
    print(f"  {result['same_work']} Load {result['load'][0]:.1f} to {result['load'][1]:.1f}.")
    for line in result["left_out"]:
        print(f"  left out: {line}")
    sys.stdout.flush()


def write(document, folder):
    (folder / "results.json").write_text(json.dumps(document, indent=1) + "\n")
    (folder / "results.md").write_text(report.page(document))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path("build/lockstep"))
    parser.add_argument("--image-program", type=pathlib.Path, default=pathlib.Path("build/release/bench/peers/image_forward"))
    parser.add_argument("--threads", type=lambda s: [int(n) for n in s.split(",")], default=[1, 2])
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--workloads", type=lambda s: s.split(","), default=[w.name for w in workloads.ALL])
    parser.add_argument("--backends", type=lambda s: s.split(","), default=["simd"], help="of Lockstep; the first counts")
    parser.add_argument("--quick", action="store_true", help="small and few: to see that everything runs")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/peers"))
    options = parser.parse_args()
    options.repeats = options.repeats or (2 if options.quick else 7)
    options.folder = options.folder.resolve()
    options.program, options.image_program = options.program.resolve(), options.image_program.resolve()
    return options


def main():
    options = arguments()
    chosen = [workloads.by_name(name, options.quick) for name in options.workloads]
    options.folder.mkdir(parents=True, exist_ok=True)
    progress("measuring the machine")
    document = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), "quick": options.quick,
                "repeats": options.repeats, "machine": machine(options.program, max(options.threads)), "results": []}
    for workload in chosen:
        for threads in options.threads:
            result = compare(workload, threads, options)
            document["results"].append(result)
            show(result)
            write(document, options.folder)
    print("\n" + report.aligned(report.summary(document["results"])))
    print(f"\n{report.NOTES}\nwritten: {options.folder / 'results.md'}, {options.folder / 'results.json'}")
    return 0 if all(r["same"] for r in document["results"]) else 1


if __name__ == "__main__":
    sys.exit(main())
