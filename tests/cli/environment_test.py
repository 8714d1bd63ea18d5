"""environment_test.py PROGRAM: every environment variable that the program reads is as strict as an option."""
import json

from program import MOONS, ProgramTest, main

# What the variables of the machine that runs the tests must not decide.
NUMBERS = ("garbage", "-1", "99999999999", "1x")


class EnvironmentTest(ProgramTest):
    def variables(self):
        return json.loads(self.succeed("doctor", "--json").out)["environment"]

    def test_garbage_in_any_variable_is_one_line_with_its_name(self):
        self.write("a.toml", MOONS)
        strict = [each for each in self.variables() if each["allowed"]]
        self.assertGreater(len(strict), 15)
        for each in strict:
            with self.subTest(name=each["name"]):
                result = self.refuse(2, f"the environment variable {each['name']}=garbage must be {each['allowed']}",
                                     "train", "a.toml", "--out", "run", env={each["name"]: "garbage"})
                lines = [line for line in result.err.splitlines() if line and not line.startswith("libgomp: ")]
                self.assertEqual(len(lines), 1, result)
                self.assertIn(f"for example {each['name']}={each['example']}", result.err)
                self.assertFalse((self.folder / "run").exists())

    def test_any_number_of_threads_that_cannot_be(self):
        self.write("a.toml", MOONS)
        for value in NUMBERS + ("0", "1025", "40000", "100000", "4,", "4 4"):
            with self.subTest(value=value):
                self.refuse(2, f"OMP_NUM_THREADS={value} must be a whole number from 1 to 1024", "train", "a.toml",
                            env={"OMP_NUM_THREADS": value})

    def test_numbers_of_threads_that_can_be(self):
        self.write("a.toml", MOONS)
        hashes = set()
        for value in ("1", "3,2", "", "64"):
            out = f"run-{len(value)}-{value[:1]}"
            hashes.add(json.loads(self.succeed("train", "a.toml", "--json", "--out", out, "--quiet",
                                               env={"OMP_NUM_THREADS": value}).out)["weight_hash"])
        self.assertEqual(len(hashes), 1)

    def test_help_comes_whatever_the_environment(self):
        self.succeed("--help", env={"OMP_NUM_THREADS": "garbage"})

    def test_a_python_that_is_not_there(self):
        self.refuse(2, "LOCKSTEP_PYTHON=garbage: no such program", "bench", "max", "--quick", env={"LOCKSTEP_PYTHON": "garbage"})


if __name__ == "__main__":
    main()
