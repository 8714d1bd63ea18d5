"""rungs.py RESULTS PROCESSORS: the rungs that a ladder measured. Fails where one is missing that every machine has once
`make demo` has installed its packages."""
import json
import pathlib
import sys


def expected(processors):
    """Plain loops at both levels, library, SIMD, all processors as threads and as ranks, OpenCL."""
    rungs = ["naive-o0", "naive", "library", "simd"]
    if processors > 1:
        rungs += [f"threads-{processors}", f"ranks-{processors}"]
    return rungs + ["opencl"]


def measured(path):
    results = [json.loads(line) for line in path.read_text().splitlines()]
    return [result["name"] for result in results if result["kind"] == "ladder" and result["samples"]]


def main():
    path, processors = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    if not path.exists():
        print("no results: the ladder did not run")
        return 1
    found = measured(path)
    missing = [name for name in expected(processors) if name not in found]
    print(f"{len(found)} rungs: {', '.join(found)}" + (f"; MISSING: {', '.join(missing)}" if missing else ""))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
