# SPDX-License-Identifier: Apache-2.0
"""Installs stint, moves the installation, and uses it from projects outside the tree.

One case a run, named on the command line; the case "install" comes first and makes what the others
use: WORK/shared and WORK/static, one installation for each kind of library. Exit status 77: the
machine lacks what the case needs.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SKIP = 77
CASES = {}

ON = "timers=1 profiler=0 calls=3"
OFF = "timers=0 profiler=0 calls=0"
BOTH = "timers=1 profiler=1 calls=3"
CAPTURE = "timers=0 profiler=1 calls=0"

# Some compilers link as-needed by themselves; this takes it away from them, not from the package.
NO_AS_NEEDED = "-Wl,--no-as-needed"

PRODUCT = ["-DSTINT_BUILD_TESTS=OFF", "-DSTINT_BUILD_SAMPLES=OFF"]


def case(function):
    CASES[function.__name__] = function
    return function


def run(*command, fails=False, env=None):
    """The combined output; a status other than the expected one ends the case (None: either)."""
    command = [str(word) for word in command if word != ""]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, **(env or {})})
    if fails is not None and (done.returncode != 0) != fails:
        sys.exit("%s\n%s\nstatus %d" % (" ".join(command), done.stdout, done.returncode))
    return done.stdout


def expect(what, got, wanted):
    if got != wanted:
        sys.exit("%s\n  expected: %s\n  got:      %s" % (what, wanted, got))


def tool(name):
    path = shutil.which(name)
    if not path:
        print("skipped: no", name)
        sys.exit(SKIP)
    return path


class Place:
    """Folders and commands of one run."""

    def __init__(self, options):
        self.options = options
        self.work = Path(options.work)
        self.cc = [options.cc] + options.cflags.split()

    def version(self):
        """Major and minor of the header."""
        text = (Path(self.options.source) / "include/stint/stint.h").read_text(encoding="utf-8")
        return ".".join(re.search(r"STINT_VERSION_%s (\d+)" % part, text).group(1)
                        for part in ("MAJOR", "MINOR"))

    def prefix(self, kind):
        return self.work / kind

    def stint(self):
        return next(self.prefix("shared").glob("bin/stint"))

    def library(self, kind):
        name = "libstint.a" if kind.endswith("static") else "libstint.so"
        return next(self.prefix(kind).glob("lib*/**/" + name))

    def configure(self, source, name, *settings, fails=False):
        """Configures a project in an empty folder of its own."""
        build = self.work / "build" / name
        shutil.rmtree(build, ignore_errors=True)
        o = self.options
        output = run(o.cmake, "-G", o.generator, "-S", source, "-B", build,
                     "-DCMAKE_BUILD_TYPE=" + o.config,
                     "-DCMAKE_C_COMPILER=" + o.cc, "-DCMAKE_C_FLAGS=" + o.cflags,
                     "-DCMAKE_CXX_COMPILER=" + o.cxx, "-DCMAKE_CXX_FLAGS=" + o.cxxflags,
                     "--no-warn-unused-cli", *settings, fails=fails)
        return build, output

    def configure_stint(self, source, name, *settings, fails=False):
        """A project that builds the library; not optimised, as these tests run little of it."""
        kind = self.options.config.upper()
        quick = ["-DCMAKE_%s_FLAGS_%s=-O0" % (language, kind) for language in ("C", "CXX") if kind]
        return self.configure(source, name, *quick, *settings, fails=fails)

    def make(self, build, *more):
        return run(self.options.cmake, "--build", build, "--config", self.options.config, *more)

    def consumer(self, source, kind, *settings, name=None):
        """Builds a project of this folder against an installation."""
        build, _ = self.configure(HERE / source, name or "%s-%s" % (source, kind),
                                  "-DCMAKE_PREFIX_PATH=%s" % self.prefix(kind), *settings)
        self.make(build)
        return build

    def program(self, build, name):
        return next(path for path in (build / name, build / self.options.config / name)
                    if path.is_file())

    def says(self, build, name, wanted, env=None):
        """Runs a consumer; its line on stdout is the last of its output."""
        output = run(self.program(build, name), env=env)
        line = [text for text in output.splitlines() if text.startswith(("timers=", "calls="))]
        expect(name, "\n".join(line), wanted)
        return output

    def record(self, *command, member="stats", env=None):
        """Returns the command's output and the rows of its run file; none without one."""
        file = self.work / "build" / ("record-%d.stint" % os.getpid())  # cases run side by side
        file.unlink(missing_ok=True)
        output = run(*command, env={"STINT_FILE": str(file), **(env or {})})
        if not file.exists():
            return output, []
        text = run(self.stint(), "export", file, "--to", "json")
        return output, json.loads(text).get(member, [])

    def recorded(self, build, name, member):
        """Runs a consumer. Returns (file, line) -> hits or name -> calls."""
        # Times of lines need the processor's counter, also where the kernel does not trust it.
        _, rows = self.record(self.program(build, name), member=member, env={"STINT_CLOCK": "tsc"})
        if member == "lines":
            return {(row["file"], row["line"]): row["hits"] for row in rows}
        return {row["name"]: row["calls"] for row in rows}

    def needed(self, path):
        return re.findall(r"\(NEEDED\).*\[(.*)\]", run(tool("readelf"), "-d", "-W", path))

    def exported(self, path):
        """Defined dynamic symbols, without those a sanitizer adds."""
        lines = run(tool("nm"), "-D", "--defined-only", path).splitlines()
        names = {line.split()[-1].split("@")[0] for line in lines if " A " not in line}
        return {name for name in names if not name.startswith("__")}


