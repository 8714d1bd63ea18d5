"""Files as people have them: each is trained on and predicted from with its source and its target named, no more."""
import io
import json
import pathlib
import random
import resource
import struct
import subprocess
import sys
import tarfile
import zipfile

from program import PROGRAM, ProgramTest, idx, main, npy, png, sanitized
from ranks_test import RanksTest, available

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from jpegs import H8, H12, V8, V12  # noqa: E402

TRAIN = """\
[train]
optimizer = {name = "adam", lr = 0.02}
batch = 8
epochs = 30
"""


def npz(**arrays):
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in arrays.items():
            archive.writestr(f"{name}.npy", content)
    return memory.getvalue()


def words(*texts):
    width = max(map(len, texts))
    return npy(f"<U{width}", (len(texts),), "".join(t.ljust(width, "\0") for t in texts).encode("utf-32-le"))


def mat(**matrices):
    """A level 5 file of column-major doubles: name = (rows, columns, values by columns)."""
    def element(kind, data):
        return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)
    out = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<HH", 0x0100, 0x4D49)
    for name, (rows, columns, values) in matrices.items():
        head = element(6, struct.pack("<II", 6, 0)) + element(5, struct.pack("<2i", rows, columns))
        out += element(14, head + element(1, name.encode()) + element(9, struct.pack(f"<{len(values)}d", *values)))
    return out


def safetensors(tensors):
    head, data = {}, b""
    for name, (shape, values) in tensors.items():
        raw = struct.pack(f"<{len(values)}f", *values)
        head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + data


def stripes(count, channels=1, size=4, first=True):
    """Bytes of pictures whose class k has a bright row k, channels first or last."""
    out = []
    for i in range(count):
        value = [[200 + (i + x) % 50 if y == i % 3 else (7 * i + x) % 30 for x in range(size)] for y in range(size)]
        if first:
            out += [v for _ in range(channels) for row in value for v in row]
        else:
            out += [v for row in value for v in row for _ in range(channels)]
    return bytes(out)


