"""ONNX both ways: exports with scaling and probabilities, and networks of other programs, in the form in which PyTorch and
skl2onnx write them (made here with the package onnx: neither program is needed), against onnxruntime."""
import json

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from program import MOONS, PICTURES, ProgramTest, main, npy

RNG = numpy.random.default_rng(1)


def weights(*shape):
    return RNG.normal(0, 0.4, shape).astype(numpy.float32)


def model(nodes, constants, shape, outputs, opset=17, producer="pytorch", metadata=None):
    """A file: `constants` by name, an input "x" [N, *shape], outputs by name and size."""
    graph = helper.make_graph(
        nodes, "main_graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", *shape])],
        [helper.make_tensor_value_info(name, kind, ["batch", *size]) for name, kind, size in outputs],
        [numpy_helper.from_array(value, name) for name, value in constants.items()])
    made = helper.make_model(graph, producer_name=producer,
                             opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)])
    made.ir_version = 8
    return made


def lenet():
    """torch.onnx.export of a LeNet: Conv, Relu, MaxPool, Flatten, Gemm with transB."""
    pool = {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [0, 0, 0, 0], "ceil_mode": 0}
    conv = {"dilations": [1, 1], "group": 1, "strides": [1, 1]}
    nodes = [helper.make_node("Conv", ["x", "conv1.weight", "conv1.bias"], ["/conv1"], kernel_shape=[5, 5], pads=[2, 2, 2, 2], **conv),
             helper.make_node("Relu", ["/conv1"], ["/relu"]), helper.make_node("MaxPool", ["/relu"], ["/pool"], **pool),
             helper.make_node("Conv", ["/pool", "conv2.weight", "conv2.bias"], ["/conv2"], kernel_shape=[3, 3], pads=[0, 0, 0, 0], **conv),
             helper.make_node("Tanh", ["/conv2"], ["/tanh"]),
             helper.make_node("AveragePool", ["/tanh"], ["/pool2"], kernel_shape=[2, 2], strides=[2, 2], pads=[0, 0, 0, 0]),
             helper.make_node("Flatten", ["/pool2"], ["/flat"], axis=1),
             helper.make_node("Gemm", ["/flat", "fc.weight", "fc.bias"], ["y"], alpha=1.0, beta=1.0, transB=1)]
    constants = {"conv1.weight": weights(4, 1, 5, 5), "conv1.bias": weights(4), "conv2.weight": weights(6, 4, 3, 3),
                 "conv2.bias": weights(6), "fc.weight": weights(3, 54), "fc.bias": weights(3)}
    return model(nodes, constants, [1, 16, 16], [("y", TensorProto.FLOAT, [3])])


def resnet():
    """Two residual blocks, the second with a convolution on its shortcut; normalisation in the graph, Reshape by a Constant."""
    conv = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    norm = ["bn.scale", "bn.bias", "bn.mean", "bn.var"]
    nodes = [helper.make_node("Sub", ["x", "mean"], ["/centred"]), helper.make_node("Div", ["/centred", "deviation"], ["/scaled"]),
             helper.make_node("Conv", ["/scaled", "a"], ["/a"], **conv),
             helper.make_node("BatchNormalization", ["/a", *norm], ["/b"], epsilon=1e-4, momentum=0.9),
             helper.make_node("Relu", ["/b"], ["/r"]), helper.make_node("Conv", ["/r", "c", "c.bias"], ["/c"], **conv),
             helper.make_node("Add", ["/c", "/r"], ["/sum"]), helper.make_node("Relu", ["/sum"], ["/r2"]),
             helper.make_node("Conv", ["/r2", "d", "d.bias"], ["/d"], strides=[2, 2], **conv),
             helper.make_node("Conv", ["/r2", "e"], ["/e"], kernel_shape=[1, 1], strides=[2, 2]),
             helper.make_node("Add", ["/d", "/e"], ["/sum2"]), helper.make_node("LeakyRelu", ["/sum2"], ["/r3"], alpha=0.1),
             helper.make_node("GlobalAveragePool", ["/r3"], ["/mean"]),
             helper.make_node("Constant", [], ["/shape"], value=numpy_helper.from_array(numpy.array([-1, 6]))),
             helper.make_node("Reshape", ["/mean", "/shape"], ["/flat"]), helper.make_node("Dropout", ["/flat"], ["/kept"]),
             helper.make_node("Gemm", ["/kept", "fc.weight", "fc.bias"], ["y"], transB=1)]
    constants = {"mean": numpy.array([0.4, 0.5, 0.6], numpy.float32).reshape(3, 1, 1), "deviation": numpy.array([0.25], numpy.float32),
                 "a": weights(4, 3, 3, 3), "bn.scale": weights(4), "bn.bias": weights(4), "bn.mean": weights(4), "bn.var": weights(4) ** 2 + 0.1,
                 "c": weights(4, 4, 3, 3), "c.bias": weights(4), "d": weights(6, 4, 3, 3), "d.bias": weights(6), "e": weights(6, 4, 1, 1),
                 "fc.weight": weights(5, 6), "fc.bias": weights(5)}
    return model(nodes, constants, [3, 8, 8], [("y", TensorProto.FLOAT, [5])])