@case
def install(place):
    """This build, and the library's other kind built once more; both moved after installing."""
    shutil.rmtree(place.work, ignore_errors=True)
    built = place.options.kind
    other = "static" if built == "shared" else "shared"
    build, _ = place.configure_stint(
        place.options.source, "other",
        "-DBUILD_SHARED_LIBS=%s" % ("ON" if other == "shared" else "OFF"), *PRODUCT)
    # The tool, a third of the build, is taken from the installation with the shared library.
    library_only = other == "static"
    targets = ["--target", "stint_runtime", "stint_manual_api"] if library_only else []
    place.make(build, "--parallel", "2", *targets)
    parts = ["stint_dev", "stint_runtime"] if library_only else [""]
    install_moved(place, built, place.options.build, [""])
    install_moved(place, other, build, parts)


def install_moved(place, kind, folder, components):
    """components: of the installation; "" is all of it."""
    first = place.work / "installed-here-first" / kind
    for component in components:
        only = ["--component", component] if component else []
        run(place.options.cmake, "--install", folder, "--config", place.options.config,
            "--prefix", first, *only)
    shutil.move(first, place.prefix(kind))


@case
def completions(place):
    """Each shell finds its file below the prefix."""
    for name in ("bash-completion/completions/stint", "zsh/site-functions/_stint",
                 "fish/vendor_completions.d/stint.fish"):
        path = place.prefix("shared") / "share" / name
        expect("stint report", "--filter" in path.read_text() or "-l filter" in path.read_text(),
               True)


@case
def relocatable(place):
    """No file but the library itself (debug information) names a folder of this machine."""
    for kind in ("shared", "static"):
        for path in place.prefix(kind).rglob("*"):
            if path.suffix in (".cmake", ".pc", ".h", ".hpp"):
                text = path.read_text(encoding="utf-8")
                for folder in (place.options.source, place.options.build, str(place.work)):
                    if folder in text:
                        sys.exit("%s names %s" % (path, folder))


@case
def build_folder(place):
    """The folder that stint was built in is not an installation, and says so."""
    _, output = place.configure(HERE / "switches", "build-folder",
                                "-Dstint_DIR=" + place.options.build, fails=True)
    said = " ".join(output.split())
    expect(output, "stint was built in %s, not installed there: run cmake --install" % place.options.build in said,
           True)


def pkg_config(place, kind, *more, folder=""):
    """folder: that of another library it needs."""
    flags = run(tool("pkg-config"), "--cflags", "--libs", *more, "stint",
                env={"PKG_CONFIG_PATH": str(place.library(kind).parent / "pkgconfig")})
    for define, wanted in (("-DWITH_TIMER", ON), ("", OFF)):
        program = place.work / "build" / ("pkg-config-" + kind + "".join(more) + define)
        program.parent.mkdir(exist_ok=True)
        run(*place.cc, NO_AS_NEEDED, define, HERE / "app.c", "-o", program, *flags.split(),
            env={"LIBRARY_PATH": folder, "LD_LIBRARY_PATH": folder})
        needs = any("stint" in name for name in place.needed(program))
        expect("needs libstint.so", needs, kind.endswith("shared") and wanted == ON)
        output = run(program,
                     env={"LD_LIBRARY_PATH": "%s:%s" % (place.library(kind).parent, folder)})
        expect(str(program), output.strip(), wanted)