class Files(ProgramTest):
    def run_files(self, source, model, target="", loss="", inputs=None, expect=0.9, extra=()):
        """Trains on the source, predicts from `inputs` (the source itself), and returns notes and answers."""
        config = f'[data]\nsource = "{source}"\n{target}\n[model]\n{model}\n{TRAIN}{loss}\n'
        self.write("a.toml", config)
        result = self.succeed("train", "a.toml", "--out", "run", "--overwrite", "--json", *extra)
        summary = json.loads(result.out)
        score = (summary.get("test") or summary.get("final_train")).get("accuracy")
        if score is not None:
            self.assertGreaterEqual(score, expect)
        answers = self.succeed("predict", "run/model.safetensors", inputs or source, "--format", "jsonl")
        return result.err, [json.loads(line) for line in answers.out.splitlines()], summary

    def test_kaggle_pixels(self):
        pixels = stripes(45)
        lines = ["label," + ",".join(f"pixel{i + 1}" for i in range(16))]
        lines += [",".join(map(str, [i % 3, *pixels[16 * i:16 * i + 16]])) for i in range(45)]
        self.write("fashion-mnist_train.csv", "\n".join(lines) + "\n")
        notes, answers, _ = self.run_files("fashion-mnist_train.csv", 'sizes = "16-12-3"')
        self.assertIn("column 0 (label) is taken as the label", notes)
        self.assertEqual(len(answers), 45)

    def iris(self):
        random.seed(1)
        kinds = ["Iris-setosa", "Iris-versicolor", "Iris-virginica"]
        rows = [",".join(f"{random.gauss(2 * k + f, 0.4):.1f}" for f in range(4)) + "," + kind
                for k, kind in enumerate(kinds) for _ in range(20)]
        self.write("iris.data.csv", "\n".join(rows) + "\n\n")

    def test_iris_with_names(self):
        self.iris()
        notes, answers, _ = self.run_files("iris.data.csv", 'sizes = "4-8-3"')
        self.assertIn("it has no header; the last column, 4, is taken as the label", notes)
        self.assertEqual(answers[0]["answer"], "Iris-setosa")
        self.assertEqual(list(answers[0]["probabilities"]), ["Iris-setosa", "Iris-versicolor", "Iris-virginica"])
        self.assertIn("Iris-virginica", self.succeed("eval", "run/model.safetensors").out)
        self.assertIn("Iris-setosa, Iris-versicolor", self.succeed("inspect", "run/model.safetensors").out)
        self.succeed("export", "run/model.safetensors", "iris.onnx")
        self.assertIn(b'class_names\x122["Iris-setosa","Iris-versicolor","Iris-virginica"]', (self.folder / "iris.onnx").read_bytes())
        self.write("new.csv", "0.1,1.2,2.0,3.1\n4.0,5.1,6.0,7.2\n")
        text = self.succeed("predict", "run/model.safetensors", "new.csv", "--top", "1").out
        self.assertRegex(text, r"row 0 +Iris-setosa \d")
        self.assertRegex(text, r"row 1 +Iris-virginica \d")

    def test_a_regression_with_missing_values(self):
        random.seed(2)
        rows = ["area;rooms;price"]
        for i in range(60):
            area, rooms = random.uniform(0, 3), random.uniform(0, 1)
            line = f"{area:.3f};{'NA' if i % 9 == 0 else f'{rooms:.3f}'};{2 * area - rooms:.3f}"
            rows.append(line.replace(".", ","))
        self.write("haus.csv", "\ufeff" + "\r\n".join(rows) + "\r\n")
        notes, answers, summary = self.run_files("haus.csv", 'sizes = "2-8-1"', 'label_column = "price"',
                                                 'loss = "squared-error"')
        self.assertIn("numbers such as 1,5 are taken as 1.5", notes)
        self.assertIn("fields are missing in 1 column: rooms 7 of 60 lines; the mean of the training part", notes)
        self.assertIn("so they are targets of a regression", notes)
        self.assertEqual(len(answers[0]["outputs"]), 1)
        self.assertLess(summary["final_train"]["loss"], 0.2)
        text = self.succeed("predict", "run/model.safetensors", "haus.csv", "--format", "csv", "--true").out
        self.assertEqual(text.splitlines()[0], "input,true,answer")

    def titanic(self, labels=True):
        random.seed(3)
        head = "PassengerId,Survived,Pclass,Name,Sex,Age,Fare,Cabin,Embarked"
        rows = [head]
        for i in range(80):
            sex = random.choice(["male", "female"])
            age = "" if i % 7 == 0 else f"{random.uniform(1, 70):.1f}"
            rows.append(f'{i + 1},{"yes" if sex == "female" else "no"},{random.choice([1, 2, 3])},"Doe, Mr. {i}",{sex},{age},'
                        f'{random.uniform(5, 80):.2f},{f"C{i}" if i % 3 == 0 else ""},{random.choice("CQS") if i % 30 else ""}')
        if not labels:
            rows = [",".join(part for j, part in enumerate(row.split(",")) if j != 1) for row in rows]
        return "\n".join(rows) + "\n"

    def test_titanic(self):
        self.write("titanic.csv", self.titanic())
        self.write("unknown.csv", self.titanic(labels=False))
        notes, answers, _ = self.run_files("titanic.csv", 'sizes = "9-8-2"', 'label_column = "Survived"',
                                           inputs="unknown.csv", extra=["--set", "data.standardise=true"])
        self.assertIn("column 3 (Name) has 80 different words in 80 lines and is left out", notes)
        self.assertIn("6 columns are 9 inputs: Sex is 2 (female, male), Embarked is 3 (C, Q, S)", notes)
        self.assertIn('column 0 (PassengerId) looks like an id, which says nothing about new samples; data.drop = '
                      '["PassengerId"]', notes)
        self.assertEqual(len(answers), 80)
        self.assertIn(answers[0]["answer"], ("yes", "no"))
        piped = subprocess.run([PROGRAM, "predict", "run/model.safetensors", "-", "--format", "jsonl"], cwd=self.folder,
                               input=self.titanic(labels=False).encode(), capture_output=True)
        self.assertEqual([json.loads(line) for line in piped.stdout.splitlines()], answers)
        self.write("odd.csv", "Sex,Pclass\nmale,3\n")
        self.refuse(3, 'odd.csv: no column "PassengerId", which the table of training has', "predict",
                    "run/model.safetensors", "odd.csv")
        self.refuse(2, "--true: the data has no labels", "predict", "run/model.safetensors", "unknown.csv", "--true")

    CONV = 'input = [3, 8, 8]\nlayers = [{conv2d = {out = 4, kernel = 3}}, "relu", {linear = 2}]'

    def pictures(self):
        return {f"{kind}/{i}.{ending}": content for i in range(6)
                for kind, sizes in (("sea", (H8, H12)), ("wall", (V8, V12)))
                for ending, content in (("jpg", sizes[0]), ("JPEG", sizes[1]))}

    def test_pictures_of_several_sizes(self):
        for name, content in self.pictures().items():
            self.write(f"pets/{name}", content)
        self.write("pets/sea/Thumbs.db", b"x")
        self.write("pets/.DS_Store", b"x")
        notes, answers, summary = self.run_files("pets", self.CONV)
        self.assertIn("pets: 1 file skipped, since they are no pictures of a class: sea/Thumbs.db", notes)
        self.assertIn("pictures have several sizes and become 8x8, as the network takes them; data.resize", notes)
        self.assertEqual(answers[0]["answer"], "sea")
        streamed = self.run_files("pets", self.CONV, extra=["--set", "data.stream=true"])
        self.assertIn("read by slices", streamed[0])
        self.assertEqual((streamed[2]["weight_hash"], streamed[1]), (summary["weight_hash"], answers))
        self.write("flat/one.jpg", V12)
        self.write("flat/two.jpg", H8)
        flat = self.succeed("predict", "run/model.safetensors", "flat", "--format", "csv").out.splitlines()
        self.assertEqual([line.split(",")[:2] for line in flat[1:]], [["flat/one.jpg", "wall"], ["flat/two.jpg", "sea"]])
        self.write("few/wall/a.jpg", V8)  # a folder with one of the classes: their numbers are those of training
        one = self.succeed("predict", "run/model.safetensors", "few", "--format", "csv", "--true").out.splitlines()
        self.assertEqual(one[1].split(",")[:3], ["row 0", "wall", "wall"])
        memory = io.BytesIO()
        with zipfile.ZipFile(memory, "w") as archive:
            for name, content in self.pictures().items():
                archive.writestr(f"pets/{name}", content)
        self.write("pets.zip", memory.getvalue())
        memory = io.BytesIO()
        with tarfile.open(fileobj=memory, mode="w") as archive:
            for name, content in self.pictures().items():
                entry = tarfile.TarInfo(f"./pets/{name}")
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
        self.write("pets.tar", memory.getvalue())
        for name in ("pets.zip", "pets.tar"):
            self.assertEqual(self.run_files(name, self.CONV)[2]["weight_hash"], summary["weight_hash"], name)

    def test_channels_last(self):
        labels = npy("<i8", (24,), struct.pack("<24q", *(i % 3 for i in range(24))))
        model = 'input = [3, 4, 4]\nlayers = [{conv2d = {out = 4, kernel = 3, pad = 1}}, "relu", {linear = 3}]'
        self.write("first.npz", npz(x_train=npy("|u1", (24, 3, 4, 4), stripes(24, 3)), y_train=labels))
        self.write("last.npz", npz(x_train=npy("|u1", (24, 4, 4, 3), stripes(24, 3, first=False)), y_train=labels))
        notes, _, summary = self.run_files("last.npz", model)
        self.assertIn("samples [4,4,3] are taken as height, width, channels, since the network takes [3,4,4]", notes)
        self.assertEqual(self.run_files("first.npz", model)[2]["weight_hash"], summary["weight_hash"])

    def test_digits_of_scikit_learn(self):
        pixels = struct.pack("<480d", *(v / 16 for v in stripes(30)))
        self.write("digits.npz", npz(data=npy("<f8", (30, 16), pixels),
                                     target=npy("<i8", (30,), struct.pack("<30q", *(i % 3 for i in range(30)))),
                                     frame=npy("|O", (1,), b"\x80\x04N."),
                                     target_names=words("one", "two", "three")))
        _, answers, _ = self.run_files("digits.npz", 'sizes = "16-12-3"')
        self.assertEqual([a["answer"] for a in answers[:3]], ["one", "two", "three"])
        text = self.succeed("inspect", "digits.npz").out
        self.assertRegex(text, r"target_names +words +\[3\] +one, three, two")
        self.assertRegex(text, r"frame +objects")
        self.write("bad.npz", npz(samples=npy("<f8", (30, 16), pixels)))
        self.refuse(3, 'bad.npz: no array "x_train" (nor X_train, x, X, data, images); there are: samples; data.x_key names it',
                    "train", "a.toml", "--set", "data.source=bad.npz")

    def test_labels_that_are_words_or_start_at_one(self):
        x = npy("<f8", (30, 16), struct.pack("<480d", *(v / 255 for v in stripes(30))))
        self.write("named.npz", npz(x=x, y=words(*(["ash", "birch", "cedar"][i % 3] for i in range(30)))))
        _, answers, _ = self.run_files("named.npz", 'sizes = "16-12-3"')
        self.assertEqual(answers[1]["answer"], "birch")
        self.write("one.npz", npz(x=x, y=npy("<i8", (30,), struct.pack("<30q", *(1 + i % 3 for i in range(30))))))
        notes, _, _ = self.run_files("one.npz", 'sizes = "16-12-4"')
        self.assertIn("labels start at 1 and go to 3, so class 0 has no sample and there are 4 classes; data.label_rule = "
                      '"from-one" makes label 1 class 0', notes)

    def test_matlab(self):
        rows = [stripes(30)[16 * i:16 * i + 16] for i in range(30)]
        self.write("d.mat", mat(X=(30, 16, [r[c] / 255 for c in range(16) for r in rows]), y=(30, 1, [i % 3 + 1 for i in range(30)])))
        notes, answers, _ = self.run_files("d.mat", 'sizes = "16-12-3"')
        self.assertIn("labels count from 1", notes)
        self.assertEqual(len(answers), 30)

    def test_cifar(self):
        random.seed(4)
        def records(count):
            return b"".join(bytes([i % 2]) + bytes(random.randrange(90, 160) if i % 2 else random.randrange(0, 90)
                                                   for _ in range(3072)) for i in range(count))
        for batch in range(1, 3):
            self.write(f"cifar-10-batches-bin/data_batch_{batch}.bin", records(10))
        self.write("cifar-10-batches-bin/test_batch.bin", records(6))
        names = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
        self.write("cifar-10-batches-bin/batches.meta.txt", "\n".join(names) + "\n\n")
        model = 'input = [3, 32, 32]\nlayers = [{avg_pool2d = 8}, {linear = 10}]'
        _, answers, summary = self.run_files("cifar-10-batches-bin", model)
        self.assertEqual(summary["test"]["samples"], 6)
        self.assertEqual(answers[0]["answer"], "airplane")
        self.run_files("cifar-10-batches-bin/data_batch_1.bin", model, expect=0)

    def test_idx(self):
        self.write("train-images-idx3-ubyte", idx((30, 4, 4), stripes(30)))
        self.write("train-labels-idx1-ubyte", idx((30,), bytes(i % 3 for i in range(30))))
        self.run_files("train-images-idx3-ubyte", 'sizes = "16-12-3"')

    def test_a_state_dict_of_pytorch(self):
        self.iris()
        random.seed(5)
        self.write("net.safetensors", safetensors({
            "0.weight": ([8, 4], [random.gauss(0, 0.5) for _ in range(32)]), "0.bias": ([8], [0.0] * 8),
            "2.weight": ([3, 8], [random.gauss(0, 0.5) for _ in range(24)]), "2.bias": ([3], [0.0] * 3)}))
        self.run_files("iris.data.csv", 'sizes = "4-8-3"\ninit = "net.safetensors"')


