"""stdout, stderr, closed pipes, full disks, terminals: the manners of a command-line program."""
import json
import os
import pty
import re
import resource
import select
import subprocess

from program import MOONS, PROGRAM, ProgramTest, main


def limit_file_size():
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


class Help(ProgramTest):
    def test_help(self):
        result = self.succeed("--help")
        for word in ("train", "eval", "predict", "inspect", "export", "Examples:", "lockstep train examples/moons.toml", "Exit codes"):
            self.assertIn(word, result.out)
        self.assertEqual(result.err, "")
        for command in ("train", "eval", "predict", "inspect", "export"):
            text = self.succeed(command, "--help").out
            self.assertIn("Examples:", text)
            self.assertIn("--json", text)
            self.assertEqual(text, self.succeed(command, "-h").out)

    def test_version(self):
        self.assertRegex(self.succeed("--version").out, r"^lockstep \d+\.\d+\.\d+ \(numerics \d+\)\n$")


class Streams(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("a.toml", MOONS)

    def test_json_is_all_of_stdout(self):
        self.train()
        model = "run/model.safetensors"
        for arguments in (["train", "a.toml", "--out", "two"], ["eval", model], ["predict", model], ["inspect", model],
                          ["export", model, "w.npz"]):
            with self.subTest(arguments[0]):
                json.loads(self.succeed(*arguments, "--json").out)

    def test_a_full_disk_behind_stdout(self):
        with open("/dev/full", "wb") as full:
            result = self.run_program("train", "a.toml", "--out", "run", "--quiet", stdout=full)
        self.assertEqual(result.code, 5, result)
        self.assertIn("lockstep: standard output: No space left on device", result.err)
        self.succeed("eval", "run/model.safetensors")

    def test_a_limit_on_the_size_of_files_behind_stdout(self):
        with open(self.folder / "out.txt", "wb") as out:
            result = self.run_program("train", "--help", stdout=out, preexec_fn=limit_file_size)
        self.assertEqual(result.code, 5, result)
        self.assertEqual(result.err, "lockstep: standard output: File too large\n")

    def test_a_reader_that_went_away(self):
        reader, writer = os.pipe()
        os.close(reader)
        try:
            result = self.run_program("train", "a.toml", "--out", "run", stdout=writer)
        finally:
            os.close(writer)
        self.assertEqual(result.code, 0, result)
        self.assertTrue((self.folder / "run/model.safetensors").exists())

    def test_a_stderr_that_went_away(self):
        reader, writer = os.pipe()
        os.close(reader)
        try:
            result = self.run_program("train", "a.toml", "--out", "run", "--json", stderr=writer)
            self.assertEqual(result.code, 0, result)
            self.assertEqual(self.run_program("train", "gone.toml", stderr=writer).code, 2)
        finally:
            os.close(writer)

    def test_closed_streams(self):
        """No file of a run may get the number of a closed stream, or the next word would land in it."""
        closed = subprocess.run(["sh", "-c", '"$0" train a.toml --out run 0<&- 1>&- 2>&-', PROGRAM], cwd=self.folder, timeout=60)
        self.assertEqual(closed.returncode, 0)
        self.succeed("eval", "run/model.safetensors")
        self.assertEqual(len(self.lines("run/metrics.jsonl")), 4)

    def on_a_terminal(self, *arguments, **environment):
        """Runs with stderr on a pseudo terminal; returns the exit code, stdout and what the terminal got."""
        try:
            master, slave = pty.openpty()
        except OSError:
            self.skipTest("there are no pseudo-terminals here")
        process = subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, stdout=subprocess.PIPE, stderr=slave,
                                   stdin=subprocess.DEVNULL, env=dict(os.environ, TERM="xterm") | environment)
        os.close(slave)
        screen = b""
        while select.select([master], [], [], 60)[0]:
            try:
                piece = os.read(master, 4096)
            except OSError:  # the last writer has closed it
                break
            if not piece:
                break
            screen += piece
        out = process.communicate(timeout=60)[0]
        os.close(master)
        return process.returncode, out.decode(), screen.decode()

    def test_a_bar_on_a_terminal(self):
        code, out, screen = self.on_a_terminal("train", "a.toml", "--out", "run")
        self.assertEqual(code, 0)
        self.assertIn("\r\x1b[K", screen)
        self.assertRegex(screen, r"\[=*>? *\].*samples/s.*left")
        self.assertIn("\x1b[32m", screen)
        self.assertNotIn("\x1b", out)

    def test_no_color_and_dumb_terminals(self):
        _, _, plain = self.on_a_terminal("train", "a.toml", "--out", "one", NO_COLOR="1")
        self.assertIsNone(re.search(r"\x1b\[\d+m", plain))
        self.assertIn("\r\x1b[K", plain)
        _, _, dumb = self.on_a_terminal("train", "a.toml", "--out", "two", TERM="dumb")
        self.assertNotIn("\x1b", dumb)
        _, _, quiet = self.on_a_terminal("train", "a.toml", "--out", "three", "--quiet")
        self.assertEqual(quiet, "")

    def test_names_cannot_steer_the_terminal(self):
        result = self.refuse(3, "\\x1b[31m", "inspect", "\x1b[31mred.csv")
        self.assertNotIn("\x1b", result.err)


if __name__ == "__main__":
    main()