@case
def pkg_config_shared(place):
    pkg_config(place, "shared")
    expect("version", run(tool("pkg-config"), "--modversion",
                          next(place.prefix("shared").rglob("stint.pc"))).strip()
           .startswith(place.version() + "."), True)


@case
def pkg_config_static(place):
    pkg_config(place, "static")
    pkg_config(place, "static", "--static")


def counted_memory(place, program, by_tool=False, env=None):
    """(mallocs, bytes) of each scope of memory/main.c."""
    command = [place.stint(), "run", "--mem"] if by_tool else []
    _, rows = place.record(*command, program, env=env)
    return [(row.get("mallocs"), row.get("allocated_bytes")) for row in rows]


@case
def memory(place):
    """libstint-mem.so by its CMake target, by pkg-config and by the tool."""
    if "-fsanitize=" in place.options.cflags:
        print("skipped: the sanitizer has a malloc of its own, which wins")
        sys.exit(SKIP)
    build = place.consumer("memory", "shared")
    plain = place.program(build, "app_plain")
    expect("stint::timer", counted_memory(place, plain), [(None, None)])
    expect("stint::mem", counted_memory(place, place.program(build, "app_mem")), [(7, 700)])
    expect("stint run --mem", counted_memory(place, plain, by_tool=True), [(7, 700)])
    folder = place.library("shared").parent
    flags = run(tool("pkg-config"), "--cflags", "--libs", "stint-mem",
                env={"PKG_CONFIG_PATH": str(folder / "pkgconfig")})
    program = place.work / "build" / "memory-pkg-config"
    run(*place.cc, "-DWITH_TIMER", HERE / "memory/main.c", "-o", program, *flags.split())
    expect("stint-mem.pc", counted_memory(place, program, env={"LD_LIBRARY_PATH": str(folder)}),
           [(7, 700)])


@case
def memory_static(place):
    """One line says that memory is not counted if the program has no shared library to preload
    into; the timers work as always."""
    expect("stint-mem.pc", list(place.prefix("static").rglob("stint-mem.pc")), [])
    build = place.consumer("memory", "static")
    programs = [place.program(build, "app_plain")]
    if "-fsanitize=" not in place.options.cflags:
        whole = place.work / "build" / "memory-whole-static"
        run(*place.cc, "-static", "-w", "-DWITH_TIMER", "-I", place.prefix("static") / "include",
            HERE / "memory/main.c", place.library("static"), "-o", whole, "-pthread",
            "-Wl,--no-warnings")
        programs.append(whole)
    for program in programs:
        said = run(place.stint(), "run", "--mem", "--report", "none", program)
        expect("lines of %s" % program.name, said.count("\n"), 1)
        expect("the reason", "memory is not counted: this program is linked with libstint.a" in said,
               True)
        expect("calls", counted_memory(place, program, by_tool=True), [(None, None)])


@case
def instrument(place):
    """Functions of sources that do not know stint; off, the compiler gets the original."""
    for name in ("clang", "python3"):
        tool(name)
    for kind in ("shared", "static"):
        for value, calls in (("ON", "work=3 left=0"), ("OFF", "work=0 left=0")):
            build = place.consumer("instrument", kind, "-DWITH_TIMER=" + value,
                                   "-DCXX=%d" % bool(place.options.cxx),
                                   name="instrument-%s-%s" % (kind, value))
            place.says(build, "app", "calls=5 " + calls)
            listed = build / "app.stint.txt"
            expect("list", listed.exists() and listed.read_text(encoding="utf-8").count("\n"),
                   2 if value == "ON" else False)
            hits = place.recorded(build, "app_lines", "lines")
            source = HERE / "instrument"
            work = {(str(source / "work.c"), line): 3 for line in (7, 11)}
            if value == "ON":
                expect("hits", {key: hits.get(key) for key in work}, work)
                expect("main", hits[str(source / "main.c"), 12], 4)
            else:
                expect("hits", hits, {})
            if place.options.cxx:
                lines = {(str(source / "main.cpp"), 8): 3, (str(source / "main.cpp"), 14): 1}
                expect("C++", place.recorded(build, "app_cxx", "lines"),
                       lines if value == "ON" else {})
                calls = {"box::add": 3, "box::get": 1, "twice": 3}
                expect("C++", place.recorded(build, "app_cxx_functions", "stats"),
                       calls if value == "ON" else {})
            # Built again, nothing is compiled.
            objects = {path: path.stat().st_mtime_ns for path in build.rglob("*.o")}
            place.make(build)
            expect("again", {path: path.stat().st_mtime_ns for path in objects}, objects)
    # Other functions: they are compiled again, by Makefiles as well.
    for generator in ("Unix Makefiles", place.options.generator):
        settings = ["-G", generator, "-DWITH_TIMER=ON", "-DCXX=0"]
        build = place.consumer("instrument", "shared", *settings, name="instrument-changed")
        run(place.options.cmake, "-DFUNCTIONS=*", build)
        place.make(build)
        place.says(build, "app", "calls=5 work=3 left=3")


