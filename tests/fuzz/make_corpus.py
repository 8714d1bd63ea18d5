"""make_corpus.py: writes the seeds of the data formats (corpus/idx, mat5, npy, npz, csv, ts, text, cifar, png) beside this file."""
import gzip
import io
import pathlib
import struct
import zipfile
import zlib

CORPUS = pathlib.Path(__file__).parent / "corpus"


def idx(code, dims, data):
    return bytes([0, 0, code, len(dims)]) + b"".join(struct.pack(">I", d) for d in dims) + data


def npy(descr, shape, data, order="False", version=1):
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + data


def npz(members, method):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, method)
    return out.getvalue()


def zip64(member):
    """x.npy stored as archives beyond 4 GiB have it: sizes and places in ZIP64 fields."""
    crc, size, none = zlib.crc32(member), len(member), 0xFFFFFFFF
    local = (b"PK\3\4" + struct.pack("<HHHIIIIHH", 45, 0, 0, 0, crc, none, none, 5, 20) + b"x.npy"
             + struct.pack("<HHQQ", 1, 16, size, size) + member)
    central = (b"PK\1\2" + struct.pack("<HHHHIIIIHHHHHII", 45, 45, 0, 0, 0, crc, none, none, 5, 28, 0, 0, 0, 0, none) + b"x.npy"
               + struct.pack("<HHQQQ", 1, 24, size, size, 0))
    record = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 1, 1, len(central), len(local))
    locator = b"PK\6\7" + struct.pack("<IQI", 0, len(local) + len(central), 1)
    return local + central + record + locator + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 0xFFFF, 0xFFFF, none, none, 0)


