"""campaign.py PROGRAM HELPERS [--seconds N | --each N] [--seed N] [--replay FILE]... : looks for what breaks the promise.

Draws trials at random, one after the other, until the time is over: trainings in every way to run them, kills, stops, full
disks, damaged files, failing calls, power cuts. Everything follows from one seed, which is printed. With --each the trials are
the same ones every time: N of every kind. A failure is reduced to a small case and kept as a file in --failures; --replay runs
such a file again (a folder: all files in it). --counts adds what was done to a file.
HELPERS is the folder of campaign_records, campaign_crash and libcampaign_faults.so."""
import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

HOME = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HOME.parent / "cli"))
sys.path.insert(0, str(HOME))

if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
    sys.argv[1] = os.path.realpath(sys.argv[1])  # trials have folders of their own
# pylint: disable=wrong-import-position
from program import PROGRAM  # takes the first argument
from counts import Tally
from disturbances import Corruptions, FullDisks, Kills, Stops
from draw import Drawer
from failures import InjectedErrors, PowerCuts
from links import CutLinks
from trials import Networks, reduced
from ways import Failure, Refused, machine

TRIALS = {kind.__name__: kind for kind in (Networks, Kills, Stops, CutLinks, FullDisks, Corruptions, InjectedErrors, PowerCuts)}
INSIDE = "LOCKSTEP_OWN_MOUNTS"


class Tools:
    """What all trials share."""

    def __init__(self, options):
        helpers = pathlib.Path(options.helpers).resolve()
        self.drawer = Drawer(helpers / "campaign_records")
        self.crash = helpers / "campaign_crash"
        self.faults = str(helpers / "libcampaign_faults.so")
        self.here = machine()
        self.mounts = INSIDE in os.environ
        self.device_share = options.device_share
        self.crash_states = options.crash_states
        self.counts = {}


def own_mounts():
    """Starts again in a mount namespace of its own, for small disks; goes on without where that cannot be."""
    if INSIDE in os.environ or os.geteuid() != 0 or shutil.which("unshare") is None:
        return
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0:
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", "-m", sys.executable, "-B", __file__, PROGRAM, *sys.argv[1:]])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("helpers")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--each", type=int, default=0, help="trials of every kind, instead of a time")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", default="", help="names of trials, with commas: " + ", ".join(TRIALS))
    parser.add_argument("--failures", default="campaign-failures", help="the folder for cases that failed")
    parser.add_argument("--counts", default="", help="the file to which the counts are added")
    parser.add_argument("--device-share", type=float, default=0.02, help="of networks that also run on an OpenCL device")
    parser.add_argument("--crash-states", type=int, default=2000, help="of each record of a run")
    parser.add_argument("--replay", action="append", default=[], help="a case that failed, or a folder of them")
    return parser.parse_args()


def try_case(kind, tools, case):
    """None, or what is wrong."""
    try:
        TRIALS[kind](tools).run(case)
    except Refused:
        tools.counts["refused_networks"] = tools.counts.get("refused_networks", 0) + 1
    except Failure as failure:
        return str(failure)
    return None


def keep(options, kind, case, seed, what):
    folder = pathlib.Path(options.failures)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{kind}-{seed.replace(':', '-')}.json"
    path.write_text(json.dumps({"trial": kind, "seed": seed, "failure": what, "case": case}, indent=1) + "\n")
    print(f"FAILED {kind}, seed {seed}: {what}\n  kept as {path}; again: campaign.py PROGRAM HELPERS --replay {path}",
          file=sys.stderr, flush=True)


def by_time(options, kinds, seed):
    """(kind, seed of the trial) until the time is over; the next kind is the one that has had least of it."""
    spent, began, number = dict.fromkeys(kinds, 0.0), time.monotonic(), 0
    while time.monotonic() - began < options.seconds:
        kind = min(kinds, key=lambda each: spent[each] / TRIALS[each].share)
        since = time.monotonic()
        yield kind, f"{seed}:{number}"
        spent[kind] += time.monotonic() - since + 0.01
        number += 1


def by_number(options, kinds, seed):
    """The same trials on every machine, however fast it is."""
    for number in range(options.each):
        for kind in kinds:
            yield kind, f"{seed}:{kind}:{number}"


def campaign(options, tools, tally):
    """The number of failures."""
    seed = random.SystemRandom().randrange(10**9) if options.seed is None else options.seed
    print(f"campaign: seed {seed}, " + (f"{options.each} of each kind" if options.each else f"{options.seconds:.0f} s"),
          file=sys.stderr, flush=True)
    kinds = options.only.split(",") if options.only else list(TRIALS)
    failures, began, said = 0, time.monotonic(), time.monotonic()
    for kind, name in (by_number if options.each else by_time)(options, kinds, seed):
        since = time.monotonic()
        case = TRIALS[kind](tools).draw(random.Random(name))
        what = try_case(kind, tools, case)
        tools.counts["trials"] = tools.counts.get("trials", 0) + 1
        if what is not None:
            failures += 1
            tools.counts["failures"] = failures
            keep(options, kind, reduced(TRIALS[kind](tools), case), name, what)
        tools.counts["seconds"] = round(time.monotonic() - began)
        if options.each:
            print(f"campaign: {kind} {name}: {time.monotonic() - since:.1f} s", file=sys.stderr, flush=True)
        elif time.monotonic() - said > 30:
            said = time.monotonic()
            print(f"campaign: {said - began:.0f} of {options.seconds:.0f} s: {json.dumps(tools.counts)}", file=sys.stderr, flush=True)
            tally.add(tools.counts)
    return failures


def replay(path, tools):
    kept = json.loads(path.read_text())
    what = try_case(kept["trial"], tools, kept["case"])
    print(f"{path}: {what or 'no failure'}", file=sys.stderr)
    return what is not None


def main():
    own_mounts()
    options = arguments()
    tools = Tools(options)
    failures = 0
    for path in map(pathlib.Path, options.replay):
        failures += sum(replay(each, tools) for each in (sorted(path.glob("*.json")) if path.is_dir() else [path]))
    if not options.replay:
        tally = Tally(options.counts)
        try:
            failures = campaign(options, tools, tally)
        finally:
            tally.add(tools.counts)
            print(json.dumps(tools.counts))
    tools.drawer.close()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
