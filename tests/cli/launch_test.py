"""lockstep launch: a run that loses ranks goes on by itself and ends with the bytes of one that lost none; signals are passed
on; nothing is left behind. Skipped, saying so, where mpirun is missing."""
import json
import os
import signal
import time

from jobs import BOUND, LONG, Job, JobTest, alive, children, shared_memory
from program import MOONS, PROGRAM, main

RUN = MOONS.replace("epochs = 3", "epochs = 1500\nslots = 8").replace("count = 64", "count = 128") + \
      "[checkpoint]\nevery_steps = 20\n"


class LaunchTest(JobTest):
    def start(self, library, *arguments, launch=()):
        self.command(library, 2)  # skips where it is missing
        return Job(self, [PROGRAM, "launch", "-n", "2", "--mpi", library, *launch, "train",
                          *arguments])

    def expect_same(self, err):
        self.assertEqual(self.contents("run"), self.contents("alone"), err)


class Restarts(LaunchTest):
    def lose_and_compare(self, library, victims):
        self.train_alone(RUN)
        job = self.start(library, "a.toml", "--out", "run")
        segments, before = set(), {}
        for count, victim in enumerate(victims, 1):
            job.wait_until(lambda old=before: set(job.ranks()) >= {0, 1} and job.ranks() != old)
            job.wait_until(lambda lines=30 * count: self.has_lines("run/metrics.jsonl", lines))
            before = job.ranks()
            segments |= shared_memory(before.values())
            os.kill(before[victim], signal.SIGKILL)
            job.wait_until(lambda old=before: not alive(next(iter(old.values()))), BOUND)
        out, err = job.process.communicate(timeout=120)
        self.assertEqual(job.process.returncode, 0, f"{out}{err}")
        for count in range(1, len(victims) + 1):
            self.assertIn(f"restart {count} of 3, from the last checkpoint", err)
        self.expect_same(err)
        self.expect_nothing_left(job, before.values(), segments, f"{out}{err}")

    def test_open_mpi(self):
        self.lose_and_compare("openmpi", [1, 0])

    def test_mpich(self):
        self.lose_and_compare("mpich", [1])

    def test_they_can_be_used_up(self):
        # MPICH's mpirun kills the others at once: only launch is left to note how the run ended.
        for library, victim in (("openmpi", 1), ("mpich", 0)):
            job = self.start(library, "training.toml", "--out", library, launch=["--max-restarts", "0"])
            job.wait_for_phase("training", 2, library)
            os.kill(job.ranks()[victim], signal.SIGKILL)
            out, err = job.process.communicate(timeout=60)
            self.assertEqual(job.process.returncode, 7, f"{out}{err}")
            self.assertIn("0 restarts are used up; go on with --resume", err)
            status = json.loads((self.folder / library / "status.json").read_text())
            self.assertEqual((status["state"], status["exit_code"]), ("lost", 7), status)


class Signals(LaunchTest):
    def test_the_run_saves_and_goes_on(self):
        self.train_alone(RUN)
        job = self.start("openmpi", "a.toml", "--out", "run")
        job.wait_until(lambda: self.has_lines("run/metrics.jsonl", 30))
        found = job.ranks()
        job.process.terminate()
        out, err = job.process.communicate(timeout=60)
        self.assertEqual(job.process.returncode, 10, f"{out}{err}")
        self.expect_nothing_left(job, found.values(), set(), err)
        job = self.start("openmpi", "a.toml", "--out", "run", "--resume")
        out, err = job.process.communicate(timeout=60)
        self.assertEqual(job.process.returncode, 0, f"{out}{err}")
        self.expect_same(err)

    def test_a_second_signal_kills(self):
        """Even when nobody can save any more: all ranks are stopped."""
        job = self.start("openmpi", "training.toml", "--out", "run")
        job.wait_for_phase("training", 2, "run")
        processes, segments = children(job.process.pid), shared_memory(job.ranks().values())
        self.assertTrue(segments, "Open MPI is expected to have some")
        for process in job.ranks().values():
            os.kill(process, signal.SIGSTOP)
        job.process.terminate()
        time.sleep(0.5)
        job.process.terminate()
        out, err = job.process.communicate(timeout=BOUND)
        self.assertEqual(job.process.returncode, 7, f"{out}{err}")
        self.assertIn("not saved", err)
        self.expect_nothing_left(job, processes, segments, err)

    def test_mpirun_is_killed(self):
        """That is a loss like any other: the run goes on."""
        self.train_alone(RUN)
        job = self.start("openmpi", "a.toml", "--out", "run")
        job.wait_until(lambda: self.has_lines("run/metrics.jsonl", 30))
        processes, segments = children(job.process.pid), shared_memory(job.ranks().values())
        os.kill(processes[0], signal.SIGKILL)
        out, err = job.process.communicate(timeout=60)
        self.assertEqual(job.process.returncode, 0, f"{out}{err}")
        self.assertIn("(mpirun ended with 137): restart 1 of 3", err)
        self.expect_same(err)
        self.expect_nothing_left(job, processes, segments, err)

    def test_it_does_not_leave_the_run_alone(self):
        """Killed itself, it takes mpirun and the ranks with it."""
        job = self.start("openmpi", "training.toml", "--out", "run")
        job.wait_for_phase("training", 2, "run")
        processes = children(job.process.pid)
        job.process.kill()
        end = time.monotonic() + BOUND
        while any(alive(process) for process in processes) and time.monotonic() < end:
            time.sleep(0.02)
        self.assertEqual([p for p in processes if alive(p)], [])


