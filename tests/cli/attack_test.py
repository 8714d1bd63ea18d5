"""A stranger connects to the ports that MPI opens, sends one byte and keeps the connection: the MPI library waits for the next
one inside a call, and so does the rank. On one host ranks open no port; where they do, the run ends in time and says why, and
lockstep launch ends an mpirun that does not end. Skipped, saying so, where mpirun is missing."""
import concurrent.futures
import json
import os
import pathlib
import re
import socket
import time

from jobs import LONG, Job, JobTest, alive, children, read
from program import PROGRAM, main

# A call into MPI may take 10 s, a thread that is held in it 3 s to end, and mpirun a moment.
BOUND = 25
LISTENING = "0A"
STUCK = re.compile(r"lockstep: rank \d on \S+: a call into Open MPI \S+ that should take no time has not returned for 10 s, in "
                   r"phase \w+ after step \d+: .*; go on from the last checkpoint with --resume\n")


def open_ports(process):
    """(address, port) pairs, IPv4, on which it listens."""
    sockets = set()
    try:
        for entry in pathlib.Path(f"/proc/{process}/fd").iterdir():
            sockets.add(os.readlink(entry))
    except OSError:  # it has ended, or closed one meanwhile
        pass
    found = set()
    for line in read(process, "net/tcp").decode().splitlines()[1:]:
        words = line.split()
        address, port = words[1].split(":")
        if words[3] == LISTENING and f"socket:[{words[9]}]" in sockets:
            found.add((socket.inet_ntoa(bytes.fromhex(address)[::-1]), int(port, 16)))
    return found


class AttackTest(JobTest):
    def attack(self, process):
        """Connects to all of its ports; how many there were."""
        count = 0
        for _, port in open_ports(process):
            connection = socket.socket()
            self.addCleanup(connection.close)
            try:
                connection.connect(("127.0.0.1", port))
                connection.sendall(b"\x01")
                count += 1
            except OSError:
                pass
        return count

    def tcp(self, run, ranks=2):
        command = self.command("openmpi", ranks, "train", "training.toml", "--out", run, "--quiet")
        return Job(self, [command[0], "--mca", "btl", "self,tcp", *command[1:]])

    def stop(self, job):
        """So that mpirun tidies up."""
        job.process.terminate()
        job.process.communicate(timeout=60)

    def finish(self, job, since):
        """Seconds until all had ended, and stderr."""
        while job.process.poll() is None and time.monotonic() < since + BOUND:
            time.sleep(0.02)
        seconds = time.monotonic() - since
        if job.process.poll() is None:
            job.kill()
            self.fail(f"still there after {seconds:.0f} s\n{job.errors}")
        return seconds, job.process.communicate()[1]


class Ranks(AttackTest):
    def test_of_one_host_open_no_port(self):
        """By themselves, whoever starts them."""
        for library in ("openmpi", "mpich"):
            job = self.mpirun(library, 2, "training", f"run-{library}")
            job.wait_for_phase("training", 2, f"run-{library}")
            launcher = set.union(set(), *(open_ports(p) for p in children(job.process.pid) if p not in job.ranks().values()),
                                 open_ports(job.process.pid))
            for rank in job.ranks().values():
                # MPICH's ranks inherit the port of its mpirun.
                self.assertEqual(open_ports(rank) - launcher, set(), library)
            self.stop(job)

    def test_the_transport_that_was_asked_for_is_used(self):
        job = self.tcp("run")
        job.wait_for_phase("training", 2, "run")
        self.assertTrue(all(open_ports(rank) for rank in job.ranks().values()))
        self.stop(job)

    def test_too_little_shared_memory_for_them(self):
        """They find each other all the same."""
        self.write("limited.sh", f'ulimit -f 2000; exec "{PROGRAM}" "$@"\n')
        command = self.command("openmpi", 2, "train", "training.toml", "--out", "run", "--quiet")
        at = command.index(PROGRAM)
        job = Job(self, [*command[:at], "sh", "limited.sh", *command[at + 1:]])
        job.wait_for_phase("training", 2, "run")
        self.stop(job)

    def held_in_mpi(self, victims, run):
        job = self.tcp(run)
        job.wait_for_phase("training", 2, run)
        ranks = job.ranks()
        since = time.monotonic()
        for victim in victims:
            self.assertGreater(self.attack(ranks[victim]), 0, "no port to attack")
        seconds, err = self.finish(job, since)
        message = f"{victims}: {seconds:.1f} s, exit {job.process.returncode}\n{err}"
        self.assertEqual(job.process.returncode, 7, message)
        lines = [line for line in err.splitlines(keepends=True) if line.startswith("lockstep: ")]
        self.assertEqual(len(lines), 1, message)
        self.assertRegex(lines[0], STUCK, message)
        self.assertFalse(any(alive(rank) for rank in ranks.values()), message)
        status = json.loads((self.folder / run / "status.json").read_text())
        self.assertEqual((status["state"], status["exit_code"]), ("lost", 7), status)

    def test_held_in_the_middle(self):
        self.command("openmpi", 2)
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for each in [pool.submit(self.held_in_mpi, victims, f"run{len(victims)}{victims[0]}")
                         for victims in ([0], [1], [0, 1])]:
                each.result()

    def test_held_at_the_start(self):
        """As soon as there is a port: before the ranks have met."""
        job = self.tcp("run")
        job.wait_until(lambda: any(self.attack(rank) for rank in job.ranks().values()))
        seconds, err = self.finish(job, time.monotonic())
        self.assertEqual(job.process.returncode, 7, f"{seconds:.1f} s\n{err}")
        self.assertEqual(len([line for line in err.splitlines() if line.startswith("lockstep: ")]), 1, err)


class Launchers(AttackTest):
    def supervised(self, library, run, epochs, when):
        """mpirun is held: its ranks finish, and lockstep launch ends it and sees to the rest."""
        self.write(f"{run}.toml", LONG.replace("epochs = 1000000", f"epochs = {epochs}"))
        self.command(library, 2)
        job = Job(self, [PROGRAM, "launch", "-n", "2", "--mpi", library, "train", f"{run}.toml", "--out", run])
        launcher = []
        job.wait_until(lambda: launcher.extend(children(job.process.pid)[:1]) or launcher)
        if when == "middle":
            job.wait_until(lambda: self.has_lines(f"{run}/metrics.jsonl", 3))
        job.wait_until(lambda: self.attack(launcher[0]))
        _, err = job.process.communicate(timeout=120)
        self.assertEqual(job.process.returncode, 0, f"{library}, {when}\n{err}")
        self.assertFalse(alive(launcher[0]))
        status = json.loads((self.folder / run / "status.json").read_text())
        self.assertEqual((status["state"], status["epoch"]), ("finished", epochs), status)
        self.assertEqual([str(path) for path in job.temporary.rglob("*")], [])

    def test_supervised(self):
        for library in ("openmpi", "mpich"):
            self.command(library, 2)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for each in [pool.submit(self.supervised, library, f"{library}-{when}", 2000, when)
                         for library in ("openmpi", "mpich") for when in ("start", "middle")]:
                each.result()


if __name__ == "__main__":
    main()
