"""counters_test.py STEP_COUNTERS [FLOAT.ptx DOUBLE.ptx]: a step asks no more of a GPU than docs/gpu.md says.

Launches, copies, sectors of global memory and bank conflicts of the example networks, counted by the emulator. Without
nvcc only the page and the arithmetic are tested.
"""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))
import cuda_counters as counters  # noqa: E402

PROGRAM = sys.argv.pop(1)
PTX = [sys.argv.pop(1), sys.argv.pop(1)] if len(sys.argv) > 2 else []
SLACK = 1.02  # the sample of blocks


def page_of(table):
    """Network to launches and kernels, kernel to its ratios."""
    found = {}
    for part in re.split(r"(?=^`examples/)", table, flags=re.MULTILINE)[1:]:
        path, launches = re.match(r"`([^`]+)`.*?: (\d+) launches", part).groups()
        rows = re.findall(r"^\| `([\w/]+)` \| (\d+) \| (\d+) \| ([\d.]+) \| ([\d.]+) \|", part, re.MULTILINE)
        found[path] = int(launches), {name: (float(sectors), float(passes)) for name, _, _, sectors, passes in rows}
    return found


class Arithmetic(unittest.TestCase):
    KERNEL = {"launches": 2, "blocks": 4, "fewest_blocks": 2, "instructions": 32 * 4000, "sectors": 80, "least_sectors": 40,
              "touched_sectors": 10, "passes": 9, "least_passes": 3}

    def test_bounds(self):
        card = counters.Card("card", 10, 1e9, 1e9, 2)
        # 4000 instructions of warps, two blocks at a time on two of ten multiprocessors: 1 us; 320 bytes: 0.32 us.
        self.assertEqual(counters.estimate(self.KERNEL, card), (1.0, "instructions"))
        self.assertEqual(counters.estimate(self.KERNEL | {"touched_sectors": 100}, card), (3.2, "memory"))

    def test_table_can_be_read_back(self):
        step = {"launches": 2, "fills": 0, "copies_to_device": 1, "copies_to_host": 1, "batch": 64,
                "kernels": {"add_l2": self.KERNEL}}
        page = page_of(counters.make_table({"examples/moons.toml": step}))
        self.assertEqual(page, {"examples/moons.toml": (2, {"add_l2": (2.0, 3.0)})})


class Step(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.page = page_of(counters.table_on_the_page())
        cls.counted = counters.count(PROGRAM, PTX) if PTX else None

    def setUp(self):
        if self.counted is None:
            self.skipTest("no nvcc, so no PTX to count")

    def test_page_has_every_network(self):
        self.assertEqual(set(self.page), set(counters.NETWORKS))

    def test_launches_are_no_more_than_the_page_says(self):
        for path, step in self.counted.items():
            self.assertLessEqual(step["launches"], self.page[path][0], path)
            self.assertEqual(step["copies_to_host"], 1, f"{path}: scores only")
            self.assertEqual(step["copies_to_device"], 1, f"{path}: the samples only")

    def test_accesses_are_no_worse_than_the_page_says(self):
        for path, step in self.counted.items():
            for name, k in step["kernels"].items():
                self.assertIn(name, self.page[path][1], "run scripts/cuda_counters.py BUILD --write")
                sectors, passes = self.page[path][1][name]
                self.assertLessEqual(counters.ratio(k["sectors"], k["least_sectors"]), sectors * SLACK + 0.005, (path, name))
                self.assertLessEqual(counters.ratio(k["passes"], k["least_passes"]), passes * SLACK + 0.005, (path, name))

    def test_large_gpus_get_work(self):
        # Of kernels that take time: at least as many blocks as a middling GPU has multiprocessors.
        for path, step in self.counted.items():
            for name in ("conv2d_tiled", "conv2d_weights_tiled"):
                self.assertGreaterEqual(step["kernels"][name]["fewest_blocks"], 16, (path, name))


if __name__ == "__main__":
    unittest.main()
