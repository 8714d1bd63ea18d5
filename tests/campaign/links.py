"""A trial that cuts the network between two hosts, which are network namespaces of this machine (scripts/namespaced_hosts)."""
import os
import pathlib
import shutil
import subprocess
import time

from disturbances import BOUND, long_training, rank_processes
from jobs import alive
from trials import Trial
from ways import Failure, Folder, command_of, kill_all, run_way

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/namespaced_hosts"


class CutLinks(Trial):
    """The ranks on both sides end in time, and the run goes on without the other host: the same lines."""

    def draw(self, random):
        case = long_training(self.tools, random)
        case["config"]["train"]["epochs"] = 1000000
        case["config"]["train"].pop("schedule", None)
        return case | {"after": random.random() * 2, "host": random.randrange(2)}

    def run(self, case):
        if os.geteuid() != 0 or "openmpi" not in self.tools.here["libraries"] or shutil.which("ip") is None:
            return
        prefix = f"lc{os.getpid() % 10000}h"
        names = {"LOCKSTEP_HOSTS": prefix}
        made = subprocess.run([SCRIPT, "up", "2"], env=os.environ | names, capture_output=True, check=False)
        try:
            if made.returncode == 0:
                with Folder(case) as folder:
                    self.cut(folder, case, prefix, names)
        finally:
            subprocess.run([SCRIPT, "down"], env=os.environ | names, capture_output=True, check=False)

    def cut(self, folder, case, prefix, names):
        way, _ = command_of({"backend": "simd", "threads": 1}, "run")
        command = [SCRIPT, "run", "mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--host",
                   f"{prefix}0:2,{prefix}1:1", "-n", "3", "--mca", "plm_rsh_agent", str(SCRIPT), *way]
        process = folder.start(command, **names, LOCKSTEP_PEER_TIMEOUT="4")
        began = time.monotonic()
        while process.poll() is None and len(rank_processes(process)) < 3 and time.monotonic() < began + 30:
            time.sleep(0.05)
        time.sleep(case["after"])
        ranks = rank_processes(process)
        if process.poll() is not None or len(ranks) != 3:
            kill_all(process)  # refused, diverged or not begun
            return
        subprocess.run(["ip", "-n", f"{prefix}{case['host']}", "link", "set", "eth0", "down"], check=False)
        since = time.monotonic()
        while any(alive(rank) for rank in ranks) and time.monotonic() < since + BOUND:
            time.sleep(0.02)
        left = [rank for rank in ranks if alive(rank)]
        kill_all(process)  # mpirun itself would wait for ever
        if left:
            raise Failure(f"the link of host {case['host']} was cut: ranks are still there after {BOUND} s")
        self.count("cut_links")
        result = run_way(folder, {"backend": "simd", "threads": 1}, "check", "--set", "train.epochs=1")
        lines = (folder.path / "run/metrics.jsonl").read_bytes().splitlines()[:1] if (folder.path / "run/metrics.jsonl").exists() else []
        if result.code == 0 and lines and (folder.path / "check/metrics.jsonl").read_bytes().splitlines()[:1] != lines:
            raise Failure("the metrics before the cut are not those of one process")
