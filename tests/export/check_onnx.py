"""check_onnx.py PROGRAM: exported networks are valid ONNX and give the outputs that Lockstep gives."""
import numpy
import onnx
import onnx.reference
import onnxruntime

import exported

TOLERANCE = 1e-5


class Onnx(exported.ExportTest):
    def samples(self, stem):
        return numpy.load(self.folder / (stem + ".x.npy")), numpy.load(self.folder / (stem + ".y.npy"))

    def assert_close(self, ours, theirs, tolerance):
        self.assertEqual(ours.shape, theirs.shape)
        self.assertTrue(numpy.isfinite(ours).all())
        self.assertGreater(numpy.abs(ours).max(), 1e-3, "outputs of nothing but zeros prove nothing")
        self.assertLessEqual(numpy.abs(ours - theirs).max(), tolerance)

    def test_files_are_valid(self):
        for stem, path in self.files(".onnx"):
            with self.subTest(stem):
                model = onnx.load(path)
                onnx.checker.check_model(model, full_check=True)
                self.assertEqual([(entry.domain, entry.version) for entry in model.opset_import], [("", 17)])
                dims = model.graph.input[0].type.tensor_type.shape.dim
                self.assertEqual(dims[0].dim_param, "N")
                self.assertEqual([d.dim_value for d in dims[1:]], list(self.samples(stem)[0].shape[1:]))

    def test_every_operator_is_covered(self):
        seen = {node.op_type for _, path in self.files(".onnx") for node in onnx.load(path).graph.node}
        self.assertEqual(seen, {
            "Abs", "Add", "AveragePool", "BatchNormalization", "Cast", "Concat", "Conv", "Flatten", "GRU", "Gather", "Gemm",
            "GreaterOrEqual", "LSTM", "LayerNormalization", "LeakyRelu", "MatMul", "MaxPool", "Mul", "RNN", "Relu", "Reshape",
            "Sigmoid", "Softmax", "Tanh", "Transpose", "Where"})

    def test_onnxruntime_gives_our_outputs(self):
        run = 0
        for stem, path in self.files(".onnx"):
            if not stem.endswith(".float32"):
                continue
            with self.subTest(stem):
                x, y = self.samples(stem)
                session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
                self.assert_close(y, session.run(["output"], {"input": x})[0], TOLERANCE)
                # The batch size is free.
                self.assert_close(y[:1], session.run(["output"], {"input": x[:1]})[0], TOLERANCE)
                run += 1
        self.assertGreaterEqual(run, 6)

    def test_reference_gives_our_outputs_in_double(self):
        """onnxruntime has no convolution in double; the evaluator of the package onnx has everything but recurrences in both
        directions."""
        for stem, path in self.files(".onnx"):
            both = any(entry.name == "direction" for node in onnx.load(path).graph.node for entry in node.attribute)
            if not stem.endswith(".float64") or both:
                continue
            with self.subTest(stem):
                x, y = self.samples(stem)
                got = onnx.reference.ReferenceEvaluator(str(path)).run(["output"], {"input": x})[0]
                self.assertEqual(got.dtype, numpy.float64)
                # Slopes and eps are float32 by the format: 6e-8 relative.
                self.assert_close(y, got, 1e-7)

    def test_onnxruntime_runs_double_networks(self):
        """Where it has every operator: fully connected ones."""
        x, y = self.samples("digits.float64")
        session = onnxruntime.InferenceSession(self.folder / "digits.float64.onnx", providers=["CPUExecutionProvider"])
        self.assert_close(y, session.run(["output"], {"input": x})[0], 1e-12)

    def test_weights_keep_their_names_and_bits(self):
        for stem, path in self.files(".onnx"):
            with self.subTest(stem):
                held = {t.name: onnx.numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer}
                ours = self.weights(stem)
                self.assert_same(ours, {name: held[name] for name in ours})


if __name__ == "__main__":
    exported.main()
