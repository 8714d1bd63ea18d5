"""resources_test.py [BUILD]: no kernel spills, and the table of docs/gpu.md is the one of this build.

Without BUILD (no nvcc) only the parser and the page itself are tested.
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))
import cuda_resources as resources  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None

SAID = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_ZN8lockstep4cuda1a6add_l2EdPKdPdx' for 'sm_75'
ptxas info    : Function properties for _ZN8lockstep4cuda1a6add_l2EdPKdPdx
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 22 registers, used 0 barriers, 384 bytes cmem[0]
ptxas info    : Compiling entry function '_ZN8lockstep4cuda1a14linear_forwardEPKdxS3_' for 'sm_80'
ptxas info    : Function properties for _ZN8lockstep4cuda1a14linear_forwardEPKdxS3_
    16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 2048 bytes smem, 440 bytes cmem[0]
"""


def table_on_the_page():
    page = resources.PAGE.read_text()
    return page[page.index(resources.BEGIN) + len(resources.BEGIN):page.index(resources.END)]


class Parser(unittest.TestCase):
    def test_reads_registers_shared_memory_and_spills(self):
        names = ["add_l2", "linear_forward", "linear_forward_naive"]
        first, second = resources.parse_ptxas(SAID, "double", names)
        self.assertEqual(first, resources.Kernel("add_l2", "double", 75, 22, 0, 0, 0))
        self.assertEqual(second, resources.Kernel("linear_forward", "double", 80, 255, 2048, 20, 16))
        self.assertEqual(resources.spilling([first, second]), [second])
        self.assertEqual(resources.with_stack([first, second]), [second])

    def test_refuses_what_the_list_does_not_know(self):
        with self.assertRaises(ValueError):
            resources.parse_ptxas(SAID, "double", ["add_l2"])


class Architectures(unittest.TestCase):
    def codes(self, wanted, known=()):
        done = subprocess.run(
            ["cmake", f"-DWANTED={';'.join(wanted)}", "-DKNOWN=" + "".join(f"compute_{sm}\n" for sm in known), "-P",
             ROOT / "lockstep/kernels/cuda/architectures.cmake"], capture_output=True, text=True, check=True)
        return re.findall(r"code=(\w+)", done.stderr)

    def test_the_preset_has_ptx_for_gpus_between_its_own(self):
        preset = next(p for p in json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
                      if p["name"] == "cuda")
        codes = self.codes(preset["cacheVariables"]["LOCKSTEP_CUDA_ARCHITECTURES"].split(";"))
        self.assertIn("compute_80", codes)   # sm_87, sm_103, sm_110: newer than 80, none of the list
        self.assertIn("compute_120", codes)  # what comes after the newest
        self.assertEqual(len(codes), len(set(codes)))

    def test_leaves_out_what_nvcc_does_not_know(self):
        self.assertEqual(self.codes(["75", "80", "100"], ["75", "80", "90"]), ["sm_75", "sm_80", "compute_80"])
        self.assertEqual(self.codes(["75"]), ["sm_75", "compute_75"])
        self.assertEqual(self.codes(["50"], ["75"]), [])


class Page(unittest.TestCase):
    def test_names_only_kernels_that_there_are(self):
        # Whether it names all of them, with the right figures, only a build with nvcc can tell.
        rows = re.findall(r"^\| `(\w+)`", table_on_the_page(), re.MULTILINE)
        self.assertTrue(rows, "the table is empty: run scripts/cuda_resources.py BUILD --write")
        self.assertEqual([row for row in rows if row not in resources.kernel_names()], [])


class Build(unittest.TestCase):
    def setUp(self):
        if BUILD is None:
            self.skipTest("no nvcc, so nothing of ptxas to read")

    def test_no_tuned_kernel_spills(self):
        kernels = resources.read_build(BUILD)
        self.assertEqual({k.name for k in kernels}, set(resources.kernel_names()))
        self.assertEqual(resources.spilling(kernels), [])
        self.assertEqual(resources.with_stack(kernels), [])

    def test_the_page_is_of_this_build(self):
        version, include = resources.toolkit()
        page = table_on_the_page()
        if not page.startswith(f"nvcc {version};"):
            self.skipTest(f"the table is of another toolkit than {version}: scripts/cuda_resources.py BUILD --write")
        kernels = resources.read_build(BUILD)
        if sorted({k.sm for k in kernels}) != sorted({int(sm) for sm in re.findall(r"sm_(\d+) registers", page)}):
            self.skipTest("this build is for other architectures than the table")
        table = resources.make_table(kernels, resources.block_sizes(BUILD), include, version)
        self.assertEqual(page, table, "run scripts/cuda_resources.py BUILD --write")


if __name__ == "__main__":
    unittest.main()
