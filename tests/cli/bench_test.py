"""lockstep bench: the shape of what it prints. How fast a machine is, no test may say."""
import json

from program import ProgramTest, main


class Bench(ProgramTest):
    def test_the_machine(self):
        machine = json.loads(self.succeed("bench", "machine", "--quick", "--json", "--threads", "2").out)["machine"]
        self.assertEqual(machine["threads"], 2)
        self.assertTrue(machine["processor"])
        names = [rate["name"] for rate in machine["rates"]]
        for isa in machine["instruction_sets"]:
            self.assertIn(f"fma float32 {isa}", names)
            self.assertIn(f"fma float64 {isa}", names)
        self.assertEqual(bool(machine["openblas"]), any("sgemm" in name for name in names))
        for rate in machine["rates"]:
            self.assertGreater(rate["one_thread"], 0, rate)
            self.assertGreater(rate["all_threads"], 0, rate)

    def test_kernels_under_every_backend(self):
        result = json.loads(self.succeed("bench", "digits", "--quick", "--json", "--threads", "1").out)
        kernels = result["kernels"]
        self.assertEqual({k["network"] for k in kernels}, {"digits"})
        self.assertEqual({k["precision"] for k in kernels}, {"float64"})
        self.assertIn("naive", {k["backend"] for k in kernels})
        for name in ("linear_forward", "linear_backward_data", "linear_backward_weights", "activation_forward",
                     "loss_gradient", "add", "sgd_step"):
            self.assertIn(name, {k["kernel"] for k in kernels})
        for k in kernels:
            s = k["seconds"]
            low, high = (s["low"], s["high"]) if s["count"] >= 6 else (s["min"], s["max"])
            self.assertTrue(0 < s["min"] <= low <= s["median"] <= high <= s["max"], k)
            self.assertEqual("low" in s, s["count"] >= 6, "fewer than 6 samples have no interval")
            self.assertAlmostEqual(k["gflops_per_second"], k["flops"] / s["median"] * 1e-9)
            if k["backend"] == "naive":
                self.assertAlmostEqual(k["times_naive"], 1)
            if k["backend"] != "library":
                self.assertEqual(k["bits"], "same", k)

    def test_a_part_of_a_name(self):
        result = self.succeed("bench", "max_pool", "--quick", "--threads", "1", "--backend", "naive")
        self.assertIn("max_pool2d_backward", result.out)
        self.assertIn("LeNet-5, batch 64", result.out)
        self.assertNotIn("conv2d_forward", result.out)
        self.assertNotIn("naive-o0", result.out)

    def check_primitive(self, name, shape):
        result = json.loads(self.succeed("bench", name, "--quick", "--json", "--threads", "2").out)
        (problem,) = result["problems"]
        self.assertEqual(problem["shape"], shape)
        kinds = {}
        for each in problem["results"]:
            kinds.setdefault(each["kind"], []).append(each)
            self.assertTrue(each["limit"], each)
            self.assertEqual(each["seconds"], min(each["samples"]))
            self.assertGreater(each["seconds"], 0)
            if each["kind"] in ("trivial", "unoptimised", "simd", "device"):
                self.assertEqual(each["result"], "same", each)
        (trivial,) = kinds["trivial"]
        self.assertEqual([each["threads"] for each in kinds["simd"] if not each["symmetric"]], [1, 2])
        for each in problem["results"]:
            self.assertAlmostEqual(each["times_trivial"], trivial["seconds"] / each["seconds"])
        self.assertTrue("python" in kinds or any("Python" in line for line in problem["left_out"]), problem["left_out"])
        self.assertTrue("device" in kinds or any("device" in line for line in problem["left_out"]), problem["left_out"])
        return kinds

    def test_the_exercise_max(self):
        kinds = self.check_primitive("max", "1000x1000")
        for each in kinds.get("device", []):
            self.assertGreater(each["blocks"], 0)

    def test_the_exercise_xxt(self):
        kinds = self.check_primitive("xxt", "784x128")
        self.assertTrue(any(each["symmetric"] for each in kinds["simd"]))
        for each in kinds["simd"]:
            sums = 784 * 785 / 2 if each["symmetric"] else 784 * 784
            self.assertEqual(each["flops"], 2 * 128 * sums)

    def test_refusals(self):
        self.refuse(2, "--backend: bench max measures every backend", "bench", "max", "--backend", "simd")
        self.refuse(2, "no such measurement; there are machine, max, xxt, mlp", "bench", "nothing")
        self.refuse(2, "--backend fast: unknown name", "bench", "mlp", "--backend", "fast")
        self.refuse(2, "--threads", "bench", "--threads", "0")


if __name__ == "__main__":
    main()
