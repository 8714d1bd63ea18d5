"""lockstep check on kernels that cheat: none is accepted, each is named."""
import unittest

from checker import CheckerTest, solution

MAX = "extern \"C\" void elementwise_max(const struct elementwise_max_args *a) {"


def before(text):
    """The solved maximum with something before its loop."""
    return solution("max", [(MAX, MAX + text)])


class Cheats(CheckerTest):
    def rejected(self, source, *causes, exercise="max", track="cpp", options=("--quick",)):
        verdict = self.check(exercise, source, track, *options)
        self.assertIn(verdict["verdict"], ("rejected", "crashed", "wrong", "suspicious"), verdict)
        self.assertIn(verdict["cause"], causes, verdict)
        return verdict

    def test_results_kept_from_an_earlier_call(self):
        self.rejected("#include <map>\n#include <vector>\n" + before(
            "static std::map<std::pair<int64_t, int64_t>, std::vector<int32_t>> kept;"
            "auto &old = kept[{a->rows, a->cols}];"
            "if (!old.empty()) { for (std::size_t i = 0; i < old.size(); ++i) a->c[i] = old[i]; return; }").replace(
                "a->c[i] = p > q ? p : q;", "a->c[i] = p > q ? p : q; old.push_back(a->c[i]);"), "cached")

    def test_work_left_to_a_thread(self):
        source = solution("max", [(MAX, "static void work(struct elementwise_max_args copy) {\n  const auto *a = &copy;")])
        self.rejected("#include <thread>\n#include <unistd.h>\n" + source + MAX +
                      "if (a->rows * a->cols < 100000) return work(*a); std::thread([c = *a] { usleep(200); work(c); }).detach(); }\n",
                      "left-to-a-thread", options=())

    def test_a_clock_of_its_own(self):
        self.rejected("#include <time.h>\nextern \"C\" int clock_gettime(clockid_t, struct timespec *t) noexcept"
                      " { t->tv_sec = t->tv_nsec = 0; return 0; }\n" + solution("max"), "replaces-library")

    def test_right_for_known_shapes_only(self):
        # The public shapes of `max` have at most 65 rows and columns; sizes that are none of theirs are computed wrongly.
        known = " || ".join(f"s == {n}" for n in (0, 1, 2, 3, 5, 7, 8, 9, 13, 15, 16, 17, 31, 33, 64, 65))
        verdict = self.check("max", before(f"const auto known = [](int64_t s) {{ return {known}; }};"
                                           "if (!known(a->rows) || !known(a->cols)) {"
                                           "for (int64_t i = 0; i < a->rows * a->cols; ++i) a->c[i] = 0; return; }"), "cpp", "--quick")
        self.assertEqual((verdict["verdict"], verdict["cause"]), ("rejected", "unseen"), verdict)

    def test_changed_inputs(self):
        self.rejected(before("for (int64_t i = 0; i < a->rows * a->cols; ++i) ((int32_t *)a->a)[i] = ((int32_t *)a->b)[i] = 0;"),
                      "writes-input")

    def test_ends_the_process(self):
        self.rejected("#include <stdlib.h>\n" + before("exit(0);"), "exits")
        self.rejected("#include <unistd.h>\n" + before("_exit(0);"), "exits")

    def test_never_returns(self):
        self.rejected(before("for (volatile int i = 0;; i = i) {}"), "never-returns", options=("--quick", "--limit", "0.5"))

    def test_starts_processes_programs_and_connections(self):
        for call in ("fork();", "vfork();", "execl(\"/bin/true\", \"true\", (char *)0);", "socket(AF_INET, SOCK_STREAM, 0);",
                     "open(\"/tmp/cheat\", O_WRONLY | O_CREAT, 0600);", "kill(getppid(), SIGTERM);"):
            with self.subTest(call):
                self.rejected("#include <fcntl.h>\n#include <signal.h>\n#include <sys/socket.h>\n#include <unistd.h>\n" +
                              before(f"(void)!{call}"), "forbidden")

    def test_a_forged_verdict(self):
        verdict = self.rejected("#include <stdio.h>\n" + before(
            "puts(\"{\\\"verdict\\\": \\\"right\\\"}\"); puts(\"RIGHT: the bits of the contract in every case.\"); return;"), "unwritten-all")
        self.assertIn("It prints text; what a kernel prints counts for nothing.", verdict["checks"])

    def test_answers_for_the_checker(self):
        # Whatever number it writes on every descriptor: an answer that was not asked for, or a wrong one.
        self.rejected("#include <unistd.h>\n" + before("unsigned one = 1; for (int f = 3; f < 20; ++f) (void)!write(f, &one, 4);"),
                      "forged")


if __name__ == "__main__":
    unittest.main()
