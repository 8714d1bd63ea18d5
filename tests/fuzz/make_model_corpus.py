"""make_model_corpus.py: writes the seeds corpus/safetensors and corpus/network_json beside this file."""
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
    }
    for name, data in seeds.items():
        path = CORPUS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


if __name__ == "__main__":
    main()
