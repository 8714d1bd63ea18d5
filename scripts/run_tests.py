#!/usr/bin/env python3
"""run_tests.py PRESET [CTEST-OPTION...]: runs CTest, one line per test. Tests that were skipped are listed with their
reasons, grouped, so that a skip never looks like a pass; CTest's own closing lines come last."""
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree


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


def main():
    preset, options = sys.argv[1], sys.argv[2:]
    report = pathlib.Path("build", preset, "tests.xml").resolve()
    report.unlink(missing_ok=True)
    command = ["ctest", "--preset", preset, "--no-label-summary", "--output-junit", str(report)] + options
    closing = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as ctest:
        for line in ctest.stdout:
            if closing or re.match(r"\d+% tests passed", line):
                closing.append(line)
            elif not re.match(r"\s+Start +\d+: ", line):
                print(line, end="", flush=True)
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
