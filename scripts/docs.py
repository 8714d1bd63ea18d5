#!/usr/bin/env python3
"""docs.py [FOLDER]: the book as HTML, and the page of the C++ interface from the public headers, in build/docs or FOLDER.

Markdown as these pages use it: headings, paragraphs, lists, tables, blocks of code, links, images, emphasis. Only the standard library.
"""
import html
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
STYLE = """body{max-width:52rem;margin:2rem auto;padding:0 1rem;font:16px/1.55 system-ui,sans-serif;color:#222;background:#fff}
pre{overflow-x:auto;background:#f4f4f2;padding:.8rem;border-radius:4px}code{font:14px ui-monospace,monospace}
table{border-collapse:collapse;display:block;overflow-x:auto}td,th{border-bottom:1px solid #ccc;padding:.3rem .6rem;text-align:left;vertical-align:top}
img{max-width:100%}a{color:#1f5fa8}.mark{color:#666;font-size:13px;margin-top:-.8rem}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}pre{background:#242424}a{color:#8ab8ee}td,th{border-color:#444}}"""


def slug(heading):
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"`|\*|\[([^\]]*)\]\([^)]*\)", lambda m: m[1] or "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def headings(text):
    """(level, text, anchor) of every heading; a second one of the same name has -1 behind its anchor."""
    seen = {}
    for line in without_code(text).splitlines():
        if match := re.match(r"(#{1,6}) +(.+)", line):
            anchor = slug(match[2])
            seen[anchor] = seen.get(anchor, -1) + 1
            yield len(match[1]), match[2], anchor + (f"-{seen[anchor]}" if seen[anchor] else "")


def without_code(text):
    """The text with empty lines in place of blocks of code."""
    return re.sub(r"^```.*?^```", lambda m: "\n" * m[0].count("\n"), text, flags=re.M | re.S)


def inline(text):
    parts = re.split(r"(``[^`].*?``|`[^`]+`)", text)
    for i, part in enumerate(parts):
        if i % 2:
            parts[i] = "<code>" + html.escape(part.strip("`").strip()) + "</code>"
            continue
        part = html.escape(part, quote=False)
        parts[i] = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", part)
    text = "".join(parts)
    text = re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*(?!\w)", r"<i>\1</i>", text)
    text = re.sub(r"!\[([^\]]*)\]\(([^)]+)\)", r'<img src="\2" alt="\1">', text)
    return re.sub(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)]+)\)", lambda m: f'<a href="{page_of(m[2])}">{m[1]}</a>', text)


def page_of(target):
    return re.sub(r"\.md(?=#|$)", ".html", target) if "://" not in target else target


def row(line, tag):
    cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
    return "<tr>" + "".join(f"<{tag}>{inline(cell.strip())}</{tag}>" for cell in cells) + "</tr>"


def to_html(text):
    """The body of a page."""
    out, lines, anchors, i = [], text.splitlines(), [each[2] for each in headings(text)], 0
    while i < len(lines):
        line = lines[i]
        if match := re.match(r"```(.*)", line):
            end = next(j for j in range(i + 1, len(lines)) if lines[j].startswith("```"))
            out.append("<pre><code>" + html.escape("\n".join(lines[i + 1:end])) + "</code></pre>")
            if "not-run:" in match[1]:
                out.append(f'<p class="mark">not run by the tests: {html.escape(match[1].split("not-run:")[1].strip())}</p>')
            i = end + 1
        elif match := re.match(r"(#{1,6}) +(.+)", line):
            level = len(match[1])
            out.append(f'<h{level} id="{anchors.pop(0)}">{inline(match[2])}</h{level}>')
            i += 1
        elif line.startswith("|") and i + 1 < len(lines) and re.match(r"\|[ :|-]+\|?$", lines[i + 1]):
            out.append("<table>" + row(line, "th"))
            i += 2
            while i < len(lines) and lines[i].startswith("|"):
                out.append(row(lines[i], "td"))
                i += 1
            out.append("</table>")
        elif match := re.match(r"(-|\d+\.) ", line):
            tag, items = ("ul" if match[1] == "-" else "ol"), []
            while i < len(lines) and lines[i].strip():
                if re.match(r"(-|\d+\.) ", lines[i]):
                    items.append(re.sub(r"^(-|\d+\.) ", "", lines[i]))
                else:
                    items[-1] += " " + lines[i].strip()
                i += 1
            out.append(f"<{tag}>" + "".join(f"<li>{inline(item)}</li>" for item in items) + f"</{tag}>")
        elif line.strip():
            paragraph = []
            while i < len(lines) and lines[i].strip() and not re.match(r"```|#{1,6} |\||- ", lines[i]):
                paragraph.append(lines[i])
                i += 1
            if not paragraph:  # a line like a list or table that is none
                paragraph.append(lines[i])
                i += 1
            out.append(f"<p>{inline(' '.join(paragraph))}</p>")
        else:
            i += 1
    return "\n".join(out)