def cmake_version(place):
    text = run(place.options.cmake, "--version")
    return tuple(int(part) for part in re.search(r"version (\d+)\.(\d+)", text).groups())


@case
def documents(place):
    """Links between the installed documents, and to their pictures, samples and the schema."""
    folder = next(place.prefix("shared").glob("share/doc/*/docs")).parent
    links = 0
    for path in folder.rglob("*.md"):
        text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
        for link in re.findall(r'\]\(([^)#\s]+)|<img\s+src="([^"]+)"', text):
            target = link[0] or link[1]
            if re.match(r"[a-z]+:", target):
                continue
            links += 1
            if not (path.parent / target).exists():
                sys.exit("%s: %s is not installed" % (path.relative_to(folder), target))
    expect("links found", links > 50, True)


@case
def manual_pages(place):
    """The package has pages for the tool and each command, for the header and for the concepts, and
    mandoc has no complaint about them."""
    folder = next(place.prefix("shared").glob("share/man"))
    pages = sorted(path.relative_to(folder).as_posix() for path in folder.glob("man*/*"))
    for name in ("man1/stint.1", "man1/stint-report.1", "man1/stint-diff.1", "man3/stint.3", "man7/stint.7"):
        expect(name, name in pages, True)
    text = run(tool("mandoc"), "-Tascii", folder / "man3/stint.3")
    for words in ("int stint_report(const char *view)", "STINT_TIMER_INFO(name, info)",
                  "/* The sum of the samples. */"):
        plain = re.sub(".\b", "", text)  # bold and underlined
        expect(words, words in plain, True)
    said = run(tool("mandoc"), "-Tlint", "-Wstyle", *(folder / name for name in pages), fails=None)
    wrong = [line for line in said.splitlines() if "manual not found: Xr stint" not in line]
    expect("mandoc", "\n".join(wrong), "")


@case
def debian(place):
    """The packages of CPack, and what lintian says of them."""
    lintian, cpack = tool("lintian"), tool("cpack")
    tool("dpkg-shlibdeps")
    build, _ = place.configure(
        place.options.source, "debian", "-DCMAKE_INSTALL_PREFIX=/usr", "-DBUILD_SHARED_LIBS=ON",
        *PRODUCT, "-DCMAKE_BUILD_TYPE=None",
        "-DCMAKE_C_FLAGS=-O0 -Wl,-z,relro", "-DCPACK_PACKAGE_CONTACT=Test Person <test@debian.org>")
    place.make(build, "--parallel", "2")
    packages = place.work / "packages"
    shutil.rmtree(packages, ignore_errors=True)
    for generator in ("DEB", "TGZ"):
        run(cpack, "--config", build / "CPackConfig.cmake", "-G", generator, "-B", packages)
    debs = sorted(packages.glob("*.deb"))
    expect("packages", [re.sub(r"\d*_.*", "", path.name) for path in debs],
           ["libstint-dev", "libstint", "stint"])
    for path, name in zip(debs, ("/stint/stint.h", "/libstint.so.", "/bin/stint")):
        expect("%s in %s" % (name, path.name), name in run("dpkg-deb", "-c", path), True)
    expect("libstint-mem.so in the library's package",
           "/libstint-mem.so." in run("dpkg-deb", "-c", debs[1]), True)
    expect("archive", "/bin/stint\n" in run("tar", "-tf", next(packages.glob("*.tar.gz"))), True)
    # It is not uploaded to Debian, where a first version closes a bug.
    said = run(lintian, "--allow-root", "--suppress-tags", "initial-upload-closes-no-bugs", *debs,
               fails=None)
    tags = [line for line in said.splitlines() if line.startswith(("E: ", "W: "))]
    expect("lintian", "\n".join(tags), "")


