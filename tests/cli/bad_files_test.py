"""Data files and models that must be refused: exit code 3 or 4 and one line that says what, where and what to do."""
import gzip
import json
import struct
import zlib

from program import MOONS, PICTURES, ProgramTest, idx, main, npy, png

TABLE = """\
[data]
source = "SOURCE"
[model]
sizes = "4-2"
[train]
epochs = 1
"""

# name, content, what the line says after the name
DATA = [
    ("short.npy", b"\x93NUMPY\x01\x00", "byte 8: the file ends inside the header length: 2 bytes wanted, 0 left"),
    ("magic.npy", b"NUMPY" * 10, "byte 0: not a .npy file"),
    ("header.npy", b"\x93NUMPY\x01\x00\xff\xff{", "byte 10: the file ends inside the header: 65535 bytes wanted, 1 left"),
    ("object.npy", npy("|O", (2,), b"\0" * 16), "byte 24: unsupported element type"),
    ("huge.npy", npy("<f8", (2**40, 2**40), b""), "byte 10: the shape (1099511627776,1099511627776) overflows"),
    ("missing.npy", npy("<f8", (4, 4), b"\0" * 100), "byte 128: 100 bytes of data follow the header, its shape (4,4) needs 128"),
    ("extra.npy", npy("<f8", (1, 4), b"\0" * 33), "byte 128: 33 bytes of data follow the header, its shape (1,4) needs 32"),
    ("nan.npy", npy("<f8", (1, 4), struct.pack("<4d", 1, 2, 3, float("nan"))), "sample 0: feature 3 is nan, a finite number was expected"),
    ("zip.npz", b"PK\x03\x04" + b"\0" * 40, "byte 44: not a ZIP archive, or truncated"),
    ("text.npz", b"hello", "byte 5: not a ZIP archive, or truncated"),
    ("text.mat", b"hello" * 40, "byte 126: not a MATLAB level 5 file"),
    ("short.mat", b"MATLAB 5.0 MAT-file", "byte 0: the file ends inside the header: 124 bytes wanted, 19 left"),
    ("hdf5.mat", b"MATLAB 7.3 MAT-file" + b" " * 105 + b"\x00\x02IM" + b"\x89HDF", "byte 0: a version 7.3 file (HDF5), save it with -v7 or -v6"),
    ("utf16.csv", b"\xff\xfea\0", "text of two bytes per letter (UTF-16); save it as UTF-8"),
    ("ragged.csv", "1,2,3,4,0\n1,2,3\n", "line 2, byte 10: 3 fields, the first line has 5"),
    ("empty.csv", "", "no numbers, at least one line was expected"),
    ("negative.csv", "1,2,3,4,-1\n", "column 4: sample 0: label -1 is negative"),
    ("inf.csv", "1,2,3,4,0\n1,2,3,inf,0\n", "line 2, byte 16: column 3: \"inf\" is not a finite number"),
    ("zero.idx", idx((0, 4), b""), "features [0,4] hold no samples"),
    ("short.idx", idx((5, 4), b"\0" * 3), "byte 12: 3 bytes of data follow the header, its sizes [5,4] need 20"),
    ("type.idx", idx((1, 4), b"\0" * 4, kind=7), "byte 2: unknown IDX element type 0x07"),
    ("rank.idx", b"\0\0\x08\x00", "byte 3: IDX rank 0"),
    ("bad.gz", b"\x1f\x8b\x08\x00" + b"\0" * 20, "byte 15: the compressed data is damaged"),
    ("cut.gz", gzip.compress(idx((5, 4), bytes(20)))[:-9], "byte 24: the compressed data ends too early, the file is truncated"),
    ("sales.parquet", "PAR1", ".parquet files are not read; save it as CSV, with pandas: "
     'pandas.read_parquet("sales.parquet").to_csv("sales.csv", index=False)'),
    ("what.xyz", "hello, world", "unknown kind of data file, expected .mat, .npz, .npy, .csv, .ts, IDX (.gz), CIFAR (.bin), or a folder, .zip or .tar of pictures"),
]

def bomb(width, height):
    """The head of a large picture before the pixel of a small one."""
    small = png(1, 1, [0])
    head = b"IHDR" + struct.pack(">II", width, height) + small[24:29]
    return small[:12] + head + struct.pack(">I", zlib.crc32(head)) + small[33:]


PICTURE_FILES = [
    ("not.png", b"hello", "not.png: byte 0: not a PNG or JPEG file"),
    ("cut.png", png(4, 4, range(16))[:-20], "cut.png: byte 41: PNG: the file ends too early"),
    ("bomb.png", bomb(16000, 16000), "bomb.png: byte 16: an image of 16000x16000 pixels in 67 bytes is not believable"),
    ("shape.npy", npy("|u1", (3, 3), bytes(9)), "shape.npy: "),
    ("picture.jpg", b"\xff\xd8", "picture.jpg: byte 0: not a PNG or JPEG file"),
    ("cut.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF", "cut.jpg: JPEG: "),
]


