"""page_test.py GALLERY: the gallery of reports in real Chromium, on a telephone and on a desk, in light and in dark.

No errors and no violations of the content-security-policy; nothing overlaps, nothing leaves the page; every cell of every
table is what the JSON beside the page says; texts stand out from what is behind them."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from page_checks import CHROMIUM, CONTRAST, OVERFLOWS, OVERLAPS, SAME_TICKS, start_chromium

GALLERY = sys.argv.pop()

TABLES = """() => [...document.querySelectorAll('.table')].map(t => ({name: t.id, title: t.querySelector('caption').textContent,
  rows: [...t.querySelectorAll('tbody tr')].map(r => [...r.children].map(c => ({
    text: c.querySelector('.v').textContent, value: c.dataset.value,
    interval: c.querySelector('.i')?.textContent, note: c.querySelector('.n')?.textContent,
    mark: c.querySelector('.mark')?.classList[1]})))}))"""


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        subprocess.run([GALLERY, cls.folder.name], check=True, stdout=subprocess.DEVNULL, timeout=60)
        cls.html = pathlib.Path(cls.folder.name) / "gallery.html"
        cls.cells = json.loads((pathlib.Path(cls.folder.name) / "gallery.json").read_text())
        cls.playwright, cls.browser = start_chromium()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.playwright.stop()
        cls.folder.cleanup()

    def open(self, width, scheme="light"):
        page = self.browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.messages = []
        page.on("console", lambda message: self.messages.append(message.text))
        page.on("pageerror", lambda error: self.messages.append(str(error)))
        page.on("dialog", lambda dialog: self.messages.append("a dialog: a script ran"))
        page.on("request", lambda request: self.messages.append(request.url) if not request.url.startswith("file:") else None)
        page.goto(self.html.as_uri())
        self.addCleanup(page.close)
        return page

    def test_nothing_overlaps_or_leaves_the_page(self):
        for width in (360, 600, 768, 1280):
            with self.subTest(width=width):
                page = self.open(width)
                self.assertEqual(page.evaluate(OVERLAPS), [])
                self.assertEqual(page.evaluate(OVERFLOWS), [])
                self.assertEqual(self.messages, [])

    def test_ticks_can_be_told_apart(self):
        page = self.open(1280)
        self.assertEqual(page.evaluate(SAME_TICKS), [])
        page.evaluate("""() => { const t = document.querySelectorAll('.wide svg[role=img] text.tick');
                         t[1].textContent = t[0].textContent; }""")
        self.assertNotEqual(page.evaluate(SAME_TICKS), [])

    def test_the_check_for_overlaps_finds_them(self):
        page = self.open(1280)
        page.evaluate("""() => { const t = [...document.querySelectorAll('.wide svg[role=img] text.name')];
                         t[1].setAttribute('y', t[0].getAttribute('y')); t[1].setAttribute('x', t[0].getAttribute('x')); }""")
        self.assertNotEqual(page.evaluate(OVERLAPS), [])

    def test_every_cell_is_that_of_the_json(self):
        shown = self.open(1280).evaluate(TABLES)
        self.assertEqual([table["name"] for table in shown], [table["name"] for table in self.cells["tables"]])
        self.assertEqual(len(shown), 2)
        for page, data in zip(shown, self.cells["tables"]):
            self.assertEqual(page["title"], data["title"])
            self.assertEqual(len(page["rows"]), len(data["rows"]))
            for row, wanted in zip(page["rows"], data["rows"]):
                self.assertEqual(len(row), len(wanted["cells"]))
                for cell, want in zip(row, wanted["cells"]):
                    self.assertEqual(cell["text"], want["text"])
                    for key in ("interval", "note", "mark"):
                        self.assertEqual(cell[key] if key in cell else None, want.get(key))
                    number = want["value"] if isinstance(want["value"], (int, float)) else None
                    self.assertEqual(None if cell.get("value") is None else float(cell["value"]), number)

    def test_contrast(self):
        for scheme in ("light", "dark"):
            page = self.open(1280, scheme)
            for ratio, what in page.evaluate(CONTRAST):
                self.assertGreaterEqual(ratio, 4.5, f"{scheme}: {what}")
        self.assertNotEqual(page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(253, 253, 252)")

    def test_policy_forbids_scripts(self):
        page = self.open(1280)
        page.evaluate("""() => { const s = document.createElement('script'); s.textContent = 'document.title = "broken"';
                         document.body.append(s); document.body.setAttribute('style', 'color:red'); }""")
        self.assertEqual(page.title(), "Gallery of a report")
        self.assertTrue(any("Content Security Policy" in message for message in self.messages))

    def test_readers_without_eyes(self):
        page = self.open(1280)
        self.assertEqual(page.evaluate("""() => [...document.querySelectorAll('svg[role=img]')].filter(s =>
          !s.getAttribute('aria-labelledby').split(' ').every(id => document.getElementById(id)?.textContent)).length"""), 0)
        self.assertEqual(page.evaluate("""() => { const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
          return ids.length - new Set(ids).size; }"""), 0)
        self.assertEqual(page.evaluate("document.querySelectorAll('table:not(:has(caption))').length"), 0)

    def test_paper(self):
        page = self.open(1280, "dark")
        page.emulate_media(media="print", color_scheme="dark")
        self.assertEqual(page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        self.assertGreater(page.evaluate("document.querySelector('.wide').getBoundingClientRect().width"), 0)
        self.assertGreater(len(page.pdf()), 10_000)


if __name__ == "__main__":
    if not CHROMIUM:
        print("chromium is missing: apt install chromium fonts-dejavu-core")
        sys.exit(1 if os.environ.get("CI", "") not in ("", "0", "false") else 77)
    unittest.main()
