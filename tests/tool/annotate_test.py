#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the sources that `stint annotate` shows: those that were built, and those that the user
asks for.

    annotate_test.py TOOL PROGRAM CASE

PROGRAM is annotate_program.c, which says that it was made of any source.
"""
import hashlib
import os
import random
import re
import sys

from cases import main, need, run

TOOL, PROGRAM = sys.argv[1:3]
SECRET = "root:$6$secret"
REFUSED = "is not shown: it is not the one that was built"


def content_of(data):
    return "%d %s" % (len(data), hashlib.sha256(data).hexdigest())


def record(folder, *sources, name="run.stint"):
    """A run of a program that was made of these: (path, content)."""
    file = folder / name
    run(PROGRAM, *(word for source in sources for word in source), STINT_FILE=file, STINT_CLOCK="tsc")
    return file


def annotate(*arguments, cwd=None, rc=0):
    return run(TOOL, "annotate", *arguments, cwd=cwd, rc=rc).stdout


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def case_as_built(folder):
    path = write(folder / "a.c", "int a;\n")
    run = record(folder, (path, content_of(b"int a;\n")))
    text = annotate(run)
    need("int a;" in text and "; the source" not in text, text)
    run = record(folder, ("a.c", content_of(b"int a;\n")), name="relative")
    need("int a;" in annotate(run, cwd=folder), "a relative path")
    need("cannot be read" in annotate(run, cwd="/"), "from another folder")


def case_lengths(folder):
    """Each length of a block of the hash, against Python's."""
    draw = random.Random(7)
    sources = []
    for length in [*range(0, 140), 1000, 65536]:
        data = bytes(draw.randrange(32, 127) for _ in range(length))
        path = folder / ("%d.c" % length)
        path.write_bytes(data)
        sources.append((path, content_of(data)))
    text = annotate(record(folder, *sources))
    need("; the source" not in text, text)


def case_others_are_not_shown(folder):
    """A run file names any file: its text stays where it is."""
    path = write(folder / "shadow", SECRET + "\n")
    changed = write(folder / "changed.c", "int b;\n")
    for content, why in [("-", "the run does not say what was built"),
                         (content_of(b"other"), REFUSED),
                         ("%d %s" % (len(SECRET) + 1, "0" * 64), REFUSED),
                         (content_of(SECRET.encode() + b"\n")[:-1], REFUSED), ("x", REFUSED)]:
        text = annotate(record(folder, (path, content)))
        need(SECRET not in text and why in text, content, text)
        annotate(record(folder, (path, content)), "--html", folder / "page.html")
        need(SECRET not in (folder / "page.html").read_text(), content)
    text = annotate(record(folder, (changed, content_of(b"int a;\n"))))
    need("int b;" not in text and REFUSED in text, text)
    # Two programs, or libraries, that were built from different sources of one name.
    both = record(folder, (changed, content_of(b"int b;\n")), (changed, content_of(b"int a;\n")))
    text = annotate(both)
    need("int b;" not in text and REFUSED in text, text)


def case_source(folder):
    path = write(folder / "new" / "a.c", "int changed;\n")
    run = record(folder, ("/built/a.c", content_of(b"int a;\n")))
    text = annotate(run, "--source", path.name, cwd=path.parent)
    need("int changed;" in text and "; the source is not the one that was built" in text, text)


def case_source_root(folder):
    root = folder / "root"
    write(root / "src" / "a.c", "int a;\n")
    write(root / "b.c", "int b;\n")
    run = record(folder, ("/built/project/src/a.c", content_of(b"int a;\n")),
                 ("../b.c", content_of(b"int old;\n")), (root / "b.c", "-"))
    text = annotate(run, "--source-root", root)
    need("int a;" in text and len(re.findall(r"(?m) 1  int b;$", text)) == 2, text)
    need(text.count("; the source is not the one that was built") == 1, text)
    text = annotate(run, "--source-root", folder / "none", "--source-root", root)
    need("int a;" in text, text)
    roots = ["--source-root=%s" % root] * 17
    annotate(run, *roots[:16])
    annotate(run, *roots, rc=2)