class Promise(RanksTest):
    """One hash: threads 1 and 3, ranks 2, OpenCL, and a run that was stopped and went on."""

    def check_one_hash(self, config):
        self.write("a.toml", config)
        hashes = {}
        for threads in (1, 3):
            result = self.succeed("train", "a.toml", "--out", f"t{threads}", "--json", "--quiet", "--threads", threads)
            hashes[f"{threads} threads"] = json.loads(result.out)["weight_hash"]
        if available("openmpi") and not sanitized():
            result = self.launch("openmpi", 2, "train", "a.toml", "--out", "ranks", "--json", "--quiet")
            self.assertEqual(result.code, 0, result)
            hashes["2 ranks"] = json.loads(result.out)["weight_hash"]
        cache = str(pathlib.Path(PROGRAM).resolve().parent / "test-kernels")
        device = self.run_program("train", "a.toml", "--out", "device", "--json", "--quiet", "--backend", "opencl",
                                  env={"POCL_CACHE_DIR": cache, "XDG_CACHE_HOME": cache})
        if device.code == 0:
            hashes["OpenCL"] = json.loads(device.out)["weight_hash"]
        else:
            print(f"no OpenCL: {device.err.strip()}")
        self.succeed("train", "a.toml", "--out", "parts", "--quiet", "--set", "train.epochs=1")
        result = self.succeed("train", "a.toml", "--out", "parts", "--json", "--quiet", "--resume", "--threads", 2)
        hashes["in two parts"] = json.loads(result.out)["weight_hash"]
        self.assertEqual(len(set(hashes.values())), 1, hashes)
        return hashes["1 threads"]

    def test_tables(self):
        rows = ["x,kind,age,label"]
        for i in range(60):
            rows.append(f"{i * 37 % 11},{'abc'[i % 3]},{'' if i % 8 == 0 else i * 7 % 50},{['no', 'yes'][i * 37 % 11 > 5]}")
        self.write("t.csv", "\n".join(rows) + "\n")
        self.check_one_hash('[data]\nsource = "t.csv"\nmissing = "median"\nstandardise = true\nsplit = {test = 0.2}\n'
                            '[model]\nsizes = "5-8-2"\n[train]\nbatch = 32\nslots = 4\nepochs = 3\n')

    def test_augmented_pictures(self):
        for i in range(8):
            for kind, sizes in (("sea", (H8, H12)), ("wall", (V8, V12))):
                self.write(f"pets/{kind}/{i}.jpg", sizes[i % 2])
        config = ('[data]\nsource = "pets"\nresize = 8\n@[model]\ninput = [3, 8, 8]\n'
                  'layers = [{conv2d = {out = 4, kernel = 3}}, "relu", {linear = 2}]\n'
                  '[train]\nbatch = 16\nslots = 4\nepochs = 3\n')
        changes = ["", "flip = true", "shift = 2", "rotate = 20", "brightness = 0.2", "contrast = 0.3", "cutout = 3", "mixup = 0.4",
                   "flip = true, shift = 2, rotate = 20, brightness = 0.2, contrast = 0.3, cutout = 3, mixup = 0.2"]
        hashes = set()
        for change in changes[:-1]:
            self.write("a.toml", config.replace("@", f"augment = {{{change}}}\n" if change else ""))
            hashes.add(json.loads(self.succeed("train", "a.toml", "--out", "one", "--overwrite", "--json", "--quiet").out)["weight_hash"])
        hashes.add(self.check_one_hash(config.replace("@", f"augment = {{{changes[-1]}}}\n")))
        self.assertEqual(len(hashes), len(changes), "every change changes the weights")

    def test_augmented_in_one_batch(self):
        """Every epoch has the same batch, but not the same samples."""
        self.check_one_hash('[data]\nsource = "moons"\ncount = 40\naugment = {mixup = 0.5}\n[model]\nsizes = "2-6-2"\n'
                            '[train]\nbatch = "full"\nshuffle = false\nepochs = 3\n')