def sklearn(classes):
    """skl2onnx of a pipeline of StandardScaler and MLPClassifier: Scaler, Cast, MatMul, Add, and labels from the outputs."""
    nodes = [helper.make_node("Scaler", ["x"], ["variable"], domain="ai.onnx.ml", offset=[5.8, 3.0, 3.7], scale=[1.2, 2.3, 0.6]),
             helper.make_node("Cast", ["variable"], ["cast_input"], to=TensorProto.FLOAT),
             helper.make_node("MatMul", ["cast_input", "coefficient"], ["mul_result"]),
             helper.make_node("Add", ["mul_result", "intercepts"], ["add_result"]),
             helper.make_node("Relu", ["add_result"], ["next_activations"]),
             helper.make_node("MatMul", ["next_activations", "coefficient1"], ["mul_result1"]),
             helper.make_node("Add", ["mul_result1", "intercepts1"], ["add_result1"])]
    names = numpy.array([f"class {k}".encode() for k in range(classes)])
    constants = {"coefficient": weights(3, 6), "intercepts": weights(1, 6), "coefficient1": weights(6, classes if classes > 2 else 1),
                 "intercepts1": weights(1, classes if classes > 2 else 1), "shape_tensor": numpy.array([-1])}
    if classes > 2:
        nodes += [helper.make_node("Softmax", ["add_result1"], ["probabilities"], axis=1)]
    else:
        constants["unity"] = numpy.array([1], numpy.float32)
        nodes += [helper.make_node("Sigmoid", ["add_result1"], ["out_activations_result"]),
                  helper.make_node("Sub", ["unity", "out_activations_result"], ["negative_class_proba"]),
                  helper.make_node("Concat", ["negative_class_proba", "out_activations_result"], ["probabilities"], axis=1)]
    nodes += [helper.make_node("ArgMax", ["probabilities"], ["argmax_output"], axis=1),
              helper.make_node("ArrayFeatureExtractor", ["classes", "argmax_output"], ["array_feature_extractor_result"], domain="ai.onnx.ml"),
              helper.make_node("Reshape", ["array_feature_extractor_result", "shape_tensor"], ["label"])]
    made = model(nodes, constants, [3], [("label", TensorProto.STRING, []), ("probabilities", TensorProto.FLOAT, [classes])],
                 producer="skl2onnx")
    made.graph.initializer.append(helper.make_tensor("classes", TensorProto.STRING, [classes], names.tolist()))
    return made


