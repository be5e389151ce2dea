#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The documents as a static site with search, by mkdocs with its theme material.

    make_site.py FOLDER          makes FOLDER/site; exit status 77 without mkdocs or the theme
    make_site.py FOLDER --check  and follows every link and anchor in it, and looks at the search

The pages are those of docs/, README.md as the first one, and the others of OUTER. The menu is
what docs/README.md lists. mkdocs reads another Markdown than GitHub, so copies are changed:
a list gets an empty line before it and its continuation lines four columns, links that lead out of
the pages become text. A page that was merged into another one leads there (MOVED).
"""

import argparse
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
OUTER = {"README.md": "index.md", "CHANGELOG.md": "changelog.md",
         "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md",
         "CODE_OF_CONDUCT.md": "conduct.md", "tests/README.md": "tests.md"}
INDEX = "contents.md"  # docs/README.md
# Pages of earlier versions, and what has their contents now. A link to one still leads there.
MOVED = {
    "amalgamation": "install.html#as-two-files-in-your-sources",
    "analysis": "tests.html#fuzzing",
    "architecture": "design.html#in-five-minutes",
    "columns": "reports.html#columns",
    "migrate_caliper": "migrate.html#caliper",
    "migrate_gptl": "migrate.html#gptl",
    "migrate_nvtx": "migrate.html#nvtx",
    "migrate_tracy": "migrate.html#tracy",
    "nvtx": "ranges.html#nvtx",
    "opencl": "gpu.html#opencl",
    "options": "tool.html#options",
    "platforms": "stability.html#platforms",
}
MOVED_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>stint</title>
<meta http-equiv="refresh" content="0; url={0}"><link rel="canonical" href="{0}"></head>
<body><p>This page is now a part of <a href="{0}">{0}</a>.</p></body></html>
"""
# The theme's links are too dark on its dark background, and it breaks names in tables anywhere.
STYLE = ("[data-md-color-scheme='slate'] { --md-typeset-a-color: #9fa8ff; }\n"
         ".md-typeset table code { word-break: normal; overflow-wrap: break-word; }\n")


# ---- The sources --------------------------------------------------------------------------------

def site_name(page, target):
    """The name of a link's target on the site; None if the target is not a part of it."""
    path = (page.parent / target).resolve()
    if path == DOCS / "README.md":
        return INDEX
    for outer, on_site in OUTER.items():
        if path == ROOT / outer:
            return on_site
    if DOCS in path.parents and path.exists():
        return str(path.relative_to(DOCS))
    return None


def convert_link(page, match):
    text, target = match.group(1), match.group(2)
    if re.match(r"[a-z]+:|#", target):
        return match.group(0)
    name, _, anchor = target.partition("#")
    on_site = site_name(page, name)
    if not on_site:
        return text
    return "[%s](%s%s)" % (text, on_site, "#" + anchor if anchor else "")


def convert_line(page, line):
    """The links of a line; their text may be `code`."""
    return re.sub(r"\[((?:`[^`]*`|[^\[\]`])*)\]\(([^()\s]*)\)",
                  lambda match: convert_link(page, match), line)


def convert(page):
    """The page for mkdocs: its text, with links and the indent of lists changed."""
    out, in_fence, in_list, shift, before = [], False, False, 0, ""
    text = page.read_text("utf-8").replace('src="docs/', 'src="')
    for line in text.split("\n"):
        if in_fence:
            out.append(" " * shift + line if line else line)
            in_fence = not re.match(r" *```$", line)
            continue
        item = re.match(r"(- |\d+\. )", line)
        if item and before and not in_list:
            out.append("")
        if item:
            in_list = True
        elif line and not line.startswith(" ") and not before:
            in_list = False  # a paragraph after an empty line
        indent = len(line) - len(line.lstrip(" "))
        shift = 4 - indent if in_list and 2 <= indent < 4 else 0
        out.append(" " * shift + convert_line(page, line))
        in_fence = bool(re.match(r" *```", line))
        before = line
    return "\n".join(out)


