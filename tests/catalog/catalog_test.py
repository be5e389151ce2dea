# SPDX-License-Identifier: Apache-2.0
"""stint_catalog of the installed package, and `stint report --uncovered`.

One case a run, named on the command line; `build` comes first and builds tests/catalog/project.
"""

import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "package"))
sys.path.insert(0, str(HERE.parents[1] / "gen" / "instrument"))

import clang_ast
import package
from package import expect, run

CASES = package.CASES
CASES.clear()


def case(function):
    CASES[function.__name__] = function
    return function


def skip(why):
    print("skipped:", why)
    sys.exit(package.SKIP)


def folder_of(place):
    return place.work / "build" / "catalog"


def catalog_of(place):
    path = folder_of(place) / "timed.catalog.json"
    if not path.exists():
        skip("no catalogue: no clang")
    return json.loads(path.read_text(encoding="utf-8"))


def line_of(name, text):
    lines = (HERE / "project" / name).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def uncovered(place, *arguments, status=0):
    """The lines that the tool prints, on both streams."""
    stint = next(place.prefix("shared").glob("bin/stint"))
    output = run(stint, "report", "--uncovered", *arguments, fails=status != 0)
    return output.splitlines()


def record(place, name, *arguments, env=None):
    file = place.work / "build" / name
    file.unlink(missing_ok=True)
    run(place.program(folder_of(place), "timed"), *arguments,
        env={"STINT_FILE": str(file), **(env or {})})
    return file


@case
def build(place):
    try:
        clang_ast.find_clang()
    except clang_ast.AstError as error:
        skip(error)
    folder, _ = place.configure(HERE / "project", "catalog", "-DWITH_TIMER=ON",
                                "-DCXX=%d" % bool(place.options.cxx),
                                "-DCMAKE_PREFIX_PATH=%s" % place.prefix("shared"))
    place.make(folder)
    expect("not part of all", (folder / "timed.catalog.json").exists(), False)
    output = place.make(folder, "--target", "timed_catalog")
    (folder / "output.txt").write_text(output, encoding="utf-8")
    expect("again", "Listing" in place.make(folder, "--target", "timed_catalog"), False)


@case
def sites(place):
    """Each site once, as the compiler sees it."""
    listed = [site for site in catalog_of(place)["sites"] if not site["file"].endswith(".cpp")]
    found = sorted((s["name"] or "", s["function"], s["kind"], s["level"], s["set"] or "")
                   for s in listed)
    expect("sites", found, sorted([
        ("main", "main", "scope", 0, ""),
        ("never \"quoted\" ü", "main", "scope", 0, ""),
        ("inline", "run_inline", "scope", 0, ""),
        ("step", "run_timed", "scope", 0, ""),
        ("step", "run_timed", "scope", 0, ""),
        ("step", "run_timed", "scope", 0, "other"),
        ("timed.macro", "run_timed", "scope", 0, ""),
        ("timed.macro", "run_timed", "scope", 0, ""),
        ("chosen", "run_timed", "scope", 1, ""),
        ("", "run_timed", "scope", 0, ""),
        ("", "run_timed", "scope", 2, ""),
        ("op", "run_timed", "scope", 0, ""),
        ("run_timed", "run_timed", "scope", 0, ""),
        ("gpu", "run_timed", "gpu", 0, ""),
        ("interval", "run_timed", "interval", 0, ""),
        ("mark", "run_timed", "mark", 0, ""),
        ("value", "run_timed", "value", 0, "")]))
    step = [s for s in listed if s["name"] == "step"][0]
    expect("line", step["line"], line_of("timed.c.in", "/* STEP */"))


@case
def sites_cxx(place):
    listed = [site for site in catalog_of(place)["sites"] if site["file"].endswith(".cpp")]
    if not listed:
        skip("no C++ compiler")
    found = sorted((s["name"], s["function"]) for s in listed)
    expect("sites", found, sorted([("template", "space::box::get"), ("cxx", "run_cxx"),
                                   ("cxx", "run_cxx"), ("cxx", "run_cxx"),
                                   ("run_cxx", "run_cxx")]))


