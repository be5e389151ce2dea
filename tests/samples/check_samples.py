#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_samples.py CASE PROGRAMS: runs samples from a folder and checks what they print and write.

Exit 0 if the case holds, 77 if it needs a GPU and there is none. The programs are
sample_<name>_on and sample_<name>_off.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples")
DRAWING = os.path.join(SOURCE, "data", "stopwatch.ppm")
ROW = r"^Stat={} +{}total=([0-9.]+) +avg=[0-9.]+ +max=[0-9.]+ +min=[0-9.]+ +count=([0-9]+) *$"


class Run:
    """A finished program: status, out, err."""

    def __init__(self, command, **environment):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("STINT_")}
        clean["STINT_WAITS"] = "0"
        clean.update(environment)
        done = subprocess.run(command, env=clean, capture_output=True, check=False)
        self.command = " ".join(command)
        self.status = done.returncode
        self.out = done.stdout.decode("utf-8", "replace")
        self.err = done.stderr.decode("utf-8", "replace")
        sys.stdout.write(self.out + self.err)  # for ctest -V

    def expect(self, status):
        check(self.status == status, f"{self.command}: exit {self.status}, not {status}")
        return self

    def silent(self):
        check(self.err == "", f"{self.command}: nothing was to be printed on stderr")
        return self

    def rows(self, name, thread=False):
        """(total in ms, count) of each legacy row of that name."""
        row = ROW.format(re.escape(name), "TID=[0-9]+ +" if thread else "")
        found = re.findall(row, self.err, re.MULTILINE)
        return [(float(total), int(count)) for total, count in found]

    def expect_row(self, name, count):
        rows = self.rows(name)
        check(len(rows) == 1 and rows[0][1] == count, f"one row {name} with count={count}: {rows}")
        return rows[0][0]


def check(holds, message):
    if not holds:
        sys.exit("FAILED: " + message)


def program(name, switch="on"):
    return os.path.join(sys.argv[2], f"sample_{name}_{switch}")


def profiler(_):
    run = Run([program("test_GpuProfiler")]).expect(0)
    check("[ RUN      ] Profiler.BilinearFwdBwd\n" in run.out, "the RUN line")
    passed = r"^\[       OK \] Profiler.BilinearFwdBwd \(\d+ ms\)$"
    check(re.search(passed, run.out, re.M), "the OK line")
    sizes = "numSamples = 10, channels = 16, imgSizeX = 64, imgSizeY = 64"
    line = f'Enable GPU Profiler Stat: [testBilinearFwdBwd] "{sizes}"\n'
    check(run.err.count(line) == 1, "one line of the capture range")
    check("======= StatSet: [GlobalStatInfo] status ======\n" in run.err, "the table's header")
    check("\n" + "-" * 50 + "\n" in run.err, "the table's closing line")
    total = run.expect_row("testBilinearFwdBwd", 1)
    inner = sum(run.expect_row(name, 1) for name in ("forward", "backward", "reference"))
    check(0 < inner <= total, f"the parts, {inner} ms, lie within the whole, {total} ms")
    if "no GPU: CPU half only (" not in run.out:
        run.expect_row("GPU forward", 1)
        run.expect_row("GPU backward", 1)
        run.expect_row("copy to GPU", 3)
        run.expect_row("copy from GPU", 2)


def profiler_off(_):
    run = Run([program("test_GpuProfiler", "off")]).expect(0).silent()
    check("[       OK ] Profiler.BilinearFwdBwd (" in run.out, "the OK line")


def skip_without_gpu(run, sample):
    if run.status == 77:
        check(run.out == "" and run.err.startswith("no GPU: ") and run.err.count("\n") == 1,
              "one line says that there is no GPU")
        off = Run([program(sample, "off")]).expect(77)
        check(off.err == run.err, "off: the same line")
        sys.exit(77)


def streams(_):
    """4 streams, 12 steps, 5 launches of a graph that was captured once, of 3 scopes."""
    run = Run([program("streams")], STINT_REPORT="legacy")
    skip_without_gpu(run, "streams")
    run.expect(0)
    check(run.out == "0 of 16777216 values are wrong\n", "the values")
    for name, count in (("copy in", 49), ("saxpy", 49), ("copy out", 49), ("step", 12),
                        ("wait", 12), ("graph.capture", 1), ("graph.launch", 5)):
        run.expect_row(name, count)
    line = 'Enable GPU Profiler Stat: [streams] "without the warm-up"\n'
    check(run.err.count(line) == 1, "one line of the capture range")
    captured = "3 GPU scopes with CPU time only: their stream was being captured into a graph"
    check(captured in run.err, "the footer counts the scopes of the capture")
    check("nothing is captured" not in run.err, "the capture range reached the driver")
    off = Run([program("streams", "off")]).expect(0).silent()
    check(off.out == run.out, "off: same output")


