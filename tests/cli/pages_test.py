"""The pages that the program writes, in real Chromium: of a training, of a ladder and of an experiment. On a telephone and on
a desk nothing overlaps, leaves the page or is empty; ticks can be told apart; texts stand out in light and in dark."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lab" / "report"))

from page_checks import CHROMIUM, CONTRAST, EMPTY, OVERFLOWS, OVERLAPS, SAME_TICKS, start_chromium  # noqa: E402
from program import MOONS, PICTURES, ProgramTest, main  # noqa: E402
from report_test import REGRESSION  # noqa: E402
from reproduce_claims_test import conv, timing  # noqa: E402
from reproduce_test import result  # noqa: E402


class Pages(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("moons.toml", MOONS)

    def look_at(self, folder):
        playwright, browser = start_chromium()
        self.addCleanup(playwright.stop)
        self.addCleanup(browser.close)
        for width, scheme in ((360, "dark"), (390, "light"), (800, "dark"), (1280, "light")):
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            messages = []
            page.on("console", lambda message: messages.append(message.text))
            page.goto((self.folder / folder / "report.html").as_uri())
            for check in (OVERLAPS, OVERFLOWS, SAME_TICKS, EMPTY):
                self.assertEqual(page.evaluate(check), [], f"{folder} at {width}")
            for ratio, what in page.evaluate(CONTRAST):
                self.assertGreaterEqual(ratio, 4.5, f"{folder}, {scheme}: {what}")
            self.assertEqual(messages, [])

    def test_training(self):
        self.assertEqual(self.run_program("train", "moons.toml", "--out", "run", "--profile").code, 0)
        self.look_at("run")

    def test_training_on_pictures(self):
        self.write_digits(60)
        self.write("pictures.toml", PICTURES)
        self.succeed("train", "pictures.toml", "--out", "pictures", "--quiet")
        self.look_at("pictures")

    def test_training_on_tables(self):
        rows = [f"{i},{'red' if i % 3 else 'blue'},{2 * i + i % 3}" for i in range(40)]
        self.write("x.csv", "length,colour,price\n" + "\n".join(rows) + "\n")
        self.write("prices.toml", REGRESSION)
        self.succeed("train", "prices.toml", "--out", "prices", "--quiet")
        self.look_at("prices")

    def test_paper_shows_what_is_folded(self):
        self.succeed("train", "moons.toml", "--out", "run", "--quiet")
        playwright, browser = start_chromium()
        self.addCleanup(playwright.stop)
        self.addCleanup(browser.close)
        page = browser.new_page(viewport={"width": 800, "height": 900}, color_scheme="dark")
        page.goto((self.folder / "run/report.html").as_uri())
        heights = []
        for media in ("screen", "print"):
            page.emulate_media(media=media, color_scheme="dark")
            heights.append(page.evaluate("() => document.querySelector('details.fold').getBoundingClientRect().height"))
        self.assertLess(heights[0], 60)
        self.assertGreater(heights[1], 200)
        self.assertEqual(page.evaluate("() => getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")

    def test_ladder(self):
        done = self.run_program("ladder", "moons.toml", "--rungs", "naive,simd,threads-2,threads-3,weak-2", "--budget", "2",
                                "--samples", "3", "--out", "ladder")
        self.assertEqual(done.code, 0, done)
        self.look_at("ladder")

    def test_wide_tables_fit_on_a_desk(self):
        """The table of ten runs on 1 to 8 cores and that of the phases, with all that a machine may have."""
        names = ["sequential, SIMD", "SIMD, 2 threads", "SIMD, 2 ranks", "SIMD, 2 ranks, data from rank 0", "SIMD, 4 ranks",
                 "device, opencl"]
        phases = {name: 0.01234 for name in ("broadcast", "scatter", "load", "hidden", "output", "cost", "back", "gather", "wait")}
        modes = "".join(timing(f"iteration: {name}", 0.01234, numbers=phases, words={"backend": "simd"})
                        for name in [*names, "Python loops"])
        runs = "".join(conv(series, 8, 4, 2, 1) for series in ("threads", "ranks", "plain loops"))
        playwright, browser = start_chromium()
        self.addCleanup(playwright.stop)
        self.addCleanup(browser.close)
        for experiment, lines in (("mpi-digits", modes), ("conv-multicore", runs)):
            self.write(f"{experiment}/results.jsonl", result("run", words={"experiment": experiment}) + lines)
            self.succeed("reproduce", "--from", experiment)
            page = browser.new_page(viewport={"width": 1200, "height": 900})
            page.goto((self.folder / experiment / "report.html").as_uri())
            self.assertEqual(page.evaluate("""() => [...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1)
                .map(e => `${e.getAttribute('aria-label')}: ${e.scrollWidth} of ${e.clientWidth}`)"""), [])

    def test_experiment(self):
        done = self.run_program("reproduce", "cuda-quadrants", "--quick", "--out", "quadrants")
        self.assertEqual(done.code, 0, done)
        self.look_at("quadrants")


if __name__ == "__main__":
    if not CHROMIUM:
        print("chromium is missing: apt install chromium fonts-dejavu-core")
        sys.exit(1 if os.environ.get("CI", "") not in ("", "0", "false") else 77)
    main()
