"""lockstep reproduce mnist-mlp and openmp-cuda-pytorch: what they measure, on a machine that has no MNIST."""
import json

from program import ProgramTest, main


class Classics(ProgramTest):
    def reproduce(self, name, *arguments):
        self.succeed("reproduce", name, "--quick", "--out", "out", "--json", *arguments)
        self.assertIn("</html>", (self.folder / "out/report.html").read_text())
        return {line["name"]: line for line in self.lines("out/results.jsonl")}

    def test_mnist_mlp_without_mnist(self):
        results = self.reproduce("mnist-mlp")
        self.assertIn("make data", results["left out: accuracy by epoch"]["words"]["why"])
        self.assertFalse([name for name in results if name.startswith("accuracy by epoch")])
        for threads in (1, 2, 4, 8):
            self.assertEqual(results[f"max 1000x1000: simd, {threads} threads"]["words"]["result"], "same")
            self.assertEqual(results[f"xxt 784x128: simd, symmetric, {threads} threads"]["words"]["result"], "same")

    def test_openmp_cuda_pytorch(self):
        results = self.reproduce("openmp-cuda-pytorch")
        moons = results["moons: simd, 1 thread"]
        self.assertGreaterEqual(moons["series"]["accuracy"][-1], 0.99)
        self.assertEqual(moons["weight_hash"], results["moons: naive, 1 thread"]["weight_hash"])
        hashes = {results[f"threads: simd, {n} thread{'s' * (n > 1)}"]["weight_hash"] for n in (1, 2, 4, 8, 16, 32)}
        self.assertEqual(hashes, {results["threads: naive, 1 thread"]["weight_hash"]})
        # 2-300-...: exp overflows in single precision behind the first layer of 300 sums, and in double it does not.
        layers = [results[f"forward through layer: {n}"]["numbers"] for n in range(1, 8)]
        self.assertEqual(layers[0]["published_nan"], 0)
        self.assertGreater(layers[1]["published_nan"], 0)
        self.assertEqual([layer["published_nan"] for layer in layers[2:]], [1] * 5)
        self.assertEqual([layer["double_nan"] + layer["bounded_nan"] for layer in layers], [0] * 7)
        self.assertEqual(layers[5]["double_slope_0"], 1)
        self.assertGreater(results["trained from weights: Xavier, uniform"]["numbers"]["accuracy"],
                           results["trained from weights: uniform in [0, 1)"]["numbers"]["accuracy"])


if __name__ == "__main__":
    main()