def copies(_):
    """1200 copies in 200 steps, or 600, and the profiler says so, of CUPTI or without it."""
    for more, count in (([], 1200), (["--fewer"], 600)):
        run = Run([program("copies"), *more])
        skip_without_gpu(run, "copies")
        run.expect(0)
        check(run.out == "0 of 203 steps are wrong\n", "the values")
        check("Profiling Report" in run.err, "the fluid report")
        seen = re.search(r"^GpuMemcpy +Calls: (\d+) ", run.err, re.M)
        if "no GPU activities: " not in run.err:
            check(seen and int(seen.group(1)) == count, f"{count} copies")
        off = Run([program("copies", "off"), *more]).expect(0).silent()
        check(off.out == run.out, "off: same output")


def quickstart(_):
    run = Run([program("quickstart")]).expect(0)
    check(re.search(r"^3\.14159\d+$", run.out, re.M), "pi")
    check(run.expect_row("step", 10) >= run.expect_row("pi_of", 10), "step holds pi_of")
    check(Run([program("quickstart", "off")]).expect(0).silent().out == run.out, "off: same output")


def own_table(_):
    run = Run([program("own_table")]).expect(0).silent()
    rows = re.findall(r"(?m)^(\w+) +(\d+) +([\d.]+) +([\d.]+)$", run.out)
    check([row[:2] for row in rows] == [("step", "100"), ("work", "200")], f"two rows: {rows}")
    check(all(float(p95) <= float(total) for _, _, total, p95 in rows), f"p95 above total: {rows}")
    check("\nstep: 100\n  work: 200\n" in run.out, "the tree")
    buckets = re.findall(r"(?m)^ *(\d+) ns +(\d+)$", run.out)
    check(sum(int(calls) for _, calls in buckets) == 100, f"a histogram of 100 calls: {buckets}")
    off = Run([program("own_table", "off")]).expect(0).silent()
    checksum_line = r"checksum (\d+)\n$"
    check("0 rows" in off.out, "off: no rows")
    check(re.search(checksum_line, off.out)[1] == re.search(checksum_line, run.out)[1], "checksum")


def opencl(_):
    """Steps on any OpenCL device, each measured on its queue; the warm-up is left out."""
    run = Run([program("opencl"), "5"], STINT_FILE="")
    skip_without_gpu(run, "opencl")
    run.expect(0)
    for name in ("step", "copy in", "saxpy"):
        row = re.search(r"^ *%s +5 .* 5 " % name, run.err, re.MULTILINE)
        check(row, f"a row {name} with 5 calls and 5 GPU times")
    off = Run([program("opencl", "off"), "5"]).expect(0).silent()
    check(off.out == "", "nothing is printed with timers off")


def quickstart_cpp(_):
    run = Run([program("quickstart_cpp")]).expect(0)
    check("======= StatSet: [shops] status ======\n" in run.err, "the second set's table")
    run.expect_row("day", 7)
    run.expect_row("serve bakery", 7)
    run.expect_row("serve bank", 7)
    off = Run([program("quickstart_cpp", "off")]).expect(0).silent()
    check(off.out == run.out, "off: same output")


def openmp(_):
    run = Run([program("openmp")], OMP_NUM_THREADS="2").expect(0)
    rows = run.rows("row", thread=True)
    check(len(rows) == 2, f"a row a thread: {rows}")
    check(sum(count for _, count in rows) == 512, f"512 calls in all: {rows}")
    off = Run([program("openmp", "off")]).expect(0).silent()
    check(off.out == run.out, "off: same output")


def read_ppm(path):
    with open(path, "rb") as file:
        magic, size, maximum, pixels = file.read().split(b"\n", 3)
    check((magic, maximum) == (b"P6", b"255"), f"{path} is a PPM")
    width, height = map(int, size.split())
    check(len(pixels) == width * height * 3, f"{path} is complete")
    return width, height, pixels


