"""make_onnx_corpus.py: writes the seeds corpus/onnx beside this file, in the wire format of onnx.proto by hand."""
import pathlib
import struct

CORPUS = pathlib.Path(__file__).parent / "corpus" / "onnx"


def varint(value):
    out = b""
    value &= 2**64 - 1
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    """Whole numbers, floats, and everything else as bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def tensor(name, dims, numbers=None, kind=1, raw=True):
    count = 1
    for extent in dims:
        count *= extent
    numbers = numbers or [0.25 * (i % 5) - 0.5 for i in range(count)]
    head = b"".join(field(1, extent) for extent in dims) + field(2, kind) + field(8, name)
    if kind == 7:
        return head + b"".join(field(7, n) for n in numbers)
    packed = struct.pack(f"<{count}f", *numbers)
    return head + field(9 if raw else 4, packed)


def attribute(name, value):
    if isinstance(value, list):
        return field(1, name) + b"".join(field(8 if isinstance(v, int) else 7, v) for v in value) + field(20, 7)
    return field(1, name) + field({int: 3, float: 2}.get(type(value), 4), value)


def node(kind, inputs, output, domain="", **attributes):
    return (b"".join(field(1, i) for i in inputs) + field(2, output) + field(4, kind) + field(7, domain) +
            b"".join(field(5, attribute(name, value)) for name, value in attributes.items()))


def model(nodes, tensors, shape, metadata=()):
    dims = field(1, field(2, "N")) + b"".join(field(1, field(1, extent)) for extent in shape)
    value = field(1, "x") + field(2, field(1, field(1, 1) + field(2, dims)))
    graph = (b"".join(field(1, n) for n in nodes) + field(2, "g") + b"".join(field(5, t) for t in tensors) +
             field(11, value) + field(12, field(1, "y")))
    return (field(1, 8) + field(2, "seed") + field(7, graph) + field(8, field(1, "") + field(2, 17)) +
            b"".join(field(14, field(1, key) + field(2, text)) for key, text in metadata))


def main():
    gemm = [node("Gemm", ["x", "w", "b"], "h", transB=1, alpha=1.0), node("Relu", ["h"], "r"), node("MatMul", ["r", "v"], "m"),
            node("Add", ["m", "c"], "s"), node("Softmax", ["s"], "y", axis=1)]
    gemm_tensors = [tensor("w", [4, 3]), tensor("b", [4]), tensor("v", [4, 2], raw=False), tensor("c", [1, 2])]
    conv = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [1, 1], "group": 1}
    images = [node("Sub", ["x", "mean"], "n"), node("Mul", ["n", "scale"], "k"), node("Conv", ["k", "w"], "a", **conv),
              node("BatchNormalization", ["a", "g", "g", "g", "var"], "b", epsilon=1e-5), node("Relu", ["b"], "r"),
              node("Conv", ["r", "u", "g"], "c", **conv), node("Add", ["c", "r"], "s"),
              node("MaxPool", ["s"], "p", kernel_shape=[2, 2], strides=[2, 2]), node("AveragePool", ["p"], "q", kernel_shape=[1, 1]),
              node("GlobalAveragePool", ["q"], "e"), node("Flatten", ["e"], "f"), node("Reshape", ["f", "to"], "t"),
              node("Gemm", ["t", "v"], "y")]
    image_tensors = [tensor("mean", [1, 1, 1]), tensor("scale", [1]), tensor("w", [2, 1, 3, 3]), tensor("g", [2]), tensor("var", [2], [1.0, 2.0]),
                     tensor("u", [2, 2, 3, 3]), tensor("to", [2], [0, -1], kind=7), tensor("v", [2, 3])]
    sklearn = [node("Scaler", ["x"], "a", "ai.onnx.ml", offset=[1.0, 2.0, 3.0], scale=[0.5]), node("Cast", ["a"], "b", to=1),
               node("MatMul", ["b", "v"], "c"), node("Sigmoid", ["c"], "d"), node("Sub", ["one", "d"], "e"), node("Concat", ["e", "d"], "y"),
               node("ArgMax", ["y"], "f"), node("ArrayFeatureExtractor", ["names", "f"], "label", "ai.onnx.ml")]
    names = field(1, 2) + field(2, 8) + field(6, "no") + field(6, "yes") + field(8, "names")
    whole = model(gemm, gemm_tensors, [3], [("class_names", '["a","b"]'), ("loss", "cross-entropy")])
    seeds = {
        "gemm": whole,
        "images": model(images, image_tensors, [1, 4, 4]),
        "sklearn": model(sklearn, [tensor("v", [3, 1]), tensor("one", [1], [1.0]), names], [3]),
        "short": whole[:-9],
        "cycle": model([node("Relu", ["x"], "x")], [], [3]),
        "unknown": model([node("If", ["x"], "y")], [], [3]),
        "huge": model(gemm, [field(1, 2**31) + field(1, 2**31) + field(2, 1) + field(8, "w")], [3]),
        "elsewhere": model(gemm, [field(8, "w") + field(2, 1) + field(14, 1)], [3]),
        "empty": b"",
    }
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name, data in seeds.items():
        (CORPUS / name).write_bytes(data)


if __name__ == "__main__":
    main()
