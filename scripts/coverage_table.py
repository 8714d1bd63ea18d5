#!/usr/bin/env python3
"""coverage_table.py BUILD SOURCE [--page PAGE.md]: which lines and branches of the library the tests of a build with
LOCKSTEP_COVERAGE have run, by folder, from the counters that gcov reads. --page writes the table into the page. A line of a
template counts once, whichever instance ran; branches to where exceptions go do not count."""
import collections
import concurrent.futures
import datetime
import json
import os
import pathlib
import subprocess
import sys

BEGIN, END = "<!-- coverage: scripts/coverage_table.py writes this table -->", "<!-- end of the coverage -->"


def counters_of(file):
    """What gcov says about one object file."""
    done = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", file.name], cwd=file.parent,
                          capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def collect(build, source):
    """File -> line -> [how often it ran, how often each branch of it was taken]."""
    found = collections.defaultdict(dict)
    library = os.path.join(source, "lockstep") + os.sep
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for parts in pool.map(counters_of, sorted(build.rglob("*.gcno"))):
            for part in parts:
                for file in part["files"]:
                    path = os.path.normpath(os.path.join(part["current_working_directory"], file["file"]))
                    if path.startswith(library):
                        add_lines(found[path[len(library):]], file["lines"])
    return found


def add_lines(kept, lines):
    for line in lines:
        count, branches = kept.setdefault(line["line_number"], [0, []])
        taken = [branch["count"] for branch in line["branches"] if not branch["throw"]]
        branches += [0] * (len(taken) - len(branches))
        for index, number in enumerate(taken):
            branches[index] += number
        kept[line["line_number"]][0] = count + line["count"]


def totals(files):
    """Lines that ran, lines, branches taken, branches."""
    entries = [entry for lines in files for entry in lines.values()]
    branches = [taken for _, each in entries for taken in each]
    return sum(count > 0 for count, _ in entries), len(entries), sum(taken > 0 for taken in branches), len(branches)


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "—"


def table(found):
    folders = collections.defaultdict(list)
    for path, lines in found.items():
        folders[path.partition("/")[0]].append(lines)
    rows = ["| folder | lines | run | branches | taken |", "| --- | --: | --: | --: | --: |"]
    for name, files in [*sorted(folders.items()), ("all of `lockstep/`", list(found.values()))]:
        run, lines, taken, branches = totals(files)
        rows.append(f"| {name} | {lines:,} | {share(run, lines)} | {branches:,} | {share(taken, branches)} |")
    return "\n".join([BEGIN, *rows, "", f"{datetime.date.today().isoformat()}, the tests in C++ alone.", END])


def main():
    build, source = (pathlib.Path(each).resolve() for each in sys.argv[1:3])
    found = collect(build, str(source))
    if not found:
        sys.exit(f"lockstep: no counters in {build}: build the preset coverage and run its tests first")
    text = table(found)
    print(text)
    worst = sorted(found.items(), key=lambda each: totals([each[1]])[0] - totals([each[1]])[1])
    for path, lines in worst[:15]:
        run, count, _, _ = totals([lines])
        print(f"{count - run:6} lines of lockstep/{path} did not run")
    if "--page" in sys.argv:
        page = pathlib.Path(sys.argv[sys.argv.index("--page") + 1])
        old = page.read_text()
        begin, end = old.index(BEGIN), old.index(END) + len(END)
        page.write_text(old[:begin] + text + old[end:])


if __name__ == "__main__":
    main()
