"""commands_test.py SOURCE PROGRAM: every command in the README and the book is run here, is run by a test that is named here, or
is marked as one that cannot run. A block "```sh" is run line by line in an empty folder per page, with the files that the page shows
("```toml file=my.toml") or those below; "```sh not-run: REASON" is not."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, PROGRAM = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
PAGES = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md")), *sorted((SOURCE / "docs/course").glob("*.md"))]
SOLUTIONS = SOURCE / "tests/cli/exercise/solutions"
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```", re.M | re.S)
COMMAND = re.compile(r"(sudo |export |cat )?(make|lockstep|build/\S+|mpirun|srun|sbatch|pip|cmake|tensorboard|scripts/\S+|python3?|cat) ")

# Too long for here: the beginning of the command, the test that runs it, and a word that stands there.
ELSEWHERE = {
    "make demo": ("scripts/test_bare", "demo"),
    "make test": ("scripts/test_bare", "test"),
    "make build": ("tests/scripts/compile_test.py", "compile"),
    "lockstep ladder": ("tests/cli/ladder_test.py", "ladder"),
    "lockstep bench": ("tests/cli/bench_test.py", "bench"),
    "lockstep doctor": ("tests/lab/doctor_test.cpp", "doctor"),
    "lockstep reproduce": ("tests/cli/reproduce_test.py", "reproduce"),
    "lockstep simulate": ("tests/simulate", "simulate"),
    "lockstep verify": ("tests/cli/verify_test.py", "verify"),
    "lockstep diff": ("tests/cli/diff_test.py", "diff"),
    "lockstep launch": ("tests/cli/launch_test.py", "launch"),
    "mpirun": ("tests/cli/ranks_test.py", "mpirun"),
    "tensorboard": ("tests/cli/tensorboard_test.py", "tensorboard"),
    "lockstep eval MODEL --data fashion-mnist": ("tests/cli/models_test.py", "eval"),
}

MY = """[data]
source = "moons"
count = 64
split = {validation = 16}
[model]
sizes = "2-8-2"
activation = "tanh"
[train]
optimizer = {name = "adam", lr = 1e-2}
batch = 16
epochs = 2
"""


def blocks(text):
    """(mark, lines of commands) of every block that holds commands."""
    for match in BLOCK.finditer(text):
        lines = [line for line in match[2].replace("\\\n", " ").splitlines() if line.strip() and not line.startswith("#")]
        if match[1].split(" ")[0] == "sh" or (match[1] == "" and any(COMMAND.match(line) for line in lines)):
            yield match[1], lines


def files(text):
    return {match[1].split("file=")[1]: match[2] for match in BLOCK.finditer(text) if "file=" in match[1]}


def elsewhere(command):
    return next((test for start, test in ELSEWHERE.items() if re.sub(r" +", " ", command).startswith(start)), None)


class Commands(unittest.TestCase):
    def test_every_block_is_marked(self):
        for page in PAGES:
            for mark, lines in blocks(page.read_text()):
                self.assertRegex(mark, r"^sh( not-run: \w.+)?$", f"{page.name}: mark the block of: {lines[0]}")

    def test_the_tests_of_the_others_are_there(self):
        for command, (file, word) in ELSEWHERE.items():
            path = SOURCE / file
            self.assertTrue(path.exists(), f"{command}: {file}")
            if path.is_file():
                self.assertIn(word, path.read_text(), command)

    def test_an_unmarked_block_is_found(self):
        self.assertEqual(list(blocks("```\nlockstep train a.toml\n```\n```\na table\n```\n")), [("", ["lockstep train a.toml"])])

    def run_page(self, page):
        text = page.read_text()
        commands = [line for mark, lines in blocks(text) if mark == "sh" for line in lines]
        commands = [re.sub(r"\s+#.*", "", line).replace("build/lockstep", "lockstep") for line in commands]
        if all(elsewhere(command) for command in commands):
            return
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "bin").mkdir()
            (folder / "bin/lockstep").symlink_to(PROGRAM)
            shutil.copytree(SOURCE / "examples", folder / "examples")
            (folder / "my.toml").write_text(MY)
            (folder / "new.csv").write_text("x,y\n0.5,0.25\n1,-0.5\n")
            for file, content in files(text).items():
                (folder / file).write_text(content)
            self.run_line(folder, "lockstep train my.toml --out model --quiet", page)
            for copy in ("mine", "iris-1"):
                if f"runs/{copy}" in text:
                    shutil.copytree(folder / "model", folder / "runs" / copy)
            for command in commands:
                if check := re.match(r"lockstep check (\S+)$", command):
                    command = self.solve(folder, check[1])
                if not elsewhere(command):
                    self.run_line(folder, command.replace("MODEL", "model/model.safetensors"), page)

    def solve(self, folder, name):
        """Does what a reader does between `exercise new` and `check`; the whole check is for tests/cli/exercise."""
        exercise = re.search(r'exercise = "(.*)"', (folder / name / "task.toml").read_text())[1]
        shutil.copy(SOLUTIONS / f"{exercise}.cpp", folder / name / "kernel.cpp")
        return f"lockstep check {name} --quick"

    def run_line(self, folder, command, page):
        environment = {"PATH": f"{folder}/bin:/usr/bin:/bin", "OMP_NUM_THREADS": "2", "HOME": str(folder)}
        result = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 0, f"{page.name}: {command}\n{result.stderr}")

    def test_commands_run(self):
        for page in PAGES:
            with self.subTest(page.name):
                self.run_page(page)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
