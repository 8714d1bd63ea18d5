"""campaign.py PROGRAM HELPERS [--seconds N] [--seed N] [--replay FILE]... : looks for what breaks the promise.

Draws trials at random, one after the other, until the time is over: trainings in every way to run them, kills, stops, full
disks, damaged files, failing calls, power cuts. Everything follows from one seed, which is printed. A failure is reduced to a
small case and kept as a file in --failures; --replay runs such a file again. --counts adds what was done to a file.
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
from counts import add_counts
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
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", default="", help="names of trials, with commas: " + ", ".join(TRIALS))
    parser.add_argument("--failures", default="campaign-failures", help="the folder for cases that failed")
    parser.add_argument("--counts", default="", help="the file to which the counts are added")
    parser.add_argument("--device-share", type=float, default=0.02, help="of networks that also run on an OpenCL device")
    parser.add_argument("--crash-states", type=int, default=2000, help="of each record of a run")
    parser.add_argument("--replay", action="append", default=[], help="a case that failed")
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


def campaign(options, tools):
    """Trials until the time is over; the number of failures. The next trial is one of the kind that has had least time."""
    seed = random.SystemRandom().randrange(10**9) if options.seed is None else options.seed
    print(f"campaign: seed {seed}, {options.seconds:.0f} s", file=sys.stderr, flush=True)
    kinds = options.only.split(",") if options.only else list(TRIALS)
    spent = dict.fromkeys(kinds, 0.0)
    failures, number, began = 0, 0, time.monotonic()
    while time.monotonic() - began < options.seconds:
        kind = min(kinds, key=lambda each: spent[each] / TRIALS[each].share)
        name = f"{seed}:{number}"
        number += 1
        since = time.monotonic()
        case = TRIALS[kind](tools).draw(random.Random(name))
        if (what := try_case(kind, tools, case)) is not None:
            failures += 1
            keep(options, kind, reduced(TRIALS[kind](tools), case), name, what)
        spent[kind] += time.monotonic() - since + 0.01
    tools.counts |= {"trials": number, "failures": failures, "seconds": round(time.monotonic() - began)}
    return failures


def main():
    own_mounts()
    options = arguments()
    tools = Tools(options)
    failures = 0
    for path in options.replay:
        kept = json.loads(pathlib.Path(path).read_text())
        what = try_case(kept["trial"], tools, kept["case"])
        print(f"{path}: {what or 'no failure'}", file=sys.stderr)
        failures += what is not None
    if not options.replay:
        failures = campaign(options, tools)
        print(json.dumps(tools.counts))
        if options.counts:
            add_counts(options.counts, tools.counts)
    tools.drawer.close()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
