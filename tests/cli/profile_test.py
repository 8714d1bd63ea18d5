"""lockstep train --profile and --verbose: what they write, that it adds up, and that the result stays the same."""
import json

from program import MOONS, PICTURES, ProgramTest, main, sanitized


class Profile(ProgramTest):
    def profile(self, *arguments, config=MOONS, out="run"):
        result = self.train(config, out, "--profile", *arguments)
        return result, json.loads((self.folder / out / "profile.json").read_text())

    def test_the_result_stays_the_same(self):
        plain = self.train(out="plain")
        profiled, _ = self.profile("--threads", "2")
        self.assertEqual(profiled["weight_hash"], plain["weight_hash"])
        for name in ("metrics.jsonl", "model.safetensors", "config.toml"):
            self.assertEqual((self.folder / "plain" / name).read_bytes(), (self.folder / "run" / name).read_bytes())

    def test_sections_add_up(self):
        for threads in (1, 2):
            result, profile = self.profile("--threads", threads, out=f"run{threads}")
            self.assertEqual(result["profile"], profile)
            self.assertEqual(profile["threads"], threads)
            self.assertEqual(profile["steps"], 9)
            self.assertEqual(profile["samples"], 3 * 48)
            sections = profile["sections"]
            self.assertAlmostEqual(sum(s["share"] for s in sections), 1)
            self.assertAlmostEqual(sum(s["seconds"] for s in sections), profile["seconds"])
            self.assertEqual(sum(s["calls"] for s in sections), profile["spans"])
            names = {(s["section"], s["phase"]) for s in sections}
            for name in ("load", "loss", "reduce", "update", "wait", "validation", "shuffle", "report"):
                self.assertIn((name, name), names)
            for name in ("0 linear", "1 sigmoid", "2 linear"):
                self.assertLessEqual({(name, "forward"), (name, "backward")}, names)
            self.assertEqual(len(profile["by_thread"]), threads)
            self.assertGreater(profile["explained"], 0.5)
            self.assertLessEqual(profile["explained"], 1)

    def test_one_thread_is_its_own_baseline(self):
        _, profile = self.profile("--threads", "1")
        self.assertNotIn("baseline", profile)
        speedups = {s["section"]: s.get("speedup") for s in profile["sections"]}
        self.assertAlmostEqual(speedups.pop("load"), 1)
        for name in ("wait", "shuffle", "report"):
            self.assertIsNone(speedups[name])
        self.assertAlmostEqual(profile["total"]["speedup"], 1)

    def test_more_threads_have_a_baseline(self):
        _, profile = self.profile("--threads", "2")
        self.assertEqual(profile["baseline"]["threads"], 1)
        self.assertGreater(profile["baseline"]["steps"], 0)
        self.assertGreater(profile["total"]["speedup"], 0)
        for section in profile["sections"]:
            self.assertEqual("speedup" in section, section["section"] not in ("wait", "shuffle", "report"), section)

    def test_the_trace(self):
        self.write_digits()
        self.profile("--threads", "2", config=PICTURES)
        trace = json.loads((self.folder / "run" / "trace.json").read_text())
        spans = [e for e in trace["traceEvents"] if e["ph"] == "X"]
        self.assertEqual({e["tid"] for e in spans}, {0, 1})
        self.assertIn("0 conv2d forward", {e["name"] for e in spans})
        self.assertEqual(trace["otherData"]["spans"], len(spans) + trace["otherData"]["dropped_spans"])

    def test_the_table(self):
        self.write("a.toml", MOONS)
        result = self.succeed("train", "a.toml", "--out", "run", "--profile", "--threads", "2")
        for text in ("section", "GFLOP/s", "of peak", "speed-up", "0 linear", "backward", "total", "trace.json"):
            self.assertIn(text, result.out)
        self.assertIn("on 1 thread as the baseline", result.err)

    def test_overwrite_removes_an_old_profile(self):
        self.profile()
        self.train(MOONS, "run", "--overwrite")
        names = {path.name for path in (self.folder / "run").iterdir()}
        self.assertNotIn("trace.json", names)
        self.assertNotIn("profile.json", names)

    def test_threads_bound_by_openmp(self):
        """OpenMP binds the first thread before the program begins; the others must not be lost with it."""
        if sanitized():
            self.skipTest("the threads of this build are not OpenMP's")
        self.write("a.toml", MOONS)
        free = {"OMP_PROC_BIND": "false", "OMP_NUM_THREADS": ""}
        bound = free | {"OMP_PROC_BIND": "close", "OMP_PLACES": "threads"}
        count = lambda out, env: self.succeed("train", "a.toml", "--out", out, "--verbose", env=env).err.count(" on cpu ")
        self.assertEqual(count("bound", bound), count("free", free))

    def test_how_many_threads_take_part(self):
        self.write("a.toml", MOONS)
        env = {"LOCKSTEP_STEP_THREADS": "auto"}
        words = ["train", "a.toml", "--out", "run", "--overwrite", "--threads", "3", "--verbose", "--json"]
        result = self.succeed(*words, "--set", "train.batch=16", env=env)
        self.assertIn("1 of 3 threads takes part in a step: a batch of 16 has 1 slot", result.err)
        run = json.loads(result.out)
        self.assertEqual((run["threads"], run["step_threads"]), (3, 1))
        result = self.succeed(*words, env={"LOCKSTEP_STEP_THREADS": "all"})
        self.assertIn("3 threads in every step", result.err)
        self.assertNotIn("threads_note", json.loads(result.out))

    def test_verbose(self):
        self.write("a.toml", MOONS)
        result = self.succeed("train", "a.toml", "--out", "run", "--verbose", "--threads", "3", "--backend", "naive-o0")
        self.assertIn("kernels naive-o0: all operations", result.err)
        for thread in range(3):
            self.assertIn(f"thread {thread} on cpu", result.err)
        result = self.succeed("eval", "run/model.safetensors", "--verbose", "--threads", "2")
        self.assertIn("kernels ", result.err)
        self.assertIn("thread 1 on cpu", result.err)
        self.assertNotIn("on cpu", result.out)


if __name__ == "__main__":
    main()