@case
def findings(place):
    """Shadowed scopes, duplicate names and names made at run time, also in the build's output."""
    catalog = catalog_of(place)
    shadowed = [(s["name"], s["line"], s["inside"].rsplit(":", 1)[1])
                for s in catalog["shadowed"] if s["file"].endswith(".c")]
    expect("shadowed", shadowed,
           [("step", line_of("timed.c.in", "SHADOWED"), str(line_of("timed.c.in", "/* STEP */")))])
    inner = [s["name"] for s in catalog["shadowed"] if s["file"].endswith(".cpp")]
    if any(site["file"].endswith(".cpp") for site in catalog["sites"]):
        expect("a lambda is called at another time", inner, ["cxx"])
    names = sorted(d["name"] for d in catalog["duplicates"])
    expect("duplicates", [name for name in names if name != "cxx"], ["step", "timed.macro"])
    expect("not literal", [s["line"] for s in catalog["not_literal"]],
           [line_of("timed.c.in", "REGISTER_TIMER_DYNAMIC"),
            line_of("timed.c.in", "REGISTER_TIMER_OP")])
    output = (folder_of(place) / "output.txt").read_text(encoding="utf-8")
    expect("printed", re.search(r"timed\.c:\d+: shadowed: 'step' is opened inside itself", output)
           is not None, True)


@case
def never_reached(place):
    """The list is empty of what ran; runs add up; a level that is off is not reached."""
    catalog = folder_of(place) / "timed.catalog.json"
    catalog_of(place)
    first = record(place, "catalog1.stint")
    lines = [line for line in uncovered(place, catalog, first) if ".cpp:" not in line]
    names = sorted(line.split(": ", 1)[1] for line in lines[1:-1])
    expect("one run", names, ["chosen in run_timed", 'never "quoted" ü in main',
                              "step in run_timed", "step in run_timed"])
    expect("last", lines[-1], "2 sites with a name made at run time: not compared")
    second = record(place, "catalog2.stint", "argument", env={"STINT_LEVEL": "1"})
    lines = [line for line in uncovered(place, catalog, first, second) if ".cpp:" not in line]
    expect("both", [line.split(": ", 1)[1] for line in lines[1:-1]], ['never "quoted" ü in main'])
    total = re.match(r"(\d+) of (\d+) sites never reached$", lines[0])
    timed = [s for s in catalog_of(place)["sites"]
             if s["name"] and s["kind"] not in ("mark", "value")]
    expect("total", int(total.group(2)), len(timed))


@case
def damaged(place):
    """One line for a file that is no catalogue, at any byte; nothing is read past its end."""
    whole = json.dumps(catalog_of(place)).encode()
    first = record(place, "catalog1.stint")
    file = place.work / "build" / "damaged.json"
    cut = [whole[:n] for n in (0, 1, 20, len(whole) // 2, len(whole) - 1)]
    other = [b"[]", b"{}", b'{"schema": "other"}', b"[" * 100000, b'{"a":' * 1000,
             b'{"schema": "stint.catalog/1", "sites": [{"name": "\\ud800"}]}',
             b'{"schema": "stint.catalog/1", "sites": [{"name": "x"}]}',
             b'{"schema": "stint.catalog/1", "sites": [{"file": "f", "line": -1}]}',
             b'{"schema": "stint.catalog/1"} more', whole.replace(b'"line": ', b'"line": 1e')]
    for data in cut + other:
        file.write_bytes(data)
        lines = uncovered(place, file, first, status=2)
        expect(str(data[:60]), len(lines) == 1 and "not a catalogue of stint_catalog" in lines[0],
               True)
    file.write_text('{"x": [1, {"y": [null, true, -1.5e3, "\\u0041\\n"]}], "schema": '
                    '"stint.catalog/1", "sites": [{"kind": "scope", "name": "a\\ud83d\\ude00\\"",'
                    ' "file": "\\/d\\/f.c", "line": 3, "other": {}}]}')
    expect("any JSON", uncovered(place, file, first),
           ["1 of 1 sites never reached", '/d/f.c:3: a\U0001F600"'])
    lines = uncovered(place, "/none", first, status=2)
    expect("missing", lines, ["stint: /none: No such file or directory"])
    lines = uncovered(place, "/", first, status=2)
    expect("a folder", lines, ["stint: /: not a regular file"])


if __name__ == "__main__":
    package.main()
