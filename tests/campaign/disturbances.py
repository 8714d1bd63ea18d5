"""Trials that disturb a run: kills, stops, full disks, damaged files. It must end in order, and go on to the same bytes."""
import json
import os
import shutil
import signal
import subprocess
import time

from jobs import EXECUTABLE, alive, children
from program import PROGRAM
from trials import Trial
from ways import Failure, Folder, command_of, check_words, kill_all, reference, run_way

# Seconds within which the others end when a rank is lost.
BOUND = 15


def long_training(tools, random):
    """One that saves often and lasts long enough to be disturbed."""
    case = tools.drawer.training(random)
    case["config"]["train"] |= {"epochs": random.choice((20, 40, 80)), "batch": random.choice((4, 8, 16))}
    case["config"]["checkpoint"] = {"every_steps": random.choice((1, 3, 7, 20))}
    return case


def draw_way(random, libraries):
    if libraries and random.random() < 0.35:
        return {"backend": "simd", "threads": 1, "mpi": random.choice(libraries), "ranks": random.choice((2, 3))}
    return {"backend": random.choice(("simd", "naive")), "threads": random.choice((1, 1, 2, 3))}


def rank_processes(process):
    found = []
    for each in [process.pid, *children(process.pid)]:
        try:
            if os.readlink(f"/proc/{each}/exe") == EXECUTABLE:
                found.append(each)
        except OSError:
            pass
    return found


def send(process, number):
    try:
        os.kill(process, number)
    except OSError:
        pass


def wait_for_the_end(process, others, what):
    """Of the command and of all its ranks; seconds."""
    since = time.monotonic()
    while process.poll() is None or any(alive(each) for each in others):
        if time.monotonic() - since > BOUND:
            left = [each for each in others if alive(each)]
            kill_all(process)
            for each in left:
                send(each, signal.SIGKILL)
            raise Failure(f"{what}: still there after {BOUND} s: {left or 'the launcher'}")
        time.sleep(0.02)
    return time.monotonic() - since


def same_end(folder, run, contents, what):
    if folder.contents(run) != contents:
        raise Failure(f"{what}: other bytes than a run that was never stopped")
    if left := [path.name for path in (folder.path / run).iterdir() if path.name.startswith(".")]:
        raise Failure(f"{what}: left behind: {left}")


class Kills(Trial):
    """SIGKILL at random instants: of one process, of one rank, of the launcher, of all."""
    share = 4

    def draw(self, random):
        lives = [draw_way(random, self.tools.here["libraries"]) |
                 {"until": random.random(), "victim": random.choice(("all", "rank", "launcher"))} for _ in range(random.randint(2, 7))]
        return long_training(self.tools, random) | {"lives": lives}

    def run(self, case):
        with Folder(case) as folder:
            expected, contents = reference(folder)
            if expected.code != 0:
                return
            for life in case["lives"]:
                self.live(folder, life, expected.seconds)
            result = run_way(folder, {"backend": "simd", "threads": 2}, "run", "--resume")
            if result.code != 0:
                raise Failure(f"after {len(case['lives'])} kills: {result}")
            same_end(folder, "run", contents, json.dumps(case["lives"]))

    def live(self, folder, life, seconds):
        way = {key: life[key] for key in life if key not in ("until", "victim")}
        command, environment = command_of(way, "run", "--resume")
        process = folder.start(command, **environment)
        try:
            # Ranks take a while to meet.
            process.wait(timeout=life["until"] * (seconds + (0.8 if "mpi" in way else 0.05)))
            _, err = process.communicate()
            if process.returncode != 0:
                raise Failure(f"{json.dumps(way)}: exit {process.returncode}: {err[-500:]}")
            return
        except subprocess.TimeoutExpired:
            pass
        ranks = rank_processes(process)
        if life["victim"] == "rank" and ranks:
            send(ranks[int(life["until"] * 1000) % len(ranks)], signal.SIGKILL)
        elif life["victim"] == "launcher":
            send(process.pid, signal.SIGKILL)
        else:
            for each in [*ranks, process.pid]:
                send(each, signal.SIGKILL)
        wait_for_the_end(process, ranks, f"killed {life['victim']} of {json.dumps(way)}")
        process.communicate()
        self.count("kills")

    def smaller(self, case):
        if len(case["lives"]) > 1:
            yield from ({**case, "lives": [*case["lives"][:i], *case["lives"][i + 1:]]} for i in range(len(case["lives"])))
        yield from super().smaller(case)


