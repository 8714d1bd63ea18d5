"""lockstep simulate: steps of training on simulated clusters. Skipped where SimGrid is missing, save what is said then."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

from program import MOONS, PROGRAM, ProgramTest, main

# The times of one core that a simulation is given, so that its figures are always the same: every section a
# microsecond for a thousand operations.
RATES = json.dumps({"sections": [[[1e3, 1e-6]] for _ in range(11 + 2 * 8)]})

# Large enough to have something to send: 14,000 parameters.
NETWORK = """\
[data]
source = "blobs"
[model]
sizes = "64-96-64-32-10"
[train]
loss = "cross-entropy"
batch = 64
slots = 16
"""


def has_simgrid():
    return shutil.which("smpirun") is not None and (pathlib.Path(PROGRAM).parent / "lockstep_smpi.so").exists()


def processes_with(variable):
    """Processes whose environment has "NAME=value"."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):  # another user's, or it has just ended
            if variable.encode() in path.read_bytes():
                found.append(path.parent.name)
    return found


class Simulate(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("a.toml", NETWORK)
        self.write("rates.json", RATES)

    def simulate(self, *arguments):
        if not has_simgrid():
            self.skipTest("SimGrid is missing: sudo apt-get install libsimgrid-dev")
        out = self.succeed("simulate", "a.toml", "--rates", "rates.json", "--json", "--quiet", "--overwrite",
                           *(() if "--out" in arguments else ("--out", "simulated")), *arguments).out
        rows = []
        for table in json.loads(out)["tables"]:
            keys = [column["key"] for column in table["columns"]]
            self.assertIn("Simulated", table["title"])
            for row in table["rows"]:
                self.assertEqual(row["mark"], "simulated")
                cells = [cell.get("value") for cell in row["cells"]]
                rows.append(dict(zip(keys, cells), table=table["name"]))
        return rows

    def test_every_way_on_a_few_nodes(self):
        rows = self.simulate("--nodes", "1,2,4", "--out", "report", "--csv")
        self.assertEqual(len(rows), 2 * 5 * 3)
        for row in rows:
            self.assertGreater(row["step_seconds"], 0, row)
            self.assertGreaterEqual(row["step_seconds"], row["work_seconds"] * (1 - 1e-9), row)
            if row["table"] == "simulated-strong-scaling" and row["way"] in ("tree", "gather"):
                self.assertEqual(row["weights"], "same", row)
        strong = {(r["way"], r["nodes"]): r["step_seconds"] for r in rows if "strong" in r["table"]}
        self.assertLess(strong["tree", 4], strong["tree", 1])
        self.assertLess(strong["tree", 4], strong["gather", 4])
        page = (self.folder / "report" / "report.html").read_text()
        self.assertIn("simulated", page)
        for ending in ("csv", "extra-p.jsonl"):
            self.assertTrue((self.folder / "report" / f"simulated-strong-scaling.{ending}").exists(), ending)
        tables = (self.folder / "report" / "report.json").read_text()
        self.succeed("report", "report", "--quiet")
        self.assertEqual((self.folder / "report" / "report.json").read_text(), tables)

    def test_a_stopped_study_has_a_report(self):
        self.simulate("--nodes", "1,2", "--way", "tree", "--way", "gather")
        results = self.folder / "simulated" / "results.jsonl"
        lines = results.read_text().splitlines(keepends=True)
        results.write_text("".join(lines[:5]))  # weak scaling has come to the first of two ways
        self.succeed("report", "simulated", "--quiet")
        tables = json.loads((self.folder / "simulated" / "report.json").read_text())
        self.assertIn("simulated-weak-scaling", json.dumps(tables))
        results.write_text(lines[1])
        self.refuse(3, "lack the one on 1 node", "report", "simulated")

    def test_a_signal_ends_it_and_leaves_nothing_behind(self):
        """Exit 10 and the results so far; SimGrid's process and its files in the folder for temporary files are gone."""
        if not has_simgrid():
            self.skipTest("SimGrid is missing: sudo apt-get install libsimgrid-dev")
        scratch = self.folder / "scratch"
        scratch.mkdir()
        process = subprocess.Popen([PROGRAM, "simulate", "a.toml", "--rates", "rates.json", "--way", "tree", "--scaling", "strong",
                                    "--nodes", "1,2,4,8,16,32,64,128,256,512,1024", "--out", "cut", "--timeout", "600"],
                                   cwd=self.folder, env=os.environ | {"TMPDIR": str(scratch)}, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        results = self.folder / "cut" / "results.jsonl"
        for _ in range(1200):  # until some nodes are simulated, and more are under way
            if process.poll() is not None or (results.exists() and results.read_text().count("\n") >= 2
                                              and list(scratch.iterdir())):
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (10, ""), err)
        self.assertIn("stopped by a signal; lockstep report cut shows what was done", err)
        self.assertEqual(list(scratch.iterdir()), [])
        self.assertEqual(processes_with(f"TMPDIR={scratch}"), [], "a process of SimGrid's is left")
        self.succeed("report", "cut", "--quiet")

    def test_two_simulations_give_the_same_figures(self):
        arguments = ("--nodes", "2,3", "--scaling", "strong", "--way", "tree", "--way", "mpi", "--network", "dragonfly")
        self.assertEqual(self.simulate(*arguments), self.simulate(*arguments))

    def test_the_bytes_of_the_librarys_sum_count(self):
        """Two nodes: every parameter goes over once and comes back once, tree or ring; the scores are few."""
        rows = self.simulate("--nodes", "2", "--scaling", "strong", "--way", "tree", "--way", "mpi")
        sent = {row["way"]: row["bytes"] for row in rows if row["nodes"] == 2}
        self.assertAlmostEqual(sent["mpi"] / sent["tree"], 1, delta=0.05, msg=str(sent))

    def test_the_model_agrees_on_a_star(self):
        """Messages that take far longer than the work they could hide behind: within 10 % of alpha-beta (the stretches of
        so small a network are whole blocks, not equal), 15 % for the ring, which also has to tell the scores."""
        rows = self.simulate("--nodes", "2,4,8", "--network", "star", "--bandwidth", "100Mbit/s", "--latency", "1us",
                             "--scaling", "strong", "--way", "tree", "--way", "gather", "--way", "mpi")
        for row in rows:
            if row["nodes"] == 1:
                continue
            apart = row["step_seconds"] - row["work_seconds"]
            model = row["model_seconds"] - row["work_seconds"]
            self.assertAlmostEqual(apart / model, 1, delta=0.15 if row["way"] == "mpi" else 0.10, msg=str(row))

    def test_many_nodes_tell_their_scores_in_few_messages(self):
        rows = self.simulate("--nodes", "32", "--set", "train.batch=512", "--set", "train.slots=32",
                             "--scaling", "strong", "--way", "tree")
        self.assertEqual(rows[-1]["weights"], "same", rows)
        self.assertLess(rows[-1]["messages"], 32 * 32)

    def test_many_nodes_that_are_no_power_of_two(self):
        """Scores take log2 messages a rank; the tree of so small a network has few owners."""
        rows = self.simulate("--nodes", "100", "--set", "train.batch=1024", "--set", "train.slots=128",
                             "--scaling", "strong", "--way", "tree", "--timeout", "60")
        self.assertEqual(rows[-1]["weights"], "same", rows)
        self.assertLess(rows[-1]["messages"], 100 * 100 / 2)

    def test_the_folder_is_that_of_the_other_commands(self):
        if not has_simgrid():
            self.skipTest("SimGrid is missing: sudo apt-get install libsimgrid-dev")
        command = ("simulate", "a.toml", "--rates", "rates.json", "--nodes", "1,2", "--scaling", "strong", "--way", "tree")
        out = self.succeed(*command).out
        self.assertIn("runs/simulate-1/report.html", out)
        names = sorted(os.listdir(self.folder / "runs" / "simulate-1"))
        self.assertEqual(names, ["report.html", "report.json", "results.jsonl"])
        self.refuse(2, "holds an earlier measurement; --overwrite replaces it", *command, "--out", "runs/simulate-1")
        self.succeed(*command, "--out", "runs/simulate-1", "--overwrite", "--csv")
        self.assertIn("simulated-strong-scaling.csv", os.listdir(self.folder / "runs" / "simulate-1"))
        (self.folder / "mine").mkdir()
        self.write("mine/letter.txt", "dear")
        self.refuse(2, "is no measurement of Lockstep's", *command, "--out", "mine", "--overwrite")

    def test_real_ranks_beside_simulated_ones(self):
        """What is measured is noise on a busy machine: no figure is checked, but that they fit together."""
        if not has_simgrid():
            self.skipTest("SimGrid is missing: sudo apt-get install libsimgrid-dev")
        if shutil.which("mpirun.openmpi") is None:
            self.skipTest("Open MPI is missing: sudo apt-get install openmpi-bin")
        self.succeed("simulate", "a.toml", "--validate", "--nodes", "1,2,4", "--way", "tree", "--way", "tensor", "--quiet",
                     "--out", "real", "--csv")
        lines = [json.loads(line) for line in (self.folder / "real" / "results.jsonl").read_text().splitlines()]
        self.assertEqual([(line["words"]["way"], line["numbers"]["ranks"]) for line in lines],
                         [("tree", 1), ("tree", 2), ("tree", 4), ("tensor", 1), ("tensor", 2), ("tensor", 4)])
        for line in lines:
            numbers = line["numbers"]
            self.assertGreater(numbers["simulated_seconds"], 0)
            self.assertGreaterEqual(numbers["simulated_seconds"], numbers["work_seconds"] * 0.999)
            self.assertEqual(numbers["hosts"], 1)
            self.assertEqual(numbers["crowded"], float(numbers["ranks"] > len(os.sched_getaffinity(0))))
            if numbers["ranks"] > 1:
                self.assertGreater(numbers["nap_seconds"], 20e-6)
                self.assertEqual(line["series"]["local_bytes"][-1], 1048576)
            if line["words"]["way"] == "tree":
                self.assertEqual(numbers["same_bits"], 1)
        before = (self.folder / "real" / "report.json").read_text()
        self.succeed("report", "real", "--quiet")
        self.assertEqual((self.folder / "real" / "report.json").read_text(), before)

    def test_refusals(self):
        self.refuse(2, "--network mesh: unknown name", "simulate", "a.toml", "--network", "mesh")
        if has_simgrid():
            self.refuse(5, "File name too long", "simulate", "a.toml", "--rates", "x" * 300)
        self.refuse(2, "--nodes 2,1", "simulate", "a.toml", "--nodes", "2,1")
        self.refuse(2, "--bandwidth fast", "simulate", "a.toml", "--bandwidth", "fast")
        self.refuse(2, "--latency -1us", "simulate", "a.toml", "--latency", "-1us")
        self.refuse(2, "takes all data as one batch", "simulate", "a.toml", "--set", 'train.batch="full"')

    def test_without_simgrid(self):
        self.write("moons.toml", MOONS)
        (self.folder / "empty").mkdir()
        environment = {"PATH": str(self.folder / "empty")}
        self.refuse(2, "apt-get install libsimgrid-dev", "simulate", "moons.toml", env=environment)

    def test_nothing_is_left_behind(self):
        scratch = self.folder / "scratch"
        scratch.mkdir()
        if not has_simgrid():
            self.skipTest("SimGrid is missing: sudo apt-get install libsimgrid-dev")
        result = self.succeed("simulate", "a.toml", "--rates", "rates.json", "--quiet", "--nodes", "4001", "--scaling",
                              "strong", "--way", "tree", "--timeout", "1",
                              env={"TMPDIR": str(scratch)})
        self.assertIn("left out", result.out)
        self.assertEqual(os.listdir(scratch), [])


if __name__ == "__main__":
    main()
