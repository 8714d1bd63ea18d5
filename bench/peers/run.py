"""run.py [--threads 1,2] [--repeats 7] [--workloads NAME,...] [--backends simd,library] [--quick] [--scaling]:
Lockstep, PyTorch and JAX do the same work from the same weights with the same number of threads, interleaved: every
contender once per round, so that noise hits all alike (peers that are far behind after two rounds are left out of the
others). Prints median times with their 95 % intervals, the ratio to the fastest variant of any peer, the share of the
machine's matrix product, peak memory, the time to the first step, losses and accuracies; writes results.json (with
every sample), results.md and report.html. --scaling adds curves: time per sample against batch, width and depth
(scaling.py)."""
import argparse
import datetime
import functools
import json
import os
import pathlib
import select
import subprocess
import sys
import time

import page
import report
import scaling
import workloads
from lockstep_peer import Lockstep, machine, product_rate

HERE = pathlib.Path(__file__).parent
TORCH = ("eager", "fused", "channels_last", "compile")
JAX = ("jit", "scan")
STEPS = 3  # whose losses are compared in float64
QUICK = 150  # seconds of --quick after which nothing begins
PATIENCE = 165  # seconds of --quick after which no peer is waited for
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

    def __init__(self, command, threads, log, until=None):
        began = time.monotonic()
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads),
                       workloads.BEGAN: str(began)}
        self.log, self.until = log, until  # whoever does not answer by then is ended
        with open(log, "w", encoding="utf-8") as errors:
            self.process = subprocess.Popen(list(map(str, command)), text=True, env=environment, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=errors)
        greeting = self.answer()
        self.version = greeting["ready"]
        self.first_step = greeting.get("first_step", time.monotonic() - began)  # image_forward greets after its first

    def answer(self):
        if self.until and not select.select([self.process.stdout], [], [], max(0, self.until - time.monotonic()))[0]:
            self.process.kill()
            self.process.wait()
            raise RuntimeError("not done in the time of --quick")
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
        answer = self.ask("run")
        return {"memory": workloads.peak_memory_of(self.process.pid)} | answer

    def losses(self, count):
        return self.ask(f"losses {count}")["losses"]

    def exact_losses(self, count):
        return self.ask(f"exact_losses {count}")["losses"]

    def outputs(self):
        return self.ask("outputs")["outputs"]

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(20)


def variants_of(workload, options):
    """(script, package, variant) of the peers, and why others are left out. Without an optimiser or pictures some
    variants are the same as others."""
    image = isinstance(workload, workloads.Image)
    pictures = image or len(workload.input) == 3
    torch = [v for v in TORCH if (v != "channels_last" or pictures) and (v != "fused" or not image)]
    jax, left_out = list(JAX[:1] if image else JAX), []
    if workload.wide and not options.all_variants:
        torch, jax = ["fused", "channels_last"], []
        left_out.append("torch compile, JAX: only with --all-variants for a network of this size")
    if options.quick and not options.all_variants:  # the usually fastest of each; JAX takes long for convolutions
        torch, jax = [[v for v in torch if v != "compile"][-1]], [] if pictures else jax[-1:]
        left_out.append("other variants: --quick")
    return [("torch_peer.py", "torch", v) for v in torch] + [("jax_peer.py", "jax", v) for v in jax], left_out


def contenders(workload, threads, options):
    """name -> contender, and why others were left out."""
    folder = options.folder / f"{workload.name}-{threads}"
    folder.mkdir(parents=True, exist_ok=True)
    makers = {}
    for backend in options.backends:
        name = report.LOCKSTEP if backend == options.backends[0] else f"{report.LOCKSTEP} {backend}"
        if isinstance(workload, workloads.Image):
            command = [options.image_program, threads, backend]
            makers[name] = lambda c=command, n=name: Peer(c, threads, folder / f"{n}.log", options.until)
        else:
            makers[name] = lambda b=backend: Lockstep(options.program, workload, b, threads, folder)
    variants, left_out = variants_of(workload, options)
    for script, package, variant in variants:
        command = [sys.executable, HERE / script, workload.name, variant, threads] + ["quick"] * options.quick
        name = f"{package} {variant}"
        makers[name] = lambda c=command, n=name: Peer(c, threads, folder / f"{n}.log", options.until)
    entries = {}
    for name, make in makers.items():
        progress(f"{on_threads(workload, threads)}: starting", f" {name}")
        try:
            entries[name] = make()
        except (RuntimeError, OSError) as error:
            left_out.append(f"{name}: {error}")
    return entries, left_out


