"""lockstep check on kernels with planted mistakes: every one is rejected, and the true cause is named.

planted_test.py PROGRAM [PART]: every PART-th mistake, 1 for all of them.
"""
import concurrent.futures
import pathlib
import sys
import tempfile
import unittest

from checker import check, solution
from mutations import MUTATIONS

PART = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 1


class Planted(unittest.TestCase):
    def test_every_planted_mistake(self):
        chosen = MUTATIONS[::PART]
        with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(2) as pool:
            folders = [pathlib.Path(name) / str(i) for i in range(len(chosen))]
            verdicts = list(pool.map(lambda at: check(folders[at], chosen[at][0], solution(*chosen[at][:2]), "cpp", "--quick"),
                                     range(len(chosen))))
        accepted, unnamed, false = [], [], []
        for (exercise, changes, causes), verdict in zip(chosen, verdicts):
            words = f"{exercise}: {changes} -> {verdict['verdict']}, {verdict['cause']!r}, expected {causes}"
            cause = verdict["cause"] or None
            if verdict["verdict"] not in ("wrong", "another order", "crashed", "rejected") and "right" not in causes:
                accepted.append(words)
            elif cause not in causes:
                (unnamed if cause is None else false).append(words)
        print(f"{len(chosen)} planted mistakes, {len(unnamed)} without a cause, {len(false)} with a false one")
        print("\n".join(unnamed + false))
        self.assertEqual(accepted, [], "accepted")
        self.assertLessEqual(len(unnamed), 0.15 * len(chosen))
        self.assertLessEqual(len(false), 0.02 * len(chosen))


if __name__ == "__main__":
    unittest.main()
