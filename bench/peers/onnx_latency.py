"""onnx_latency.py [--program FILE] [--threads 1,2] [--batches 1,64] [--rounds 15]: the same networks in Lockstep and in
onnxruntime, a batch per call, interleaved. Prints the median time per call with its 95 % interval and the ratio.

onnxruntime is called from Python, through a binding that leaves inputs and outputs in place; Lockstep from C++. So the
table also shows what a call of onnxruntime takes for a network of one addition ("call alone"), and the ratio to the
rest of its time: what is left when the way through Python and the session costs nothing."""
import argparse
import itertools
import json
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np
import onnx
import onnxruntime

import workloads

HERE = pathlib.Path(__file__).resolve().parent
NETWORKS = ("mlp-784-128-10", "lenet5", "bn-cnn", "resnet20")
SECONDS = 0.02  # of one sample of the measurement
AGREE = 1e-5


class Lockstep:
    def __init__(self, program, network, threads, batch, folder):
        self.file = folder / f"{network}.onnx"
        self.process = subprocess.Popen([program, network, str(threads), str(self.file), str(batch)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"predict_latency ended with code {self.process.wait()}")
        return json.loads(line)

    def ask(self, command):
        print(command, file=self.process.stdin, flush=True)
        return self.answer()

    def run(self, calls):
        return self.ask(f"run {calls}")["seconds"]

    def outputs(self):
        return np.array(self.ask("outputs")["outputs"], np.float32)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Onnx:
    def __init__(self, model, threads, batch=1):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        given, wanted = self.session.get_inputs()[0], self.session.get_outputs()[0]
        shape = [batch, *given.shape[1:]]
        self.x = onnxruntime.OrtValue.ortvalue_from_numpy(workloads.scrambled(np.prod(shape)).reshape(shape))
        self.y = onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros([batch, *wanted.shape[1:]], np.float32))
        self.binding = self.session.io_binding()
        self.binding.bind_ortvalue_input(given.name, self.x)
        self.binding.bind_ortvalue_output(wanted.name, self.y)

    def run(self, calls):
        run, binding = self.session._sess.run_with_iobinding, self.binding._iobinding  # without the wrapper's checks
        start = time.perf_counter()
        for _ in range(calls):
            run(binding, None)
        return (time.perf_counter() - start) / calls

    def outputs(self):
        return self.y.numpy().ravel()


def one_addition():
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph([onnx.helper.make_node("Add", ["x", "x"], ["y"])], "one addition",
                                   [value("x", onnx.TensorProto.FLOAT, [1, 1])],
                                   [value("y", onnx.TensorProto.FLOAT, [1, 1])])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)],
                                  ir_version=8).SerializeToString()


def interval(samples):
    """Median, and its 95 % interval by order statistics."""
    ordered, n = sorted(samples), len(samples)
    rank = max(0, int((n - 1.96 * n ** 0.5) / 2))
    return statistics.median(ordered), ordered[rank], ordered[n - 1 - rank]


def calls_for(entry):
    once = entry.run(1)  # the first call: slower than others
    few = max(1, min(20, int(SECONDS / once)))
    return max(1, int(SECONDS / min(entry.run(few) for _ in range(3))))


def compare(network, threads, batch, options):
    lockstep = Lockstep(options.program, network, threads, batch, options.folder)
    entries = {"lockstep": lockstep, "onnxruntime": Onnx(str(lockstep.file), threads, batch),
               "call alone": Onnx(one_addition(), 1)}
    calls = {name: calls_for(entry) for name, entry in entries.items()}
    worst = np.abs(lockstep.outputs() - entries["onnxruntime"].outputs()).max()
    if not worst <= AGREE:
        sys.exit(f"{network}: outputs differ by {worst}")
    samples = {name: [] for name in entries}
    for _ in range(options.rounds):
        for name, entry in entries.items():
            samples[name].append(entry.run(calls[name]))
    lockstep.close()
    return {name: interval(values) for name, values in samples.items()}, float(worst)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=HERE.parents[1] / "build/release/bench/peers/predict_latency")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--batches", default="1,64")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--folder", type=pathlib.Path, default=HERE.parents[1] / "build/peers")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    print(f"onnxruntime {onnxruntime.__version__}; microseconds per call, median [95 % interval]")
    print(f"{'network':16}{'batch':>6}{'threads':>8}{'lockstep':>30}{'onnxruntime':>30}{'call alone':>12}{'ratio':>8}"
          f"{'without call':>14}")
    numbers = [map(int, text.split(",")) for text in (options.batches, options.threads)]
    for network, batch, threads in itertools.product(options.networks.split(","), *numbers):
        times, worst = compare(network, threads, batch, options)
        texts = {name: f"{m * 1e6:.2f} [{a * 1e6:.2f}, {b * 1e6:.2f}]" for name, (m, a, b) in times.items()}
        ours, theirs, call = (times[name][0] for name in ("lockstep", "onnxruntime", "call alone"))
        print(f"{network:16}{batch:6}{threads:8}{texts['lockstep']:>30}{texts['onnxruntime']:>30}{call * 1e6:12.2f}"
              f"{theirs / ours:8.2f}{(theirs - call) / ours:14.2f}   outputs differ by {worst:.1e}", flush=True)


main()