def attempt(entries, left_out, question):
    """name -> question(contender). A peer that fails is left out from then on; Lockstep may not fail."""
    answers = {}
    for name, entry in list(entries.items()):
        try:
            answers[name] = question(entry)
        except (RuntimeError, OSError) as error:
            if name.startswith(report.LOCKSTEP):
                raise
            left_out.append(f"{name}: {error}")
            entries.pop(name)
    return answers


def apart(answers):
    """The largest distance between the first answer and another."""
    first = next(iter(answers.values()))
    return max(abs(a - b) for answer in answers.values() for a, b in zip(first, answer, strict=True))


def same_work(workload, entries, left_out):
    """Whether all do the same, with a sentence on how far losses (or outputs) lie apart."""
    if isinstance(workload, workloads.Image):
        distance = apart(attempt(entries, left_out, lambda entry: entry.outputs()))
        same, sentence = distance <= AGREE, f"Some outputs differ by at most {distance:.1e}"
    else:
        steps = workload.first_steps
        losses = attempt(entries, left_out, lambda entry: entry.losses(steps))
        first, distance = apart({name: values[:1] for name, values in losses.items()}), apart(losses)
        by_package = {name.split()[0]: entry for name, entry in reversed(entries.items())}
        exact = apart(attempt(by_package, left_out, lambda entry: entry.exact_losses(STEPS)))
        same = first <= AGREE and exact <= AGREE
        sentence = (f"Losses differ by at most {first:.1e} in the first step, "
                    + (f"{distance:.1e} in the first {steps}, " if steps > 1 else "")
                    + f"{exact:.1e} in {STEPS} steps in float64" + f" (batch {workload.checked})" * workload.wide)
    if len(entries) < 2:
        return True, "Nobody to compare with."
    return same, f"{sentence}: {'the same work' if same else 'NOT the same work'}."


def in_the_race(runs):
    """Lockstep, and the peers whose best time is not far behind the best of all peers."""
    best = {name: min(answer["seconds"] for answer in answers) for name, answers in runs.items() if answers}
    fastest = min((t for name, t in best.items() if not name.startswith(report.LOCKSTEP)), default=0)
    return [name for name, t in best.items() if name.startswith(report.LOCKSTEP) or t <= BEHIND * fastest]


def compare(workload, threads, options):
    entries, left_out = contenders(workload, threads, options)
    description = options.machine(threads)
    rate = product_rate(description, workload.dtype, threads)
    runs, load = {name: [] for name in entries}, [os.getloadavg()[0]]
    first_steps = {name: entry.first_step for name, entry in entries.items()}
    versions = {name: entry.version for name, entry in entries.items()}
    for number in range(options.repeats):
        for name in in_the_race(runs) if number >= ROUNDS_FOR_ALL else list(entries):
            if name not in entries:
                continue
            progress(f"{on_threads(workload, threads)}: round {number + 1} of {options.repeats}", f", {name}")
            time.sleep(SETTLE)
            one = {name: entries[name]}
            runs[name] += attempt(one, left_out, lambda entry: entry.run()).values()
            if not one:
                entries.pop(name)
        load.append(os.getloadavg()[0])
        if number == 0:  # after a run: what is compared in float64 takes memory that training does not
            progress(f"{on_threads(workload, threads)}: comparing first results")
            same, sentence = same_work(workload, entries, left_out)
    for entry in entries.values():
        entry.close()
    runs = {name: answers for name, answers in runs.items() if answers}
    result = report.summarise(workload, threads, runs, versions, rate, first_steps)
    samples = {name: [r["seconds"] / workload.units for r in answers] for name, answers in runs.items()}
    return result | {"same_work": sentence, "same": same, "load": [min(load), max(load)], "left_out": left_out,
                     "gemm_rate": rate, "samples": samples}