def picture(folder):
    result = os.path.join(folder, "doubled.ppm")
    run = Run([program("bilinear"), DRAWING, result]).expect(0)
    psnr = re.search(r"against the reference: (identical|PSNR ([0-9.]+) dB)\n", run.out)
    check(psnr, "the comparison with the reference")
    check(psnr.group(1) == "identical" or float(psnr.group(2)) >= 60, "PSNR of 60 dB or more")
    for stage, count in (("read", 1), ("double", 1), ("interpolate", 3), ("write", 1)):
        run.expect_row(stage, count)
    width, height, pixels = read_ppm(DRAWING)
    new_width, new_height, doubled = read_ppm(result)
    check((new_width, new_height) == (2 * width, 2 * height), "twice the size")
    # The expected picture by the definition alone: even points are those of the picture, odd ones
    # lie half way, the edge repeats.
    row = width * 3
    for y in range(0, height, 7):
        for at in range(y * row, (y + 1) * row):
            x, colour = divmod(at - y * row, 3)
            new = 2 * y * 2 * row + 2 * x * 3 + colour
            right = pixels[at + 3] if x + 1 < width else pixels[at]
            check(doubled[new] == pixels[at], f"point {x} {y} is kept")
            half = (pixels[at] + right + 1) // 2
            check(doubled[new + 3] == half, f"right of {x} {y}: half way")
    off = Run([program("bilinear", "off"), DRAWING, result]).expect(0).silent()
    check(off.out == run.out and read_ppm(result)[2] == doubled, "off: same result")


def drawing(folder):
    again = os.path.join(folder, "again.ppm")
    Run([sys.executable, "-B", os.path.join(SOURCE, "data", "draw.py"), again]).expect(0)
    with open(again, "rb") as drawn, open(DRAWING, "rb") as kept:
        check(drawn.read() == kept.read(), "draw.py draws the picture that is kept")


BAD_PICTURES = {
    "empty": b"",
    "one byte": b"P",
    "text": b"hello, world\n",
    "ascii PPM": b"P3\n1 1\n255\n1 2 3\n",
    "grey": b"P5\n1 1\n255\n1",
    "no size": b"P6\n",
    "one number": b"P6\n3\n",
    "endless comment": b"P6\n# 1 1\n255\n",
    "zero width": b"P6\n0 5\n255\n",
    "negative": b"P6\n-1 5\n255\nabcdefghijklmno",
    "too large": b"P6\n4194304 2\n255\nabc",
    "huge number": b"P6\n99999999999999999999 99999999999999999999\n255\nabc",
    "16 bits": b"P6\n1 1\n65535\nabcdef",
    "seven bits": b"P6\n1 1\n127\nabc",
    "no maximum": b"P6\n1 1\n",
    "cut short": b"P6\n2 2\n255\nabcdefghijk",
    "letters": b"P6\n2 x\n255\nabcdefghijkl",
}


def refused(source, result):
    run = Run([program("bilinear"), source, result]).expect(1)
    lines = run.err.splitlines()
    check(len(lines) == 1 and lines[0].startswith("bilinear: "), f"{source}: one line, not {lines}")
    check(run.out == "", f"{source}: nothing on stdout")


def bad_pictures(folder):
    result = os.path.join(folder, "result.ppm")
    for name, content in BAD_PICTURES.items():
        source = os.path.join(folder, name)
        with open(source, "wb") as file:
            file.write(content)
        refused(source, result)
    refused(os.path.join(folder, "missing"), result)
    refused(folder, result)
    check(not os.path.exists(result), "nothing is written for a bad picture")
    refused(DRAWING, os.path.join(folder, "no such folder", "result.ppm"))
    if os.path.exists("/dev/full"):
        refused(DRAWING, "/dev/full")
    with open(result, "wb") as file:
        file.write(b"P6 # a comment\n#another\n1\t1 255\nabcdef")
    Run([program("bilinear"), result, os.path.join(folder, "good.ppm")]).expect(0)
    Run([program("bilinear"), result]).expect(2)


def checksum(*arguments, switch="on"):
    run = Run([program("transformer", switch), *arguments]).expect(0)
    found = re.search(r"^checksum: ([0-9a-f]{16})$", run.out, re.M)
    check(found, "the checksum")
    likelihood = re.search(r"^mean negative log likelihood: (\d+\.\d+),", run.out, re.M)
    return found.group(1), likelihood and likelihood.group(1)


