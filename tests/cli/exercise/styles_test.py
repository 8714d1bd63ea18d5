"""lockstep check on right kernels in other styles: none is rejected.

styles_test.py PROGRAM [PART]: every PART-th style, 1 for all of them.
"""
import concurrent.futures
import pathlib
import sys
import tempfile
import unittest

from checker import SOLUTIONS, check, solution

PART = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 1
STYLES = pathlib.Path(__file__).parent / "styles"
LOOP = "#pragma omp parallel for"


def styles():
    """(exercise, track, source): whole files, and the solutions with other ways to share out their loops."""
    names = sorted((path.stem for path in SOLUTIONS.glob("*.cpp")), key=len, reverse=True)
    for path in sorted(STYLES.glob("*.cpp")):
        text = path.read_text()
        yield next(name for name in names if path.stem.startswith(name)), text.split(":")[0].removeprefix("// "), text
    for name in sorted(names):
        source = solution(name).replace(" schedule(dynamic)", "")
        for clause in (" schedule(static, 1)", " schedule(dynamic, 3)", " schedule(guided)"):
            yield name, "openmp", source.replace(LOOP, LOOP + clause)
        yield name, "simd", "#pragma GCC optimize(\"unroll-loops\")\n" + source


class Styles(unittest.TestCase):
    def test_no_right_kernel_is_rejected(self):
        chosen = list(styles())[::PART]
        with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(2) as pool:
            verdicts = list(pool.map(lambda at: check(pathlib.Path(name) / str(at), chosen[at][0], chosen[at][2], chosen[at][1],
                                                      "--quick"), range(len(chosen))))
        wrong = [f"{style[:2]}: {verdict['verdict']} {verdict['cause']} {verdict['words']}"
                 for style, verdict in zip(chosen, verdicts) if verdict["verdict"] != "right"]
        self.assertEqual(wrong, [])
        print(f"{len(chosen)} right kernels, none rejected")


if __name__ == "__main__":
    unittest.main()
