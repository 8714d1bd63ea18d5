"""headers_test.py SOURCE INCLUDE: what is installed is the public interface, what it includes, and nothing else."""
import re
import sys
import unittest
from pathlib import Path

SOURCE, INCLUDE = (Path(argument) for argument in sys.argv[1:3])


def included(folder, header):
    return set(re.findall(r'^#include "(lockstep/[^"]+)"', (folder / header).read_text(), re.M))


class Headers(unittest.TestCase):
    def test_what_is_installed(self):
        installed = {str(path.relative_to(INCLUDE)) for path in INCLUDE.rglob("*") if path.is_file()}
        wanted, unread = set(), ["lockstep/lockstep.hpp"]
        while unread:
            header = unread.pop()
            if header not in wanted:
                wanted.add(header)
                unread += included(SOURCE, header)
        self.assertEqual(installed, wanted)

    def test_internals_stay_inside(self):
        for path in INCLUDE.rglob("*.hpp"):
            name = str(path.relative_to(INCLUDE))
            self.assertIsNone(re.search(r"/(simd|naive|device|opencl|cuda|library|simulate|report)/", name), name)
            text = path.read_text()
            self.assertIsNone(re.search(r"^#include <(fmt|toml|nlohmann|mpi|CL)\b", text, re.M), name)

    def test_every_public_header_says_what_it_has(self):
        lines = re.findall(r'^#include "(lockstep/[^"]+)"(.*)$', (SOURCE / "lockstep/lockstep.hpp").read_text(), re.M)
        self.assertGreater(len(lines), 8)
        for header, comment in lines:
            self.assertRegex(comment.strip(), r"^// \w", header)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
