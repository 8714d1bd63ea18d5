"""bootstrap_test.py ROOT: scripts/bootstrap on machines that are made up: a PATH of stubs for apt, dpkg and sudo, so that
nothing is installed. What is required and cannot be had stops it, what is optional costs one line."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()

TOOLS = "bash env dirname sed sort paste tr grep mkdir rm cat touch chmod sha256sum true".split()
REQUIRED = ("g++ cmake ninja-build pkg-config libcli11-dev libtomlplusplus-dev libfmt-dev nlohmann-json3-dev zlib1g-dev "
            "libpng-dev libjpeg-dev dataset-fashion-mnist").split()
PARTS = {"MPI ranks": ["openmpi-bin", "libopenmpi-dev"],
         "library kernels": ["libopenblas-dev", "libdnnl-dev"],
         "OpenCL": ["ocl-icd-opencl-dev", "opencl-c-headers", "pocl-opencl-icd"],
         "OpenCL, library": ["libclblast-dev"]}
PROGRAMS = {"g++": "g++", "cmake": "cmake", "ninja-build": "ninja", "pkg-config": "pkg-config"}
OPTIONAL = sum(PARTS.values(), [])

APT_GET = """\
echo "$*" >> "$STATE/calls"
case "$*" in *update*) exit 0 ;; esac
while [ "$1" != install ]; do shift; done
shift
shift # --no-install-recommends
for package in "$@"; do
  grep -qx -e "$package" "$STATE/served" || { echo "E: Unable to locate package $package"; exit 100; }
done
for package in "$@"; do
  echo "$package" >> "$STATE/installed"
  program=$package
  [ "$package" != ninja-build ] || program=ninja
  case $program in g++ | cmake | ninja | pkg-config) touch "$STATE/bin/$program"; chmod +x "$STATE/bin/$program" ;; esac
done
"""
DPKG_QUERY = """\
for package in "$@"; do
  grep -qx -e "$package" "$STATE/installed" && echo "installed $package"