def menu():
    """The headings and links of docs/README.md."""
    found = [{"Overview": "index.md"}, {"Contents": INDEX}]
    section = None
    for line in (DOCS / "README.md").read_text("utf-8").split("\n"):
        heading = re.match(r"## (.*)", line)
        if heading:
            section = []
            found.append({heading.group(1): section})
        for text, target in re.findall(r"\[([^\]]*)\]\(([^)#]*)\)", line):
            name = site_name(DOCS / "README.md", target)
            if section is not None and name and name.endswith(".md"):
                section.append({text[0].upper() + text[1:]: name})
    return found


def configuration(folder):
    return {
        "site_name": "stint",
        "docs_dir": str(folder / "source"),
        "site_dir": str(folder / "site"),
        "use_directory_urls": False,  # pages open from a folder, too
        "theme": {"name": "material", "font": False, "features": ["navigation.sections"],
                  "palette": [{"scheme": "default", "media": "(prefers-color-scheme: light)"},
                              {"scheme": "slate", "media": "(prefers-color-scheme: dark)"}]},
        "extra_css": ["site.css"],
        "markdown_extensions": ["tables", "toc", "pymdownx.superfences"],
        "plugins": ["search"],
        "nav": menu(),
    }


def write_sources(folder):
    shutil.rmtree(folder / "source", ignore_errors=True)
    shutil.copytree(DOCS, folder / "source", ignore=shutil.ignore_patterns("*.md"))
    for page in DOCS.glob("*.md"):
        name = INDEX if page.name == "README.md" else page.name
        (folder / "source" / name).write_text(convert(page), "utf-8")
    for name, on_site in OUTER.items():
        (folder / "source" / on_site).write_text(convert(ROOT / name), "utf-8")
    (folder / "source" / "site.css").write_text(STYLE, "utf-8")
    # JSON is YAML.
    (folder / "mkdocs.yml").write_text(json.dumps(configuration(folder), indent=2), "utf-8")


def build(folder):
    if not shutil.which("mkdocs"):
        print("site: there is no mkdocs: packages mkdocs and mkdocs-material")
        sys.exit(77)
    done = subprocess.run(["mkdocs", "build", "--clean", "--config-file",
                           str(folder / "mkdocs.yml")],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, check=False)
    if "Unrecognised theme name: 'material'" in done.stdout:
        print("site: mkdocs has no theme material: package mkdocs-material")
        sys.exit(77)
    if done.returncode:
        sys.exit("site: mkdocs failed\n" + done.stdout)
    for name, target in MOVED.items():
        page = folder / "site" / (name + ".html")
        if page.exists():
            sys.exit("site: %s is a page, and in MOVED" % page.name)
        page.write_text(MOVED_PAGE.format(target), "utf-8")


# ---- Check --------------------------------------------------------------------------------------

class Page(html.parser.HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.outside = [], set(), []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors.add(values.get("id"))
        for key in ("href", "src"):
            if values.get(key):
                self.links.append(values[key])
        if tag in ("script", "link", "img"):
            self.outside += [v for v in (values.get("src"), values.get("href"))
                             if v and re.match("(https?:)?//", v)]


def failures(site):
    pages = {path: Page(path) for path in site.glob("*.html") if path.name != "404.html"}
    expected = len(list(DOCS.glob("*.md"))) + len(OUTER) + len(MOVED)
    if len(pages) != expected:
        yield "%d pages, not %d" % (len(pages), expected)
    count = 0
    for path, page in pages.items():
        for link in page.outside:
            yield "%s loads %s" % (path.name, link)
        for link in page.links:
            if re.match(r"[a-z]+:|//", link):
                continue
            count += 1
            name, _, anchor = urllib.parse.unquote(link).partition("#")
            target = (path.parent / name).resolve() if name else path
            if target.is_dir():
                target = target / "index.html"
            if not target.exists():
                yield "%s: link to %s: no such file" % (path.name, link)
            elif anchor and target in pages and anchor not in pages[target].anchors:
                yield "%s: link to %s: no such heading" % (path.name, link)
    if count < 500:
        yield "only %d links found" % count
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    for word in ("REGISTER_TIMER_INFO", "STINT_FILE", "percentile"):
        if not any(word in entry["text"] for entry in index["docs"]):
            yield "the search does not find %s" % word


def check(site):
    failed = list(failures(site.resolve()))
    for line in failed:
        print("FAILED:", line)
    sys.exit(bool(failed))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    write_sources(folder)
    build(folder)
    if options.check:
        check(folder / "site")


if __name__ == "__main__":
    main()
