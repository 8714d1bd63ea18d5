"""counts.py COUNTS.json PAGE.md [--fuzz FOLDER]: what campaigns have done so far, added up in a file, and the table of it in
docs/reliability.md. --fuzz adds the executions of a `make fuzz`, from the logs in FOLDER, which are then marked as counted."""
import datetime
import json
import pathlib
import re
import sys

BEGIN, END = "<!-- campaign counts: tests/campaign/counts.py writes this table -->", "<!-- end of the counts -->"
ROWS = (("networks", "random networks and trainings"), ("comparisons", "runs of them in another way, compared with the reference by `==`"),
        ("refused_ways", "ways that a network does not have (refused in one line)"),
        ("kills", "kills at random instants, resumed"), ("stops", "ranks stopped"), ("cut_links", "links between hosts cut"),
        ("full_disks", "full disks"), ("corruptions", "files damaged"), ("injected_errors", "failing system calls and allocations"),
        ("crash_states", "disk states after a power cut"))


def read(path):
    path = pathlib.Path(path)
    return json.loads(path.read_text()) if path.exists() else {"counts": {}, "fuzz": {}, "machines": []}


def write(path, all_counts):
    pathlib.Path(path).write_text(json.dumps(all_counts, indent=1, sort_keys=True) + "\n")


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown"


def sign(kept):
    """Date and machine."""
    kept["last"] = datetime.date.today().isoformat()
    kept.setdefault("first", kept["last"])
    kept["machines"] = sorted({*kept["machines"], processor()})


class Tally:
    """Adds the counts of a campaign to a file while it runs, so that one which is killed has counted, too."""

    def __init__(self, path):
        self.path = path  # empty: nothing is kept
        self.added = {}

    def add(self, counts):
        """`counts` are those since the campaign began."""
        if not self.path:
            return
        kept = read(self.path)
        for name, number in counts.items():
            kept["counts"][name] = kept["counts"].get(name, 0) + number - self.added.get(name, 0)
        self.added = dict(counts)
        sign(kept)
        write(self.path, kept)


def add_fuzz(path, folder):
    kept = read(path)
    for log in sorted(pathlib.Path(folder).glob("*.log")):
        match = re.search(r"stat::number_of_executed_units: *(\d+)", log.read_text(errors="replace"))
        if match:
            kept["fuzz"][log.stem] = kept["fuzz"].get(log.stem, 0) + int(match[1])
            log.rename(log.with_suffix(".counted"))
    sign(kept)
    write(path, kept)


def table(kept):
    counts, fuzz = kept["counts"], kept["fuzz"]
    lines = [BEGIN, "| what | how often |", "| --- | --: |"]
    lines += [f"| {words} | {counts.get(name, 0):,} |" for name, words in ROWS]
    if fuzz:
        lines.append(f"| executions of {len(fuzz)} fuzz targets, all together | {sum(fuzz.values()):,} |")
        least = min(fuzz, key=fuzz.get)
        lines.append(f"| of the target with the fewest (`{least}`) | {fuzz[least]:,} |")
    lines.append(f"| hours | {counts.get('seconds', 0) / 3600:.1f} |")
    lines.append(f"| failures found | {counts.get('failures', 0)} |")
    when = kept.get("first", "") if kept.get("first") == kept.get("last") else f"{kept.get('first')} to {kept.get('last')}"
    return "\n".join([*lines, "", f"{when}, on {', '.join(kept['machines'])}.", END])


def main():
    path, page = sys.argv[1], pathlib.Path(sys.argv[2])
    if "--fuzz" in sys.argv:
        add_fuzz(path, sys.argv[sys.argv.index("--fuzz") + 1])
    text = page.read_text()
    begin, end = text.index(BEGIN), text.index(END) + len(END)
    page.write_text(text[:begin] + table(read(path)) + text[end:])


if __name__ == "__main__":
    main()
