"""What the tests of the program share: running it, and small files for it to read."""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else "lockstep"

MOONS = """\
[data]
source = "moons"
count = 64
test_count = 32
split = {validation = 16}
[model]
sizes = "2-3-1"
output = "sigmoid"
[train]
loss = "binary-cross-entropy"
optimizer = {name = "adam", lr = 0.05}
batch = 16
epochs = 3
"""

# One step so large that weights overflow; the loss of that step was taken before it.
HIDDEN = """\
[data]
source = "moons"
scale = 0.01
count = 32
[model]
sizes = "2-4-2"
activation = "relu"
[train]
batch = "full"
epochs = 1
optimizer = {name = "sgd", lr = 3e38}
"""

# Pictures of 4x4 bytes in three classes, which a test writes with write_digits().
PICTURES = """\
[data]
source = "x.npy"
labels = "y.npy"
[model]
input = [1, 4, 4]
layers = [{conv2d = {out = 2, kernel = 3, pad = 1}}, "relu", {max_pool2d = 2}, {linear = 3}]
[train]
batch = 4
epochs = 2
"""


def sanitized():
    """Whether the program was built with a sanitizer, which has its own idea of running out of memory."""
    contents = pathlib.Path(PROGRAM).read_bytes()
    return b"libasan.so" in contents or b"libtsan.so" in contents


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return f"exit {self.code}\nstdout: {self.out}\nstderr: {self.err}"


class ProgramTest(unittest.TestCase):
    """Each test has a folder of its own, which is also the current one of the program."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="lockstep-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def run_program(self, *arguments, **options):
        """Runs to the end. Whatever happens, no signal ends it and no sanitizer speaks."""
        environment = {k: v for k, v in os.environ.items() if k not in ("LOCKSTEP_DATA_DIR", "NO_COLOR")}
        environment |= {"HOME": str(self.folder), "TERM": "xterm"} | options.pop("env", {})
        done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, env=environment, timeout=300,
                              stdin=subprocess.DEVNULL, stdout=options.pop("stdout", subprocess.PIPE),
                              stderr=options.pop("stderr", subprocess.PIPE), **options)
        result = Result(done.returncode, (done.stdout or b"").decode(), (done.stderr or b"").decode())
        self.assertGreaterEqual(done.returncode, 0, f"ended by a signal\n{result}")
        self.assertNotIn("Sanitizer", result.err)
        return result

    def succeed(self, *arguments, **options):
        result = self.run_program(*arguments, **options)
        self.assertEqual(result.code, 0, result)
        return result

    def refuse(self, code, message, *arguments, **options):
        """The program must fail with this code and one line on stderr that holds the message; nothing on stdout."""
        result = self.run_program(*arguments, **options)
        self.assertEqual(result.code, code, result)
        self.assertIn(message, result.err)
        last = result.err.splitlines()[-1]
        self.assertTrue(last.startswith("lockstep: "), result)
        self.assertTrue(result.err.endswith("\n"), result)
        self.assertEqual(result.out, "", result)
        return result

    def lines(self, name):
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]

    def train(self, config=MOONS, out="run", *arguments):
        self.write("a.toml", config)
        return json.loads(self.succeed("train", "a.toml", "--out", out, "--json", "--quiet", *arguments).out)

    def write_digits(self, count=12):
        """x.npy uint8 [count,4,4] and y.npy int64 [count]: class k has a bright row k."""
        rows, labels = [], []
        for i in range(count):
            k = i % 3
            rows += [200 + (i + p) % 50 if p // 4 == k else (7 * i + p) % 30 for p in range(16)]
            labels.append(k)
        self.write("x.npy", npy("|u1", (count, 4, 4), bytes(rows)))
        self.write("y.npy", npy("<i8", (count,), struct.pack(f"<{count}q", *labels)))


def npy(descr, shape, data):
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))},), }}"
    head = text.encode() + b" " * (63 - (10 + len(text)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data


def png(width, height, pixels, channels=1):
    """An 8-bit picture from rows of bytes."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    stride = width * channels
    raw = b"".join(b"\0" + bytes(pixels[y * stride:(y + 1) * stride]) for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if channels == 1 else 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


def idx(dims, data, kind=8):
    return bytes([0, 0, kind, len(dims)]) + b"".join(struct.pack(">I", d) for d in dims) + data


def main():
    unittest.main(module="__main__", verbosity=1)