@case
def abidiff(place):
    """The library is compatible with that of the last tag. BASE in the environment names another
    state of the repository to compare with."""
    abidiff_program = tool("abidiff")
    source = place.options.source
    base = os.environ.get("BASE") or subprocess.run(
        ["git", "-C", source, "describe", "--tags", "--abbrev=0"], capture_output=True, text=True,
        check=False).stdout.strip()
    if not base:
        print("skipped: there is no tag yet; structure.layout and hard.security_abi compare with lists")
        sys.exit(SKIP)
    old = place.work / "base"
    shutil.rmtree(old, ignore_errors=True)
    old.mkdir(parents=True)
    archive = place.work / "base.tar"
    run("git", "-C", source, "archive", "-o", archive, base)
    run("tar", "-xf", archive, "-C", old)
    libraries = []
    for name, folder in (("old", old), ("new", source)):
        build, _ = place.configure(folder, "abi-" + name, "-DBUILD_SHARED_LIBS=ON", *PRODUCT,
                                   "-DSTINT_BUILD_TOOL=OFF", "-DCMAKE_BUILD_TYPE=None",
                                   "-DCMAKE_C_FLAGS=-g -O0")
        place.make(build, "--target", "stint_runtime", "--parallel", "2")
        libraries.append(next(build.rglob("libstint.so")).resolve())
    sonames = [re.search(r"SONAME.*\[(.*)\]", run(tool("readelf"), "-d", "-W", path)).group(1)
               for path in libraries]
    done = subprocess.run([abidiff_program, *map(str, libraries)], stdout=subprocess.PIPE, text=True,
                          check=False)
    # Bits of the status: 1 and 2 errors, 4 a change, 8 an incompatible one.
    if done.returncode & 3:
        sys.exit("abidiff: status %d\n%s" % (done.returncode, done.stdout))
    if done.returncode & 8 and sonames[0] == sonames[1]:
        sys.exit("incompatible with %s, and STINT_ABI is the same\n%s" % (base, done.stdout))


def cudart_build(place, source, name, *settings):
    """A configured build over the runtime API, and cudart's folder; without a toolkit, a skip."""
    build, _ = place.configure_stint(source, name, "-DSTINT_GPU_API=cudart", *PRODUCT,
                                     "-DSTINT_BUILD_TOOL=OFF", *settings, fails=None)
    found = re.search(r"^CUDA_cudart_LIBRARY:\w+=(/.*)/",
                      (build / "CMakeCache.txt").read_text(encoding="utf-8"), re.M)
    if not found:
        print("skipped: no CUDA toolkit")
        sys.exit(SKIP)
    place.make(build, "--parallel", "2")
    return build, found.group(1)


@case
def cudart(place):
    """Built over the runtime API: the static library's users are given cudart, too."""
    for kind, shared in (("cudart-static", "OFF"), ("cudart-shared", "ON")):
        build, folder = cudart_build(place, place.options.source, kind + "-library",
                                     "-DBUILD_SHARED_LIBS=" + shared)
        run(place.options.cmake, "--install", build, "--config", place.options.config,
            "--prefix", place.prefix(kind))
        for path in place.prefix(kind).rglob("*"):
            if path.suffix in (".cmake", ".pc") and folder in path.read_text(encoding="utf-8"):
                sys.exit("%s names %s" % (path, folder))
        build = place.consumer("switches", kind)
        place.says(build, "app_on", BOTH, env={"LD_LIBRARY_PATH": folder})
        pkg_config(place, kind, folder=folder)


@case
def cudart_nested(place):
    """stint with STINT_GPU_API=cudart is a part of a project that has no CUDA of its own."""
    build, _ = cudart_build(place, HERE / "switches", "cudart-nested", "-DHOW=add_subdirectory",
                            "-DSTINT_SOURCE=" + place.options.source, "-DBUILD_SHARED_LIBS=OFF",
                            "-DCODEGEN=%d" % bool(shutil.which("clang")))
    place.says(build, "app_on", BOTH)


