"""The comparison as a page in the look of Lockstep's other reports: from results.json to the JSON of a document, which
render_page draws. `page.py FOLDER` makes document.json again from the results.json of an earlier run."""
import json
import pathlib
import sys

import report
import scaling

SECONDS, RATIO, SHARE = {"format": "seconds"}, {"format": "ratio"}, {"format": "percent", "digits": 0}
PERCENT, NO_BREAK = "{:.0%}", "\u00a0"
TONES = {1: "simd", 2: "threads"}  # of Lockstep by the number of threads
PACKAGES = (("lockstep", "Lockstep", "threads"), ("torch", "PyTorch", "peer"), ("jax", "JAX", "neutral"))


def document(results):
    rows = results["results"]
    sections = [summary_section(results), {"title": "Speed", "blocks": speed(rows)},
                {"title": "Memory", "blocks": memory(rows)}, {"title": "Time to the first step", "blocks": start(rows)},
                {"title": "How cost grows", "blocks": growth(results.get("scaling", []))},
                {"title": "All contenders", "blocks": [contender_table(result) for result in rows]},
                method_section(results)]
    return {"title": "Lockstep and its peers", "subtitle": f"{results['machine']['processor']}, {results['date']}",
            "sections": [section for section in sections if section["blocks"]],
            "footer": f"bench/peers, commit {results['commit']}, {results['date']}"}


def threads_text(count):
    return f"{count} thread{'s' * (count > 1)}"


def where(result):
    return f"{result['workload']}, {threads_text(result['threads'])}"


def columns(*entries):
    return [{"title": title} | more for title, more in entries]


def interval_of(low, high):
    return {} if low is None else {"low": low, "high": high}


def is_ours(row):
    return row["contender"].startswith(report.LOCKSTEP)


def names_of(results):
    return list(dict.fromkeys(result["workload"] for result in results))


def threads_of(results):
    return sorted({result["threads"] for result in results})


def of(results, name, threads):
    return next((r for r in results if r["workload"] == name and r["threads"] == threads), None)


def goals(results):
    """(reached, of how many) of all figures that were to be reached."""
    found = [(r[key], r[f"{key}_goal"], sign) for r in results
             for key, sign in (("ratio", 1), ("share", 1), ("memory", -1), ("first_step", -1))]
    found = [sign * value >= sign * goal for value, goal, sign in found if value is not None and goal]
    return sum(found), len(found)


def reached(value, goal, form="{:g}", at_least=True):
    """What a cell has besides its value: whether its goal is met, and the goal."""
    if not goal or value is None:
        return {}
    met = value >= goal if at_least else value <= goal
    return {"mark": "same" if met else "warning", "note": f"goal {form.format(goal)}".replace(" ", NO_BREAK)}


def headline(results, rated):
    met, wanted = goals(results)
    best, worst = max(rated, key=lambda r: r["ratio"]), min(rated, key=lambda r: r["ratio"])
    numbers = [{"value": f"{sum(r['ratio'] >= 1 for r in rated)} of {len(rated)}",
                "label": "comparisons in which Lockstep is the fastest"},
               {"value": f"{best['ratio']:.2f}×", "label": "the largest ratio", "detail": where(best)},
               {"value": f"{worst['ratio']:.2f}×", "label": "the smallest ratio", "detail": where(worst)},
               {"value": f"{met} of {wanted}", "label": "goals reached",
                "detail": "speed, share of gemm, memory, start"}]
    return {"headline": numbers if wanted else numbers[:-1]}


def summary_section(results):
    rows, blocks = results["results"], []
    if results["quick"]:
        blocks.append({"notice": "Quick: few and short runs, to see that everything works. Not a measurement."})
    blocks += [{"notice": f"{where(result)}: {result['same_work']}"} for result in rows if not result["same"]]
    rated = [result for result in rows if result["ratio"]]
    if rated:
        blocks.append(headline(rows, rated))
    return {"title": "Summary", "blocks": blocks + [{"table": summary_table(rows)}]}


