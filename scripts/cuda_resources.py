#!/usr/bin/env python3
"""cuda_resources.py BUILD [--write]: registers, shared memory, spills and theoretical occupancy of every CUDA kernel.

Reads what ptxas said when BUILD (for example build/release) compiled the plugin, and the block sizes that the tests of
the backend use on the emulator. Prints the table of docs/gpu.md; --write puts it there. Fails on a spill.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/gpu.md"
BEGIN, END = "<!-- cuda_resources: begin -->\n", "<!-- cuda_resources: end -->\n"
Kernel = collections.namedtuple("Kernel", "name scalar sm registers shared spills stack")


def kernel_names(root=ROOT):
    """The kernels that GPUs have: those for vectors of samples come behind them in the list."""
    text = (root / "lockstep/kernels/device/text/list.hpp").read_text()
    text = text[text.index("#define LOCKSTEP_DEVICE_KERNELS"):].split("#define LOCKSTEP_VECTOR_KERNELS")[0]
    return re.findall(r"^\s+X\(\w+,\s*(\w+)\)", text, re.MULTILINE)


def parse_ptxas(text, scalar, names):
    """What `ptxas -v` says, as a list of Kernel. A kernel that the list does not know is an error."""
    found = []
    pattern = re.compile(r"Compiling entry function '(\w+)' for 'sm_(\d+)'(.*?)(?=Compiling entry function|\Z)", re.DOTALL)
    for mangled, sm, rest in pattern.findall(text):
        name = max((n for n in names if f"{len(n)}{n}" in mangled), key=len, default=None)
        if name is None:
            raise ValueError(f"ptxas names a kernel that is not in the list: {mangled}")
        registers = re.search(r"Used (\d+) registers", rest)
        stores, loads = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", rest).groups()
        shared = re.search(r"(\d+) bytes smem", rest)
        stack = re.search(r"(\d+) bytes stack frame", rest)
        found.append(Kernel(name, scalar, int(sm), int(registers.group(1)), int(shared.group(1)) if shared else 0,
                            int(stores) + int(loads), int(stack.group(1))))
    return found


def read_build(build):
    names, kernels = kernel_names(), []
    for scalar in ("float", "double"):
        path = build / f"lockstep/kernels/cuda/kernels_{scalar}.ptxas"
        if not path.exists():
            raise FileNotFoundError(f"{path} is not there: build the target lockstep_cuda with nvcc")
        kernels += parse_ptxas(path.read_text(), scalar, names)
    return kernels


def spilling(kernels):
    """Kernels written for speed must keep everything in registers; the naive ones show what a first course writes."""
    return [k for k in kernels if k.spills > 0 and not k.name.endswith("_naive")]


def with_stack(kernels):
    """A stack is taken for all threads that a GPU can hold: of the tuned kernels none has one. batch_norm_forward, _backward
    and _sums are those of processors and of the naive backend."""
    return [k for k in kernels if k.stack > 0 and not re.search(r"_naive$|^batch_norm_(forward|backward|sums)$", k.name)]


def block_sizes(build):
    """Threads per block of every kernel, as the tests launch it: the largest."""
    program = build / "tests/kernels/cuda/cuda_tests"
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace"
        environment = os.environ | {"LOCKSTEP_CUDA_EMULATOR": f"trace={trace}"}
        environment.pop("LOCKSTEP_CUDA_PLUGIN", None)
        subprocess.run([program, "--gtest_filter=DeviceTables*:SimdConv2d/0.*"], env=environment, check=True, timeout=300,
                       stdout=subprocess.DEVNULL)
        sizes = {}
        for line in trace.read_text().splitlines():
            name, threads = line.split()
            sizes[name] = max(sizes.get(name, 0), int(threads))
        return sizes


def occupancies(rows, include):
    """The share of warps in percent for rows of (sm, registers, shared bytes, threads), by the toolkit's calculator."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "occupancy"
        subprocess.run(["g++", "-O1", f"-I{include}", ROOT / "scripts/cuda_occupancy.cpp", "-o", program], check=True,
                       timeout=120)
        text = "\n".join(" ".join(map(str, row)) for row in rows)
        done = subprocess.run([program], input=text, capture_output=True, text=True, check=True, timeout=60)
        return [int(line.split()[1]) for line in done.stdout.splitlines()]


def toolkit():
    """The toolkit's version and its folder of headers."""
    done = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True, timeout=60)
    where = pathlib.Path(subprocess.run(["sh", "-c", "command -v nvcc"], capture_output=True, text=True, check=True,
                                        timeout=60).stdout.strip()).resolve().parent.parent
    return re.search(r"release ([\d.]+)", done.stdout).group(1), where / "include"


def make_table(kernels, sizes, include, version):
    kernels = [k for k in kernels if k.name in sizes]
    rows = [(k.sm, k.registers, k.shared, sizes[k.name]) for k in kernels]
    share = dict(zip(kernels, occupancies(rows, include)))
    targets = sorted({k.sm for k in kernels})
    by_name = collections.defaultdict(dict)
    for kernel in kernels:
        by_name[kernel.name][kernel.scalar, kernel.sm] = kernel
    head = " | ".join(f"sm_{sm} registers | occupancy" for sm in targets)
    lines = [f"nvcc {version}; float / double; occupancy in per cent of the warps of a multiprocessor.", "",
             f"| kernel | threads | shared bytes | {head} |", "| --- | --: | --: |" + " --: | --: |" * len(targets)]
    for name in kernel_names():
        if name not in by_name:
            continue
        of, cells = by_name[name], []
        for sm in targets:
            pair = [of["float", sm], of["double", sm]]
            cells += [" / ".join(str(k.registers) for k in pair), " / ".join(str(share[k]) for k in pair)]
        shared = " / ".join(str(of[s, targets[0]].shared) for s in ("float", "double"))
        lines.append(f"| `{name}` | {sizes[name]} | {shared} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    kernels = read_build(build)
    for kernel in spilling(kernels):
        print(f"{kernel.name} ({kernel.scalar}, sm_{kernel.sm}) spills {kernel.spills} bytes", file=sys.stderr)
    version, include = toolkit()
    table = make_table(kernels, block_sizes(build), include, version)
    print(table, end="")
    if "--write" in sys.argv:
        page = PAGE.read_text()
        begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
        PAGE.write_text(page[:begin] + table + page[end:])
    return 1 if spilling(kernels) else 0


if __name__ == "__main__":
    sys.exit(main())