class CommandLine(LaunchTest):
    def test_no_mpirun(self):
        self.write("a.toml", MOONS)
        for arguments, package in (((), "openmpi-bin"), (("--mpi", "openmpi"), "openmpi-bin"), (("--mpi", "mpich"), "mpich")):
            self.refuse(2, f"sudo apt-get install {package}", "launch", "-n", "2", *arguments, "train", "a.toml", "--out", "run",
                        env={"PATH": str(self.folder)})

    def test_what_makes_no_sense(self):
        self.refuse(2, "what to start is missing", "launch", "-n", "2")
        self.refuse(2, "it starts lockstep train", "launch", "-n", "2", "eval", "model.safetensors")
        self.refuse(2, "unknown option --rank", "launch", "-n", "2", "--rank", "train", "a.toml")
        self.refuse(2, "train needs --out DIR", "launch", "-n", "2", "train", "a.toml")
        self.refuse(2, "--ranks", "launch", "train", "a.toml", "--out", "run")
        self.refuse(2, "--mpi", "launch", "-n", "2", "--mpi", "lam", "train", "a.toml", "--out", "run")

    def test_hosts(self):
        self.command("openmpi", 2)
        for text, message in (("", "names no host"), ("a slots=0\n", "line 1"), ("# x\na:2\nb slots=two\n", "line 3"),
                              ("a 4\n", 'found "a 4"'), (":3\n", "line 1")):
            self.write("hosts", text)
            self.refuse(2, message, "launch", "-n", "2", "--hosts", "hosts", "train", "a.toml", "--out", "run")
        self.refuse(2, "cannot be read", "launch", "-n", "2", "--hosts", "none", "train", "a.toml", "--out", "run")

    def test_the_network_is_passed_on(self):
        """By stand-ins for mpirun that write down how they were started."""
        self.write("hosts", "a:2\nb:2\n")
        for library, expected in (("openmpi", ("OMPI_MCA_btl_tcp_if_include=lo\n", "OMPI_MCA_oob_tcp_if_include=lo\n")),
                                  ("mpich", ("-iface lo ",))):
            self.write(f"bin/mpirun.{library}", f"#!/bin/sh\n(echo \"$@\"; env) > {self.folder}/started\nexit 3\n").chmod(0o755)
            result = self.run_program("launch", "-n", "2", "--mpi", library, "--hosts", "hosts", "--interface", "lo", "train",
                                      "a.toml", "--out", "run", env={"PATH": f"{self.folder}/bin:{os.environ['PATH']}"})
            self.assertEqual(result.code, 3, result)
            for text in expected:
                self.assertIn(text, (self.folder / "started").read_text())

    def test_the_network_between_hosts(self):
        self.refuse(2, "there is one host", "launch", "-n", "2", "--interface", "lo", "train", "a.toml", "--out", "run")
        self.write("hosts", "a:2\nb:2\n")
        self.refuse(2, "--interface none7: this host has no such network", "launch", "-n", "2", "--hosts", "hosts", "--interface",
                    "none7", "train", "a.toml", "--out", "run")

    def test_a_fault_of_the_run_is_not_repeated(self):
        self.write("a.toml", MOONS.replace("epochs", "epoch"))
        job = self.start("openmpi", "a.toml", "--out", "run")
        out, err = job.process.communicate(timeout=60)
        self.assertEqual(job.process.returncode, 2, f"{out}{err}")
        self.assertNotIn("restart", err)

    def test_options_of_train_are_its_own(self):
        self.write("a.toml", LONG.replace("epochs = 1000000", "epochs = 2"))
        job = self.start("openmpi", "a.toml", "--out", "run", "--set", "train.epochs=3", "--json", "--quiet", launch=["-q"])
        out, err = job.process.communicate(timeout=60)
        self.assertEqual(job.process.returncode, 0, f"{out}{err}")
        self.assertEqual(len(self.lines("run/timings.jsonl")), 3)
        self.assertEqual(err, "")
        self.assertTrue(out.startswith("{"), out)


if __name__ == "__main__":
    main()
