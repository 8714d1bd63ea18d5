"""The memory that a training takes: scores need no more than steps, and a large model is not copied again and again."""
import os
import subprocess
import unittest

from program import PROGRAM, ProgramTest, main, npy, sanitized

IMAGES = """\
[data]
source = "x.npy"
labels = "y.npy"
{split}
[model]
input = [1, 64, 64]
layers = [{{conv2d = {{out = 16, kernel = 3, pad = 1}}}}, "tanh", {{conv2d = {{out = 16, kernel = 3, pad = 1}}}}, "tanh", {{max_pool2d = 8}}, {{linear = 2}}]
[train]
batch = 16
epochs = 1
"""

WIDE = """\
[data]
source = "moons"
count = 32
[model]
sizes = "2-2000-2000-2"
activation = "relu"
[train]
optimizer = "momentum"
batch = 16
epochs = 1
"""


@unittest.skipIf(sanitized(), "a sanitizer takes memory of its own")
class Peak(ProgramTest):
    def peak(self, config):
        """The most memory the program had, in MB."""
        self.write("peak.toml", config)
        command = [PROGRAM, "train", "peak.toml", "--quiet", "--threads", "1", "--out", "peak", "--overwrite"]
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return usage.ru_maxrss / 1024

    def test_scores_take_the_memory_of_steps(self):
        count = 16 + 64
        (self.folder / "x.npy").write_bytes(npy("|u1", (count, 64, 64), bytes(i % 251 for i in range(count * 64 * 64))))
        (self.folder / "y.npy").write_bytes(npy("|u1", (count,), bytes(i % 2 for i in range(count))))
        without = self.peak(IMAGES.format(split="limit = 16"))
        scored = self.peak(IMAGES.format(split="split = {validation = 64}"))
        # The activations of 16 samples take 25 MB; those of the 64 that are scored would take 100.
        self.assertLess(scored, without + 15)

    def test_a_checkpoint_is_not_in_memory_three_times(self):
        # 4 million weights take 16 MB. Weights, momentum and one gradient: 48; their copy and the file: 64 more.
        self.assertLess(self.peak(WIDE), 48 + 64 + 40)


if __name__ == "__main__":
    main()
