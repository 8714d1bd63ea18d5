#!/usr/bin/env python3
"""cuda_counters.py BUILD [--write]: what a step of the example networks asks of a GPU, counted without one.

The emulator of the tests executes nvcc's PTX (a sample of the blocks of every launch) and counts launches, graphs, copies,
blocks, sectors of global memory and passes of shared memory; occupancy comes from the registers and the shared memory that
ptxas gave every kernel. Prints the table of docs/gpu.md; --write puts it there. The times are estimates: the least that the
named card can take, by its data sheet.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys

import cuda_resources as resources

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/gpu.md"
BEGIN, END = "<!-- cuda_counters: begin -->\n", "<!-- cuda_counters: end -->\n"
NETWORKS = ("examples/lenet5-fashion.toml", "examples/bn-cnn-fashion.toml")
Card = collections.namedtuple("Card", "name multiprocessors clock bandwidth issues sm")
CARD = Card("A100 (SXM4, 40 GB)", 108, 1.41e9, 1555e9, 4, 80)  # issues: instructions of warps per clock and multiprocessor
SECTOR, WARP, SAMPLE = 32, 32, 4


def count(program, ptx, multiprocessors=CARD.multiprocessors, networks=NETWORKS):
    """What step_counters says, by network."""
    emulator = f"memory=1024,sample={SAMPLE},sms={multiprocessors},ptx={ptx[0]}:{ptx[1]}"
    done = subprocess.run([program, *networks], cwd=ROOT, check=True, timeout=550, capture_output=True, text=True,
                          env=os.environ | {"LOCKSTEP_CUDA_EMULATOR": emulator})
    return json.loads(done.stdout)


def estimate(kernel, card=CARD):
    """The least time of all launches in microseconds, and what decides: memory or instructions."""
    memory = kernel["touched_sectors"] * SECTOR / card.bandwidth
    busy = min(card.multiprocessors, max(1, kernel["blocks"] / kernel["launches"]))
    issue = kernel["instructions"] / WARP / (card.issues * card.clock * busy)
    return max(memory, issue) * 1e6, "memory" if memory >= issue else "instructions"


def occupancies(build, counted, card=CARD):
    """Kernel to the share of a multiprocessor's warps, in per cent, that its registers and shared memory allow."""
    threads = {name: k["threads"] for step in counted.values() for name, k in step["kernels"].items()}
    kernels = [k for k in resources.read_build(build) if k.scalar == "float" and k.sm == card.sm and k.name in threads]
    rows = [(k.sm, k.registers, k.shared, threads[k.name]) for k in kernels]
    return dict(zip((k.name for k in kernels), resources.occupancies(rows, resources.toolkit()[1])))


def ratio(counted, least):
    return counted / least if least else 1.0


def make_table(counted, occupancy, card=CARD):
    lines = [f"One step on {card.multiprocessors} multiprocessors; the time is *estimated* for an {card.name}: no kernel has "
             "run on one.", ""]
    for path, step in counted.items():
        copies = f"{step['copies_to_device']} copies to the device, {step['copies_to_host']} to the host"
        total = sum(estimate(k)[0] for k in step["kernels"].values())
        lines += [f"`{path}`, batch {step['batch']}: {step['launches']} launches in {step['graphs']} graph, of which "
                  f"{step['node_updates']} with other arguments than before, {copies}, {step['fills']} fills; kernels at least "
                  f"{total:.0f} us (*estimated*).", "",
                  "| kernel | launches | fewest blocks | occupancy | sectors / least | passes / least | us, *estimated* | bound |",
                  "| --- | --: | --: | --: | --: | --: | --: | --- |"]
        by_time = sorted(step["kernels"].items(), key=lambda item: -estimate(item[1])[0])
        for name, k in by_time:
            time, bound = estimate(k)
            lines.append(f"| `{name}` | {k['launches']} | {k['fewest_blocks']} | {occupancy[name]} | "
                         f"{ratio(k['sectors'], k['least_sectors']):.2f} | "
                         f"{ratio(k['passes'], k['least_passes']):.2f} | {time:.1f} | {bound} |")
        lines.append("")
    return "\n".join(lines)


def table_on_the_page():
    page = PAGE.read_text()
    return page[page.index(BEGIN) + len(BEGIN):page.index(END)]


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    ptx = [build / f"lockstep/kernels/cuda/kernels_{scalar}.ptx" for scalar in ("float", "double")]
    counted = count(build / "tests/kernels/cuda/step_counters", ptx)
    table = make_table(counted, occupancies(build, counted))
    if "--write" in sys.argv:
        page = PAGE.read_text()
        PAGE.write_text(page[:page.index(BEGIN) + len(BEGIN)] + table + page[page.index(END):])
    else:
        print(table)


if __name__ == "__main__":
    main()
