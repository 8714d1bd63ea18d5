"""What a comparison says: statistics of its samples, tables for the terminal, a Markdown page, and the figures to reach."""
import math
import statistics

LOCKSTEP = "lockstep"


def interval(samples):
    """Median and its 95 % interval by order statistics: the innermost pair that covers it; None, None where there are too
    few samples for one."""
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


def summarise(workload, threads, runs, versions, rate):
    """The rows of one comparison, fastest first. runs: contender -> its answers; rate: of the matrix product, or None."""
    times = {name: interval([r["seconds"] / workload.units for r in answers]) for name, answers in runs.items()}
    peers = [times[name][0] for name in times if not name.startswith(LOCKSTEP)]
    best = min(peers) if peers else None
    rows = []
    for name, (median, low, high) in sorted(times.items(), key=lambda item: item[1][0]):
        last = runs[name][-1]
        rows.append({"contender": name, "seconds": median, "low": low, "high": high, "n": len(runs[name]),
                     "ratio": best / median if best else None,
                     "share": workload.flops / median / rate if rate else None,
                     "loss": last.get("loss"), "accuracy": last.get("accuracy"), "version": versions[name]})
    ours = next((row for row in rows if row["contender"] == LOCKSTEP), None)
    return {"workload": workload.name, "title": workload.title, "threads": threads, "unit": workload.unit, "rows": rows,
            "ratio": ours["ratio"] if ours else None, "ratio_goal": workload.target[min(threads, 2) - 1],
            "share": ours["share"] if ours else None, "share_goal": workload.share if threads == 1 else None}


def cells(row):
    def maybe(value, form):
        return "-" if value is None else form.format(value)
    spread = f"n = {row['n']}" if row["low"] is None else f"{row['low'] * 1e3:.2f} - {row['high'] * 1e3:.2f}"
    return [row["contender"], f"{row['seconds'] * 1e3:.2f}", spread,
            maybe(row["ratio"], "{:.2f}x"), maybe(row["share"] and 100 * row["share"], "{:.0f} %"),
            maybe(row["loss"], "{:.5f}"), maybe(row["accuracy"] and 100 * row["accuracy"], "{:.1f} %"), row["version"]]


def header(unit):
    return ["contender", f"ms per {unit}", "95 % interval", "speed", "of gemm", "loss", "accuracy", "version"]


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
    lines = [["workload", "threads", "lockstep, ms", "fastest peer", "ms", "speed", "goal", "of gemm", "goal", "1 / 2 threads"]]
    for result in results:
        peers = [row for row in result["rows"] if not row["contender"].startswith(LOCKSTEP)]
        ours, share, goal = seconds_of(result), result["share"], result["share_goal"]
        single = next((r for r in results if r["workload"] == result["workload"] and r["threads"] == 1), None)
        scaling = seconds_of(single) / ours if single and ours and result["threads"] == 2 else None
        lines.append([result["workload"], str(result["threads"]), f"{ours * 1e3:.2f}" if ours else "-",
                      peers[0]["contender"] if peers else "-", f"{peers[0]['seconds'] * 1e3:.2f}" if peers else "-",
                      f"{result['ratio']:.2f}x" if result["ratio"] else "-", f"{result['ratio_goal']:.2f}x",
                      f"{100 * share:.0f} %" if share else "-", f"{100 * goal:.0f} %" if goal else "",
                      f"{scaling:.2f}" if scaling else ""])
    return lines


NOTES = """speed: how many times as fast as the fastest variant of any peer on the same number of threads. of gemm: the
operations of the matrix products and convolutions per second, as a share of what OpenBLAS' matrix product of that
precision reached on the same number of threads just before. Intervals are for the median, from order statistics; with
fewer than 6 rounds they are the range of what was measured, and cover less than 95 %."""


def page(document):
    """The whole run as Markdown."""
    machine = document["machine"]
    parts = ["# Lockstep and its peers", "",
             f"{document['date']}, {machine['processor']}, {machine['cores']} cores, {machine['openblas'] or 'no OpenBLAS'}. "
             f"{document['repeats']} rounds, contenders in turns.{' Quick: not a measurement.' if document['quick'] else ''}", "",
             markdown(summary(document["results"])), "", NOTES.replace("\n", " "), ""]
    for result in document["results"]:
        parts += [f"## {result['title']}, {result['threads']} thread{'s' * (result['threads'] > 1)}", "",
                  markdown([header(result["unit"])] + [cells(row) for row in result["rows"]]), "",
                  f"{result['same_work']} Load {result['load'][0]:.1f} to {result['load'][1]:.1f}.", ""]
        parts += [f"Left out: {line}" for line in result["left_out"]]
    return "\n".join(parts)