def regressor():
    """skl2onnx of an MLPRegressor."""
    nodes = [helper.make_node("Cast", ["x"], ["cast_input"], to=TensorProto.FLOAT),
             helper.make_node("MatMul", ["cast_input", "coefficient"], ["mul_result"]),
             helper.make_node("Add", ["mul_result", "intercepts"], ["add_result"]), helper.make_node("Tanh", ["add_result"], ["a"]),
             helper.make_node("MatMul", ["a", "coefficient1"], ["mul_result1"]),
             helper.make_node("Add", ["mul_result1", "intercepts1"], ["add_result1"]),
             helper.make_node("Reshape", ["add_result1", "shape_tensor"], ["variable"])]
    constants = {"coefficient": weights(3, 6), "intercepts": weights(1, 6), "coefficient1": weights(6, 1), "intercepts1": weights(1, 1),
                 "shape_tensor": numpy.array([-1, 1])}
    return model(nodes, constants, [3], [("variable", TensorProto.FLOAT, [1])], producer="skl2onnx")


def softmax(z):
    e = numpy.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


class Onnx(ProgramTest):
    def runtime(self, name, x, output):
        session = onnxruntime.InferenceSession(self.folder / name, providers=["CPUExecutionProvider"])
        return session.run([output], {session.get_inputs()[0].name: x})[0]

    def save(self, name, made):
        onnx.checker.check_model(made)
        self.write(name, made.SerializeToString())

    def predictions(self, model_file, x):
        self.write("new.npy", npy("<f4", x.shape, x.astype("<f4").tobytes()))
        lines = self.succeed("predict", model_file, "new.npy", "--format", "jsonl", "--quiet").out.splitlines()
        return [json.loads(line) for line in lines]


class Export(Onnx):
    def test_raw_numbers_to_probabilities(self):
        """An image of bytes, a network of logits: scaled and standardised within the file."""
        for extra in ("", "standardise = true\n"):
            with self.subTest(extra):
                self.write_digits(60)
                self.train(PICTURES.replace("[model]", extra + "[model]"), "run", "--overwrite")
                told = json.loads(self.succeed("export", "run/model.safetensors", "m.onnx", "--overwrite", "--json").out)
                self.assertEqual((told["opset"], told["raw"]), (17, False))
                self.succeed("export", "run/model.safetensors", "raw.onnx", "--raw", "--overwrite")
                made = onnx.load(self.folder / "m.onnx")
                onnx.checker.check_model(made, full_check=True)
                metadata = {entry.key: entry.value for entry in made.metadata_props}
                self.assertEqual((metadata["loss"], metadata["input"]), ("cross-entropy", "raw numbers"))
                kinds = [node.op_type for node in made.graph.node]
                self.assertEqual((kinds[0], kinds[-1]), ("Mul", "Softmax"))
                plain = [node.op_type for node in onnx.load(self.folder / "raw.onnx").graph.node]
                self.assertEqual(kinds[1 + (extra != ""):-1], plain)
                x = numpy.load(self.folder / "x.npy").reshape(-1, 1, 4, 4)[:7].astype(numpy.float32)
                ours = self.predictions("run/model.safetensors", x.reshape(-1, 4, 4))
                theirs = self.runtime("m.onnx", x, "output")
                self.assertEqual(theirs.shape, (7, 3))
                for line, row in zip(ours, theirs):
                    numpy.testing.assert_allclose(list(line["probabilities"].values()), row, atol=2e-6)
                scores = [json.loads(self.succeed("eval", name, "--config", "run/config.toml", "--json", "--quiet").out)
                          for name in ("run/model.safetensors", "m.onnx", "raw.onnx")]
                self.assertEqual(scores[0]["correct"], scores[1]["correct"])
                self.assertAlmostEqual(scores[0]["loss"], scores[1]["loss"], 5)
                if extra == "":
                    self.assertEqual(scores[0]["loss"], scores[2]["loss"])

    def test_one_output_keeps_its_sigmoid(self):
        self.train(MOONS)
        self.succeed("export", "run/model.safetensors", "m.onnx")
        kinds = [node.op_type for node in onnx.load(self.folder / "m.onnx").graph.node]
        self.assertEqual(kinds.count("Sigmoid"), 2)
        self.refuse(2, "--raw is for .onnx files", "export", "run/model.safetensors", "m.npz", "--raw")

    def test_an_export_comes_back_with_the_same_bits(self):
        self.write_digits(60)
        self.train(PICTURES)
        for raw in ([], ["--raw"]):
            self.succeed("export", "run/model.safetensors", "m.onnx", "--overwrite", *raw)
            first, second = (json.loads(self.succeed("inspect", name, "--json").out)[0] for name in ("run/model.safetensors", "m.onnx"))
            self.assertEqual(first["weight_hash"], second["weight_hash"])
            self.assertEqual((second["opset"], second["producer"], second["loss"]), (17, "lockstep", "cross-entropy"))


