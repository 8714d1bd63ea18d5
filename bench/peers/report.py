"""What a comparison says: statistics of its samples, tables for the terminal, a Markdown page, and the figures to
reach."""
import math
import statistics

LOCKSTEP = "lockstep"


def interval(samples):
    """Median and its 95 % interval by order statistics: the innermost pair that covers it; None, None where there are
    too few samples for one."""
    ordered, n = sorted(samples), len(samples)
    if outside(n, 0) > 0.05:
        return statistics.median(ordered), None, None
    rank = 0
    while rank + 1 < n / 2 and outside(n, rank + 1) <= 0.05:
        rank += 1
    return statistics.median(ordered), ordered[rank], ordered[n - 1 - rank]


def outside(n, rank):
    """The chance that the median lies outside of [ordered[rank], ordered[n - 1 - rank]]."""
    return 2 * sum(math.comb(n, k) for k in range(rank + 1)) / 2 ** n


def summarise(workload, threads, runs, versions, rate, first_steps=None):
    """The rows of one comparison, fastest first. runs: contender -> its answers; rate: of the matrix product, or
    None."""
    times = {name: interval([r["seconds"] / workload.units for r in answers]) for name, answers in runs.items()}
    peers = [name for name in times if not name.startswith(LOCKSTEP)]
    fastest = min(peers, key=lambda name: times[name][0]) if peers else None
    rows = []
    for name, (median, low, high) in sorted(times.items(), key=lambda item: item[1][0]):
        last = runs[name][-1]
        rows.append({"contender": name, "seconds": median, "low": low, "high": high, "n": len(runs[name]),
                     "ratio": times[fastest][0] / median if fastest else None,
                     "share": workload.flops / median / rate if rate else None,
                     "memory": runs[name][0].get("memory"), "first_step": (first_steps or {}).get(name),
                     "loss": last.get("loss"), "accuracy": last.get("accuracy"), "version": versions[name]})
    ours = next((row for row in rows if row["contender"] == LOCKSTEP), {})
    low, high = ratio_interval(runs, fastest, ours.get("ratio"))
    torch = [row["memory"] for row in rows if row["contender"].startswith("torch") and row["memory"]]
    return {"workload": workload.name, "title": workload.title, "threads": threads, "unit": workload.unit, "rows": rows,
            "ratio": ours.get("ratio"), "ratio_low": low, "ratio_high": high,
            "ratio_goal": workload.target[min(threads, 2) - 1],
            "share": ours.get("share"), "share_goal": workload.share if threads == 1 else None,
            "memory": ours["memory"] / min(torch) if torch and ours.get("memory") else None,
            "memory_goal": workload.memory or None,
            "first_step": ours.get("first_step"), "first_step_goal": workload.start or None}


def ratio_interval(runs, fastest, ratio):
    """Of the ratio to the fastest peer: from the ratios within each round, whose noise both share; None, None where
    there are too few. The ratio of the medians, which is shown, lies within."""
    if ratio is None or LOCKSTEP not in runs:
        return None, None
    rounds = zip(runs[fastest], runs[LOCKSTEP])
    _, low, high = interval([theirs["seconds"] / ours["seconds"] for theirs, ours in rounds])
    return (None, None) if low is None else (min(low, ratio), max(high, ratio))


def maybe(value, form):
    return "-" if value is None else form.format(value)


def cells(row):
    spread = f"n = {row['n']}" if row["low"] is None else f"{row['low'] * 1e3:.2f} - {row['high'] * 1e3:.2f}"
    return [row["contender"], f"{row['seconds'] * 1e3:.2f}", spread,
            maybe(row["ratio"], "{:.2f}x"), maybe(row["share"] and 100 * row["share"], "{:.0f} %"),
            maybe(row["memory"] and row["memory"] / 1e6, "{:.0f}"), maybe(row["first_step"], "{:.2f}"),
            maybe(row["loss"], "{:.5f}"), maybe(row["accuracy"] and 100 * row["accuracy"], "{:.1f} %"), row["version"]]


def header(unit):
    return ["contender", f"ms per {unit}", "95 % interval", "speed", "of gemm", "peak MB", "first step, s", "loss",
            "accuracy", "version"]


