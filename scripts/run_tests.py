#!/usr/bin/env python3
"""run_tests.py PRESET [CTEST-OPTION...]: runs CTest. A terminal shows one line of progress, a log one line per group of
tests (what stands before the first dot of their names). A test that fails is shown in full as soon as it ends. Tests that
were skipped are listed with their reasons, grouped, so that a skip never looks like a pass; CTest's own closing lines
come last."""
import collections
import json
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree

RESULT = re.compile(r"\s*\d+/\d+ Test +#\d+: (.+?) \.*\s*(\*\*\*|\s)([A-Z][\w :]*?)\s+([\d.]+) sec")
CLOSING = re.compile(r"\d+% tests passed")


def reason_of(output):
    """GoogleTest prints `file:line: Skipped`, then the reason; other tests end with it."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for index, line in enumerate(lines[:-1]):
        if line.endswith(": Skipped") and not lines[index + 1].startswith("["):
            return lines[index + 1]
    return lines[-1] if lines else "no reason given"


def skipped(report):
    """Reason -> names of the tests skipped for it, from CTest's JUnit file."""
    found = {}
    if report.exists():
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            if case.find("skipped") is not None:
                found.setdefault(reason_of(case.findtext("system-out") or ""), []).append(case.get("name"))
    return found


def group_of(name):
    return name.split(".", 1)[0]


def duration(seconds):
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds) // 60} min {int(seconds) % 60} s"


class Progress:
    """What is shown while tests run."""

    def __init__(self, names, terminal):
        self.groups = {}
        for group, count in collections.Counter(map(group_of, names)).items():
            self.groups[group] = {"left": count, "seconds": 0.0, "passed": 0, "skipped": 0, "failed": 0}
        self.terminal = terminal
        self.total = len(names)
        self.done = self.failed = 0
        self.start = time.monotonic()
        self.width = max(map(len, self.groups), default=0)

    def clear(self):
        if self.terminal:
            print("\r\033[K", end="", flush=True)

    def show(self, name):
        if self.terminal:
            line = (f"tests: {self.done} of {self.total}, {self.failed} failed, "
                    f"{duration(time.monotonic() - self.start)}; {name}")
            print(f"\r\033[K{line[:79]}", end="", flush=True)

    def ended(self, name, outcome, seconds):
        """Counts a test; outcome is passed, skipped or failed."""
        group = self.groups.setdefault(group_of(name), collections.Counter(left=1))
        group[outcome] += 1
        group["left"] -= 1
        group["seconds"] += seconds
        self.done += 1
        self.failed += outcome == "failed"
        if not self.terminal and group["left"] == 0:
            counts = ", ".join(f"{group[what]} {what}" for what in ("passed", "skipped", "failed") if group[what])
            print(f"{group_of(name):{self.width}}  {duration(group['seconds']):>12}  {counts}", flush=True)
        self.show(name)


def follow(lines, progress):
    """Shows what CTest prints; returns its closing lines."""
    closing, failing = [], False
    for line in lines:
        result = RESULT.match(line)
        if closing or CLOSING.match(line):
            closing.append(line)
        elif result:
            name, _, word, seconds = result.groups()
            outcome = {"Passed": "passed", "Skipped": "skipped"}.get(word, "failed")
            failing = outcome == "failed"
            if failing:
                progress.clear()
                print(line, end="", flush=True)
            progress.ended(name, outcome, float(seconds))
        elif failing and not re.match(r"\s+Start +\d+: ", line):
            progress.clear()
            print(line, end="", flush=True)
    progress.clear()
    return closing


def main():
    preset, options = sys.argv[1], sys.argv[2:]
    report = pathlib.Path("build", preset, "tests.xml").resolve()
    report.unlink(missing_ok=True)
    command = ["ctest", "--preset", preset] + options
    listed = subprocess.run(command + ["--show-only=json-v1"], stdout=subprocess.PIPE, text=True, check=False)
    if listed.returncode:
        return listed.returncode
    progress = Progress([test["name"] for test in json.loads(listed.stdout)["tests"]], sys.stdout.isatty())
    command += ["--no-label-summary", "--output-junit", str(report)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as ctest:
        closing = follow(ctest.stdout, progress)
    for reason, names in sorted(skipped(report).items()):
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        print(f"skipped: {reason} ({shown})")
    # CTest lists what failed, and what did not run (said better above), below its closing lines; those shall be last.
    end = next((i for i, line in enumerate(closing) if line.startswith("Total Test time")), len(closing)) + 1
    failed = re.sub(r"The following tests did not run:\n(\t.*\n)*", "", "".join(closing[end:])).strip()
    print(("\n" + failed + "\n\n" if failed else "\n") + "".join(closing[:end]).rstrip())
    return ctest.returncode


if __name__ == "__main__":
    sys.exit(main())
