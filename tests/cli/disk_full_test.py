"""A disk without room for a checkpoint: exit code 5, the older checkpoint intact, no temporary file left, and the run
goes on once there is room. Needs root, for a small file system of its own in a mount namespace of its own."""
import os
import shutil
import subprocess
import sys
import unittest

from program import PROGRAM, ProgramTest, main

BLOCK = 4096
FREE = range(65)  # blocks

# A checkpoint of 41,000 parameters with two vectors of Adam has 490 kB, more than 64 blocks.
RUN = """\
[data]
source = "moons"
count = 64
[model]
sizes = "2-200-200-2"
[train]
batch = 16
epochs = 2
[checkpoint]
every_steps = 2
"""


def enter_namespace():
    """Starts this script again in a mount namespace of its own; returns where that is not possible."""
    if "LOCKSTEP_OWN_MOUNTS" in os.environ or os.geteuid() != 0 or shutil.which("unshare") is None:
        return
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0:
        os.environ["LOCKSTEP_OWN_MOUNTS"] = "1"
        os.execvp("unshare", ["unshare", "-m", sys.executable, "-B", __file__, PROGRAM])


class DiskFull(ProgramTest):
    @unittest.skipUnless("LOCKSTEP_OWN_MOUNTS" in os.environ, "mounting a small disk needs root and unshare")
    def test_every_size_from_0_to_64_blocks(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "lockstep-test", disk], capture_output=True,
                                 check=False)
        if mounted.returncode != 0:
            self.skipTest(f"no small disk: {mounted.stderr.decode().strip()}")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        self.write("a.toml", RUN)
        self.succeed("train", "a.toml", "--out", "whole", "--set", "train.epochs=4", "--quiet")
        self.succeed("train", "a.toml", "--out", "disk/run", "--quiet")
        before = self.kept()
        self.assertEqual(len(before), 2)
        for free in FREE:
            self.fill(disk, free)
            result = self.refuse(5, "No space left on device", "train", "a.toml", "--out", "disk/run", "--resume",
                                 "--set", "train.epochs=4", "--quiet")
            self.assertIn("disk/run/", result.err, f"{free} blocks")
            self.assertEqual(self.kept(), before, f"{free} blocks")
            hidden = [path.name for path in (disk / "run").iterdir() if path.name.startswith(".")]
            self.assertEqual(hidden, [], f"{free} blocks")
            (disk / "ballast").unlink()
        self.succeed("train", "a.toml", "--out", "disk/run", "--resume", "--set", "train.epochs=4", "--quiet")
        for name in ("metrics.jsonl", "model.safetensors"):
            self.assertEqual((disk / "run" / name).read_bytes(), (self.folder / "whole" / name).read_bytes(), name)

    def kept(self):
        return {path.name: path.read_bytes() for path in (self.folder / "disk/run").glob("checkpoint-*")}

    def fill(self, disk, free):
        """Leaves that many blocks."""
        with open(disk / "ballast", "wb", buffering=0) as file:
            while os.statvfs(disk).f_bavail > free:
                file.write(bytes(BLOCK * min(64, os.statvfs(disk).f_bavail - free)))
        self.assertEqual(os.statvfs(disk).f_bavail, free)


if __name__ == "__main__":
    enter_namespace()
    main()
