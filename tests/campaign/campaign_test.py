"""campaign_test.py PROGRAM HELPERS: the campaign itself: what it looks for is found where it is, cases that fail are kept small, the
counts add up. A campaign that finds nothing proves nothing."""
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

HOME = pathlib.Path(__file__).resolve().parent
HELPERS = pathlib.Path(sys.argv.pop(2)).resolve()
sys.path[:0] = [str(HOME), str(HOME.parent / "cli")]
# pylint: disable=wrong-import-position
import counts
from program import PROGRAM  # takes the first argument
from failures import SMALL
from trials import Networks, Trial, reduced
from ways import Failure, Folder


class Tools:
    faults = str(HELPERS / "libcampaign_faults.so")

    def __init__(self):
        self.counts = {}


class PowerCuts(unittest.TestCase):
    def crash(self, folder, *more):
        done = folder.run([HELPERS / "campaign_crash", folder.path / "record", folder.path / "place/run", folder.path / "work",
                           "300", "7", *more])
        return done.code, json.loads(done.out)

    def test_a_program_that_does_not_sync_is_found(self):
        with Folder(SMALL) as folder:
            (folder.path / "place").mkdir()
            done = folder.run([PROGRAM, "train", "a.toml", "--out", "place/run", "--quiet", "--threads", "1"], LD_PRELOAD=Tools.faults,
                              CAMPAIGN_RECORD=str(folder.path / "record"), CAMPAIGN_ROOT=str(folder.path / "place"))
            self.assertEqual(done.code, 0, done)
            code, found = self.crash(folder)
            self.assertEqual([code, found["faults"]], [0, {}])
            self.assertEqual(found["states"], 300)
            for what in ("files", "folders"):
                code, found = self.crash(folder, "--forget", what)
                self.assertEqual(code, 1, what)
                self.assertTrue(found["faults"])


class FailingCalls(unittest.TestCase):
    def test_the_call_fails(self):
        with Folder(SMALL) as folder:
            fired = folder.path / "fired"
            for number, happens in ((1, True), (10**6, False)):
                fired.unlink(missing_ok=True)
                done = folder.run([PROGRAM, "train", "a.toml", "--out", f"run{number}", "--quiet"], LD_PRELOAD=Tools.faults,
                                  CAMPAIGN_CALL="fsync", CAMPAIGN_NUMBER=str(number), CAMPAIGN_FIRED=str(fired))
                self.assertEqual(fired.exists(), happens)
                self.assertEqual(done.code != 0, happens, done)


class Reduction(unittest.TestCase):
    def test_what_is_not_needed_goes(self):
        class Planted(Trial):
            def run(self, case):
                self.count("runs")
                if "relu" in case["config"]["model"]["layers"]:
                    raise Failure("planted")

        tools = Tools()
        case = {"config": {"model": {"input": [2], "layers": [{"linear": 3}, "relu", {"linear": 2}], "precision": "float64"},
                           "train": {"loss": "mse", "batch": 4}}, "files": {}}
        small = reduced(Planted(tools), case)
        self.assertEqual(small["config"], {"model": {"input": [2], "layers": ["relu"]}, "train": {"loss": "mse"}})
        self.assertEqual(tools.counts, {}, "runs of a reduction do not count")

    def test_a_way_of_many(self):
        class Planted(Networks):
            def run(self, case):
                if 3 in case["ways"]:
                    raise Failure("planted")

        case = {"ways": [1, 2, 3, 4], "config": {"model": {"layers": []}}, "files": {}}
        self.assertEqual(reduced(Planted(Tools()), case)["ways"], [3])


class Seeds(unittest.TestCase):
    def test_a_seed_draws_one_case(self):
        from draw import Drawer  # starts a helper
        drawer = Drawer(HELPERS / "campaign_records")
        try:
            one, two, other = (drawer.training(random.Random(seed)) for seed in ("1:0", "1:0", "1:1"))
        finally:
            drawer.close()
        self.assertEqual(one, two)
        self.assertNotEqual(one, other)


class Counts(unittest.TestCase):
    def test_they_add_up(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            tally = counts.Tally(folder / "counts.json")
            tally.add({"kills": 2})
            tally.add({"kills": 5, "networks": 1})
            counts.Tally(folder / "counts.json").add({"kills": 10})
            (folder / "csv.log").write_text("stat::number_of_executed_units: 1200\n")
            page = folder / "page.md"
            page.write_text(f"before\n{counts.BEGIN}\nold\n{counts.END}\nafter\n")
            for _ in range(2):  # a log counts once
                subprocess.run([sys.executable, "-B", HOME / "counts.py", folder / "counts.json", page, "--fuzz", folder], check=True)
            kept = json.loads((folder / "counts.json").read_text())
            self.assertEqual([kept["counts"], kept["fuzz"]], [{"kills": 15, "networks": 1}, {"csv": 1200}])
            text = page.read_text()
            self.assertIn("| kills at random instants, resumed | 15 |", text)
            self.assertIn("| executions of 1 fuzz targets, all together | 1,200 |", text)
            self.assertTrue(text.startswith("before\n") and text.endswith("after\n") and "old" not in text)


if __name__ == "__main__":
    unittest.main()
