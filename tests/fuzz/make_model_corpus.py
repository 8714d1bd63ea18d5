"""make_model_corpus.py: writes the seeds corpus/safetensors, corpus/network_json and corpus/checkpoint beside this file."""
import hashlib
import json
import pathlib
import struct

CORPUS = pathlib.Path(__file__).parent / "corpus"


def safetensors(tensors, metadata=None, padding=0):
    """A file with tensors {name: (dtype, shape, bytes)}."""
    header, data = {}, b""
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode() + b" " * padding
    return struct.pack("<Q", len(text)) + text + data


def layer(kind, **fields):
    return {kind: fields}


def network(layers, shape=(1, 8, 8), precision="float32"):
    return json.dumps({"input": shape, "precision": precision, "layers": layers}, separators=(",", ":")).encode()


def conv(out, **fields):
    usual = {"kernel": [3, 3], "stride": [1, 1], "pad": [1, 1], "dilation": [1, 1], "groups": 1, "bias": True}
    return layer("conv2d", out=out, **{**usual, **fields})


def checkpoint(vectors=2, precision="float32", seal=True, weight_hash=None, **changes):
    """A checkpoint of a network 2-1 after three steps; `changes` to its record, None takes a member out."""
    size = 4 if precision == "float32" else 8
    dtype = "F32" if size == 4 else "F64"
    tensors = {"0.weight": (dtype, [1, 2], bytes(range(2 * size))), "0.bias": (dtype, [1], bytes(size))}
    for name in ("optimizer.first", "optimizer.second")[:vectors]:
        tensors[name] = (dtype, [3], bytes(3 * size))
    weights = tensors["0.weight"][2] + tensors["0.bias"][2]
    record = {"step": 3, "epoch": 1, "batch": 1, "samples": 16, "correct": 9, "loss_sum": "3fd3333333333334",
              "rate": "3f50624dd2f1a9fc", "data_sha256": "a" * 64, "metrics": {"bytes": 0, "sha256": "0" * 64},
              "timings_bytes": 0, "tensors": {k: hashlib.sha256(v[2]).hexdigest() for k, v in tensors.items()}}
    record = {k: v for k, v in {**record, **changes}.items() if v is not None}
    model = network([layer("linear", out=1, bias=True)], [2], precision).decode()
    metadata = {"lockstep.checkpoint": json.dumps(record, separators=(",", ":")), "lockstep.config": "[data]\n",
                "lockstep.model": model, "lockstep.numerics_version": "1", "lockstep.version": "0.1.0",
                "lockstep.weight_hash": weight_hash or hashlib.sha256(weights).hexdigest()}
    data = safetensors({**tensors, "checkpoint.sha256": ("U8", [32], bytes(32))}, metadata)[:-32]
    return data + (hashlib.sha256(data).digest() if seal else bytes(32))


def main():
    pool = {"window": [2, 2], "stride": [2, 2], "pad": [0, 0]}
    relu, linear = layer("relu"), layer("linear", out=5, bias=True)
    seeds = {
        "safetensors/empty": safetensors({}),
        "safetensors/metadata": safetensors({}, {"format": "pt", "text": "\"\n\u00e9\U0001f600"}),
        "safetensors/weights": safetensors({"0.weight": ("F32", [2, 3], bytes(24)), "0.bias": ("F64", [2], bytes(16))}),
        "safetensors/types": safetensors({t: (t, [1], bytes(n)) for t, n in {
            "U8": 1, "I8": 1, "U16": 2, "I16": 2, "U32": 4, "I32": 4, "U64": 8, "I64": 8, "F32": 4, "F64": 8}.items()}),
        "safetensors/scalar_and_none": safetensors({"s": ("F32", [], bytes(4)), "n": ("F32", [0, 7], b"")}, padding=5),
        "safetensors/unknown_type": safetensors({"h": ("BF16", [1], bytes(2))}),
        "safetensors/short": safetensors({"w": ("F32", [4], bytes(16))})[:-3],
        "safetensors/overlap": safetensors({"w": ("F32", [4], bytes(16))}).replace(b"[0, 16]", b"[8, 24]"),
        "safetensors/huge": safetensors({"w": ("F32", [4], bytes(16))}).replace(b"[4]", b"[4611686018427387904]"),
        "network_json/mlp": network([linear, layer("sigmoid", **{"lambda": 1.0}), linear], [4], "float64"),
        "network_json/images": network([conv(2), relu, layer("max_pool2d", **pool), layer("avg_pool2d", **pool),
                                        layer("batch_norm", momentum=0.1, eps=1e-5), layer("flatten"), linear]),
        "network_json/activations": network([layer("leaky_relu", slope=0.1), layer("tanh"), layer("abs_tanh"),
                                             layer("gelu"), layer("softmax"), layer("dropout", p=0.5)]),
        "network_json/residual": network([layer("residual", body=[conv(1), layer("residual", body=[relu], shortcut=[])],
                                                shortcut=[conv(1)])]),
        "network_json/wide": network([layer("linear", out=2147483647, bias=True)] * 2),
        "network_json/kernel": network([conv(2147483647, kernel=[65535, 65535], pad=[65535, 65535])]),
        "checkpoint/adam": checkpoint(),
        "checkpoint/momentum": checkpoint(1, "float64", correct=None),
        "checkpoint/sgd": checkpoint(0),
        "checkpoint/broken_seal": checkpoint(seal=False),
        "checkpoint/short": checkpoint()[:-7],
        "checkpoint/other_weights": checkpoint(weight_hash="b" * 64),
        "checkpoint/no_step": checkpoint(step=None),
        "checkpoint/huge_step": checkpoint(step=2**64 - 1),
        "checkpoint/no_hashes": checkpoint(tensors={}),
        "checkpoint/model": safetensors({"0.weight": ("F32", [1], bytes(4))}, {"lockstep.checkpoint": "{}"}),
    }
    for name, data in seeds.items():
        path = CORPUS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


if __name__ == "__main__":
    main()