done
exit 1
"""


class Machine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="lockstep-bootstrap-")
        self.addCleanup(folder.cleanup)
        self.state = pathlib.Path(folder.name)
        self.tree = self.state / "tree"
        shutil.copytree(ROOT / "scripts", self.tree / "scripts")
        (self.state / "bin").mkdir()
        for tool in TOOLS:
            (self.state / "bin" / tool).symlink_to(shutil.which(tool))
        self.stub("apt-get", APT_GET)
        self.stub("apt-cache", "exit 0")
        self.stub("dpkg-query", DPKG_QUERY)
        self.become("root")
        self.has()
        self.serves(REQUIRED + OPTIONAL)

    def stub(self, name, text):
        path = self.state / "bin" / name
        path.write_text("#!/bin/sh\n" + text + "\n")
        path.chmod(0o755)

    def become(self, user):
        self.stub("id", "echo 0" if user == "root" else "echo 1000")
        self.stub("sudo", 'shift; exec "$@"' if user == "sudoer" else "exit 1")

    def has(self, packages=()):
        (self.state / "installed").write_text("".join(name + "\n" for name in packages))
        for package, program in PROGRAMS.items():
            (self.state / "bin" / program).unlink(missing_ok=True)
            if package in packages:
                self.stub(program, "exit 0")

    def serves(self, packages):
        (self.state / "served").write_text("".join(name + "\n" for name in packages))

    def run_script(self, name, *arguments, **variables):
        environment = {"PATH": str(self.state / "bin"), "STATE": str(self.state), "HOME": str(self.state)} | variables
        done = subprocess.run([self.tree / "scripts" / name, *arguments], env=environment, capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.stdout, "")
        return done.returncode, done.stderr.splitlines()

    def bootstrap(self, *groups):
        return self.run_script("bootstrap", *groups)

    def installed(self):
        return sorted((self.state / "installed").read_text().split())

    def calls(self):
        path = self.state / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def left_out(self, lines):
        return [line for line in lines if "left out: " in line]


class Demo(Machine):
    def test_a_bare_machine_gets_every_rung_at_once(self):
        code, lines = self.bootstrap("demo", "fashion-mnist")
        self.assertEqual((code, self.left_out(lines)), (0, []), lines)
        self.assertEqual(self.installed(), sorted(REQUIRED + OPTIONAL))
        self.assertEqual(len(self.calls()), 1, self.calls())

    def test_sudo_without_a_password_is_used(self):
        self.become("sudoer")
        self.assertEqual(self.bootstrap("demo", "fashion-mnist")[0], 0)
        self.assertEqual(self.installed(), sorted(REQUIRED + OPTIONAL))

    def test_a_machine_that_has_everything_is_left_alone(self):
        self.has(REQUIRED + OPTIONAL)
        self.become("nobody")
        self.assertEqual(self.bootstrap("demo", "fashion-mnist"), (0, []))
        self.assertEqual(self.calls(), [])

    def test_an_unknown_package_does_not_stop_the_others(self):
        for gone in OPTIONAL:
            with self.subTest(gone=gone):
                self.has()
                self.serves(set(REQUIRED + OPTIONAL) - {gone})
                code, lines = self.bootstrap("demo", "fashion-mnist")
                part, = (name for name, packages in PARTS.items() if gone in packages)
                self.assertEqual(code, 0, lines)
                line, = self.left_out(lines)
                self.assertIn(f"left out: {part} (apt failed: build/bootstrap.log)", line)
                self.assertIn(f"sudo apt-get install {' '.join(PARTS[part])}", line)
                self.assertEqual(self.installed(), sorted(set(REQUIRED + OPTIONAL) - set(PARTS[part])))

    def test_without_the_right_to_install_it_goes_on_with_one_line_each(self):
        self.has(REQUIRED)
        self.become("nobody")
        code, lines = self.bootstrap("demo", "fashion-mnist")
        self.assertEqual(code, 0, lines)
        self.assertEqual(len(lines), len(PARTS), lines)
        for line, (part, packages) in zip(lines, PARTS.items(), strict=True):
            self.assertIn(f"left out: {part} (installing needs root)", line)
            self.assertTrue(line.endswith("sudo apt-get install " + " ".join(packages)), line)
        self.assertEqual(self.calls(), [])

    def test_half_of_a_part_names_the_other_half(self):
        self.has(REQUIRED + OPTIONAL[1:])
        self.become("nobody")
        code, lines = self.bootstrap("demo", "fashion-mnist")
        self.assertEqual((code, len(lines)), (0, 1), lines)
        self.assertTrue(lines[0].endswith("sudo apt-get install openmpi-bin"), lines)

    def test_no_network(self):
        self.has(REQUIRED)
        self.stub("apt-get", 'echo "$*" >> "$STATE/calls"; exit 100')
        code, lines = self.bootstrap("demo", "fashion-mnist")
        self.assertEqual((code, len(self.left_out(lines))), (0, len(PARTS)), lines)

    def test_what_is_required_stops_it(self):
        self.become("nobody")
        self.has(set(REQUIRED) - {"g++", "libfmt-dev"})
        code, lines = self.bootstrap("demo", "fashion-mnist")
        self.assertEqual(code, 2)
        self.assertIn("missing packages: g++ libfmt-dev (installing needs root)", lines[-1])
        self.become("root")
        self.serves(set(REQUIRED + OPTIONAL) - {"libfmt-dev"})
        code, lines = self.bootstrap("demo", "fashion-mnist")
        self.assertEqual(code, 2)
        self.assertIn("missing packages: ", lines[-1])
        self.assertIn("libfmt-dev (apt failed: build/bootstrap.log)", lines[-1])

    def test_a_system_without_apt(self):
        self.has(set(REQUIRED) - {"g++"})
        (self.state / "bin/apt-get").unlink()
        code, lines = self.bootstrap("demo", "fashion-mnist")
        self.assertEqual(code, 2)
        self.assertIn("missing packages: g++ (no apt-get here)", lines[-1])
        self.assertNotIn("sudo", "".join(lines))

    def test_what_was_installed_is_looked_for_by_the_next_build(self):
        stamp = self.tree / "build/release/.configured"
        stamp.parent.mkdir(parents=True)
        stamp.touch()
        self.has(REQUIRED)
        self.serves([])
        self.bootstrap("demo", "fashion-mnist")
        self.assertTrue(stamp.exists())
        self.serves(OPTIONAL)
        self.bootstrap("demo", "fashion-mnist")
        self.assertFalse(stamp.exists())


    def test_data_may_lie_elsewhere(self):
        self.has(set(REQUIRED + OPTIONAL) - {"dataset-fashion-mnist"})
        self.become("nobody")
        self.assertEqual(self.bootstrap("demo"), (0, []))
        code, lines = self.bootstrap("demo", "fashion-mnist")
        self.assertEqual((code, len(lines)), (2, 2), lines)
        self.assertIn("~/.cache/lockstep/fashion-mnist", lines[0])
        folder = self.state / ".cache/lockstep/fashion-mnist"
        folder.mkdir(parents=True)
        (folder / "train-images-idx3-ubyte.gz").touch()
        self.assertEqual(self.bootstrap("demo", "fashion-mnist"), (0, []))


class Bare(Machine):
    def test_without_root_it_is_skipped_with_the_reason(self):
        self.become("nobody")
        code, lines = self.run_script("test_bare", "demo")
        self.assertEqual((code, len(lines)), (0, 1), lines)
        self.assertIn("skipped: it needs root", lines[0])
        self.assertEqual(self.run_script("test_bare", CI="true")[0], 2)
        self.assertEqual(self.run_script("test_bare", "peers")[0], 2)


class OtherGroups(Machine):
    def test_a_build_needs_no_rung(self):
        self.assertEqual(self.bootstrap("build")[0], 0)
        self.assertEqual(self.installed(), sorted(set(REQUIRED) - {"dataset-fashion-mnist"}))

    def test_the_tests_need_every_rung(self):
        self.become("nobody")
        code, lines = self.bootstrap("test")
        self.assertEqual(code, 2, lines)
        self.assertEqual(set(REQUIRED + OPTIONAL) - set(lines[-1].split()), set())

    def test_unknown_group(self):
        code, lines = self.bootstrap("everything")
        self.assertEqual(code, 2)
        self.assertIn("unknown group everything", lines[-1])


if __name__ == "__main__":
    unittest.main()
