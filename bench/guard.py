"""guard.py PROGRAM CONFIG [--rounds N] [--threads N] [--recheck P]...: what [guard] recheck costs.

Trains CONFIG without a guard and with each share, turn about, and compares the processor time of the user's part of the
process. Prints the ratio of the shortest times, which other work on the machine disturbs least, and the median of the ratios of
each round with the quartiles."""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile


def user_seconds(command, folder):
    process = subprocess.Popen([*command, "--out", os.path.join(folder, "run"), "--overwrite", "--quiet"],  # pylint: disable=consider-using-with
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(error)
    return usage.ru_utime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("config")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--recheck", type=float, action="append")
    parser.add_argument("--set", action="append", default=[])
    options = parser.parse_args()
    shares = options.recheck or [0.01]
    command = [options.program, "train", options.config, "--threads", str(options.threads)]
    for each in options.set:
        command += ["--set", each]
    ratios = {share: [] for share in shares}
    shortest = {}
    with tempfile.TemporaryDirectory() as folder:
        user_seconds(command, folder)  # warms the files
        for number in range(options.rounds):
            order = [None, *shares] if number % 2 else [*shares, None]
            seconds = {share: user_seconds(command if share is None else [*command, "--set", f"guard.recheck={share}"], folder)
                       for share in order}
            shortest = {share: min(seconds[share], shortest.get(share, seconds[share])) for share in order}
            for share in shares:
                ratios[share].append(100 * (seconds[share] / seconds[None] - 1))
    for share in shares:
        low, middle, high = statistics.quantiles(ratios[share], n=4)
        print(f"guard.recheck = {share:g}, {options.threads} threads: {100 * (shortest[share] / shortest[None] - 1):+.2f} % by the shortest of "
              f"{options.rounds} rounds ({shortest[None]:.3f} s of user time without), median {middle:+.2f} %, quartiles {low:+.2f} to {high:+.2f}")


if __name__ == "__main__":
    main()