class Stops(Trial):
    """SIGSTOP of a rank: the others say so and end; what was trained until then is the same."""

    def draw(self, random):
        case = long_training(self.tools, random)
        case["config"]["train"]["epochs"] = 1000000
        case["config"]["train"].pop("schedule", None)
        return case | {"mpi": random.choice(self.tools.here["libraries"] or [None]), "victim": random.randrange(3),
                       "after": random.random() * 2}

    def run(self, case):
        if case["mpi"] is None:
            return
        with Folder(case) as folder:
            way = {"backend": "simd", "threads": 1, "mpi": case["mpi"], "ranks": 3}
            command, environment = command_of(way, "run")
            process = folder.start(command, **environment, LOCKSTEP_PEER_TIMEOUT="4")
            began = time.monotonic()
            while process.poll() is None and len(rank_processes(process)) < 3 and time.monotonic() < began + 30:
                time.sleep(0.02)
            time.sleep(case["after"])
            ranks = rank_processes(process)
            if process.poll() is not None or len(ranks) != 3:
                # It refused the configuration, diverged, or has not begun.
                kill_all(process)
                return
            send(ranks[case["victim"]], signal.SIGSTOP)
            wait_for_the_end(process, ranks, f"stopped rank {case['victim']}")
            _, err = process.communicate()
            said = [line for line in err.splitlines() if line.startswith("lockstep: ")]
            # MPICH's launcher kills the stopped rank and ends with that signal's number.
            if len(said) != 1 or process.returncode not in ((7, 8, signal.SIGKILL) if case["mpi"] == "mpich" else (7, 8)):
                raise Failure(f"a rank was stopped: exit {process.returncode}, {err[-800:]}")
            self.count("stops")
            self.compare_lines(folder)

    def compare_lines(self, folder):
        """The lines until then are those of one process."""
        path = folder.path / "run/metrics.jsonl"
        lines = path.read_bytes().splitlines() if path.exists() else []
        if not lines or len(lines) > 3000:
            return
        result = run_way(folder, {"backend": "simd", "threads": 1}, "alone", "--set", f"train.epochs={len(lines)}")
        alone = (folder.path / "alone/metrics.jsonl").read_bytes().splitlines()[:len(lines)]
        if result.code == 0 and alone != lines:
            raise Failure("the metrics before the stop are not those of one process")


class FullDisks(Trial):
    """A disk of random size: exit code 5 and one line; with more room the run goes on to the same bytes."""

    def draw(self, random):
        return long_training(self.tools, random) | {"kilobytes": random.choice((16, 32, 48, 64, 96, 128, 160, 200))}

    def run(self, case):
        if not self.tools.mounts:
            return
        with Folder(case) as folder:
            expected, contents = reference(folder)
            if expected.code != 0:
                return
            disk = folder.path / "disk"
            disk.mkdir()
            mount("-t", "tmpfs", "-o", f"size={case['kilobytes']}k", "lockstep-campaign", disk)
            try:
                result = run_way(folder, {"backend": "simd", "threads": 1}, "disk/run")
                if result.code not in (0, 5):
                    raise Failure(f"a disk of {case['kilobytes']} kB: {result}")
                if result.code == 5:
                    self.count("full_disks")
                mount("-o", "remount,size=64m", disk)
                result = run_way(folder, {"backend": "simd", "threads": 2}, "disk/run", "--resume")
                if result.code != 0:
                    raise Failure(f"with room again: {result}")
                same_end(folder, "disk/run", contents, f"a disk of {case['kilobytes']} kB")
            finally:
                subprocess.run(["umount", "-l", disk], check=False)