class BadData(ProgramTest):
    def test_data_files(self):
        for name, content, message in DATA:
            with self.subTest(name):
                self.write(name, content)
                self.write("a.toml", TABLE.replace("SOURCE", name))
                self.refuse(3, f"{name}: {message}", "train", "a.toml", "--set", "data.labels=none")

    def test_inspect_refuses_them_too(self):
        for name, content, message in DATA:
            if name in ("nan.npy", "negative.csv", "zero.idx"):  # good files, bad samples
                continue
            with self.subTest(name):
                self.write(name, content)
                self.refuse(3, f"{name}: {message}", "inspect", name)

    def test_missing_data(self):
        self.write("a.toml", MOONS)
        for source in ("missing.csv", "no/such/folder"):
            with self.subTest(source):
                result = self.refuse(3, source, "train", "a.toml", "--set", f"data.source={source}")
                self.assertEqual(len(result.err.splitlines()), 1, result)
        self.refuse(3, "make data", "train", "a.toml", "--set", "data.source=mnist")

    def test_an_image_folder_with_something_else(self):
        self.write("pictures/cat/a.png", png(4, 4, range(16)))
        self.write("pictures/dog/b.png", png(5, 4, range(20)))
        self.write("a.toml", MOONS)
        self.refuse(3, "b.png", "train", "a.toml", "--set", "data.source=pictures")
        (self.folder / "pictures/dog/b.png").unlink()
        self.write("pictures/dog/notes.txt", "woof")
        self.refuse(3, "it has one class, cat, and from one class nothing can be learnt", "train", "a.toml", "--set",
                    "data.source=pictures")

    def test_pictures(self):
        self.write_digits()
        self.train(PICTURES)
        for name, content, message in PICTURE_FILES:
            with self.subTest(name):
                self.write(name, content)
                code = 2 if name == "shape.npy" else 3
                self.refuse(code, message, "predict", "run/model.safetensors", name)


class BadModels(ProgramTest):
    def refuse_model(self, content, message):
        self.write("bad.safetensors", content)
        for command in (["eval", "--data", "moons"], ["predict", "--data", "moons"], ["export"]):
            extra = ["out.npz"] if command[0] == "export" else []
            self.refuse(4, message, command[0], "bad.safetensors", *command[1:], *extra)
        self.assertFalse((self.folder / "out.npz").exists())

    def test_damaged_models(self):
        self.train()
        good = (self.folder / "run/model.safetensors").read_bytes()
        length = struct.unpack("<Q", good[:8])[0]
        header = json.loads(good[8:8 + length])

        def rebuilt(change, data=good[8 + length:]):
            copy = json.loads(json.dumps(header))
            change(copy)
            text = json.dumps(copy).encode()
            return struct.pack("<Q", len(text)) + text + data

        cases = {
            "empty": (b"", "bad.safetensors"),
            "text": (b"hello", "bad.safetensors"),
            "length": (struct.pack("<Q", 2**62) + good[8:], "bad.safetensors"),
            "not JSON": (struct.pack("<Q", 4) + b"{{{{", "bad.safetensors"),
            "cut": (good[:-4], "bad.safetensors"),
            "longer": (good + b"\0\0\0\0", "bad.safetensors"),
            "a flipped bit": (good[:-1] + bytes([good[-1] ^ 1]), "damaged"),
            "no description": (rebuilt(lambda h: h.pop("__metadata__")), "lockstep.model"),
            "another layer": (rebuilt(lambda h: h["__metadata__"].update({"lockstep.model": "{}"})), "damaged"),
            "no tensor": (rebuilt(lambda h: h.pop("0.weight")), "bad.safetensors"),
            "a shape": (rebuilt(lambda h: h["0.weight"].update(shape=[2, 3])), "bad.safetensors"),
            "huge": (rebuilt(lambda h: h["0.weight"].update(shape=[2**40, 2**40])), "bad.safetensors"),
        }
        for name, (content, message) in cases.items():
            with self.subTest(name):
                self.refuse_model(content, message)

    def test_a_model_that_is_not_there(self):
        self.refuse(4, "gone.safetensors", "eval", "gone.safetensors")
        self.refuse(4, "gone.safetensors", "predict", "gone.safetensors", "x.png")
        self.refuse(4, "gone.safetensors", "export", "gone.safetensors", "x.npz")

    def test_a_model_without_data(self):
        self.train()
        (self.folder / "run/config.toml").unlink()
        self.refuse(2, "there is no config.toml beside it; say which data with --data SOURCE or --config FILE", "eval",
                    "run/model.safetensors")
        self.refuse(2, "the data has no such part; it has train", "eval", "run/model.safetensors", "--data", "moons",
                    "--split", "test")
        self.refuse(2, "--split all", "eval", "run/model.safetensors", "--data", "moons", "--split", "all")
        self.refuse(2, "there is no row 1000", "predict", "run/model.safetensors", "--data", "moons", "--rows", "1000")
        self.refuse(2, "rows are written as 0,5,7-9", "predict", "run/model.safetensors", "--data", "moons", "--rows", "a")
        self.refuse(2, "the model input is [2]", "eval", "run/model.safetensors", "--data", "blobs", "--set",
                    "data.features=3", "--set", "data.classes=2")

    def test_exports(self):
        self.train()
        model = "run/model.safetensors"
        self.refuse(2, "out.txt", "export", model, "out.txt")
        self.refuse(2, "is the model itself", "export", model, model)
        self.write("out.npz", "mine")
        self.refuse(2, "out.npz: exists; give another name, or --overwrite", "export", model, "out.npz")
        self.assertEqual((self.folder / "out.npz").read_text(), "mine")
        self.refuse(2, "nowhere", "export", model, "nowhere/out.npz")

    def test_initial_weights(self):
        self.train()
        self.write("b.toml", MOONS.replace("2-3-1", "2-4-1"))
        self.refuse(3, "run/model.safetensors: ", "train", "b.toml", "--set", "model.init=run/model.safetensors")
        self.refuse(2, "w.txt", "train", "b.toml", "--set", "model.init=w.txt")
        self.refuse(3, "gone.npz", "train", "b.toml", "--set", "model.init=gone.npz")


if __name__ == "__main__":
    main()
