"""tree_test.py ROOT: the rules of the tree that a compiler does not check.

Arrows point down: a folder of lockstep/ or cli/ includes only the folders named for it below, and so does a folder inside
kernels/. CLI11 stays in one folder. Headers need no library that the package does not ask for. No source file passes
600 lines. No text names a path of one machine. Files that comments and docs
name exist. The environment is read, and libraries are opened, in one place. The
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
    "kernels": "core tensor kernels/math",
    "data": "core lab tensor kernels/math",
    "nn": "core lab tensor kernels/math kernels",
    "parallel": "core lab tensor kernels/math kernels nn",
    "distribute": "core lab tensor kernels/math kernels data nn parallel",
    "train": "core lab tensor kernels/math kernels data nn parallel distribute",
    "model": "core lab tensor kernels/math kernels data nn parallel distribute train",
    "config": "core lab tensor kernels/math kernels data nn parallel distribute train model",
    "run": "core lab tensor kernels/math kernels data nn parallel distribute train model config",
    "simulate": "core lab tensor kernels/math kernels data nn parallel distribute train model config",
}
# The same for the parts of kernels/: its folders, "contracts" for its own files, "backend" for the list of backends.
KERNELS_BELOW = {
    "math": "",
    "contracts": "math",
    "primitives": "math contracts",
    "naive": "math contracts primitives",
    "simd": "math contracts primitives naive",
    "library": "math contracts simd",
    "device": "math contracts primitives",
    "opencl": "contracts device",
    "cuda": "contracts device",
    "absent": "contracts library device opencl",
    "backend": "contracts naive simd library device opencl cuda",
}
# The same for the folders of cli/, which may use all of lockstep/; main.cpp uses the commands.
CLI_BELOW = {
    "output": "",
    "process": "output",
    "command_line": "output",
    "bench": "output process command_line",
    "ladder": "output process command_line",
    "simulate": "output process command_line",
    "reproduce": "output process command_line bench",
    "exercise": "output process command_line reproduce",
    "commands": "output process command_line bench ladder simulate reproduce exercise",
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


def kernel_part_of(path):
    """naive/add.hpp -> naive; backend.cpp -> backend; another file of kernels/ itself -> contracts."""
    if "/" in path:
        return path.split("/")[0]
    return "backend" if path.startswith("backend.") else "contracts"


def upward_arrows_in_kernels(root):
    kernels = root / "lockstep/kernels"
    for path in sorted(p for p in kernels.rglob("*") if p.suffix in {".cpp", ".hpp", ".cu", ".cuh"}):
        name = path.relative_to(kernels).as_posix()
        part = kernel_part_of(name)
        if part not in KERNELS_BELOW:
            yield f"lockstep/kernels/{name}: the folder {part} has no place in tests/tree_test.py"
            continue
        for target in includes(path):
            used = kernel_part_of(target.removeprefix("lockstep/kernels/"))
            if target.startswith("lockstep/kernels/") and used not in (part, *KERNELS_BELOW[part].split()):
                yield f"lockstep/kernels/{name} includes {target}: {part} may use {KERNELS_BELOW[part] or 'nothing'}"


def upward_arrows_of_the_program(root):
    for path in sorted(p for p in (root / "cli").rglob("*") if p.suffix in {".cpp", ".hpp"}):
        name = path.relative_to(root / "cli").as_posix()
        area = name.split("/")[0]
        if area == "main.cpp":
            continue
        if area not in CLI_BELOW:
            yield f"cli/{name}: the folder {area} has no place in tests/tree_test.py"
            continue
        for target in includes(path):
            below = target.split("/")[1] if target.startswith("cli/") else area
            if below != area and below not in CLI_BELOW[area].split():
                yield f"cli/{name} includes {target}: {area} may use {CLI_BELOW[area] or 'no other folder of cli/'}"
            if target.startswith("CLI/") and area != "command_line":
                yield f"cli/{name} includes {target}: cli/command_line alone does, since it takes seconds to compile"


def arrows_of_the_binding(root):
    """python/ stands on the library beside the program: neither knows the other."""
    for path in sorted(p for p in (root / "python").rglob("*") if p.suffix in {".cpp", ".hpp"}):
        for target in includes(path):
            if target.split("/")[0] in ("cli", "tests", "bench"):
                yield f"{path.relative_to(root)} includes {target}: the binding may use lockstep/ only"


def headers_with_private_libraries(root):
    for path in sources(root):
        for target in includes(path):
            if path.suffix == ".hpp" and target.startswith(PRIVATE_LIBRARIES):
                yield f"{path.relative_to(root)} includes {target}: include it in a .cpp, users do not have it"


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


# A file of the repository by its path, anywhere in a text; by its name, in comments of C++ and in docs.
FILE_PATH = re.compile(r"(?<![\w/.<*-])((?:lockstep|cli|tests|docs|examples|scripts|cmake)/[\w./-]*\.(?:cpp|hpp|h|cu|cuh|py|md|toml|cmake))\b")
FILE_NAME = re.compile(r"(?<![\w/.<\"*-])([a-z]\w*(?:/\w+)*\.(?:hpp|cpp|cuh))\b")
NAMES_FILES = {".cpp", ".hpp", ".h", ".cu", ".cuh", ".py", ".md", ".txt", ".cmake", ""}
# The past names what was there then; C++ that tests plant, or CMake writes.
NAMES_OTHERS = ("CHANGELOG.md", "tests/tree_test.py", "tests/fuzz/")


def named_files_that_are_missing(root):
    files = [path for path in repository_files(root) if path.is_file()]
    known = {path.relative_to(root).as_posix() for path in files}
    endings = {"/".join(name.split("/")[i:]) for name in known for i in range(name.count("/") + 1)}
    for path in files:
        own = path.relative_to(root).as_posix()
        if path.suffix not in NAMES_FILES or own.startswith(NAMES_OTHERS):
            continue
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
            missing = [name for name in FILE_PATH.findall(line) if name not in known]
            comment = line if path.suffix == ".md" else line.partition("//")[2] if path.suffix in {".cpp", ".hpp"} else ""
            missing += [name for name in FILE_NAME.findall(comment) if name not in endings and name not in missing]
            for name in missing:
                yield f"{own}:{number} names {name}, which does not exist"


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


# Options of other programs, the command line that resumes a run, and --set in place of a file's name.
OPTION = re.compile(r'"[^"\n]*(?<!srun )(?<!docker run )--[a-z][^"\n]*"')
OPTIONS_ALLOWED = ("lockstep/config/config.cpp", "lockstep/config/overrides.cpp",
                   "lockstep/run/rank_map.cpp", "lockstep/run/resume.cpp")


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


RULES = (upward_arrows, upward_arrows_in_kernels, upward_arrows_of_the_program, arrows_of_the_binding,
         headers_with_private_libraries, long_files, machine_paths, calls_in_other_places, options_in_the_library, named_files_that_are_missing,
         pages_that_name_missing_files)


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
        for order in (BELOW, KERNELS_BELOW, CLI_BELOW):
            above = list(order)
            for area, below in order.items():
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

    def test_upward_arrow_of_the_program(self):
        down = {"cli/ladder/a.cpp": '#include "cli/process/b.hpp"\n#include "lockstep/run/c.hpp"\n',
                "cli/main.cpp": '#include "cli/commands/d.hpp"\n'}
        self.assertEqual(self.findings(upward_arrows_of_the_program, down), [])
        for name, text in (("process/a.hpp", '#include "cli/commands/b.hpp"'), ("misc/a.cpp", ""),
                           ("ladder/a.cpp", "#include <CLI/CLI.hpp>")):
            self.assertEqual(len(self.findings(upward_arrows_of_the_program, {f"cli/{name}": text})), 1, name)

    def test_arrows_of_the_binding(self):
        self.assertEqual(self.findings(arrows_of_the_binding, {"python/src/a.cpp": '#include "lockstep/nn/layers.hpp"'}), [])
        self.assertEqual(len(self.findings(arrows_of_the_binding, {"python/src/a.cpp": '#include "cli/output/json.hpp"'})), 1)

    def test_private_library_in_a_header(self):
        text = "#include <nlohmann/json.hpp>\n"
        self.assertEqual(len(self.findings(headers_with_private_libraries, {"lockstep/config/a.hpp": text})), 1)
        self.assertEqual(self.findings(headers_with_private_libraries, {"lockstep/config/a.cpp": text}), [])

    def test_upward_arrow_in_kernels(self):
        def found(name, target):
            return len(self.findings(upward_arrows_in_kernels, {f"lockstep/kernels/{name}": f'#include "lockstep/kernels/{target}"'}))
        self.assertEqual(found("naive/a.hpp", "add.hpp"), 0)
        self.assertEqual(found("simd/a.cpp", "naive/table.hpp"), 0)
        self.assertEqual(found("backend.cpp", "cuda/cuda.hpp"), 0)
        self.assertEqual(found("naive/a.hpp", "simd/table.hpp"), 1)
        self.assertEqual(found("table.hpp", "naive/add.hpp"), 1)
        self.assertEqual(found("device/a.hpp", "backend.hpp"), 1)
        self.assertEqual(found("math/a.hpp", "add.hpp"), 1)
        self.assertEqual(found("metal/a.hpp", "add.hpp"), 1)

    def test_calls_in_other_places(self):
        text = "const char* a = std::getenv(name);\n"
        self.assertEqual(len(self.findings(calls_in_other_places, {"cli/a.cpp": text, "lockstep/nn/b.cpp": text})), 2)
        self.assertEqual(self.findings(calls_in_other_places, {"lockstep/core/environment.cpp": text}), [])
        self.assertEqual(len(self.findings(calls_in_other_places, {"lockstep/nn/a.cpp": "void* h = ::dlopen(f, 1);"})), 1)

    def test_options_in_the_library(self):
        self.assertEqual(len(self.findings(options_in_the_library, {"lockstep/nn/a.cpp": 'f("use --backend simd");'})), 1)
        for text in ('--i; f("a", --b);', 'f("use srun --mpi=pmix");', '// "--threads" is not ours'):
            self.assertEqual(self.findings(options_in_the_library, {"lockstep/nn/a.cpp": text}), [], text)

    def test_named_files_that_are_missing(self):
        there = {"lockstep/nn/linear.hpp": "// see layer.hpp, nn/layer.hpp and lockstep/nn/layer.hpp\n#include <vector.hpp>\n",
                 "lockstep/nn/layer.hpp": "", "docs/a.md": "`lockstep/nn/linear.hpp`, `lockstep/kernels/<op>.hpp`, a.md"}
        self.assertEqual(self.findings(named_files_that_are_missing, there), [])
        for name, text in {"lockstep/nn/b.cpp": "// of gone.hpp", "docs/b.md": "`nn/gone.cpp`", "cli/c.hpp": "// nn/a/layer.hpp",
                           "tests/d.py": "# docs/gone.md"}.items():
            self.assertEqual(len(self.findings(named_files_that_are_missing, there | {name: text})), 1, name)

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
