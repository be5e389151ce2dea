#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The package for Python as a program uses it, with the library and the tool of this build.

    python_test.py LIBRARY TOOL CC CASE

Each case runs small programs in processes of their own; what they recorded is read from the run
file.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "packaging" / "python"
LIBRARY, TOOL, CC = sys.argv[1:4]

sys.path[:0] = str(PACKAGE), str(ROOT / "tests" / "tool")
os.environ["PYSTINT_LIBRARY"] = LIBRARY
os.environ["PYSTINT_TOOL"] = TOOL
import stint  # noqa: E402  pylint: disable=wrong-import-position
from stint import _library  # noqa: E402  pylint: disable=wrong-import-position
from cases import LIMIT, SKIPPED, main, need  # noqa: E402  pylint: disable=wrong-import-position


def python(*arguments, code=0, drop=(), cwd=None, executable=sys.executable, **env):
    """Runs Python with the package."""
    variables = {key: value for key, value in os.environ.items()
                 if not key.startswith(("STINT_", "PYTHON")) and key not in drop}
    variables.update({"PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1",
                      "STINT_WAITS": "0", **env})
    done = subprocess.run([executable, *map(str, arguments)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True, timeout=LIMIT,
                          env={key: value for key, value in variables.items() if value is not None},
                          cwd=cwd, check=False)
    need(done.returncode == code, "expected exit status %d" % code, done)
    return done


def record(folder, text):
    """Runs a program and returns what it recorded, as a dict."""
    (folder / "program.py").write_text("import stint\n" + text)
    python(folder / "program.py", STINT_FILE=str(folder / "r.stint"))
    return stint.read(folder / "r.stint")


def paths(run):
    """path -> calls, of the tree: what is not in a scope is "name"."""
    found = {}
    for row in run["tree"]:
        parent = found.get(row.get("parent"), ("", 0))[0] if "parent" in row else ""
        found[len(found)] = ((parent + " > " if parent else "") + row["name"], row["calls"])
    return dict(found.values())


def stats(run):
    return {row["name"]: row for row in run["stats"]}


def no_losses(run):
    need(not [entry for entry in run["lost"] if entry["count"]], run["lost"])


# ---- Scopes.

def case_scopes(folder):
    run = record(folder, """
@stint.scope("fib")
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

@stint.scope()
def named():
    "its doc"

both = stint.scope("both")
with stint.scope("outer"):
    with both:
        with both:
            pass
    fib(5)
    named()
    try:
        with stint.scope("raises"):
            raise KeyError
    except KeyError:
        pass
assert named.__name__ == "named" and named.__doc__ == "its doc"
assert stint.stat("both")["calls"] == 2 and stint.stat("none") is None
assert stint.add_sample("added", 0.25)
assert abs(stint.stat("added")["total_ns"] - 250000000) < 5000000  # early: the clock's rate is not yet exact
assert not stint.add_sample("added", -1)
assert stint.step() == 1
""")
    tree = paths(run)
    need(tree["outer"] == 1 and tree["outer > both"] == 2 and tree["outer > fib"] == 15 and
         tree["outer > __main__.named"] == 1 and tree["outer > raises"] == 1, tree)
    need(stats(run)["added"]["calls"] == 1 and run["run"]["steps"] == 1, run["run"])
    no_losses(run)


def case_names(folder):
    del folder
    for name, error in [("", ValueError), ("a\0b", ValueError), (3, TypeError), (b"x", TypeError)]:
        try:
            stint.scope(name)
        except error:
            continue
        need(False, "%r was taken" % (name,))
    try:
        with stint.scope():
            need(False, "a block without a name")
    except TypeError:
        pass
    try:
        @stint.scope("g")
        def generate():
            yield 1
        need(False, "a generator function", generate)
    except TypeError as error:
        need("with stint.scope" in str(error), error)
    with stint.scope("caf\u00e9 \u4e2d\u6587"):
        pass
    need(stint.stat("caf\u00e9 \u4e2d\u6587")["calls"] == 1, "UTF-8")


def case_threads(folder):
    """One object is used in many threads at once; each thread has its own tree."""
    run = record(folder, """
import threading
inner = stint.scope("inner")
start = threading.Barrier(8)
def work():
    start.wait()
    with stint.scope("work"):
        for _ in range(1000):
            with inner:
                pass
        start.wait()  # no thread continues the recorder of an earlier one
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
""")
    tree = paths(run)
    need(tree == {"work": 8, "work > inner": 8000}, tree)
    need(stats(run)["work"]["threads"] == 8, stats(run)["work"])
    no_losses(run)


def case_tasks(folder):
    """Blocks with `await` in them overlap: each is counted, with its own time, and none is
    abandoned. Functions that a task calls are in the tree."""
    run = record(folder, """
import asyncio
import time
request = stint.scope("request")

def compute():
    with stint.scope("compute"):
        with stint.scope("part"):
            pass

async def serve(turns):
    with request:
        async with stint.scope("read"):
            for _ in range(turns):
                await asyncio.sleep(0)
        compute()
        await asyncio.sleep(0)

@stint.scope("all")
async def everything():
    await asyncio.gather(*(serve(1 + n % 7) for n in range(200)))

def numbers():
    with stint.scope("numbers"):
        yield 1
        yield 2

asyncio.run(everything())
for a, b in zip(numbers(), numbers()):
    with stint.scope("pair"):
        pass
broken = numbers()
next(broken)
del broken
""")
    rows, tree = stats(run), paths(run)
    calls = {name: rows[name]["calls"] for name in rows}
    need(calls == {"request": 200, "read": 200, "compute": 200, "part": 200, "all": 1, "numbers": 3,
                   "pair": 2}, calls)
    need(tree["compute > part"] == 200 and tree["pair"] == 2, tree)
    need(rows["all"]["total_ns"] >= rows["request"]["max_ns"] >= rows["read"]["min_ns"], rows)
    no_losses(run)


def case_fork(folder):
    """A child of os.fork has a file of its own, and counts from 0."""
    record(folder, """
import os
with stint.scope("before"):
    pass
child = os.fork()
with stint.scope("child" if child == 0 else "parent"):
    pass
if child:
    assert os.waitpid(child, 0)[1] == 0
""")
    names = [set(stats(stint.read(file))) for file in folder.glob("r.stint*")]
    need(sorted(map(sorted, names)) == [["before", "parent"], ["child"]], names)


def case_report(folder):
    run = record(folder, """
with stint.scope("first"):
    pass
stint.reset()
stint.enable(False)
with stint.scope("off"):
    pass
stint.enable()
with stint.scope("second"):
    pass
stint.report("tree,sort=self")
stint.export("out.json")
import json
assert [row["name"] for row in json.load(open("out.json"))["stats"]] == ["second"]
for bad in (lambda: stint.report("nonsense"), lambda: stint.export("/no/folder/x")):
    try:
        bad()
    except (ValueError, OSError):
        continue
    assert False
""".replace('"out.json"', repr(str(folder / "out.json"))))
    need(set(stats(run)) == {"first", "second"}, stats(run))


def case_cost(folder):
    """The cost of Python's part is measured without a record, and said where a report is printed at the
    end."""
    text = """
@stint.scope("f")
def f():
    pass
f()
each = stint.cost()
assert set(each) == {"call_ns", "block_ns"} and min(each.values()) >= 0, each
"""
    fake = """
from stint import _cost
now = 0
class Function:
    def __call__(self, name):
        global now
        now += 7
class Library:
    strlen = Function()
    def __init__(self, path):
        pass
class Clock:
    PyDLL, c_int, c_char_p = Library, None, None
    @staticmethod
    def perf_counter_ns():
        return now
_cost.ctypes = _cost.time = Clock
each = stint.cost()  # a begin and an end
assert each == {"call_ns": 14, "block_ns": 14}, each
"""
    python("-c", "import stint" + fake)
    run = record(folder, text)
    need({name: row["calls"] for name, row in stats(run).items()} == {"f": 1}, stats(run))
    no_losses(run)
    said = r"stint: each scope of Python costs more than the line `stint cost` says: at least [0-9.]+ us "
    for view, expected in (("table", 1), ("table,top=1", 1), ("none", 0), (None, 0)):
        done = python(folder / "program.py", STINT_REPORT=view)
        need(len(re.findall(said, done.stderr)) == expected, view, done)
    done = python("-c", "import stint; assert stint.cost() is None", STINT_REPORT="table",
                  PYSTINT_LIBRARY=str(folder / "none.so"))
    need(not done.stderr, done)


def case_without(folder):
    """No library: nothing is measured, everything goes on, and the reason is said."""
    done = python("-c", """
import stint
assert not stint.available and stint.reason, stint.reason
@stint.scope("f")
def f():
    return 3
async def g():
    async with stint.scope("a"):
        with stint.scope("b"):
            return 4
with stint.scope("w"):
    assert f() == 3
import asyncio
assert asyncio.run(g()) == 4
assert stint.stat("f") is None and not stint.add_sample("x", 1) and stint.version() == ""
stint.step(), stint.report("tree"), stint.reset(), stint.enable()
""", PYSTINT_LIBRARY=str(folder / "none.so"), STINT_FILE=str(folder / "r.stint"))
    need(not done.stderr and not done.stdout and not (folder / "r.stint").exists(), done)
    done = python("-m", "stint", "run", "x.py", code=1, PYSTINT_LIBRARY=str(folder / "none.so"))
    need("none.so" in done.stderr and "PYSTINT_LIBRARY" in done.stderr, done)


# ---- Files and programs.

def case_read(folder):
    run = record(folder, "with stint.scope('s'):\n    pass\n")
    need(run["schema"] == "stint.run/1" and run["run"]["state"] == "ended", run)
    for path, kind in ((folder / "none", FileNotFoundError), (folder / "program.py", ValueError)):
        try:
            stint.read(path)
            need(False, "read", path)
        except kind as error:
            need(path.name in str(error), error)
    data = (folder / "r.stint").read_bytes()
    (folder / "cut.stint").write_bytes(data[:len(data.rstrip(b"\0")) - 1000])
    need("cut off" in stint.read(folder / "cut.stint")["run"]["warning"], "a cut file")
    (folder / "-x.stint").write_bytes(data)
    here = os.getcwd()
    os.chdir(folder)
    try:
        need(stats(stint.read("-x.stint"))["s"]["calls"] == 1, "a name that begins with a minus")
    finally:
        os.chdir(here)


def case_run(folder):
    """`python -m stint run`: the script as __main__, its arguments, folder and exit status."""
    (folder / "helper.py").write_text("VALUE = 5\n")
    script = folder / "script.py"
    script.write_text("""
import sys
import helper
import stint
if __name__ == "__main__":
    with stint.scope("inside"):
        print(sys.argv, helper.VALUE)
    sys.exit(int(sys.argv[1]))
""")
    done = python("-m", "stint", "run", "-r", "tree", script, "7", "--view", code=7)
    need(done.stdout == "%s 5\n" % [str(script), "7", "--view"], done)
    need(re.search(r"(?m)^python script\.py +1 ", done.stderr) and
         re.search(r"(?m)^  inside +1 ", done.stderr), done)
    said = r"(?s)^stint: each scope of Python costs more than .*stint tree: "
    need(re.search(said, done.stderr) and done.stderr.count("each scope of Python") == 1, done)
    done = python("-m", "stint", "run", "--report=none", "--file", folder / "r.stint", "--", script, "0")
    need(paths(stint.read(folder / "r.stint")) == {"python script.py": 1,
                                                   "python script.py > inside": 1}, done)
    need("each scope of Python" not in done.stderr, done)
    script.write_text("import os, sys\nif not os.fork():\n    sys.exit(0)\nos.wait()\n")
    done = python("-m", "stint", "run", script)
    need(done.stderr.count("each scope of Python") == 1, "a child says nothing", done)
    done = python("-m", "stint", "run", "-m", "helper", cwd=folder)
    need(re.search(r"(?m)^python helper +1 ", done.stderr), done)
    script.write_text("raise RuntimeError('as it was')\n")
    done = python("-m", "stint", "run", script, code=1)
    need("RuntimeError: as it was" in done.stderr and "python script.py" in done.stderr, done)
    for arguments in ((), ("nonsense",), ("run",)):
        need("python -m stint" in python("-m", "stint", *arguments, code=2).stderr, arguments)


def case_header(folder):
    """The types that the package knows are those of the headers."""
    del folder
    header = (ROOT / "include" / "stint" / "stint.h").read_text()
    body = re.search(r"typedef struct stint_stat \{(.*?)\} stint_stat;", header, re.S).group(1)
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    types = {"uint64_t": "c_ulong", "uint32_t": "c_uint", "char": "c_char_Array_64"}
    want = [(name, types[kind]) for kind, name in re.findall(r"(\w+) (\w+)(?:\[64\])?;", body)]
    have = [(name, kind.__name__) for name, kind in _library.Stat._fields_]
    need(want == have, want, have)
    layout = (ROOT / "include" / "stint" / "detail" / "impl_layout.h").read_text()
    need(_library.ABI == int(re.search(r"(?m)^#define STINT_ABI (\d+)", layout).group(1)), "STINT_ABI")
    for name in (*_library.SHORT, *_library.LONG):
        need(re.search(r"\b%s\b" % name, header), name)
    need(stint.available and re.fullmatch(r"\d+\.\d+\.\d+", stint.version()), stint.version())


def case_page(folder):
    """Every block of Python in docs/python.md, run as a program of its own."""
    record(folder, "with stint.scope('s'):\n    pass\n")
    (folder / "run.stint").write_bytes((folder / "r.stint").read_bytes())
    text = (ROOT / "docs" / "python.md").read_text()
    blocks = re.findall(r"(?ms)^```python\n(.*?)^```$", text)
    need(len(blocks) >= 3, blocks)
    shown = [python("-c", block, cwd=folder) for block in blocks]
    need(shown[0].stdout == "1\n" and re.search(r"(?m)^__main__\.shuffle +1 ", shown[0].stderr), shown[0])
    need(re.match(r"s 1 [\d.e-]+ ms\n$", shown[-1].stdout), shown[-1])
    functions = re.search(r"(?ms)^\| function \| effect \|\n(.*?)\n\n", text).group(1)
    need(set(re.findall(r"`(\w+)(?:\([^)]*\))?`", re.sub(r"(?m)\| [^|]* \|$", "", functions))) ==
         set(stint.__all__), "the table of functions")


def files_below(folder):
    return {path.relative_to(folder) for path in folder.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts}


def case_wheel(folder):
    """Built by pip as a user does, without an index, from the tree and from the source distribution
    outside of it; nothing is left in the tree. The wheel is installed into an environment of its
    own."""
    python3 = None
    for candidate in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(candidate) and not subprocess.run(
                [candidate, "-c", "import venv, pip"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
            python3 = candidate
            break
    if not python3:
        print("skipped: no Python with pip and venv (python3-pip)")
        return SKIPPED

    def pip(*arguments, executable=python3):
        return python("-m", "pip", "-q", *arguments, executable=executable, PYTHONPATH=None,
                      PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1")

    # The package is built from a copy of the tree, as other tests use the tree at the same time.
    source = folder / "tree" / "packaging" / "python"
    shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "tree" / "include" / "stint").mkdir(parents=True)
    shutil.copy(ROOT / "include" / "stint" / "stint.h", folder / "tree" / "include" / "stint")
    shutil.copy(ROOT / "LICENSE", folder / "tree")
    before = files_below(folder / "tree")
    pip("wheel", "-w", folder / "out", source)
    (folder / "sdist").mkdir()
    python("-c", "import build_stint; build_stint.build_sdist(%r)" % str(folder / "sdist"),
           PYTHONPATH=str(source))
    # With the pip of the system: an environment takes seconds to get one of its own.
    python("-m", "venv", "--without-pip", "--system-site-packages", folder / "env",
           executable=python3, PYTHONPATH=None)
    own = folder / "env" / "bin" / "python"
    pip("install", "-e", source, executable=own)
    need(files_below(folder / "tree") == before, "left behind", files_below(folder / "tree") - before)

    archive = folder / "sdist" / ("stint-%s.tar.gz" % stint.version())
    pip("wheel", "-w", folder / "again", archive)
    wheels = list((folder / "out").glob("*.whl"))
    need([wheel.name for wheel in wheels] == ["stint-%s-py3-none-any.whl" % stint.version()], wheels)
    again = folder / "again" / wheels[0].name
    need(again.read_bytes() == wheels[0].read_bytes(), "the wheel of the source distribution")
    pip("install", "--force-reinstall", archive, executable=own)
    done = python("-c", "import stint, sys\nwith stint.scope('x'): pass\n"
                  "print(stint.stat('x')['calls'], stint.__file__.startswith(sys.prefix))",
                  executable=own, PYTHONPATH=None, cwd=folder)
    need(done.stdout == "1 True\n", done)
    shown = python("-c", "import importlib.metadata as m\nd = m.metadata('stint')\n"
                   "print(d['Version'], d['License'], d['Requires-Python'], len(m.files('stint')) > 5)\n"
                   "print('Timers for Python' in (d.get_payload() or d['Description']))",
                   executable=own, PYTHONPATH=None, cwd=folder)
    need(shown.stdout == "%s Apache-2.0 >=3.8 True\nTrue\n" % stint.version(), shown)
    return 0


def case_extension(folder):
    """The sample: scopes of Python, of C below them, and of Python below these, in one tree."""
    include = sysconfig.get_paths()["include"]
    if not os.path.exists(os.path.join(include, "Python.h")):
        print("skipped: no Python.h in %s (python3-dev)" % include)
        return SKIPPED
    library = pathlib.Path(LIBRARY).parent
    done = subprocess.run(
        [*CC.split(), "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-DWITH_TIMER", "-I",
         include, "-I", str(ROOT / "include"), str(ROOT / "samples" / "python" / "kernels.c"), "-o",
         str(folder / ("kernels" + sysconfig.get_config_var("EXT_SUFFIX"))), "-L", str(library),
         "-lstint", "-Wl,-rpath," + str(library)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, check=False)
    need(done.returncode == 0, done.stdout)
    python(ROOT / "samples" / "python" / "train.py", STINT_FILE=str(folder / "r.stint"),
           PYTHONPATH="%s:%s" % (PACKAGE, folder))
    run = stint.read(folder / "r.stint")
    tree = paths(run)
    tree.pop("stint_step")
    need(tree == {"epoch": 3, "epoch > load": 3, "epoch > smooth": 3, "epoch > smooth > smooth.unpack": 3,
                  "epoch > smooth > smooth.pass": 12, "epoch > smooth > log": 12}, tree)
    no_losses(run)
    return 0


if __name__ == "__main__":
    if not stint.available:
        print("skipped: %s" % stint.reason)
        sys.exit(SKIPPED)
    sys.exit(main(globals(), sys.argv[4]))
