"""A run on two hosts between which the link is cut: the ranks on both sides end, and lockstep launch goes on with the host that
is left. The hosts are network namespaces with a name of their own, joined by a pair of virtual Ethernet devices; needs root.
Skipped, saying so, without."""
import os
import shutil
import subprocess
import sys
import time

from jobs import BOUND, JobTest, Job, alive, children
from launch_test import RUN
from program import PROGRAM, main

NEAR, FAR = f"lsa{os.getpid() % 10000}", f"lsb{os.getpid() % 10000}"
ADDRESSES = {NEAR: "10.203.77.1", FAR: "10.203.77.2"}

# Stands in for ssh HOST COMMAND: a host without a link cannot be reached.
AGENT = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1; shift
ip -n "$host" -o link show eth0 | grep -q "state UP" || exit 255
exec ip netns exec "$host" unshare -u sh -c 'hostname "$0"; eval "$*"' "$host" "$@"
"""


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=False)


def why_not():
    if os.geteuid() != 0:
        return "network namespaces need root"
    for program in ("ip", "unshare"):
        if shutil.which(program) is None:
            return f"{program} is missing: sudo apt-get install iproute2 util-linux"
    if ip("netns", "add", NEAR).returncode != 0:
        return "no network namespace can be made here"
    ip("netns", "del", NEAR)
    return None


class Hosts(JobTest):
    def setUp(self):
        super().setUp()
        if reason := why_not():
            self.skipTest(reason)
        for host in ADDRESSES:
            self.addCleanup(ip, "netns", "del", host)
            self.assertEqual(ip("netns", "add", host).returncode, 0)
        self.addCleanup(ip, "-n", NEAR, "link", "del", "eth0")
        made = ip("-n", NEAR, "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", FAR)
        if made.returncode != 0:
            self.skipTest(f"no virtual Ethernet device can be made here: {made.stderr}")
        for host, address in ADDRESSES.items():
            ip("-n", host, "addr", "add", f"{address}/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                ip("-n", host, "link", "set", device, "up")
        self.agent = self.write("agent.sh", AGENT)
        self.agent.chmod(0o755)

    def cut(self):
        ip("-n", FAR, "link", "set", "eth0", "down")

    def inside(self, command, **environment):
        """On the near host."""
        return Job(self, ["ip", "netns", "exec", NEAR, "unshare", "-u", "sh", "-c", 'hostname "$0"; exec "$@"', NEAR, *command],
                   OMPI_MCA_btl_tcp_if_include="eth0", OMPI_MCA_oob_tcp_if_include="eth0", **environment)

    def test_both_sides_end(self):
        """Without a supervisor: the ranks of the near host and of the far one; mpirun itself would wait for ever."""
        self.command("openmpi", 2)
        job = self.inside(["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--host", f"{NEAR}:2,{FAR}:1", "-n", "3",
                           "--mca", "plm_rsh_agent", str(self.agent), PROGRAM, "train", "training.toml", "--out", "run"])
        job.wait_for_phase("training", 3, "run")
        ranks = job.ranks()
        since = time.monotonic()
        self.cut()
        while any(alive(rank) for rank in ranks.values()) and time.monotonic() < since + BOUND:
            time.sleep(0.01)
        print(f"the ranks on both sides ended {time.monotonic() - since:.1f} s after the cut", file=sys.stderr)
        left = [rank for rank, process in ranks.items() if alive(process)]
        job.kill()
        err = job.errors
        self.assertEqual(left, [], err)
        self.assertRegex(err, rf"lockstep: rank 2 on {FAR} was silent for 8 s: .* after step \d+, as rank 0 on {NEAR} knows")

    def test_the_run_goes_on_without_the_host(self):
        self.command("openmpi", 2)
        self.train_alone(RUN)
        self.write("hosts", f"{NEAR} slots=3\n{FAR} slots=1\n")
        job = self.inside([PROGRAM, "launch", "-n", "4", "--hosts", "hosts", "--agent", str(self.agent), "--interface",
                           "eth0", "train", "a.toml",
                           "--set", "parallel.pipeline=2", "--out", "run"])
        job.wait_until(lambda: self.has_lines("run/metrics.jsonl", 30))
        processes = children(job.process.pid)
        far = [p for p in processes if os.path.exists(f"/proc/{p}/ns/net")
               and os.readlink(f"/proc/{p}/ns/net") != os.readlink(f"/proc/{job.process.pid}/ns/net")]
        self.assertTrue(far, "nothing runs on the other host")
        since = time.monotonic()
        self.cut()
        job.wait_until(lambda: not any(alive(p) for p in job.ranks().values() if p in processes), BOUND + 5)
        seconds = time.monotonic() - since
        self.assertLess(seconds, BOUND)
        out, err = job.process.communicate(timeout=120)
        print(f"supervised: they ended after {seconds:.1f} s, the run was complete after {time.monotonic() - since:.1f} s",
              *(line for line in err.splitlines() if line.startswith("lockstep")), sep="\n", file=sys.stderr)
        self.assertEqual(job.process.returncode, 0, f"{out}{err}")
        self.assertIn(f"host {FAR} does not answer", err)
        self.assertIn("on 2 ranks", err)  # there is room for three, but a pipeline takes two
        self.assertEqual(self.contents("run")[:2], self.contents("alone")[:2])


if __name__ == "__main__":
    main()