@case
def aliases_are_installed(place):
    """The converse of what nested/ checks: no name in the tree that an installation lacks."""
    root = Path(place.options.source)
    files = (root / "CMakeLists.txt", root / "runtime/CMakeLists.txt")
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    aliases = set(re.findall(r"(stint::\S+) ALIAS", text.replace("${switch}", "timer")))
    expect("aliases", sorted(aliases), ["stint::mem", "stint::runtime", "stint::stint", "stint::timer"])


@case
def exports(place):
    """libstint.so exports the functions that the headers declare, a function for the CUDA driver,
    and those that its own libraries for NVTX and memory call."""
    header = ""
    for name in ("stint.h", "lines.h"):
        header += run(*place.cc, "-E", "-P", "-DWITH_TIMER", "-DWITH_PROFILER",
                      place.prefix("shared") / "include/stint" / name)
    declaration = r"\bextern\b[^;{}()]*?\b(stint_\w+)\s*(?:\(|__attribute__)"
    declared = set(re.findall(declaration, header))
    exported = place.exported(place.library("shared"))
    root = Path(place.options.source) / "runtime"
    own = ""
    for name in ("session/memory_calls.h", "session/range_calls.h", "interval/step_windows.h"):
        own += (root / name).read_text(encoding="utf-8")
    for_own = set(re.findall(r"define (stint_impl_\w+) STINT_IMPL_ABI_NAME", own))
    layout = (place.prefix("shared") / "include/stint/detail/impl_layout.h").read_text("utf-8")
    abi = re.search(r"define STINT_ABI (\d+)", layout).group(1)
    expect("exported, not declared", sorted(exported - declared),
           ["InitializeInjection", *sorted("%s_%s" % (name, abi) for name in for_own)])
    expect("declared, not exported", sorted(declared - exported), [])


@case
def static_exports_nothing(place):
    """A module that holds a copy of libstint.a keeps it to itself."""
    module = place.work / "build" / "holds_copy.so"
    module.parent.mkdir(exist_ok=True)
    run(*place.cc, "-shared", "-fPIC", "-I%s" % (place.prefix("static") / "include"), "-o", module,
        HERE / "mixed/work.c", "-DWITH_TIMER", place.library("static"), "-pthread", "-ldl")
    expect("exported", sorted(place.exported(module)), ["work_calls", "work_do"])


@case
def archive(place):
    """Programs that contain libstint.a take what they need of it, and may use internal names."""
    compilers = [" ".join(place.cc)] + ([] if place.options.cflags else ["clang"])
    run(sys.executable, "-B", HERE / "archive.py", "--include", place.prefix("static") / "include",
        *("--cc=" + compiler for compiler in compilers), place.library("static"))


@case
def link_flags(place):
    """nodelete, bound at load, read-only after it, and no library beside libc (and cudart)."""
    library = place.library("shared")
    dynamic = run(tool("readelf"), "-d", "-l", "-W", library)
    for what, pattern in (("nodelete", r"\(FLAGS_1\).*\bNODELETE\b"),
                          ("now", r"\(FLAGS_1\).*\bNOW\b"),
                          ("bind now", r"\(FLAGS\).*\bBIND_NOW\b"), ("relro", r"GNU_RELRO")):
        expect(what, bool(re.search(pattern, dynamic)), True)
    others = [name for name in place.needed(library)
              if not re.match(r"(libc|libpthread|libdl|ld-linux.*|lib[atu]\w*san)\.so", name)]
    cache = (Path(place.options.build) / "CMakeCache.txt").read_text(encoding="utf-8")
    over_cudart = "STINT_GPU_API:STRING=cudart" in cache
    others = [name for name in others if not (over_cudart and name.startswith("libcudart.so"))]
    if "-fsanitize" not in " ".join(place.cc):
        expect("other libraries", others, [])


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(CASES))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("source", "build", "work", "kind", "cmake", "generator", "cc"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--config", default="")
    for name in ("cflags", "cxx", "cxxflags"):
        parser.add_argument("--" + name, default="")
    parser.add_argument("case", choices=CASES)
    options = parser.parse_args()
    CASES[options.case](Place(options))


if __name__ == "__main__":
    main()
