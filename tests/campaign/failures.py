"""Trials over calls that fail and disks that forget: errors of system calls and allocations, and power cuts."""
import errno
import json
import os
import shutil

from program import PROGRAM
from trials import Trial
from ways import Failure, Folder, check_words, reference, run_way

SMALL = {"config": {"data": {"source": "moons", "count": 48, "split": {"validation": 16}}, "model": {"sizes": "2-6-2"},
                    "train": {"batch": 8, "epochs": 3, "optimizer": "adam"}, "checkpoint": {"every_steps": 4}}, "files": {}}
MORE = ("--set", "train.epochs=5")
ERRORS = {"open": (errno.EMFILE, errno.EACCES, errno.EIO), "read": (errno.EIO,), "write": (errno.ENOSPC, errno.EIO),
          "fsync": (errno.EIO, errno.ENOSPC), "mkdir": (errno.ENOSPC, errno.EROFS), "flock": (errno.EIO, errno.ENOLCK)}


class InjectedErrors(Trial):
    """SQLite's way: the n-th call of a kind fails, or all from the n-th on, for every n until the run no longer meets it."""
    share = 3
    parts = 16  # a case is the calls n of one residue

    def __init__(self, tools):
        super().__init__(tools)
        self.calls = None

    def draw(self, random):
        return {"residue": random.randrange(self.parts), "seed": random.randrange(10**6)}

    def run(self, case):
        with Folder(SMALL) as folder:
            _, contents = reference(folder, "whole", *MORE)
            run_way(folder, {"backend": "simd", "threads": 1}, "begun")
            if "fault" in case:
                self.inject(folder, contents, *case["fault"])
                return
            counts = self.calls_of_a_run(folder)
            for call, most in sorted(counts.items()):
                # There are thousands of allocations: a sample of them in each case.
                step = self.parts if call != "alloc" else max(self.parts, most // 40)
                first = case["residue"] if call != "alloc" else case["seed"] % step
                for number in range(1 + first, most + 2, step):
                    for always in (False, True):
                        error = ERRORS.get(call, (errno.EIO,))[(number + case["seed"]) % len(ERRORS.get(call, (1,)))]
                        try:
                            self.inject(folder, contents, call, number, always, error)
                        except Failure as failure:
                            case["fault"] = [call, number, always, error]
                            raise failure

    def command(self):
        return [PROGRAM, "train", "a.toml", "--out", "run", "--quiet", "--threads", "1", "--resume", *MORE]

    def fresh(self, folder):
        shutil.rmtree(folder.path / "run", ignore_errors=True)
        shutil.copytree(folder.path / "begun", folder.path / "run")

    def calls_of_a_run(self, folder):
        self.fresh(folder)
        path = folder.path / "counts"
        result = folder.run(self.command(), LD_PRELOAD=self.tools.faults, CAMPAIGN_COUNTS=str(path))
        if result.code != 0:
            raise Failure(f"without an error: {result}")
        return {name: int(count) for name, count in (line.split() for line in path.read_text().splitlines()) if count != "0"}

    def inject(self, folder, contents, call, number, always, error):
        error = errno.ENOMEM if call == "alloc" else error
        what = f"{call} {number}{' and later' if always else ''} fails with {os.strerror(error)}"
        self.fresh(folder)
        fired = folder.path / "fired"
        fired.unlink(missing_ok=True)
        result = folder.run(self.command(), 60, LD_PRELOAD=self.tools.faults, CAMPAIGN_CALL=call, CAMPAIGN_NUMBER=str(number),
                            CAMPAIGN_ERROR=str(error), CAMPAIGN_ALWAYS="1" if always else "", CAMPAIGN_FIRED=str(fired))
        if not fired.exists():
            return
        self.count("injected_errors")
        # Where nothing can be written, nothing can be said.
        if not (call == "write" and always):
            check_words(result, what)
        elif result.code < 0:
            raise Failure(f"{what}: {result}")
        if result.code == 0 and folder.contents("run") != contents:
            raise Failure(f"{what}: accepted, with another result")
        result = run_way(folder, {"backend": "simd", "threads": 1}, "run", "--resume", *MORE)
        if result.code != 0 or folder.contents("run") != contents:
            raise Failure(f"{what}; then without an error: {result}")

    def smaller(self, case):
        return ()


class PowerCuts(Trial):
    """States of the disk that a power cut may leave, of a new run and of one that goes on: each can be resumed."""
    share = 3

    def draw(self, random):
        sizes = random.choice(("2-3-2", "2-40-2", "2-90-90-2"))
        return {"sizes": sizes, "every": random.choice((1, 3, 8)), "keep": random.choice((0, 1, 2)), "epochs": random.choice((3, 6, 12)),
                "seed": random.randrange(10**9), "states": self.tools.crash_states}

    def run(self, case):
        training = json.loads(json.dumps(SMALL))
        training["config"]["model"]["sizes"] = case["sizes"]
        training["config"]["checkpoint"] = {"every_steps": case["every"], "keep": case["keep"]}
        training["config"]["train"]["epochs"] = case["epochs"]
        with Folder(training) as folder:
            self.record(folder, "new")
            self.check(folder, case, "new")
            shutil.copytree(folder.path / "place/run", folder.path / "before")
            self.record(folder, "resumed", "--resume", "--set", f"train.epochs={case['epochs'] + 2}")
            self.check(folder, case, "resumed", "--initial", folder.path / "before")

    def record(self, folder, name, *more):
        (folder.path / "place").mkdir(exist_ok=True)
        result = folder.run([PROGRAM, "train", "a.toml", "--out", "place/run", "--quiet", "--threads", "1", *more],
                            LD_PRELOAD=self.tools.faults, CAMPAIGN_RECORD=str(folder.path / name),
                            CAMPAIGN_ROOT=str(folder.path / "place"))
        if result.code != 0:
            raise Failure(f"recorded: {result}")

    def command(self, folder, case, name, *more):
        return [self.tools.crash, folder.path / name, folder.path / "place/run", folder.path / "work", str(case["states"]),
                str(case["seed"]), *more]

    def check(self, folder, case, name, *more):
        result = folder.run(self.command(folder, case, name, *more), 600)
        if result.code not in (0, 1):
            raise Failure(f"campaign_crash: {result}")
        found = json.loads(result.out)
        self.count("crash_states", found["states"])
        if found["faults"]:
            raise Failure(f"a power cut during a {name} run: {json.dumps(found['faults'])[:600]}")

    def smaller(self, case):
        yield from ({**case, "states": states} for states in (100, 1000) if states < case["states"])
