"""make_results_corpus.py: writes the seeds corpus/results and corpus/simulate beside this file."""
import json
import pathlib

CORPUS = pathlib.Path(__file__).parent / "corpus"
ORIGIN = {"machine": {"processor": "p", "processors": 2, "cores": 1,
                      "caches": [{"level": 1, "type": "Data", "bytes": 32768, "shared_by": 2}],
                      "instruction_sets": ["avx2"], "load": 0.5},
          "versions": {"lockstep": "0.1"}, "commit": "c", "command": "lockstep ladder", "time": "2026-01-01T00:00:00Z"}


def result(kind, name, seconds=None, **more):
    """A line with two equal samples, or none."""
    one = {"format": "lockstep-result-1", "kind": kind, "name": name, "unit": "s", "samples": []}
    if seconds is not None:
        one.update(samples=[seconds] * 2, median=seconds, low=seconds, high=seconds, coverage=0.5)
    one.update({"baseline": "", "seed": None, "kernels": [], "weight_hash": "ab12", "warnings": [], "numbers": {},
                "words": {}, "series": {}, "configuration": "", "origin": ORIGIN})
    return (json.dumps({**one, **more}, separators=(",", ":")) + "\n").encode()


def rung(name, group, seconds, mark="same", **numbers):
    usual = {"threads": 1, "ranks": 1, "measured_samples": 1000, "samples_per_epoch": 60000, "accuracy": 0.5,
             "flops_per_second": 1e9, "peak_share": 0.1, "explained": 0.98}
    return result("ladder", name, seconds, numbers={**usual, **numbers},
                  words={"title": f"the {group} <rung>", "group": group, "mark": mark, "limit": "memory", "verdict": "v"})


def ladder():
    sections = {"0 conv2d forward": [0, 1.5, 10, 10], "0 conv2d backward": [1, 2.5, 20, 10], "wait": [2, 0.1, 0, 0]}
    curve = {"workers": [1, 2], "speedup": [1, 1.7], "low": [1, 1.6], "high": [1, 1.8], "predicted": [1, 1.9]}
    return b"".join([
        result("machine", "ceilings", numbers={"peak_flops_1": 1e11, "bandwidth_1": 1e10}, words={"config": "a.toml"},
               warnings=["load"]),
        rung("naive", "naive", 4.0), rung("simd", "simd", 2.0),
        rung("threads-2", "threads", 1.0, threads=2, pop_parallel=0.9, pop_load_balance=0.9),
        rung("library", "library", 3.0, mark="differs", largest_difference=1e-7),
        result("section", "naive", series=sections), result("section", "simd", series=sections),
        result("section", "threads-2", series=sections),
        result("roofline", "simd", series={"0 conv2d forward": [2.5, 1e10]}),
        result("fit", "measured threads", words={"law": "measured", "of": "threads"}, series=curve,
               numbers={"karp_flatt_2": 0.1}),
        result("fit", "amdahl threads", words={"law": "amdahl", "of": "threads", "text": "t"}, series=curve),
        result("curve", "training", series={"loss": [2.0, 1.0], "accuracy": [0.1, 0.5]}, words={"rung": "simd"},
               numbers={"test_accuracy": 0.9, "seconds": 3}),
        result("check", "Warm-up", words={"state": "kept", "why": "w"}),
        result("verdict", "left out: cuda", words={"text": "no driver"})])


RESULTS = {
    "ladder": ladder(),
    "no_samples": result("ladder", "simd", words={"title": "t"}) + result("measurement", "threads: a"),
    "huge": result("measurement", "a", 1.7e308, numbers={"workers": 1e300}),
    "wrong_median": result("measurement", "a", 1.0, median=2.0),
    "markup": result("measurement", "<script>alert(1)</script>", 1.0, words={"<img src=x onerror=y>": "`**a**"}),
    "deep": b'{"a":' * 40,
    "twice": b'{"format":"lockstep-result-1","format":"lockstep-result-1"}\n',
}
SIMULATE = {
    "rates": b'{"sections":[[[1.0,0.5],[2.0,0.75]],[],[[1e9,0.001]]]}', "falling": b'{"sections":[[[2,1],[1,1]]]}',
    "not_rates": b'{"sections":{"a":1}}', "nodes": b"1,2,4,...,1024", "even": b"2,4,6,...,11", "dots": b"1,...,4",
    "bandwidth": b"12.5 GB/s", "latency": b"500ns", "huge": b"1e308Tbit/s",
}

for folder, files in {"results": RESULTS, "simulate": SIMULATE}.items():
    (CORPUS / folder).mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (CORPUS / folder / name).write_bytes(content)
