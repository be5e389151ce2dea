#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures of the documents, docs/pictures/: real output of real programs.

    pictures.py draw [terminal|report] --tool STINT --samples FOLDER
    pictures.py check

draw runs the sample `transformer`. The terminal is an SVG made here from what the tool prints. The
report is a screenshot of the HTML export by chromium, stored in 256 colours if Python has Pillow
(package python3-pil). `./dev pictures` builds and draws both; do it on an idle machine. check
compares sizes and formats, and finds the pictures in README.md.
"""

import argparse
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PICTURES = ROOT / "docs" / "pictures"
TERMINAL = PICTURES / "terminal.svg"
REPORT = PICTURES / "report.png"
MAX_BYTES = 300000  # of all pictures together
COLUMNS = 106
REPORT_SIZE = (1280, 1590)  # pixels: down to the timeline
RUNS = 5  # of each side of the comparison

# The commands that the terminal shows. The first one is the run of RUNS with the least disturbance;
# the report is of that run.
SHOWN = [
    "STINT_FILE=run.stint ./transformer README.md",
    "stint report --sort self --top 6 run.stint",
    "stint diff --filter 'slice,matmul*,attention*,token' before*.stint -- fixed*.stint",
]


def environment(tool):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("STINT_")}
    kept.update(LC_ALL="C.UTF-8", TERM="xterm", COLUMNS=str(COLUMNS), STINT_WAITS="0",
                PATH=str(tool.parent) + ":" + os.environ["PATH"])
    kept.pop("NO_COLOR", None)
    return kept


def run(command, folder, env):
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True, check=False)
    if done.returncode:
        sys.exit("pictures: %s\n%s" % (command, done.stdout))
    return done.stdout


def wall_ns(folder, env, file):
    """The wall time of a run, from the header of its table."""
    head = run("stint report --color never %s" % file, folder, env).split("\n")[0]
    number, unit = re.search(r", ([\d.]+) (ns|us|ms|s) wall", head).groups()
    return float(number) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]


def record(folder, env):
    """RUNS of each side, in turn, with a trace; the shortest of the first side is the run shown."""
    for number in range(RUNS):
        for name, arguments in (("before", ""), ("fixed", "--fixed ")):
            run("STINT_FILE=%s-%d.stint STINT_TRACE=16M ./transformer %sREADME.md" %
                (name, number, arguments), folder, env)
    best = min(sorted(folder.glob("before-*.stint")), key=lambda f: wall_ns(folder, env, f.name))
    shutil.copy(best, folder / "run.stint")


# ---- The terminal -------------------------------------------------------------------------------

STYLE = """text { font: 13px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace;
  fill: #d6dae0; white-space: pre; }
.bold { font-weight: bold; fill: #ffffff; } .dim { fill: #7d8590; } .typed { fill: #7ee787; }"""
CELL_WIDTH, LINE_HEIGHT, MARGIN = 7.83, 18, 14  # pixels, of that font


def spans(line):
    """(class or "", text) of a line with the escape sequences for bold and dim."""
    style = ""
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if part.startswith("\x1b"):
            style = {"\x1b[1m": "bold", "\x1b[2m": "dim"}.get(part, "")
        elif part:
            yield style, part


def svg_of(lines):
    width = round(COLUMNS * CELL_WIDTH + 2 * MARGIN)
    height = len(lines) * LINE_HEIGHT + 2 * MARGIN
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">' %
           (width, height),
           "<title>stint report and stint diff in a terminal</title>",
           "<style>%s</style>" % STYLE,
           '<rect width="100%" height="100%" rx="8" fill="#0d1117"/>']
    for number, line in enumerate(lines):
        y = MARGIN + (number + 1) * LINE_HEIGHT - 5
        cells = "".join('<tspan%s>%s</tspan>' % (' class="%s"' % c if c else "", escape(t))
                        for c, t in line)
        plain = sum(len(text) for _, text in line)
        if plain:  # textLength: the columns align with any font
            out.append('<text x="%d" y="%d" textLength="%.1f" lengthAdjust="spacingAndGlyphs" '
                       'xml:space="preserve">%s</text>' % (MARGIN, y, plain * CELL_WIDTH, cells))
    return "\n".join(out + ["</svg>", ""])


def draw_terminal(folder, env):
    lines = []
    for command in SHOWN:
        if lines:
            lines.append([])
        lines.append([("dim", "$ "), ("typed", command)])
        shown = command
        if command.startswith("stint report"):
            shown += " --color always"
        if command.startswith("STINT_FILE"):
            continue  # that run was made above, and prints nothing about timers
        lines += [list(spans(line)) for line in run(shown, folder, env).rstrip("\n").split("\n")]
    TERMINAL.write_text(svg_of(lines), "utf-8")


# ---- The report ---------------------------------------------------------------------------------

def draw_report(folder, env):
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = next((name for name in names if shutil.which(name)), None)
    if not browser:
        sys.exit("pictures: the report needs chromium")
    run("stint export run.stint --to html -o run.html", folder, env)
    shot = folder / "report.png"
    subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                    "--virtual-time-budget=3000", "--window-size=%d,%d" % REPORT_SIZE,
                    "--user-data-dir=%s" % (folder / "profile"), "--screenshot=%s" % shot,
                    (folder / "run.html").as_uri()],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120, check=True)
    store_small(shot)