def aligned(lines):
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  " + "  ".join(c.ljust(w) if i in (0, len(widths) - 1) else c.rjust(w)
                                      for i, (c, w) in enumerate(zip(line, widths))).rstrip() for line in lines)


def markdown(lines):
    rows = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([rows[0], "| " + " | ".join(["---"] * len(lines[0])) + " |", *rows[1:]])


def comparison_text(result):
    return aligned([header(result["unit"])] + [cells(row) for row in result["rows"]])


def seconds_of(result, contender=LOCKSTEP):
    return next((row["seconds"] for row in result["rows"] if row["contender"] == contender), None)


def summary(results):
    """A line per workload and number of threads: what was reached, what was to be reached."""
    lines = [["workload", "threads", "lockstep, ms", "fastest peer", "ms", "speed", "95 % interval", "goal",
              "of gemm", "goal", "memory", "goal", "first step, s", "1 / 2 threads"]]
    for result in results:
        peers = [row for row in result["rows"] if not row["contender"].startswith(LOCKSTEP)]
        ours, goal, memory_goal, start_goal = (seconds_of(result), result["share_goal"], result["memory_goal"],
                                               result["first_step_goal"])
        scaling = speed_up(results, result)
        spread = (f"n = {result['rows'][0]['n']}" if result["ratio_low"] is None
                  else f"{result['ratio_low']:.2f} - {result['ratio_high']:.2f}")
        lines.append([result["workload"], str(result["threads"]), f"{ours * 1e3:.2f}" if ours else "-",
                      peers[0]["contender"] if peers else "-", f"{peers[0]['seconds'] * 1e3:.2f}" if peers else "-",
                      maybe(result["ratio"], "{:.2f}x"), spread, f"{result['ratio_goal']:.2f}x",
                      maybe(result["share"] and 100 * result["share"], "{:.0f} %"),
                      f"{100 * goal:.0f} %" if goal else "",
                      maybe(result["memory"], "{:.2f}"), f"{memory_goal:.2f}" if memory_goal else "",
                      maybe(result["first_step"], "{:.2f}") + (f" (goal {start_goal:.2f})" if start_goal else ""),
                      f"{scaling:.2f}" if scaling else ""])
    return lines


def speed_up(results, result):
    """Lockstep's time on one thread over that on two; None for other results."""
    single = next((r for r in results if r["workload"] == result["workload"] and r["threads"] == 1), None)
    ours = seconds_of(result)
    return seconds_of(single) / ours if single and ours and seconds_of(single) and result["threads"] == 2 else None


NOTES = """speed: how many times as fast as the fastest variant of any peer on the same number of threads; its interval
from the ratios within each round. of gemm: the operations of the matrix products and convolutions per second, as a
share of what OpenBLAS' matrix product of that precision reached on the same number of threads just before. memory:
Lockstep's peak over the lowest of PyTorch's. peak MB: the most memory that was resident (VmHWM) until the end of the
first timed training, for Lockstep until the end of the program. first step: seconds from the start of the process to
the end of its first step, once, with the files in memory already: import, data, compilation (Lockstep: with a
checkpoint, by which it is seen; JAX's scan: the first epoch). Intervals are for the median, from order statistics; with
fewer than 6 rounds there are none."""


def page(document):
    """The whole run as Markdown."""
    machine = document["machine"]
    parts = ["# Lockstep and its peers", "",
             f"{document['date']}, commit {document['commit']}, {machine['processor']}, {machine['cores']} cores, "
             f"{machine['openblas'] or 'no OpenBLAS'}. {document['repeats']} rounds, contenders in turns."
             f"{' Quick: not a measurement.' if document['quick'] else ''}", "",
             markdown(summary(document["results"])), "", NOTES.replace("\n", " "), ""]
    for result in document["results"]:
        parts += [f"## {result['title']}, {result['threads']} thread{'s' * (result['threads'] > 1)}", "",
                  markdown([header(result["unit"])] + [cells(row) for row in result["rows"]]), "",
                  f"{result['same_work']} Load {result['load'][0]:.1f} to {result['load'][1]:.1f}.", ""]
        parts += [f"Left out: {line}" for line in result["left_out"]]
    return "\n".join(parts)