def page(title, body, home):
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>{html.escape(title)}</title><style>{STYLE}</style><p><a href=\"{home}\">Lockstep: the book</a></p>\n{body}\n</html>\n")


def public_headers():
    """(header, what it has) of the lines of lockstep.hpp."""
    text = (ROOT / "lockstep/lockstep.hpp").read_text()
    return re.findall(r'^#include "(lockstep/[^"]+)" *// *(.+)$', text, re.M)


def declarations(text):
    """(comment, declaration) of what stands in namespace lockstep: types whole, functions to their semicolon."""
    text = re.sub(r"namespace \w+_detail \{.*?^\}  // namespace \w+_detail$", "", text, flags=re.M | re.S)
    lines, comment, i = text.splitlines(), [], 0
    while i < len(lines):
        line = lines[i]
        if line.startswith("///"):
            comment.append(line[3:].strip())
        elif re.match(r"(template|struct|class|enum|inline|constexpr|using|std::|void|bool|int|double|[A-Z]\w*[&<:\w]* )", line):
            taken, depth = [], 0
            while True:
                taken.append(lines[i])
                depth += lines[i].count("{") - lines[i].count("}")
                ends = re.search(r"[;}]\s*(//.*)?$", lines[i])
                if (depth == 0 and ends) or i + 1 == len(lines):
                    break
                i += 1
            code = "\n".join(taken)
            if not re.match(r"(class|struct) \w+;$", code.strip()):
                yield " ".join(comment), without_private(code)
            comment = []
        elif line.strip():
            comment = []
        i += 1


def without_private(code):
    """A class without its private part, a function without its body."""
    if re.match(r"(template[^\n]*\n)?(class|struct|enum)\b", code):
        return re.sub(r"\n *(private|protected):.*?(?=\n *public:|\n\};?$)", "", code, flags=re.S)
    return re.sub(r" \{\n.*\n\}$", ";", code, flags=re.S)


def api_page():
    """The C++ interface as Markdown."""
    out = ["# The C++ interface", "", "Made from the public headers by `make docs`. All names are in namespace `lockstep`; "
           "`#include <lockstep/lockstep.hpp>` has everything. Examples: `examples/cpp/`.", ""]
    for header, what in public_headers():
        text = (ROOT / header).read_text()
        out += [f"## {header}", "", what + ".", ""]
        if about := re.search(r"^#pragma once\n((?://.*\n)+)", text):
            out += ["```text", re.sub(r"^// ?", "", about[1], flags=re.M).rstrip(), "```", ""]
        for comment, code in declarations(text):
            if comment:
                out += [comment, ""]
            out += ["```cpp", code, "```", ""]
    return "\n".join(out) + "\n"


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/docs"
    shutil.rmtree(folder, ignore_errors=True)
    pages = sorted((ROOT / "docs").rglob("*.md"))
    for source in pages:
        name = source.relative_to(ROOT / "docs")
        text = source.read_text()
        target = (folder / name).with_suffix(".html")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page(next(headings(text))[1], to_html(text), "../index.html" if name.parent.name else "index.html"))
    (folder / "api.md").write_text(api_page())
    (folder / "api.html").write_text(page("The C++ interface", to_html(api_page()), "index.html"))
    shutil.copytree(ROOT / "docs/images", folder / "images")
    print(f"{len(pages) + 1} pages in {folder}; begin with {folder / 'index.html'}")


if __name__ == "__main__":
    main()