def store_small(shot):
    try:
        from PIL import Image
    except ImportError:
        shutil.copyfile(shot, REPORT)
        return
    picture = Image.open(shot).convert("RGB")
    picture.quantize(256, method=Image.MAXCOVERAGE).save(REPORT, optimize=True)


def draw(options):
    tool = pathlib.Path(options.tool).resolve()
    env = environment(tool)
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="stint-pictures-") as name:
        folder = pathlib.Path(name)
        (folder / "transformer").symlink_to(pathlib.Path(options.samples).resolve() / "transformer")
        shutil.copy(ROOT / "README.md", folder)
        record(folder, env)
        if options.which in (None, "terminal"):
            draw_terminal(folder, env)
        if options.which in (None, "report"):
            draw_report(folder, env)
    check()


# ---- Check --------------------------------------------------------------------------------------

def failures():
    readme = (ROOT / "README.md").read_text("utf-8")
    for picture in (TERMINAL, REPORT):
        name = picture.relative_to(ROOT)
        if not picture.exists():
            yield "%s: does not exist: ./dev pictures" % name
        elif str(name) not in readme:
            yield "%s: is not in README.md" % name
    total = sum(f.stat().st_size for f in PICTURES.iterdir())
    if total > MAX_BYTES:
        yield "docs/pictures: %d bytes, more than %d" % (total, MAX_BYTES)
    if REPORT.exists():
        head = REPORT.read_bytes()[:24]
        if head[:8] != b"\x89PNG\r\n\x1a\n" or struct.unpack(">2I", head[16:24]) != REPORT_SIZE:
            yield "%s: not a PNG file of %d x %d" % ((REPORT.name,) + REPORT_SIZE)
    if TERMINAL.exists():
        text = "\n".join("".join(t.itertext()) for t in xml.etree.ElementTree.parse(TERMINAL).iter()
                         if t.tag.endswith("}text"))
        for command in SHOWN:
            if "$ " + command not in text:
                yield "%s: does not show '%s': ./dev pictures" % (TERMINAL.name, command)
        for word in ("p99", "FASTER", "slice"):
            if word not in text:
                yield "%s: does not show '%s'" % (TERMINAL.name, word)


def check():
    failed = list(failures())
    for line in failed:
        print("FAILED:", line)
    sys.exit(bool(failed))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=["draw", "check"])
    parser.add_argument("which", nargs="?", choices=["terminal", "report"])
    parser.add_argument("--tool", help="the program stint")
    parser.add_argument("--samples", help="the folder of the built samples")
    options = parser.parse_args()
    if options.action == "check":
        check()
    draw(options)


if __name__ == "__main__":
    main()