class Memory(RanksTest):
    def test_pictures_larger_than_the_memory(self):
        """200 pictures of 512x512 take 157 MB decoded; the program may have 120 MB of addresses in all."""
        if sanitized():
            self.skipTest("a sanitizer needs more memory than the limit")
        for name, colour in (("red", (200, 10, 10)), ("green", (10, 200, 10))):
            content = png(512, 512, bytes(colour) * 512 * 512, channels=3)
            for i in range(100):
                self.write(f"pics/{name}/{i}.png", content)
        self.write("a.toml", '[data]\nsource = "pics"\nresize = 8\n[model]\ninput = [3, 8, 8]\nlayers = [{linear = 2}]\n'
                             "[train]\nepochs = 1\n")
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (120 << 20, 120 << 20))
        command = ["train", "a.toml", "--out", "run", "--threads", "1", "--quiet"]
        self.refuse(5, "out of memory", *command, preexec_fn=limit)
        self.succeed(*command, "--overwrite", "--set", "data.stream=true", preexec_fn=limit)


    def test_an_archive_larger_than_the_memory(self):
        """x takes 120 MB; the program may have 110 MB of addresses in all. Labels are words."""
        if sanitized():
            self.skipTest("a sanitizer needs more memory than the limit")
        count, features = 12000, 10_000
        sample = bytes(range(250)) * (features // 250)
        x = npy("|u1", (count, features), b"".join(sample[i % 50:] + sample[:i % 50] for i in range(count)))
        y = npy("<U2", (count,), b"".join(word.encode("utf-32-le") for word in ["no", "on"] * (count // 2)))
        for name, method in (("a.npz", zipfile.ZIP_STORED), ("packed.npz", zipfile.ZIP_DEFLATED)):
            with zipfile.ZipFile(self.folder / name, "w", method) as archive:
                archive.writestr("x.npy", x)
                archive.writestr("y.npy", y)
        del x, y
        self.write("a.toml", f'[data]\nsource = "a.npz"\n[model]\nsizes = "{features}-2"\n[train]\nepochs = 1\nslots = 2\nbatch = 100\n')
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (110 << 20, 110 << 20))
        command = ["train", "a.toml", "--threads", "1", "--quiet", "--json"]
        self.refuse(5, "out of memory", *command, "--out", "small", preexec_fn=limit)
        streamed = self.succeed(*command, "--out", "streamed", "--set", "data.stream=true", preexec_fn=limit)
        whole = self.succeed(*command, "--out", "whole")
        self.assertEqual(json.loads(streamed.out)["weight_hash"], json.loads(whole.out)["weight_hash"])
        self.refuse(3, "packed.npz(x): byte", *command, "--set", "data.source=packed.npz", "--set", "data.stream=true", "--out", "packed")

    def test_streams_have_the_same_bits(self):
        """Of an archive and of folders, with what is read ahead, on one thread, three, and two ranks."""
        with zipfile.ZipFile(self.folder / "a.npz", "w") as archive:
            archive.writestr("x_train.npy", npy("<f4", (90, 6), struct.pack("<540f", *(i * 37 % 11 / 11 for i in range(540)))))
            archive.writestr("y_train.npy", npy("<i4", (90,), struct.pack("<90i", *(i * 5 % 3 for i in range(90)))))
        self.write("a.toml", '[data]\nsource = "a.npz"\nsplit = {test = 0.2}\naugment = {mixup = 0.3}\n[model]\nsizes = "6-8-3"\n'
                             "[train]\nbatch = 16\nslots = 4\nepochs = 3\n")
        hashes = set()
        for stream in ("false", "true"):
            for threads in (1, 3):
                result = self.succeed("train", "a.toml", "--out", "run", "--overwrite", "--json", "--quiet", "--threads", threads,
                                      "--set", f"data.stream={stream}", env={"LOCKSTEP_STEP_THREADS": "all"})
                hashes.add(json.loads(result.out)["weight_hash"])
        if available("openmpi") and not sanitized():
            result = self.launch("openmpi", 2, "train", "a.toml", "--out", "ranks", "--json", "--quiet", "--set", "data.stream=true")
            self.assertEqual(result.code, 0, result)
            hashes.add(json.loads(result.out)["weight_hash"])
        self.assertEqual(len(hashes), 1, hashes)


class Places(ProgramTest):
    def test_beside_the_configuration_first(self):
        table = "a,b,label\n" + "".join(f"{i % 5},{i % 3},{i % 2}\n" for i in range(20))
        self.write("sub/t.csv", table)
        self.write("sub/a.toml", f'[data]\nsource = "t.csv"\n[model]\nsizes = "2-2"\n{TRAIN}')
        result = self.succeed("train", "sub/a.toml", "--out", "run")
        self.assertIn("data.source is sub/t.csv, beside sub/a.toml", result.err)
        self.assertNotIn("is another", result.err)
        self.write("t.csv", table + "9,9,1\n")
        result = self.succeed("train", "sub/a.toml", "--out", "run", "--overwrite")
        self.assertIn("data.source is sub/t.csv, beside sub/a.toml; t.csv in the working directory is another", result.err)
        self.assertIn('source = "sub/t.csv"', (self.folder / "run/config.toml").read_text())
        self.succeed("eval", "run/model.safetensors")
        (self.folder / "sub/t.csv").unlink()
        result = self.succeed("train", "sub/a.toml", "--out", "other")
        self.assertIn("train on 21 samples", result.err)


if __name__ == "__main__":
    main()
