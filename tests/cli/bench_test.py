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
            self.assertTrue(0 < s["min"] <= s["low"] <= s["median"] <= s["high"] <= s["max"], k)
            self.assertAlmostEqual(k["gflops_per_second"], k["flops"] / s["median"] * 1e-9)
            if k["backend"] == "naive":
                self.assertAlmostEqual(k["times_naive"], 1)

    def test_a_part_of_a_name(self):
        result = self.succeed("bench", "max_pool", "--quick", "--threads", "1", "--backend", "naive")
        self.assertIn("max_pool2d_backward", result.out)
        self.assertIn("LeNet-5, batch 64", result.out)
        self.assertNotIn("conv2d_forward", result.out)
        self.assertNotIn("naive-o0", result.out)

    def test_refusals(self):
        self.refuse(2, "no such measurement; there are machine, mlp", "bench", "nothing")
        self.refuse(2, "--backend fast: unknown name", "bench", "mlp", "--backend", "fast")
        self.refuse(2, "--threads", "bench", "--threads", "0")


if __name__ == "__main__":
    main()
