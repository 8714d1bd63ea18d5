"""lockstep simulate --validate between hosts, which are network namespaces on this machine (scripts/namespaced_hosts).
Skipped, saying so, without root, ip, SimGrid or Open MPI."""
import json
import os
import pathlib
import shutil
import subprocess

from program import PROGRAM, ProgramTest, main
from simulate_test import NETWORK, has_simgrid

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "namespaced_hosts"
RATE = 50e6  # bits per second: so little that everything else does not matter


class Hosts(ProgramTest):
    def hosts(self, *words, timeout=60):
        environment = os.environ | {"LOCKSTEP_HOSTS": f"ls{os.getpid() % 10000}h", "HOME": str(self.folder)}
        return subprocess.run([SCRIPT, *words], capture_output=True, text=True, check=False, timeout=timeout,
                              cwd=self.folder, env=environment)

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("network namespaces need root")
        for program in ("ip", "tc", "unshare"):
            if shutil.which(program) is None:
                self.skipTest(f"{program} is missing: sudo apt-get install iproute2 util-linux")
        if not has_simgrid():
            self.skipTest("SimGrid is missing: sudo apt-get install libsimgrid-dev")
        if shutil.which("mpirun.openmpi") is None:
            self.skipTest("Open MPI is missing: sudo apt-get install openmpi-bin")
        self.addCleanup(self.hosts, "down")
        made = self.hosts("up", "2", f"{RATE / 1e6:.0f}mbit")
        if made.returncode != 0:
            self.skipTest(f"no hosts can be made here: {made.stderr}")
        self.write("hosts", self.hosts("list").stdout)

    def test_a_limited_link_is_simulated_as_it_is(self):
        """58 kB of gradients there and as much back, at 50 Mbit/s: most of a step, whatever else this machine does."""
        self.write("a.toml", NETWORK)
        done = self.hosts("run", PROGRAM, "simulate", "a.toml", "--validate", "--nodes", "2", "--way", "gather", "--hosts",
                          "hosts", "--agent", str(SCRIPT), "--bandwidth", "50Mbit/s", "--out", "run", timeout=200)
        self.assertEqual(done.returncode, 0, done.stderr)
        line = json.loads((self.folder / "run" / "results.jsonl").read_text())
        self.assertEqual(line["numbers"]["hosts"], 2)
        self.assertEqual(line["numbers"]["same_bits"], 1)
        self.assertIn("remote_seconds", line["series"])
        self.assertNotIn("local_seconds", line["series"])
        megabyte = line["series"]["remote_seconds"][-1]
        self.assertGreater(megabyte, 0.9 * 8 * 2**20 / RATE)
        # Neither can be faster than the link; how far apart they are is a matter of this machine's load, and printed.
        for step in (line["median"], line["numbers"]["simulated_seconds"]):
            self.assertGreater(step, 2 * 8 * 50e3 / RATE)

    def test_hosts_are_gone_afterwards(self):
        self.assertEqual(self.hosts("list").stdout.count("slots=1"), 2)
        self.assertEqual(self.hosts("run", "hostname").stdout.strip()[-2:], "h0")
        self.assertNotEqual(self.hosts("up", "2").returncode, 0)  # there are some
        self.assertEqual(self.hosts("down").returncode, 0)
        self.assertEqual(self.hosts("list").stdout, "")


if __name__ == "__main__":
    main()