def show(result):
    progress("")
    print(f"\n{result['title']}; {result['threads']} thread{'s' * (result['threads'] > 1)}")
    print(report.comparison_text(result))
    print(f"  {result['same_work']} Load {result['load'][0]:.1f} to {result['load'][1]:.1f}.")
    for line in result["left_out"]:
        print(f"  left out: {line}")
    sys.stdout.flush()


def write(document, options):
    (options.folder / "results.json").write_text(json.dumps(document, indent=1) + "\n")
    (options.folder / "results.md").write_text(report.page(document))
    (options.folder / "document.json").write_text(json.dumps(page.document(document), indent=1) + "\n")
    if options.page_program.exists():
        subprocess.run([options.page_program, options.folder / "document.json", options.folder], check=True,
                       stdout=subprocess.DEVNULL)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    programs = pathlib.Path("build/release/bench/peers")
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path("build/lockstep"))
    parser.add_argument("--image-program", type=pathlib.Path, default=programs / "image_forward")
    parser.add_argument("--page-program", type=pathlib.Path, default=programs / "render_page")
    parser.add_argument("--threads", type=lambda s: [int(n) for n in s.split(",")], help="default: 1,2; with --quick 2")
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--workloads", type=lambda s: s.split(","), default=[w.name for w in workloads.ALL])
    parser.add_argument("--backends", type=lambda s: s.split(","), default=["simd"],
                        help="of Lockstep; the first counts")
    parser.add_argument("--quick", action="store_true",
                        help="small and few, in three minutes: to see that everything runs")
    parser.add_argument("--all-variants", action="store_true", help="torch.compile and JAX for wide networks too")
    parser.add_argument("--scaling", action="store_true", help="also time per sample against batch, width and depth")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/peers"))
    options = parser.parse_args()
    options.began = time.monotonic()
    options.until = options.began + PATIENCE if options.quick else None
    options.repeats = options.repeats or (1 if options.quick else 7)
    options.threads = options.threads or ([2] if options.quick else [1, 2])
    for name in ("folder", "program", "image_program", "page_program"):
        setattr(options, name, getattr(options, name).resolve())
    measure = functools.partial(machine, options.program)
    options.machine = functools.cache(measure) if options.quick else measure  # its rates: anew for every comparison
    return options


def commit():
    done = subprocess.run(["git", "-C", HERE, "describe", "--always", "--dirty"], capture_output=True, text=True,
                          check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def wake_up():
    """Reads the peers from the disk once, so that the first one to start does not wait for that alone."""
    for package in ("torch", "jax"):
        subprocess.run([sys.executable, "-c", f"import {package}"], capture_output=True, check=False)


def comparisons(options):
    """(workload, threads), as far as the time of --quick allows; says what it did not allow."""
    chosen = [(workloads.by_name(name, options.quick), threads)
              for name in options.workloads for threads in options.threads]
    for number, (workload, threads) in enumerate(chosen):
        if options.quick and time.monotonic() - options.began > QUICK:
            left = ", ".join(on_threads(*pair) for pair in chosen[number:])
            print(f"\nleft out, for {QUICK} seconds of --quick are over: {left}")
            return
        yield workload, threads


def main():
    options = arguments()
    for name in options.workloads:
        workloads.by_name(name)  # says now what it does not know
    options.folder.mkdir(parents=True, exist_ok=True)
    progress("measuring the machine")
    document = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
                "quick": options.quick, "repeats": options.repeats, "commit": commit(),
                "machine": options.machine(max(options.threads)), "results": []}
    wake_up()
    for workload, threads in comparisons(options):
        result = compare(workload, threads, options)
        document["results"].append(result)
        show(result)
        write(document, options)
    if options.scaling:
        document["scaling"] = scaling.measure(options, progress)
        progress("")
        print("\n" + scaling.text(document["scaling"]))
        write(document, options)
    print("\n" + report.aligned(report.summary(document["results"])))
    files = [options.folder / name for name in ("report.html", "results.md", "results.json")]
    print(f"\n{report.NOTES}\nwritten: {', '.join(str(file) for file in files if file.exists())}")
    return 0 if all(r["same"] for r in document["results"]) else 1


if __name__ == "__main__":
    sys.exit(main())