class Mat:
    """Elements of a level 5 file in one byte order ("<" or ">")."""

    def __init__(self, order):
        self.order = order

    def file(self, *elements):
        mark = struct.pack(self.order + "HH", 0x0100, 0x4D49)
        return b"MATLAB 5.0 MAT-file".ljust(124) + mark + b"".join(elements)

    def element(self, kind, data):
        return struct.pack(self.order + "II", kind, len(data)) + data + bytes(-len(data) % 8)

    def small(self, kind, data):
        return struct.pack(self.order + "I", len(data) << 16 | kind) + data.ljust(4, b"\0")

    def matrix(self, flags, dims, name, data):
        head = self.element(6, struct.pack(self.order + "II", flags, 0))
        head += self.element(5, struct.pack(f"{self.order}{len(dims)}i", *dims))
        return self.element(14, head + self.small(1, name) + data)

    def doubles(self, *values):
        return self.element(9, struct.pack(f"{self.order}{len(values)}d", *values))

    def compressed(self, matrix):
        packed = zlib.compress(matrix)
        return struct.pack(self.order + "II", 15, len(packed)) + packed


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, depth, colour, rows, extra=b"", interlace=0):
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def seeds():
    images = idx(8, [2, 2, 3], bytes(range(12)))
    yield "idx", {
        "uint8": images,
        "uint8.gz": gzip.compress(images, mtime=0),
        "two_members.gz": gzip.compress(images[:10], mtime=0) + gzip.compress(images[10:], mtime=0),
        "int16": idx(0x0B, [3], struct.pack(">3h", 1, -2, 3)),
        "int32": idx(0x0C, [2, 1], struct.pack(">2i", 1, -2)),
        "float32": idx(0x0D, [2], struct.pack(">2f", 1.5, -2)),
        "float64": idx(0x0E, [1, 1, 1, 1], struct.pack(">d", 1.5)),
        "empty": idx(9, [0, 5], b""),
        "overflow": idx(0x0E, [0xFFFFFFFF] * 3, b""),
        "claim.gz": gzip.compress(idx(8, [0x7FFFFFFF, 255], b"x"), mtime=0),
        "cut": images[:-1],
    }
    six = struct.pack("<6f", *range(6))
    yield "npy", {
        "float32": npy("<f4", "(2, 3)", six),
        "fortran": npy("<f4", "(2, 3)", six, "True"),
        "fortran3": npy("|u1", "(2, 3, 2)", bytes(range(12)), "True"),
        "big_endian": npy(">i8", "(2,)", struct.pack(">2q", 1, -1)),
        "version2": npy("|b1", "(4,)", b"\0\1\1\0", version=2),
        "version3": npy("<u2", "(1L, 2L)", b"abcd", version=3),
        "scalar": npy("<f8", "()", struct.pack("<d", 3.5)),
        "empty": npy("<i4", "(4, 0)", b""),
        "object": npy("|O", "(1,)", b"\x80"),
        "overflow": npy("<f8", "(4611686018427387904, 4)", b""),
        "words": npy("<U2", "(2,)", "abc\0".encode("utf-32-le")),
        "bytes": npy("|S3", "(2,)", b"abcd\0\0"),
        "structured": b"\x93NUMPY\x01\0\x3a\0{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
    }
    members = {"x.npy": npy("<f4", "(2, 3)", six), "y.npy": npy("|u1", "(2,)", b"\0\1")}
    stored = npz(members, zipfile.ZIP_STORED)
    end, entry = stored.rindex(b"PK\5\6"), stored.rindex(b"PK\1\2")
    twice = stored[:end] + stored[entry:end].replace(b"y.npy", b"z.npy") + stored[end:end + 8]
    twice += struct.pack("<HHI", 3, 3, end - stored.index(b"PK\1\2") + end - entry) + stored[end + 16:]
    yield "npz", {
        "overlapping": twice,
        "zeros": npz({"x.npy": npy("|u1", "(1000000,)", bytes(1000000))}, zipfile.ZIP_DEFLATED),
        "stored": stored,
        "deflated": npz(members, zipfile.ZIP_DEFLATED),
        "empty": npz({}, zipfile.ZIP_STORED),
        "no_npy": npz({"readme": b"hello"}, zipfile.ZIP_STORED),
        "cut": stored[:-8],
        "zip64": stored[:-6] + b"\xff\xff\xff\xff" + stored[-2:],
        "zip64_whole": zip64(npy("<f4", "(3,)", struct.pack("<3f", 1, 2, 3))),
    }
    little, big = Mat("<"), Mat(">")
    x = little.matrix(6, [2, 3], b"X", little.doubles(1, 2, 3, 4, 5, 6))
    y = little.matrix(9, [2, 1], b"y", little.small(2, b"\x0a\x01"))
    yield "mat5", {
        "plain": little.file(x, y),
        "many": little.file(*(little.matrix(6, [1, 1], b"%d" % i, little.small(2, b"\1")) for i in range(60))),
        "zeros": little.file(little.compressed(little.matrix(6, [1000, 1000], b"Z", little.element(2, bytes(1000000))))),
        "compressed": little.file(little.compressed(x), little.compressed(y)),
        "big_endian": big.file(big.matrix(6, [1, 2], b"X", big.doubles(1, 2)), big.compressed(
            big.matrix(9, [2, 1], b"y", big.small(2, b"\x0a\x01")))),
        "converted": little.file(little.matrix(6, [1, 4], b"X", little.element(2, b"\1\2\3\4"))),
        "cube": little.file(little.matrix(9, [2, 3, 2], b"c", little.element(2, bytes(range(12))))),
        "complex": little.file(little.matrix(0x0806, [1, 1], b"z", little.doubles(1) + little.doubles(2)), x),
        "char": little.file(little.matrix(4, [1, 2], b"s", little.element(4, b"h\0i\0"))),
        "empty": little.file(),
        "negative": little.file(little.matrix(6, [-1, 2], b"X", little.doubles(1))),
        "version73": b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\2IM",
    }
    yield "csv", {
        "plain": b"1,2.5,-3e2\n4,+5, 6 \n",
        "header": b"height,width,\"the \"\"label\"\"\"\n1,2,0\n3,4,1\n",
        "semicolons": b"\xef\xbb\xbfa;b\r\n1;2\r\n\r\n",
        "tabs": b"1\t2\n3\t4",
        "ragged": b"1,2\n3\n",
        "text": b"a,b\n1,setosa\n",
        "open_quote": b"\"a,b\n1,2\n",
        "nan": b"nan,1\ninf,2\n",
        "comma": b"a;b\r\n1,5;x\r\n,NA\r\n",
        "quoted_line": b"a,b\n\"x\ny\",1\nz,?\n",
        "latin": b"k\ncaf\xe9\n",
    }
    yield "text", {
        "ascii": b"To be, or not to be\n",
        "forms": "a\u00e9\u20ac\U0001f600".encode(),
        "overlong": b"a\xc0\xaf",
        "surrogate": b"a\xed\xa0\x80",
        "cut": b"a\xe2\x82",
        "empty": b"",
    }
    yield "ts", {
        "classes": b"# c\n@problemName t\n@timeStamps false\n@classLabel true a b\n@data\n1,2,3:4,5,6:a\n1:2:b\n",
        "targets": b"@targetLabel true\n@data\n1,2:0.5\n3:-2e1\n",
        "plain": b"@data\r\n1,2\r\n3,4\r\n",
        "stamps": b"@timeStamps true\n@data\n(0,1),(1,2):a\n",
        "missing": b"@data\n1,?,3\n",
        "uneven": b"@data\n1,2:3\n",
        "long": b"@data\n" + b"1\n" * 50 + b",".join(b"1" for _ in range(200)) + b"\n",
        "cut": b"@classLabel true a",
    }
    picture = bytes(3072)
    yield "cifar", {
        "ten": b"\3" + picture + b"\x09" + picture,
        "hundred": b"\1\x42" + picture,
        "no_class": b"\x0a" + picture,
        "cut": b"\1" + picture[1:],
        "empty": b"",
    }
    palette = chunk(b"PLTE", bytes(range(12))) + chunk(b"tRNS", b"\0\x80")
    yield "png", {
        "grey8": png(3, 2, 8, 0, [b"abc", b"def"]),
        "grey1": png(9, 1, 1, 0, [b"\xa0\x80"]),
        "grey16": png(2, 1, 16, 0, [b"\x80\xff\x00\x81"]),
        "rgb": png(2, 1, 8, 2, [b"abcdef"]),
        "palette": png(3, 1, 2, 3, [b"\x18"], palette),
        "grey_alpha": png(2, 1, 8, 4, [b"abcd"]),
        "rgba16": png(1, 1, 16, 6, [b"abcdefgh"]),
        "interlaced": png(2, 2, 8, 0, [b"a", b"b", b"cd"], interlace=1),
        "text": png(1, 1, 8, 0, [b"a"], chunk(b"tEXt", b"Title\0x") + chunk(b"gAMA", b"\0\0\xb1\x8f")),
        "huge": png(65535, 65535, 1, 0, [b"\0"]),
        "cut": png(3, 2, 8, 0, [b"abc", b"def"])[:-20],
    }


for name, files in seeds():
    folder = CORPUS / name
    folder.mkdir(parents=True, exist_ok=True)
    for file, content in files.items():
        (folder / file).write_bytes(content)
