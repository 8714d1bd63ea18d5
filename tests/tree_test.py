"""tree_test.py ROOT: the rules of the tree that a compiler does not check.

Arrows point down: a folder of lockstep/ includes only the folders named for it below. Headers need no library that
the package does not ask for. Every operation of the kernel table has its definition in naive/. No source file passes
600 lines. No text names a path of one machine. The environment is read, and libraries are opened, in one place. The
library names no options of the program.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

# What each folder may include besides itself; each line may name only folders of the lines above it.
BELOW = {
    "core": "",
    "lab": "core",
    "tensor": "core",
    "kernels/math": "core",
    "kernels": "core lab tensor kernels/math",
    "data": "core lab tensor kernels/math",
    "nn": "core lab tensor kernels/math kernels",
    "parallel": "core lab tensor kernels/math kernels nn",
    "distribute": "core lab tensor kernels/math kernels data nn parallel",
    "train": "core lab tensor kernels/math kernels data nn parallel distribute",
    "model": "core lab tensor kernels/math kernels data nn parallel distribute train",
    "config": "core lab tensor kernels/math kernels data nn parallel distribute train model",
    "simulate": "core lab tensor kernels/math kernels data nn parallel distribute train model config",
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
PRIVATE_LIBRARIES = ("toml++/", "nlohmann/", "CLI/", "CLI11")
CODE = {".cpp", ".hpp", ".cu", ".cl", ".py", ".cmake", ".sh"}
WALL = 600
MACHINE_PATH = re.compile(r"(?<![\w.~$}])/(?:(?:work|farm|root)/|(?:home|Users)/\w)")


def area_of(path):
    """kernels/math/exp.hpp -> kernels/math; nn/linear.hpp -> nn; a file of lockstep/ itself -> None."""
    folders = path.split("/")[:-1]
    if folders[:2] == ["kernels", "math"]:
        return "kernels/math"
    return folders[0] if folders else None


def sources(root):
    return sorted(p for p in (root / "lockstep").rglob("*") if p.suffix in {".cpp", ".hpp"})


def includes(path):
    for match in INCLUDE.finditer(path.read_text()):
        yield match.group(2)


def upward_arrows(root):
    for path in sources(root):
        name = path.relative_to(root / "lockstep").as_posix()
        area = area_of(name)
        if area is None:  # lockstep.hpp, the header that includes the others
            continue
        if area not in BELOW:
            yield f"lockstep/{name}: the folder {area} has no place in tests/tree_test.py"
            continue
        for target in includes(path):
            if target.split("/")[0] in ("cli", "python", "tests", "bench"):
                yield f"lockstep/{name} includes {target}: the library knows nothing of what stands on it"
            if not target.startswith("lockstep/"):
                continue
            below = area_of(target.removeprefix("lockstep/"))
            if below != area and below not in BELOW[area].split():
                yield f"lockstep/{name} includes {target}: {area} may use {BELOW[area] or 'nothing'}"


def headers_with_private_libraries(root):
    for path in sources(root):
        for target in includes(path):
            if path.suffix == ".hpp" and target.startswith(PRIVATE_LIBRARIES):
                yield f"{path.relative_to(root)} includes {target}: include it in a .cpp, users do not have it"


def operations_without_definition(root):
    kernels = root / "lockstep/kernels"
    table = kernels / "table.hpp"
    arguments = set(re.findall(r"\bKernel<(\w+)<", table.read_text())) if table.exists() else set()
    for header in sorted(kernels.glob("*.hpp")):
        if header == table or arguments.isdisjoint(re.findall(r"\bstruct (\w+)", header.read_text())):
            continue
        if not any((kernels / "naive" / (header.stem + suffix)).exists() for suffix in (".hpp", ".cpp")):
            yield f"{header.relative_to(root)}: its definition naive/{header.stem} is missing"


def repository_files(root):
    """What git knows; in a copy without git, everything but what builds leave behind."""
    if shutil.which("git"):
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=False)
        if listed.returncode == 0:
            return [root / name for name in listed.stdout.decode().split("\0") if name]
    return [p for p in root.rglob("*") if p.relative_to(root).parts[0] not in ("build", "runs", ".cache", ".git")]


def long_files(root):
    for path in repository_files(root):
        if path.is_file() and path.suffix in CODE:
            lines = path.read_bytes().count(b"\n")
            if lines > WALL:
                yield f"{path.relative_to(root)} has {lines} lines; split it, {WALL} is the wall"


def machine_paths(root):
    for path in repository_files(root):
        if not path.is_file() or path == pathlib.Path(__file__).resolve():
            continue
        data = path.read_bytes()
        if b"\0" in data:
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            if MACHINE_PATH.search(line):
                yield f"{path.relative_to(root)}:{number} names a path of one machine"


# Functions that one file has, and those that may call them besides: plugins are files of their own.
ONE_PLACE = {"getenv": "lockstep/core/environment.cpp", "dlopen": "lockstep/core/plugin.cpp"}
OWN_FILES = ("lockstep/kernels/cuda/shared_file.cuh", "lockstep/simulate/smpi/", "lockstep/parallel/mpi/")


def calls_in_other_places(root):
    for path in sorted(p for area in ("lockstep", "cli") for p in (root / area).rglob("*")
                       if p.suffix in {".cpp", ".hpp", ".cu", ".cuh"}):
        name = path.relative_to(root).as_posix()
        for function, place in ONE_PLACE.items():
            if name != place and not name.startswith(OWN_FILES) and re.search(rf"\b{function}\(", path.read_text()):
                yield f"{name} calls {function}: {place} does that for all"


# Of other programs; and where --set stands for a file's name, as the origin of a value.
OPTION = re.compile(r'"[^"\n]*(?<!srun )(?<!docker run )--[a-z][^"\n]*"')
OPTIONS_ALLOWED = ("lockstep/config/config.cpp", "lockstep/config/overrides.cpp", "lockstep/lab/report/page_style.cpp")


def options_in_the_library(root):
    for path in sources(root):
        name = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            code = re.sub(r"(^|\s)//.*", "", line)
            if name not in OPTIONS_ALLOWED and OPTION.search(code):
                yield f"{name}:{number} names an option of the program; cli/output/option_names.cpp does that"


# A path of the repository in backticks; <name> stands for any.
PAGE_PATH = re.compile(r"`((?:lockstep|cli|tests|docs|bench|examples|cmake|scripts)/[^`\s]*)`")


def pages_that_name_missing_files(root):
    """The pages "Add a ..." of CONTRIBUTING.md name the files that change: each is there."""
    text = (root / "CONTRIBUTING.md").read_text() if (root / "CONTRIBUTING.md").exists() else ""
    for page in re.split(r"^#+ (?=Add )", text, flags=re.MULTILINE)[1:]:
        page = re.split(r"^#", page, flags=re.MULTILINE)[0]
        for name in PAGE_PATH.findall(page):
            if not any(root.glob(re.sub(r"<\w+>", "*", name).rstrip("/"))):
                yield f"CONTRIBUTING.md, {page.splitlines()[0]}: there is no {name}"


RULES = (upward_arrows, headers_with_private_libraries, operations_without_definition, long_files, machine_paths,
         calls_in_other_places, options_in_the_library, pages_that_name_missing_files)


class PlantedViolations(unittest.TestCase):
    """Every rule must find what it looks for, and only that."""

    def findings(self, rule, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return list(rule(root))

    def test_order_of_the_folders_is_an_order(self):
        above = list(BELOW)
        for area, below in BELOW.items():
            for name in below.split():
                self.assertLess(above.index(name), above.index(area), f"{area} uses {name}")

    def test_upward_arrow(self):
        down = {"lockstep/nn/a.hpp": '#include "lockstep/kernels/b.hpp"\n#include "lockstep/nn/c.hpp"\n'}
        up = {"lockstep/core/a.cpp": '#include "lockstep/tensor/b.hpp"\n'}
        self.assertEqual(self.findings(upward_arrows, down), [])
        self.assertEqual(len(self.findings(upward_arrows, up)), 1)
        self.assertEqual(len(self.findings(upward_arrows, {"lockstep/data/a.cpp": '# include "lockstep/kernels/b.hpp"'})), 1)
        self.assertEqual(self.findings(upward_arrows, {"lockstep/data/a.cpp": '#include "lockstep/kernels/math/b.hpp"'}), [])
        self.assertEqual(len(self.findings(upward_arrows, {"lockstep/train/a.cpp": '#include "cli/b.hpp"'})), 1)
        self.assertEqual(len(self.findings(upward_arrows, {"lockstep/nn/a.cpp": '#include "lockstep/lockstep.hpp"'})), 1)
        self.assertEqual(len(self.findings(upward_arrows, {"lockstep/misc/a.cpp": ""})), 1)

    def test_private_library_in_a_header(self):
        text = "#include <nlohmann/json.hpp>\n"
        self.assertEqual(len(self.findings(headers_with_private_libraries, {"lockstep/config/a.hpp": text})), 1)
        self.assertEqual(self.findings(headers_with_private_libraries, {"lockstep/config/a.cpp": text}), [])

    def test_operation_without_definition(self):
        files = {"lockstep/kernels/table.hpp": "Kernel<PoolForward<T>> pool_forward;",
                 "lockstep/kernels/pool.hpp": "template <class T>\nstruct PoolForward {};",
                 "lockstep/kernels/cost.hpp": "struct Cost {};"}
        self.assertEqual(len(self.findings(operations_without_definition, files)), 1)
        files["lockstep/kernels/naive/pool.cpp"] = ""
        self.assertEqual(self.findings(operations_without_definition, files), [])

    def test_calls_in_other_places(self):
        text = "const char* a = std::getenv(name);\n"
        self.assertEqual(len(self.findings(calls_in_other_places, {"cli/a.cpp": text, "lockstep/nn/b.cpp": text})), 2)
        self.assertEqual(self.findings(calls_in_other_places, {"lockstep/core/environment.cpp": text}), [])
        self.assertEqual(len(self.findings(calls_in_other_places, {"lockstep/nn/a.cpp": "void* h = ::dlopen(f, 1);"})), 1)

    def test_options_in_the_library(self):
        self.assertEqual(len(self.findings(options_in_the_library, {"lockstep/nn/a.cpp": 'f("use --backend simd");'})), 1)
        for text in ('--i; f("a", --b);', 'f("use srun --mpi=pmix");', '// "--threads" is not ours'):
            self.assertEqual(self.findings(options_in_the_library, {"lockstep/nn/a.cpp": text}), [], text)

    def test_page_that_names_a_missing_file(self):
        page = "# Build\n`lockstep/none.hpp`\n## Add a layer\n`lockstep/nn/<layer>.hpp`, `lockstep/nn/layers.hpp`\n## Commits\n"
        files = {"CONTRIBUTING.md": page, "lockstep/nn/linear.hpp": ""}
        self.assertEqual(len(self.findings(pages_that_name_missing_files, files)), 1)
        files["lockstep/nn/layers.hpp"] = ""
        self.assertEqual(self.findings(pages_that_name_missing_files, files), [])

    def test_long_file(self):
        self.assertEqual(self.findings(long_files, {"a.cpp": "\n" * WALL}), [])
        self.assertEqual(len(self.findings(long_files, {"a.cpp": "\n" * (WALL + 1)})), 1)

    def test_machine_path(self):
        self.assertEqual(self.findings(machine_paths, {"a.md": "~/home/x, build/work/, /usr/share, root + '/home/.cache'"}), [])
        self.assertEqual(len(self.findings(machine_paths, {"a.md": "see /home/me/x"})), 1)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 0 if unittest.main(argv=sys.argv[:1], exit=False).result.wasSuccessful() else 1
    root = pathlib.Path(sys.argv[1]).resolve()
    found = [line for rule in RULES for line in rule(root)]
    print("\n".join(found) or f"{len(sources(root))} files of lockstep/ keep the rules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