def transformer(folder):
    text = os.path.join(SOURCE, "transformer.c")
    few = ("--tokens", "16")
    first = checksum(*few, text)
    check(first[1] is not None, "the likelihood")
    check(checksum(*few, "--fixed", text) == first, "--fixed: same result")
    check(checksum(*few, "--threads", "1", text) == first, "one thread: same result")
    check(checksum(*few, "--threads", "5", "--fixed", text) == first, "five threads: same result")
    check(checksum(*few, text, switch="off") == first, "off: same result")
    check(checksum("--tokens", "15", text) != first, "another length: another result")
    other = os.path.join(folder, "other")
    with open(other, "wb") as file:
        file.write(b"\x00\xffbytes")
    check(checksum(*few, other) != first, "another text: another result")
    check(checksum(*few, other) == checksum(*few, "--fixed", other), "past the end: same result")


def transformer_clock(_):
    command = [program("transformer"), "--tokens", "32", os.path.join(SOURCE, "transformer.c")]
    run = Run(command, STINT_REPORT="legacy").expect(0)
    total = run.expect_row("generate", 1)
    clock = float(re.search(r"^program's own clock: ([0-9.]+) ms$", run.out, re.M).group(1))
    # The two stamps may be torn apart by another process on a busy machine: 5 ms.
    check(abs(total - clock) <= 5 + 0.02 * clock, f"table {total} ms, own clock {clock} ms")
    run.expect_row("token", 32)
    # A layer cuts a query, the keys and the values for each of 6 heads.
    run.expect_row("slice", 32 * 6 * 6 * 3)
    check(run.expect_row("matmul", 32 * (6 * 4 + 1)) < total, "matmul lies within generate")
    check("matmul/compute" in Run(command).expect(0).err, "the table, unless STINT_REPORT says")


def bad_arguments(folder):
    text = os.path.join(SOURCE, "transformer.c")
    empty = os.path.join(folder, "empty")
    with open(empty, "wb"):
        pass
    for arguments in ([], ["--fixed"], ["--tokens"], ["--tokens", "0", text], ["--what", text],
                      ["--threads", "65", text], ["--tokens", "5x", text], [text, text]):
        Run([program("transformer"), *arguments]).expect(2)
    for path in (empty, folder, os.path.join(folder, "missing")):
        run = Run([program("transformer"), path]).expect(1)
        check(run.err.startswith("transformer: ") and run.err.count("\n") == 1, "one line")


TIMER_LINE = re.compile(r"^.*(REGISTER_|STINT_TIMER|STINT_GPU_|FOR_TIMING|TIMER_BEGIN|TIMER_END).*$", re.M)


def compiled(folder, name, source, level):
    """The object file of that text, under one file name and from one folder, as bytes."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    include = os.path.join(os.path.abspath(SOURCE), "..", "include")
    command = [os.environ.get("CC", "cc"), "-std=c11", level, "-Wall", "-Wextra", "-Werror",
               "-I" + include, "-I" + os.path.abspath(SOURCE), "-c", name, "-o", "object.o"]
    done = subprocess.run(command, cwd=folder, check=False)
    check(done.returncode == 0, f"{name} does not compile")
    with open(os.path.join(folder, "object.o"), "rb") as file:
        return file.read()


def transformer_blanked(folder):
    names = [n for n in os.listdir(SOURCE) if re.match(r"(transformer.*|thread_pool)\.c$", n)]
    check(len(names) == 5, f"the sources: {names}")
    removed = 0
    for name in names:
        with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
            source = file.read()
        blanked, count = TIMER_LINE.subn("", source)
        removed += count
        for level in ("-O0", "-O2"):
            same = compiled(folder, name, source, level) == compiled(folder, name, blanked, level)
            check(same, f"{name} {level}: off is not what it is without the {count} lines")
    check(removed >= 15, f"only {removed} lines were blanked")


def main():
    cases = (profiler, profiler_off, streams, copies, quickstart, own_table, quickstart_cpp, openmp, opencl, picture,
             drawing, bad_pictures, transformer, transformer_clock, bad_arguments,
             transformer_blanked)
    named = {case.__name__: case for case in cases}
    if len(sys.argv) != 3 or sys.argv[1] not in named:
        sys.exit(f"usage: check_samples.py {'|'.join(named)} PROGRAMS")
    folder = tempfile.mkdtemp()
    try:
        named[sys.argv[1]](folder)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