def summary_table(results):
    rows = []
    for result in results:
        mine = next((row for row in result["rows"] if is_ours(row)), {})
        peer = next((row for row in result["rows"] if not is_ours(row)), {})
        ratio = {"value": result["ratio"]} | interval_of(result["ratio_low"], result["ratio_high"])
        first_step, memory_share, share = result["first_step"], result["memory"], result["share"]
        rows.append({"tone": TONES.get(result["threads"], "threads"), "cells": [
            result["workload"], result["threads"], ratio | reached(result["ratio"], result["ratio_goal"]),
            {"value": memory_share} | reached(memory_share, result["memory_goal"], PERCENT, False),
            {"value": first_step} | reached(first_step, result["first_step_goal"], "{:g} s", False),
            {"value": share} | reached(share, result["share_goal"], PERCENT),
            mine.get("seconds"), peer.get("seconds"), peer.get("contender")]})
    return {"title": "Every workload", "rows": rows, "columns": columns(
        ("Workload", {}), ("Threads", {}), ("Speed", RATIO), ("Memory", SHARE), ("First step", SECONDS),
        ("Of gemm", SHARE), ("Lockstep", SECONDS), ("Fastest peer", SECONDS), ("which is", {})),
        "notes": ["Speed: the fastest peer's time over Lockstep's, with the 95 % interval. Memory: Lockstep's peak as "
                  "a share of PyTorch's lowest. First step: Lockstep's, from the start of the process. Times are per "
                  "epoch, step, run or image, as the tables below say."]}


def bars(groups, **more):
    """Nothing where there are no groups. No room for bars at the end of a group that are not there."""
    for group in groups:
        while group["bars"] and group["bars"][-1] is None:
            group["bars"].pop()
    return [{"bars": more | {"groups": groups}}] if groups else []


def speed(results):
    rated = [r for r in results if r["ratio"]]
    threads, groups = threads_of(rated), []
    for name in names_of(rated):
        found = [of(rated, name, n) for n in threads]
        wanted = [f"{r['ratio_goal']:g}" for r in found if r and r["ratio_goal"]]
        groups.append({"label": name, "note": f"goal {' / '.join(wanted)}" if wanted else "",
                       "bars": [r and {"value": r["ratio"]} | interval_of(r["ratio_low"], r["ratio_high"])
                                for r in found]})
    above = "Above 1: Lockstep is faster than the fastest variant of any peer on as many threads."
    intervals = ("The thin bars are 95 % intervals, from the ratios within each round."
                 if any(r["ratio_low"] for r in rated) else "Fewer than 6 rounds: no intervals.")
    return bars(groups, title="How many times as fast as the fastest peer", axis={"title": "speed"} | RATIO,
                description="One group of bars per workload, one bar per number of threads.",
                series=[{"name": threads_text(n), "tone": TONES.get(n, "threads")} for n in threads],
                note=f"{above} {intervals}")


def package_bars(results, key, unit, title, **more):
    """A group per workload, on the largest number of threads: Lockstep, and the lowest of PyTorch and of JAX."""
    threads, groups = max(threads_of(results), default=1), []
    for result in results:
        lowest = [min((row[key] for row in result["rows"] if row["contender"].startswith(package) and row[key]),
                      default=None) for package, _, _ in PACKAGES]
        if result["threads"] == threads and any(lowest):
            groups.append({"label": result["workload"], "bars": [v and {"value": v / unit} for v in lowest]})
    return bars(groups, title=f"{title}, {threads_text(threads)}",
                series=[{"name": name, "tone": tone} for _, name, tone in PACKAGES],
                description="A group of bars per workload: Lockstep, PyTorch and JAX.", **more)


def memory(results):
    return package_bars(results, "memory", 1e6, "Peak memory",
                        axis={"title": "peak memory", "unit": "MB", "format": "integer"},
                        note="The most memory that was resident (VmHWM) until the end of the first timed training, for "
                             "Lockstep until the end of the program; of each package the variant that takes least.")


