"""reference_trainer_test.py PROGRAM TRAINER: examples/reference_trainer.cpp, which shares no line with Lockstep, and
`lockstep train examples/lenet5-fashion.toml` must end with one weight hash, on any number of threads."""
import json
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM, TRAINER = sys.argv.pop(1), sys.argv.pop(1)
ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES, EPOCHS = 156, 2  # two batches of 64, and one of 28: its slots are cut in smaller units


def write_pictures(folder):
    """Noise with a bright row that depends on the label, as two unpacked IDX files."""
    draw = random.Random(7)
    labels = bytes(draw.randrange(10) for _ in range(SAMPLES))
    pixels = b"".join(bytes(draw.randrange(160) + (90 if row == 2 * label + 4 else 0) for row in range(28) for _ in range(28))
                      for label in labels)
    (folder / "images").write_bytes(struct.pack(">4B3I", 0, 0, 8, 3, SAMPLES, 28, 28) + pixels)
    (folder / "labels").write_bytes(struct.pack(">4B1I", 0, 0, 8, 1, SAMPLES) + labels)


class ReferenceTrainer(unittest.TestCase):
    def run_in(self, folder, *command):
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_one_hash(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            write_pictures(folder)
            settings = [f"--set=data.{key}={value}" for key, value in
                        (("source", '"images"'), ("labels", '"labels"'))] + [f"--set=train.epochs={EPOCHS}"]
            out = self.run_in(folder, PROGRAM, "train", str(ROOT / "examples/lenet5-fashion.toml"), *settings,
                              "--out", "run", "--json")
            ours = json.loads(out)["weight_hash"]
            for threads in (1, 3):
                printed = self.run_in(folder, TRAINER, "images", "labels", str(EPOCHS), str(SAMPLES), str(threads))
                self.assertEqual(printed.split()[-1], ours, f"{threads} threads:\n{printed}")

    def test_files_that_are_no_idx_are_refused(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "images").write_bytes(b"\x1f\x8b packed")
            done = subprocess.run([TRAINER, "images", "images"], capture_output=True, text=True, check=False, cwd=folder)
            self.assertEqual(done.returncode, 2)
            self.assertIn("images: not an unpacked IDX file", done.stderr)

    def test_one_page(self):
        lines = (ROOT / "examples/reference_trainer.cpp").read_text().splitlines()
        self.assertLessEqual(len(lines), 350)
        self.assertFalse([line for line in lines if line.startswith("#include \"")], "only the standard library")

    def test_links_of_the_documentation(self):
        lines = (ROOT / "examples/reference_trainer.cpp").read_text().splitlines()
        links = re.findall(r"\[`(\w+)`\]\(../examples/reference_trainer.cpp#L(\d+)\)",
                           (ROOT / "docs/numerics.md").read_text())
        self.assertGreater(len(links), 10)
        for name, number in links:
            self.assertIn(f" {name}(", lines[int(number) - 1], f"docs/numerics.md links {name} to line {number}")


if __name__ == "__main__":
    unittest.main()
