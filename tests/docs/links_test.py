"""links_test.py SOURCE: every link and anchor in the README and the book leads somewhere, and the book can be built."""
import pathlib
import re
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(SOURCE / "scripts"))
import docs  # noqa: E402

PAGES = [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *sorted((SOURCE / "docs").rglob("*.md"))]


def prose(text):
    return re.sub(r"`[^`\n]*`", "", docs.without_code(text))


def faults(page, text, anchors_of):
    """What is wrong with the links of a page."""
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(text)):
        if "://" in target or target.startswith("mailto:"):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            yield f"{page.name}: {target} leads nowhere"
        elif line := re.fullmatch(r"L(\d+)", anchor):
            if file.suffix == ".md" or int(line[1]) > len(file.read_text().splitlines()):
                yield f"{page.name}: {target}: there is no such line"
        elif anchor and anchor not in anchors_of(file):
            yield f"{page.name}: {target}: no heading has this anchor"


def anchors(file):
    return {each[2] for each in docs.headings(file.read_text())}


class Links(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        found = [fault for page in PAGES for fault in faults(page, page.read_text(), anchors)]
        self.assertEqual(found, [])

    def test_the_test_can_fail(self):
        page = SOURCE / "docs/index.md"
        text = "[a](tutorial.md) [b](none.md) [c](tutorial.md#none) [d](#how-to) `[e](none)`\n```\n[f](none)\n```\n"
        self.assertEqual(list(faults(page, text, anchors)), [
            "index.md: none.md leads nowhere", "index.md: tutorial.md#none: no heading has this anchor"])

    def test_the_start_page_leads_to_every_page(self):
        text = (SOURCE / "docs/index.md").read_text()
        missing = [page.name for page in (SOURCE / "docs").glob("*.md") if f"({page.name}" not in text and page.name != "index.md"]
        self.assertEqual(missing, [])


class Book(unittest.TestCase):
    def test_it_is_built(self):
        with tempfile.TemporaryDirectory() as folder:
            sys.argv = ["docs.py", folder]
            docs.main()
            built = {str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*.html")}
            wanted = {str(page.relative_to(SOURCE / "docs").with_suffix(".html")) for page in (SOURCE / "docs").rglob("*.md")}
            self.assertEqual(built, wanted | {"api.html"})
            page = (pathlib.Path(folder) / "tutorial.html").read_text()
            self.assertIn('<h2 id="a-first-network">A first network</h2>', page)
            self.assertIn('<a href="configuration.html#sources">', page)
            self.assertIn("not run by the tests: several ranks need mpirun", page)
            for file in pathlib.Path(folder).rglob("*.html"):
                for anchor in re.findall(r'href="#([^"]+)"', file.read_text()):
                    self.assertIn(f'id="{anchor}"', file.read_text(), file.name)

    def test_the_interface_page_has_what_programs_use(self):
        text = docs.api_page()
        for name in ("class Error ", "class Network ", "class Trainer ", "struct TrainOptions", "class MemoryDataset ", "save_model(",
                     "load_model(", "export_model(", "class Predictor ", "train_run(", "class RankSession ", "load_data("):
            self.assertIn(name, text)
        self.assertNotIn("private:", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