def mount(*words):
    subprocess.run(["mount", *map(str, words)], check=True, capture_output=True)


class Corruptions(Trial):
    """Files that are damaged: refused in one line with the right code, or the same result; never a crash, never accepted."""
    share = 2

    def draw(self, random):
        case = long_training(self.tools, random)
        case["config"]["train"]["epochs"] = 4
        case["config"]["checkpoint"]["every_steps"] = 2
        return case | {"damages": [[random.choice(("model", "checkpoint", "metrics", "data", "config")), random.choice(DAMAGES),
                                    random.random(), random.random()] for _ in range(12)]}

    def run(self, case):
        with Folder(case) as folder:
            expected, contents = reference(folder, "whole")
            if expected.code != 0:
                return
            for damage in case["damages"]:
                self.damage(folder, case, damage, contents)

    def damage(self, folder, case, damage, contents):
        what = damage[0]
        run = folder.path / "run"
        shutil.rmtree(run, ignore_errors=True)
        shutil.copytree(folder.path / "whole", run)
        names = {"model": [run / "model.safetensors"], "checkpoint": sorted(run.glob("checkpoint-*")),
                 "metrics": [run / "metrics.jsonl"], "config": [run / "config.toml"],
                 "data": [folder.path / name for name in case["files"]]}[what]
        if not names:
            return
        path = names[int(damage[2] * len(names))]
        before = path.read_bytes()
        after = damaged(before, *damage[1:])
        if after == before:
            return
        path.write_bytes(after)
        try:
            self.look(folder, what, damage, contents)
        finally:
            path.write_bytes(before)
        self.count("corruptions")

    def look(self, folder, what, damage, contents):
        say = f"{damage[1]} in {what}"
        if what == "model":
            for command in (["inspect", "run/model.safetensors"], ["eval", "run/model.safetensors"]):
                result = folder.run([PROGRAM, *command])
                check_words(result, say)
                if result.code != 4 and not (command[0] == "inspect" and result.code == 3):  # which takes data files too
                    raise Failure(f"{say}: {command[0]}: {result}")
            return
        # What is damaged must not become part of a result.
        result = run_way(folder, {"backend": "simd", "threads": 1}, "run", "--resume")
        if result.code not in (0, 2, 3, 4):
            raise Failure(f"{say}: {result}")
        if result.code == 0 and folder.contents("run") != contents:
            raise Failure(f"{say}: accepted, with another result")
        if what == "data":
            run_way(folder, {"backend": "simd", "threads": 1}, "other")
            shutil.rmtree(folder.path / "other", ignore_errors=True)

    def smaller(self, case):
        if len(case["damages"]) > 1:
            yield from ({**case, "damages": [damage]} for damage in case["damages"])
        else:
            yield from super().smaller(case)


DAMAGES = ("bit", "byte", "cut", "longer", "zeros", "swap")


def damaged(contents, how, first, second):
    """The same bytes with a damage at a place."""
    at = int(second * max(1, len(contents)))
    if how == "cut":
        return contents[:at]
    if how == "longer":
        return contents + bytes(1 + int(first * 700))
    if not contents:
        return contents
    changed = bytearray(contents)
    if how == "bit":
        changed[at] ^= 1 << int(first * 8)
    elif how == "byte":
        changed[at] = int(first * 256)
    elif how == "zeros":
        end = min(len(changed), at + 1 + int(first * 512))
        changed[at:end] = bytes(end - at)
    else:  # two blocks change places
        size = max(1, len(changed) // 8)
        other = int(first * (len(changed) - size))
        one, two = changed[at:at + size], changed[other:other + size]
        changed[other:other + len(one)], changed[at:at + len(two)] = one, two
        changed = changed[:len(contents)]
    return bytes(changed)
