"""Draws networks and trainings at random from the program's own lists of layers, optimisers, schedules, losses and
initialisers (campaign_records), with data for them. What is added to those lists is drawn without a change here: a layer is
tried with random options, and kept where the library says that it fits."""
import json
import math
import struct
import subprocess

from program import npy

MOST_PARAMETERS = 20000
WORDS = "the cat sat on a mat and the dog ran to the red barn at noon, then it slept; "


def toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value) if isinstance(value, str) else repr(value)


def config_text(config):
    return "".join(f"[{section}]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in keys.items())
                   for section, keys in config.items())


class Drawer:
    """Asks the library, in a process of its own, whether networks fit."""

    def __init__(self, records):
        self.lists = json.loads(subprocess.run([records], capture_output=True, check=True).stdout)
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen([records, "--check"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def output_of(self, shape, layers):
        """The shape behind these layers; None where they do not fit, or are too large for a campaign."""
        text = config_text({"data": {"source": "moons"}, "model": {"input": shape, "layers": layers}})
        self.process.stdin.write(json.dumps(text) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return answer["output"] if answer.get("parameters", MOST_PARAMETERS) < MOST_PARAMETERS else None

    def value(self, field, random, facts):
        """A value for a field of a record; None: its default. `facts`: what the data say about fields of that name."""
        kind, name = field["type"], field["name"]
        if name in facts:
            return facts[name]
        if kind == "flag":
            return random.random() < 0.5
        if kind == "whole":
            return min(field["max"], field["min"] + random.choice((0, 1, 2, 3, 4, 6, 7, 8, 16)))
        if kind == "extent":
            draw = [min(field["max"], field["min"] + random.choice((0, 0, 1, 1, 2, 3))) for _ in range(2)]
            return draw if random.random() < 0.3 else draw[0]
        if kind == "number":
            return self.number(field, random)
        if kind == "initialiser":
            return self.record("initialisers", random) if random.random() < 0.3 else None
        return None

    @staticmethod
    def number(field, random):
        if "max" in field and field["max"] <= 1:
            return round(random.uniform(field["min"] + 0.02, field["max"] - 0.02), 3)
        return float(f"{10 ** random.uniform(-3, 0):.3g}")

    def options(self, record, random, facts):
        found = {}
        for field in record["fields"]:
            if field["required"] or random.random() < 0.4:
                value = self.value(field, random, facts)
                if value is not None:
                    found[field["name"]] = value
        return found

    def record(self, which, random, **facts):
        record = random.choice(self.lists[which])
        return {"name": record["name"], **self.options(record, random, facts)}

    def layers(self, shape, random, facts, most, depth=0):
        """A random list of layers, and the shape behind it."""
        found, wanted = [], random.randint(1, most)
        for _ in range(12 * wanted):
            if len(found) == wanted:
                break
            record = random.choice(self.lists["layers"])
            options = self.options(record, random, facts)
            inner = next((field for field in record["fields"] if field["type"] == "layers" and field["required"]), None)
            if inner is not None:
                if depth > 0 or not found:
                    continue
                options[inner["name"]] = self.layers(self.output_of(shape, found), random, facts, 2, depth + 1)
            layer = {record["name"]: options} if options else record["name"]
            if self.output_of(shape, [*found, layer]) is not None:
                found.append(layer)
        return found

    def training(self, random):
        """A configuration whose network fits its data, and what writes the data."""
        while True:
            data = random.choice(DATA)(random)
            layers = self.layers(data["input"], random, data.get("facts", {}), 5)
            last = {"out": data["outputs"]}
            if "tokens" in data:
                last["per_step"] = True
            layers.append({"linear": last})
            loss = random.choice(self.lists["losses"])
            section = dict(data["section"])
            if data["kind"] == "classes" and loss not in ("cross-entropy", "focal"):
                section["one_hot"] = True
            if loss == "binary-cross-entropy":
                layers.append("sigmoid")
            behind = self.output_of(data["input"], layers)
            if behind is None or ("tokens" in data and behind[-1] != data["input"][0]):
                continue
            model = {"input": data["input"], "layers": layers, "precision": random.choice(("float32", "float32", "float64")),
                     "init": self.record("initialisers", random, scale=0.3)}
            return {"config": {"data": section, "model": model, "train": self.train(loss, random)},
                    "files": data.get("files", {})}

    def train(self, loss, random):
        keys = {"loss": loss, "optimizer": self.record("optimizers", random, lr=float(f"{10 ** random.uniform(-4, -1):.2g}")),
                "batch": random.choice((1, 3, 8, 16, 17, 32, 40, "full")), "epochs": random.choice((1, 2, 3)),
                "seed": random.randrange(10**6)}
        extra = {"slots": lambda: random.choice((1, 2, 4, 8)), "schedule": lambda: self.record("schedules", random),
                 "average": lambda: self.record("averages", random), "clip_norm": lambda: 0.5, "l2": lambda: 0.01,
                 "reduction": lambda: random.choice(("mean", "sum")), "shuffle": lambda: random.random() < 0.5}
        for key, draw in extra.items():
            if random.random() < 0.3:
                keys[key] = draw()
        return keys


def blobs(random):
    classes, features = random.choice((2, 3, 5)), random.choice((1, 2, 7, 16, 17))
    return {"kind": "classes", "input": [features], "outputs": classes,
            "section": {"source": "blobs", "count": random.choice((17, 64, 90)), "test_count": 16, "classes": classes,
                        "features": features, "seed": random.randrange(1000)}}


def circles(random):
    return {"kind": "classes", "input": [2], "outputs": 2,
            "section": {"source": random.choice(("moons", "circles")), "count": 70, "split": {"validation": 20}}}


def adding(random):
    steps = random.choice((3, 5, 8))
    return {"kind": "numbers", "input": [2, steps], "outputs": 1,
            "section": {"source": "adding", "count": 40, "steps": steps, "test_count": 8}}


def pictures(random):
    count, shape, classes = 40, [random.choice((1, 3)), random.choice((4, 6, 7)), random.choice((4, 5, 8))], 3
    return {"kind": "classes", "input": shape, "outputs": classes,
            "section": {"source": "x.npy", "labels": "y.npy", "split": {"test": 8}},
            "files": {"x.npy": ["u1", [count, *shape], random.randrange(10**6), 256],
                      "y.npy": ["i8", [count], random.randrange(10**6), classes]}}


def sequences(random):
    count, shape, classes = 40, [random.choice((1, 2, 4)), random.choice((2, 5, 9))], 3
    return {"kind": "classes", "input": shape, "outputs": classes,
            "section": {"source": "x.npy", "labels": "y.npy", "shape": shape},
            "files": {"x.npy": ["f4", [count, *shape], random.randrange(10**6), 0],
                      "y.npy": ["i8", [count], random.randrange(10**6), classes]}}


def numbers(random):
    count, features, outputs = 50, random.choice((1, 3, 16)), random.choice((1, 2))
    return {"kind": "numbers", "input": [features], "outputs": outputs,
            "section": {"source": "x.npy", "labels": "y.npy", "regression": True, "standardise": random.random() < 0.5},
            "files": {"x.npy": ["f8", [count, features], random.randrange(10**6), 0],
                      "y.npy": ["f8", [count, outputs], random.randrange(10**6), 0]}}


def text(random):
    steps = random.choice((4, 7, 8))
    return {"kind": "tokens", "tokens": True, "input": [steps], "outputs": len(set(WORDS)),
            "facts": {"vocabulary": len(set(WORDS))},
            "section": {"source": "a.txt", "steps": steps, "split": {"test": 0.2}},
            "files": {"a.txt": ["text", [random.choice((4, 6))], 0, 0]}}


DATA = (blobs, circles, adding, pictures, sequences, numbers, text)
TYPES = {"u1": ("|u1", "B"), "i8": ("<i8", "q"), "f4": ("<f4", "f"), "f8": ("<f8", "d")}


def file_contents(kind, shape, seed, limit):
    """The bytes of a data file, from the few numbers that a case keeps of it."""
    if kind == "text":
        return (WORDS * shape[0]).encode()
    count = math.prod(shape)
    # A plain generator: the same numbers for every version of Python.
    state, values = seed * 2654435761 % 2**32, []
    for i in range(count):
        state = (1664525 * state + 1013904223) % 2**32
        high = state >> 8
        values.append(high % limit if limit else (high / 2**23 - 1))
        if kind == "i8" and i < limit:
            values[-1] = i  # every class is there
    descr, letter = TYPES[kind]
    return npy(descr, shape, struct.pack(f"<{count}{letter}", *values))
