"""The ways to run a training that must end with the same bytes, and running one."""
import json
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import tempfile
import time

from draw import config_text, file_contents
from jobs import children
from program import PROGRAM
from ranks_test import FOREIGN, LAUNCHERS, available

SAME = ("metrics.jsonl", "model.safetensors")
# Seconds. A rank that waits for a lost one has 15; everything else is a hang long before this.
HANG = 150
CODES = range(11)  # of docs: 0 to 10
REFERENCE = {"backend": "naive", "threads": 1}


class Failure(Exception):
    """Something that must not happen."""


class Refused(Exception):
    """The program says, as it should, that it cannot run this."""


def machine():
    """What this machine can do: backends that keep the bits, instruction sets, MPI libraries, builds by other compilers."""
    told = json.loads(subprocess.run([PROGRAM, "doctor", "--json"], capture_output=True, check=True).stdout)
    text = json.dumps(told)
    builds = pathlib.Path(PROGRAM).resolve().parents[2]
    names = ("neon",) if platform.machine() in ("aarch64", "arm64") else ("baseline", "avx2", "avx512")
    return {"isas": [isa for isa in names if f'"{isa}"' in text or f" {isa}" in text],
            "libraries": [library for library in LAUNCHERS if available(library)],
            "devices": has_device(),
            "programs": [str(path) for name in ("clang", "debug") if (path := builds / name / "cli/lockstep").exists()]}


def has_device():
    done = subprocess.run([PROGRAM, "doctor"], capture_output=True, text=True, check=False)
    return "opencl device 0:0" in done.stdout


def draw_ways(random, here, device_share):
    """One of each kind: instruction sets, plain loops, ranks, parts of the network, devices, compilers."""
    ways = [{"backend": "naive-o0", "threads": 1}, {"backend": "naive", "threads": random.randint(2, 4)}]
    ways += [{"backend": "simd", "isa": isa, "threads": random.choice((1, 2, 3, 4, 7))} for isa in here["isas"]]
    ways += [{"backend": "simd", "threads": random.randint(1, 3), "program": program} for program in here["programs"]]
    for library in here["libraries"]:
        way = {"backend": "simd", "threads": random.choice((1, 1, 2)), "mpi": library, "ranks": random.choice((2, 2, 3, 4))}
        part = random.choice((None, "pipeline", "tensor", "both"))
        if part == "both":
            way |= {"ranks": 4, "pipeline": 2, "tensor": 2}
        elif part:
            way |= {"ranks": random.choice((2, 4)), part: 2}
        ways.append(way)
    if here["devices"] and random.random() < device_share:
        ways.append({"backend": random.choice(("opencl", "opencl-naive"))} | random.choice(({}, {"lanes": 1})))
    return ways


class Result:
    def __init__(self, code, out, err, seconds):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds

    def __str__(self):
        return f"exit {self.code} after {self.seconds:.1f} s: {self.err.strip()[-600:]}"


class Folder:
    """A folder of a trial, in memory where that can be: thousands of runs would wait for a disk."""

    def __init__(self, case=None):
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-campaign-", dir=memory))
        if case is not None:
            self.write(case)

    def write(self, case):
        (self.path / "a.toml").write_text(config_text(case["config"]))
        for name, what in case["files"].items():
            (self.path / name).write_bytes(file_contents(*what))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        return kept | {"HOME": str(self.path), "OMP_NUM_THREADS": "1", "LOCKSTEP_STEP_THREADS": "all",
                       "LOCKSTEP_CACHE_DIR": str(pathlib.Path(tempfile.gettempdir(), "lockstep-campaign-cache"))} | more

    def start(self, command, **environment):
        # pylint: disable=consider-using-with
        return subprocess.Popen(command, cwd=self.path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
                                env=self.environment(**environment))

    def run(self, command, seconds=HANG, **environment):
        began = time.monotonic()
        process = self.start(command, **environment)
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            kill_all(process)
            raise Failure(f"hangs: {' '.join(map(str, command))}") from None
        return Result(process.returncode, out, err, time.monotonic() - began)

    def contents(self, run):
        return [(self.path / run / name).read_bytes() if (self.path / run / name).exists() else None for name in SAME]


def kill_all(process):
    for each in [*children(process.pid), process.pid]:
        try:
            os.kill(each, signal.SIGKILL)
        except OSError:
            pass
    process.communicate()


def command_of(way, out, *more):
    """The command line of a way, and what it needs in the environment."""
    words = [way.get("program", PROGRAM), "train", "a.toml", "--out", out, "--quiet", "--backend", way["backend"]]
    if "threads" in way:
        words += ["--threads", str(way["threads"])]
    for key in ("pipeline", "tensor"):
        if key in way:
            words += ["--set", f"parallel.{key}={way[key]}"]
    if "mpi" in way:
        words = [*LAUNCHERS[way["mpi"]], "-n", str(way["ranks"]), *words]
    environment = {}
    if "isa" in way:
        environment["LOCKSTEP_ISA"] = way["isa"]
    if "lanes" in way:
        environment["LOCKSTEP_OPENCL_LANES"] = str(way["lanes"])
    return [*words, *more], environment


def check_words(result, what):
    """Whatever happens: a code of the list that is no bug, and one line of the program's own where it is not 0."""
    if result.code not in CODES or result.code == 1:
        raise Failure(f"{what}: {result}")
    said = [line for line in result.err.splitlines() if line.startswith("lockstep: ")]
    if result.code != 0 and len(said) != 1:
        raise Failure(f"{what}: {len(said)} lines of its own; {result}")


def run_way(folder, way, out, *more):
    command, environment = command_of(way, out, *more)
    result = folder.run(command, **environment)
    check_words(result, json.dumps(way))
    return result


def reference(folder, out="reference", *more):
    """What every other way must give: exit code and files."""
    result = run_way(folder, REFERENCE, out, *more)
    if result.code in (2, 3):
        raise Refused(result.err.strip())
    return result, folder.contents(out)


def compare(folder, way, expected, contents, out="run"):
    """True where the way ran and agreed, False where it was refused."""
    shutil.rmtree(folder.path / out, ignore_errors=True)
    result = run_way(folder, way, out)
    if result.code == 2 and way != REFERENCE:
        return False
    if result.code != expected.code:
        raise Failure(f"{json.dumps(way)}: {result}; the reference: {expected}")
    if expected.code == 0:
        for name, one, other in zip(SAME, folder.contents(out), contents):
            if one != other:
                raise Failure(f"{json.dumps(way)}: {name} differs from that of the reference")
    return True