def case_page_over_a_source(folder):
    path = write(folder / "a.c", "int a;\n")
    run = record(folder, (path, content_of(b"int a;\n")))
    os.link(path, folder / "b.c")
    for page in path, folder / "b.c":
        annotate(run, "--html", page, rc=2)
        need(page.read_bytes() == b"int a;\n", "it is replaced")


def case_roots_are_not_left(folder):
    """A path leaves the roots neither by dots nor by symbolic links."""
    write(folder / "outside" / "secret", SECRET)
    root = folder / "root"
    root.mkdir()
    os.symlink(folder / "outside", root / "link")
    beside = write(folder / "root2" / "secret2", SECRET)
    run = record(folder, ("../outside/secret", "-"), ("link/secret", "-"), (folder / "outside" / "secret", "-"),
                 (beside, "-"))
    text = annotate(run, "--source-root", root, cwd=root)
    need(SECRET not in text and text.count("; the source is not shown") == 4, text)


def case_page(folder):
    """The page lists the sources whose text is in it."""
    path = write(folder / "a<b.c", "int a;\n")
    other = write(folder / "other.c", SECRET)
    run = record(folder, (path, content_of(b"int a;\n")), (other, content_of(b"")))
    annotate(run, "--html", folder / "page.html")
    page = (folder / "page.html").read_text()
    listed = page[page.index("Sources in this page"):]
    need("a&lt;b.c, 7 bytes" in listed and "other.c" not in listed and listed.count("<li>") == 1, listed)
    need(SECRET not in page, page)


def case_hottest(folder):
    """The hottest of several files comes first, and before the files a list of the hottest lines of
    all."""
    sources = [(write(folder / name, "  int %s;\n" % name[:-2]), "-") for name in ("a.c", "hot.c", "z.c")]
    run = record(folder, *sources)
    text = annotate(run, "--source-root", folder)
    lines = text.split("\n")
    need(re.match(r"5\d\d\.\d ms in 3 lines of 3 files$", lines[0]), lines)
    need(re.match(r" +5\d\d\.\d ms +(100\.0|99\.\d) +.*/hot\.c$", lines[2]), lines)
    hottest = lines[lines.index("the hottest lines") + 2]
    need(re.match(r" +5\d\d\.\d ms +(100\.0|99\.\d) +.*/hot\.c:1  int hot;$", hottest), lines)
    heads = re.findall(r"(?m)^\S*/(\w+)\.c: \S+ \w+ in 1 lines", text)
    need(heads[0] == "hot" and sorted(heads) == ["a", "hot", "z"], heads)
    # There is no such list for one file.
    text = annotate(run, "--source", folder / "a.c")
    need("the hottest lines" not in text and "int a;" in text, text)
    annotate(run, "--source-root", folder, "--html", folder / "page.html")
    page = (folder / "page.html").read_text()
    links = re.findall(r'<a href="#(\w+)">[^<]*/(\w+)\.c(?::1)?</a>', page)
    need([name for _, name in links].count("hot") == 2 and links[0][1] == "hot", links)
    need(all("id=%s>" % link in page or "id=%s " % link in page for link, _ in links), links, page)
    line = next(link for link, name in links if "l" in link and name == "hot")
    need('getElementById("%s")' % line in page, "opens at the hottest line", page)
    need('<tr id=%s style="--h:1.00"' % line in page and "<td class=heat>" in page, page)


def case_merge(folder):
    path = write(folder / "a.c", "int a;\n")
    one = record(folder, (path, content_of(b"int a;\n")), name="1")
    two = record(folder, (path, content_of(b"int a;\n")), name="2")
    out = folder / "all.stint"
    run(TOOL, "merge", "-o", out, one, two)
    text = annotate(out)
    need("int a;" in text and "; the source" not in text, text)


if __name__ == "__main__":
    sys.exit(main(globals(), sys.argv[3]))