def start(results):
    return package_bars(results, "first_step", 1, "From the start of the process to the end of its first step",
                        axis={"title": "time"} | SECONDS,
                        note="Import, data, compilation, one step; measured once, with the files in memory already. Of "
                             "each package the variant that takes least. Lockstep's includes writing the checkpoint by "
                             "which the step is seen; JAX's scan does a whole epoch.")


def growth(results):
    axes = [axis for axis in scaling.AXES if any(r["axis"] == axis for r in results)]
    blocks = [{"lines": growth_lines(axis, [r for r in results if r["axis"] == axis])} for axis in axes]
    for axis in axes:
        head, *lines = scaling.table(results, axis)
        blocks.append({"table": {"title": f"Microseconds per sample against {axis}", "folded": True,
                                 "columns": columns(*((title, {"align": "right"}) for title in head)),
                                 "rows": [{"cells": line} for line in lines]}})
    return blocks


def growth_lines(axis, results):
    series = []
    for contender, name, tones in (("lockstep", "Lockstep", TONES),
                                   ("torch fused", "PyTorch", {1: "peer", 2: "neutral"})):
        for n in threads_of(results):
            points = [{"x": r["value"], "y": r["seconds"], "low": min(r["samples"]), "high": max(r["samples"])}
                      for r in results if (r["contender"], r["threads"]) == (contender, n)]
            series.append({"name": f"{name}, {threads_text(n)}", "tone": tones.get(n, "neutral"), "points": points})
    values, rounds = sorted({r["value"] for r in results}), len(results[0]["samples"])
    spread = f" Medians; the thin bars are the range of {rounds} rounds." if rounds > 1 else ""
    return {"title": f"Time per sample against {axis}", "series": series, "note": f"{scaling.title(axis)}.{spread}",
            "description": f"A line per contender and number of threads; {axis} from {values[0]} to {values[-1]}.",
            "x": {"title": axis, "scale": "log", "format": "integer", "ticks": values[::2 if len(values) > 7 else 1]},
            "y": {"title": "time per sample", "scale": "log"} | SECONDS}


def contender_table(result):
    rows = []
    for row in result["rows"]:
        time = {"value": row["seconds"]} | (interval_of(row["low"], row["high"]) or {"note": f"n = {row['n']}"})
        rows.append({"tone": "threads" if is_ours(row) else "peer", "cells": [
            {"value": row["contender"], "note": row["version"]}, time, row["ratio"], row["share"],
            row["memory"] and round(row["memory"] / 1e6), row["first_step"], row["loss"], row["accuracy"]]})
    title = f"{result['title']}; {threads_text(result['threads'])}"
    return {"table": {"title": title, "rows": rows, "columns": columns(
        ("Contender", {}), (f"Time per {result['unit']}", SECONDS), ("Speed", RATIO), ("Of gemm", SHARE),
        ("Peak memory", {"format": "integer", "unit": "MB"}), ("First step", SECONDS),
        ("Loss", {"format": "fixed", "digits": 5}), ("Accuracy", {"format": "percent", "digits": 1})),
        "notes": [f"{result['same_work']} Load {result['load'][0]:.1f} to {result['load'][1]:.1f}.",
                  *(f"Left out: {line}." for line in result["left_out"])]}}


def method_section(results):
    machine = results["machine"]
    versions = {row["version"] for result in results["results"] for row in result["rows"]}
    facts = {"Processor": machine["processor"], "Cores": machine["cores"], "OpenBLAS": machine["openblas"] or "none",
             "Versions": ", ".join(sorted(versions)), "Rounds": results["repeats"], "Commit": results["commit"],
             "Time": results["date"]}
    command = f"make peers PEERS=\"--workloads {','.join(names_of(results['results']))}\""
    return {"title": "Machine and method", "blocks": [
        {"facts": [[name, str(value)] for name, value in facts.items()]},
        {"paragraph": report.NOTES.replace("\n", " ")}, {"code": command, "title": "To repeat it"}]}


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    made = document(json.loads((folder / "results.json").read_text()))
    (folder / "document.json").write_text(json.dumps(made, indent=1) + "\n")