class Import(Onnx):
    def close(self, made, shape, output, raw=1.0):
        """predict gives what onnxruntime gives, within float32 rounding."""
        self.save("m.onnx", made)
        x = (raw * RNG.uniform(0, 1, (6, *shape))).astype(numpy.float32)
        theirs = self.runtime("m.onnx", x, output)
        return self.predictions("m.onnx", x), theirs

    def test_convolutions_as_pytorch_writes_them(self):
        for made, shape in ((lenet(), (1, 16, 16)), (resnet(), (3, 8, 8))):
            ours, theirs = self.close(made, shape, "y")
            self.assertEqual(len(ours), 6)
            for line, row in zip(ours, softmax(theirs)):
                numpy.testing.assert_allclose(list(line["probabilities"].values()), row, atol=3e-6)

    def test_classifiers_as_skl2onnx_writes_them(self):
        for classes in (3, 2):
            ours, theirs = self.close(sklearn(classes), (3,), "probabilities", raw=6.0)
            for line, row in zip(ours, theirs):
                self.assertEqual(list(line["probabilities"]), [f"class {k}" for k in range(classes)])
                numpy.testing.assert_allclose(list(line["probabilities"].values()), row, atol=3e-6)

    def test_a_regressor_as_skl2onnx_writes_it(self):
        ours, theirs = self.close(regressor(), (3,), "variable")
        for line, row in zip(ours, theirs):
            (value,) = [v for k, v in line.items() if isinstance(v, list)] or [[line.get("output", line.get("answer"))]]
            numpy.testing.assert_allclose(numpy.array(value, float).reshape(-1), row, atol=3e-6)

    def test_inspect_tells_what_it_is(self):
        self.save("m.onnx", resnet())
        told = json.loads(self.succeed("inspect", "m.onnx", "--json").out)[0]
        self.assertEqual((told["producer"], told["opset"], told["loss"]), ("pytorch", 17, "cross-entropy"))
        self.assertIn("residual", self.succeed("inspect", "m.onnx").out)

    def data(self, count=24):
        x = RNG.integers(0, 256, (count, 16, 16)).astype(numpy.uint8)
        self.write("x.npy", npy("|u1", x.shape, x.tobytes()))
        y = (numpy.arange(count) % 3).astype("<i8")
        self.write("y.npy", npy("<i8", y.shape, y.tobytes()))

    CONFIG = """\
[data]
source = "x.npy"
labels = "y.npy"
[model]
{}
[train]
batch = 8
epochs = 1
optimizer = {{name = "sgd", lr = {}}}
"""

    def test_the_whole_network_is_trained_further(self):
        """With a learning rate of nearly nothing it stays what it was; the resolved configuration trains the same; evaluated too."""
        self.data()
        self.save("m.onnx", lenet())
        trained = self.train(self.CONFIG.format('file = "m.onnx"', 0.01), "run")
        config = (self.folder / "run/config.toml").read_text()
        self.assertIn('init = "m.onnx"', config)
        self.assertEqual(self.train(config, "again", "--threads", "3")["weight_hash"], trained["weight_hash"])
        still = self.train(self.CONFIG.format('file = "m.onnx"', 1e-30), "still")
        told = json.loads(self.succeed("inspect", "m.onnx", "--json").out)[0]
        self.assertEqual(still["weight_hash"], told["weight_hash"])
        ours = json.loads(self.succeed("eval", "still/model.safetensors", "--json", "--quiet").out)
        theirs = json.loads(self.succeed("eval", "m.onnx", "--config", "again/config.toml", "--json", "--quiet").out)
        self.assertEqual(ours["loss"], theirs["loss"])

    def test_weights_alone(self):
        self.data()
        self.save("m.onnx", lenet())
        layers = """input = [1, 16, 16]
layers = [{conv2d = {out = 4, kernel = 5, pad = 2}}, "relu", {dropout = 0.1}, {max_pool2d = 2}, {conv2d = {out = 6, kernel = 3}}, "tanh",
          {avg_pool2d = 2}, "flatten", {linear = 3}]
"""
        told = json.loads(self.succeed("inspect", "m.onnx", "--json").out)[0]
        config = self.CONFIG.replace("{}", layers.replace("{", "{{").replace("}", "}}") + "init = {}", 1)
        self.assertEqual(self.train(config.format('"m.onnx"', 1e-30), "run")["weight_hash"], told["weight_hash"])
        mapped = '{file = "m.onnx", map = {conv1 = "0", conv2 = "4", fc = "8"}}'
        self.assertEqual(self.train(config.format(mapped, 1e-30), "mapped")["weight_hash"], told["weight_hash"])

    def test_what_is_not_supported_is_listed(self):
        made = lenet()
        made.graph.node[1].op_type, made.graph.node[4].op_type = "Erf", "HardSwish"
        self.write("m.onnx", made.SerializeToString())
        refused = self.refuse(3, "m.onnx: uses operators that are not supported: Erf, HardSwish; supported are ", "inspect", "m.onnx")
        self.assertIn("GlobalAveragePool", refused.err)

    def change(self, made, node, **attributes):
        target = made.graph.node[node]
        for name in attributes:
            for entry in [a for a in target.attribute if a.name == name]:
                target.attribute.remove(entry)
        target.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
        return made

    def test_refusals_name_the_node(self):
        free = lenet()
        free.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "height"
        two = lenet()
        two.graph.input.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, ["batch", 3]))
        branches = lenet()
        branches.graph.node.append(helper.make_node("Relu", ["/conv1"], ["/other"]))
        short = lenet()
        short.graph.initializer[0].dims[0] = 5
        infinite = lenet()
        infinite.graph.initializer[1].raw_data = numpy.full(4, numpy.inf, numpy.float32).tobytes()
        cycle = model([helper.make_node("Relu", ["x"], ["x"])], {}, [3], [("x", TensorProto.FLOAT, [3])])
        for message, made in (("pads must be the same on both sides", self.change(lenet(), 0, pads=[0, 0, 1, 1])),
                              ("auto_pad = ", self.change(lenet(), 0, auto_pad="SAME_UPPER")),
                              ("ceil_mode = 1 is not supported", self.change(lenet(), 2, ceil_mode=1)),
                              ("alpha and beta must be 1", self.change(lenet(), 7, alpha=0.5)),
                              ("axis = 1 only", self.change(lenet(), 6, axis=2)),
                              ("the size of its input is not fixed", free), ("has several inputs", two),
                              ("two branches begin at", branches), ("another number of elements than its shape says", short),
                              ("not finite numbers", infinite), ("the graph has a cycle", cycle)):
            with self.subTest(message):
                self.write("m.onnx", made.SerializeToString())
                self.refuse(3, message, "inspect", "m.onnx")

    def test_damaged_files(self):
        whole = lenet().SerializeToString()
        for bytes_ in (b"", b"\x00", b"not a model at all", whole[:-7], whole[:200], b"\xff" * 64, b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f"):
            self.write("m.onnx", bytes_)
            self.refuse(3, "m.onnx: ", "inspect", "m.onnx")
        self.write("a.toml", self.CONFIG.format('file = "m.onnx"', 1))
        self.data()
        self.refuse(3, "m.onnx: ", "train", "a.toml")
        self.write("a.toml", self.CONFIG.format('file = "m.onnx"\nsizes = "3-3"', 1))
        self.refuse(2, "the network comes from model.file", "train", "a.toml")
        self.write("a.toml", self.CONFIG.format('file = "m.npz"', 1))
        self.refuse(2, "must be an .onnx file", "train", "a.toml")


if __name__ == "__main__":
    main()
