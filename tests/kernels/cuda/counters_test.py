"""counters_test.py STEP_COUNTERS [FLOAT.ptx DOUBLE.ptx]: a step asks no more of a GPU than docs/gpu.md says.

Launches, graphs, copies, blocks, sectors of global memory, bank conflicts and occupancy of the example networks, counted by
the emulator. Without nvcc only the page and the arithmetic are tested.
"""
import collections
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))
import cuda_counters as counters  # noqa: E402
import cuda_resources as resources  # noqa: E402

PROGRAM = sys.argv.pop(1)
PTX = [sys.argv.pop(1), sys.argv.pop(1)] if len(sys.argv) > 2 else []
SLACK = 1.02  # the sample of blocks


Row = collections.namedtuple("Row", "blocks occupancy sectors passes")


def page_of(table):
    """Network to launches, nodes that change and kernels; kernel to blocks, occupancy and ratios."""
    found = {}
    for part in re.split(r"(?=^`examples/)", table, flags=re.MULTILINE)[1:]:
        path, launches, changed = re.match(r"`([^`]+)`.*?: (\d+) launches in 1 graph, of which (\d+)", part).groups()
        rows = re.findall(r"^\| `([\w/]+)` \| \d+ \| (\d+) \| (\d+) \| ([\d.]+) \| ([\d.]+) \|", part, re.MULTILINE)
        found[path] = int(launches), int(changed), {row[0]: Row(*map(float, row[1:])) for row in rows}
    return found


class Arithmetic(unittest.TestCase):
    KERNEL = {"launches": 2, "blocks": 4, "fewest_blocks": 2, "instructions": 32 * 4000, "sectors": 80, "least_sectors": 40,
              "touched_sectors": 10, "passes": 9, "least_passes": 3}

    def test_bounds(self):
        card = counters.Card("card", 10, 1e9, 1e9, 2, 80)
        # 4000 instructions of warps, two blocks at a time on two of ten multiprocessors: 1 us; 320 bytes: 0.32 us.
        for touched, expected, bound in ((10, 1.0, "instructions"), (100, 3.2, "memory")):
            time, decides = counters.estimate(self.KERNEL | {"touched_sectors": touched}, card)
            self.assertAlmostEqual(time, expected)
            self.assertEqual(decides, bound)

    def test_table_can_be_read_back(self):
        step = {"launches": 2, "fills": 0, "copies_to_device": 1, "copies_to_host": 1, "batch": 64, "graphs": 1, "node_updates": 1,
                "kernels": {"add_l2": self.KERNEL}}
        page = page_of(counters.make_table({"examples/moons.toml": step}, {"add_l2": 75}))
        self.assertEqual(page, {"examples/moons.toml": (2, 1, {"add_l2": (2.0, 75.0, 2.0, 3.0)})})


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
            self.assertEqual(step["graphs"], 1, f"{path}: the step is one graph")
            self.assertLessEqual(step["node_updates"], self.page[path][1], path)
            self.assertEqual(step["copies_to_host"], 1, f"{path}: scores only")
            self.assertEqual(step["copies_to_device"], 1, f"{path}: the samples only")

    def test_accesses_are_no_worse_than_the_page_says(self):
        for path, step in self.counted.items():
            for name, k in step["kernels"].items():
                self.assertIn(name, self.page[path][2], "run scripts/cuda_counters.py BUILD --write")
                row = self.page[path][2][name]
                self.assertLessEqual(counters.ratio(k["sectors"], k["least_sectors"]), row.sectors * SLACK + 0.005, (path, name))
                self.assertLessEqual(counters.ratio(k["passes"], k["least_passes"]), row.passes * SLACK + 0.005, (path, name))
                self.assertGreaterEqual(k["fewest_blocks"], row.blocks, (path, name))

    def test_occupancy_is_no_worse_than_the_page_says(self):
        build = pathlib.Path(PTX[0]).parents[3]
        version = re.search(r"^nvcc ([\d.]+);", resources.PAGE.read_text(), re.MULTILINE).group(1)
        if resources.toolkit()[0] != version:
            self.skipTest("the page is of another toolkit")
        occupancy = counters.occupancies(build, self.counted)
        self.assertGreater(len(occupancy), 10)
        for path, (_, _, rows) in self.page.items():
            for name, row in rows.items():
                self.assertGreaterEqual(occupancy.get(name, row.occupancy), row.occupancy, (path, name))

    def test_large_gpus_get_work(self):
        # Of kernels that take time: at least as many blocks as a middling GPU has multiprocessors.
        for path, step in self.counted.items():
            for name in ("conv2d_tiled", "conv2d_weights_tiled"):
                self.assertGreaterEqual(step["kernels"][name]["fewest_blocks"], 16, (path, name))


if __name__ == "__main__":
    unittest.main()
