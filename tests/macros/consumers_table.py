# SPDX-License-Identifier: Apache-2.0
"""The rows of consumers.py: ways in which projects compile a file that includes stint. One row is
one flag, one definition before the header, one context or one way to include; what means the same
together shares a row."""
import dataclasses
import re

PLAIN = """#ifdef __cplusplus
#include <stint/stint.hpp>
#else
#include <stint/stint.h>
#endif
"""
STINT = "#include <stint/stint.h>\n"
PROGRAM = '#include "consumers.h"\n'
EXTERN_C = '#ifdef __cplusplus\nextern "C" {\n#endif\n%s#ifdef __cplusplus\n}\n#endif\n'
INSTRUMENTED = """int main(void) {
    STINT_INSTRUMENT_FUNCTION("main")
    return 0;
}
"""
LINES = """STINT_LINES_FILE(0, "file.c", STINT_IMPL_NULL, 2, 1, 2)
int main(void) {
    STINT_INSTRUMENT_FUNCTION("main")
    STINT_LINES_FUNCTION(0)
    STINT_LINE(0);
    STINT_LINE_AGAIN(1);
    STINT_LINE_ENTERED(1);
    return 0;
}
"""
LEGACY = """int main(void) {
    {
        REGISTER_TIMER("legacy");
    }
#ifdef __cplusplus
    StatSet set;
    set.setThreadInfo(false);
#endif
    setThreadInfo(0);
    return getStat("none") != STINT_IMPL_NULL;
}
"""


def macros(lines):
    """Lines of definitions, each after the header that has them or the word that explains them."""
    words = [word for line in lines.splitlines() for word in line.split(": ", 1)[1].split("; ")]
    return "".join(f"#undef {re.match(r'[A-Za-z_0-9]+', word)[0]}\n#define {word}\n" for word in words)


WORDS = macros("""windef.h of Windows: near; far; IN; OUT; OPTIONAL; cdecl _cdecl; CONST const
windef.h of Windows: max(a, b) (((a) > (b)) ? (a) : (b)); min(a, b) (((a) < (b)) ? (a) : (b))
wingdi.h of Windows: ERROR 0
rpcndr.h of Windows: small char; interface struct
X11/X.h: None 0L; Success 0; Always 2; Above 0; Below 1
X11/Xlib.h: Bool int; Status int; True 1; False 0
X11/Xos.h: index(s, c) (strchr((s), (c)))
qobjectdefs.h of Qt: signals public; slots; emit
qglobal.h of Qt: foreach Q_FOREACH; forever for (;;)
sys/sysmacros.h: major(dev) gnu_dev_major(dev); minor(dev) gnu_dev_minor(dev)
sys/cdefs.h of glibc: __always_inline __inline __attribute__((always_inline))
sys/cdefs.h of BSD: __unused __attribute__((unused))
complex.h: I _Complex_I; complex _Complex
the compiler in gnu modes: linux 1; unix 1
curses.h: OK (0); ERR (-1); TRUE 1; FALSE 0; move(y, x) wmove(stdscr, (y), (x)); clear() wclear(stdscr)
term.h: lines cur_term->type.Numbers[2]; columns cur_term->type.Numbers[0]
linux/netfilter/xt_sctp.h: bytes(type) (sizeof(type) * 8)
p11-kit/pkcs11.h: value pValue; count ulCount; reserved pReserved
fcntl.h and sys/stat.h with 64-bit offsets: open open64; stat stat64
zutil.h of zlib: local static
linux/compiler.h: likely(x) __builtin_expect(!!(x), 1); unlikely(x) __builtin_expect(!!(x), 0)
""") + "#ifdef __cplusplus\n" + macros("""tests of private members: private public
""") + "#else\n" + macros("""stdbool.h: bool _Bool; true 1; false 0
C++ as names: class klass; template templ; this self; new fresh; private priv
""") + "#endif\n"
# Attributes, keywords and common words, which projects define in many ways: any use is an error.
POISONED = macros("".join(f"poison: {word} ]\n" for word in """unused noinline always_inline cleanup
visibility aligned tls_model no_instrument_function no_sanitize packed hot cold pure weak used section
alias printf nonnull noreturn deprecated constructor destructor hidden push(x) pop(x) diagnostic ignored
system_header GCC clang asm typeof thread_local on off yes no ON OFF YES NO disabled mutex atomic lock unlock
T U N S L check verify require assert debug DEBUG LOG CHECK byte u8 u32 u64 uint""".split())
                  ) + "#ifndef __cplusplus\n#define inline ]\n#endif\n"
HOOKS = """#include <stint/stint.h>
#ifdef __cplusplus
extern "C" {
#endif
__attribute__((__no_instrument_function__)) void __cyg_profile_func_enter(void *f, void *caller);
__attribute__((__no_instrument_function__)) void __cyg_profile_func_exit(void *f, void *caller);
void __cyg_profile_func_enter(void *f, void *caller) {
    STINT_TIMER("hook");
    (void)f;
    (void)caller;
}
void __cyg_profile_func_exit(void *f, void *caller) {
    (void)f;
    (void)caller;
}
#ifdef __cplusplus
}
#endif
"""
# Headers that define many words, and the C library's.
HEADERS = "".join(f"#if __has_include(<{name}>)\n#include <{name}>\n#endif\n" for name in (
    "stdio.h", "stdlib.h", "sys/types.h", "sys/stat.h", "complex.h", "curses.h", "term.h", "X11/Xlib.h"))
FORMS = '#include "forms.c"\n#include "forms_second.c"\n'
READ = """#if STINT_IMPL_TIMER != %d || STINT_IMPL_PROFILER != %d
#error a switch is read wrongly
#endif
FOR_TIMING(typedef int for_timing;)
extern int probe;
"""
# Before the file's own feature macros.
FEATURES = """#ifdef _FEATURES_H
#error stint.h reads the feature macros
#endif
#define _GNU_SOURCE
#include <pthread.h>
int main(void) {
    REGISTER_TIMER("main");
    REGISTER_GPU_PROFILER("main");
    return pthread_setname_np(pthread_self(), "main");
}
"""
C89 = {"include": "", "program": '#include "forms_c89.c"\n', "run": False}
# Names without a prefix, which are the project's with STINT_NO_LEGACY_NAMES.
OWN_NAMES = """enum { TIMER_BEGIN, TIMER_VALUE, FOR_TIMING, GPU_PROFILER_START, REGISTER_TIMER };
extern int printStatus(int bus, int address), printAllStatus(int a, int b);
extern double getStat;
struct setThreadInfo { int member; };
struct StatSet { int mine; };
extern struct StatSet globalStat;
int own(void);
int own(void) {
    STINT_TIMER("own");
    STINT_FOR_TIMING((void)FOR_TIMING;)
    getStat = printStatus(1, 2) + printAllStatus(3, 4) + globalStat.mine;
    return TIMER_BEGIN + TIMER_VALUE;
}
"""
STRICT = "-Wzero-as-null-pointer-constant -Wold-style-cast"
FORMS_CXX = '#include "forms_cxx.cpp"\n#include "forms_second.c"\n'
# One pointer into a temporary that ends before the block does, which clang says, and others.
DANGLES = """#include <string>
int main(int, char **argv) {
    const std::string s = argv[0];
    STINT_TIMER_INFO("note", (s + "x").c_str());
    STINT_TIMER_INFO("lasting", s.c_str());
    STINT_TIMER_INFO("kept", s + "x");
    STINT_GPU_PROFILER((s + "x").c_str(), (s + "y").c_str());
    STINT_PROFILER("CPU", nullptr, nullptr, (s + "y").c_str());
    return 0;
}
"""
# -Weverything less: what the standards before C++11 and C99 did not have, the layout of structs,
# functions of which a file uses some, and pointers of C (clang 16).
LESS_CLANG = ("-Wno-unknown-warning-option -Wno-unsafe-buffer-usage -Wno-c++98-compat "
              "-Wno-c++98-compat-pedantic -Wno-c++98-compat-bind-to-temporary-copy "
              "-Wno-padded -Wno-used-but-marked-unused")
# All of gcc less the same, what C before it and traditional C did not have, `struct` before a name,
# which C needs, what needs another flag, and notes that are no faults.
LESS_GCC = """c90-c99-compat c99-c11-compat c11-c2x-compat traditional traditional-conversion
padded redundant-tags system-headers inline aggregate-return abi templates
namespaces chkp fatal-errors strict-flex-arrays unsuffixed-float-constants""".split()


@dataclasses.dataclass
class Row:
    name: str
    flags: str = ""
    prelude: str = ""  # the file's first lines, before it includes stint
    include: str = PLAIN
    program: str = PROGRAM
    search: str = "-I@"  # @: the folder of the headers, $: of the two files
    only: str = ""  # of gcc clang c c++ on off, those that the row is for; a kind not named: all
    gcc: str = ""  # flags of one compiler or language
    clang: str = ""
    c: str = ""
    cxx: str = ""
    error: str = ""  # it must not compile, and the one error has this pattern
    calls: dict = None  # the rows of its report in place of those of consumers.h; empty: none
    more: dict = None  # rows that come to those of consumers.h
    run: bool = True  # else the file is compiled only
    long: bool = False

    def _chosen(self, *all_of_kind):
        named = [one for one in all_of_kind if one in self.only.split()]
        return named or list(all_of_kind)

    compilers = property(lambda self: self._chosen("gcc", "clang"))
    languages = property(lambda self: self._chosen("c", "c++"))
    switches = property(lambda self: self._chosen("on", "off"))

    def text(self):
        return self.prelude + self.include + self.program

    def flags_of(self, family, language):
        mine = [self.flags, getattr(self, family), self.c if language == "c" else self.cxx]
        return " ".join(mine).split()


ROWS = [
    # Ways to include
    Row("plain"),
    Row("system", search="-isystem @"),
    Row("stint.h", include=STINT, only="c++"),
    Row("amalgamated", prelude=STINT, search="-I$"),
    Row("extern C", include=EXTERN_C % (PLAIN + PLAIN)),
    Row("extern C inline", "-DSTINT_INLINE=1 -O2", include=EXTERN_C % STINT, only="on", long=True),
    Row("packed", prelude="#pragma pack(1)\n"),
    Row("after headers", prelude=HEADERS),
    Row("instrument", prelude="#pragma pack(2)\n", include=EXTERN_C % ("#include <stint/instrument.h>\n" * 2),
        program=INSTRUMENTED, only="on", calls={"main": 1}),
    Row("lines", include=EXTERN_C % ("#include <stint/lines.h>\n" * 2), program=LINES, only="on",
        calls={"main": 1}),
    # Switches
    *(Row(f"{switch} alone {search}", f"-D{switch}", only="off", search=search, include="",
          program=FORMS, c="-std=c11", cxx="-std=c++17", run=False)
      for switch in ("WITH_TIMER", "WITH_PROFILER") for search in ("-I@", "-I$")),
    Row("elsewhere", "-U__linux__", STINT, only="on", error="timers need Linux"),
    Row("elsewhere off", "-U__linux__ -U__GNUC__", include=STINT, program=READ % (0, 0), only="off",
        run=False),
    Row("inline 0", "-DSTINT_INLINE=0", STINT, only="on", error="STINT_INLINE must be 1"),
    Row("inline 3", "-DSTINT_INLINE=3", STINT, only="on", error="STINT_INLINE must be 1"),
    *(Row(f"switch {word} {numbers}", f"-DWITH_TIMER={word} -DWITH_PROFILER={word} {numbers}",
          include=STINT, program=READ % (on, on), only="off", run=False)
      for on, words in ((0, "0 OFF Off off NO no FALSE False false".split()),
                        (1, ["", *"1 ON On on YES yes TRUE True true".split()]))
      for word in words for numbers in ("", "-DTRUE=1 -DFALSE=0")
      if not numbers or word in ("TRUE", "FALSE")),
    *(Row(f"{switch}={word}", f"-D{switch}={word}", only="off", include=STINT, program="int x;\n",
          error=f"{switch} must be ON or OFF")
      for switch in ("WITH_TIMER", "WITH_PROFILER") for word in "2 maybe oFF ON_".split()),
    # Switches that come after the first inclusion
    Row("again spelled", prelude="#undef WITH_TIMER\n#define WITH_TIMER ON\n" + PLAIN +
        "#undef WITH_TIMER\n#define WITH_TIMER 1\n#define STINT_INLINE 2\n", only="on"),
    Row("again off spelled", "-DWITH_TIMER=NO", PLAIN + "#undef WITH_TIMER\n", only="off"),
    Row("again timer on", prelude=PLAIN + "#define WITH_TIMER\n", only="off",
        error="WITH_TIMER is on here, but stint.h was included before with timers off"),
    Row("again timer off", prelude=PLAIN + "#undef WITH_TIMER\n", only="on",
        error="WITH_TIMER is off here, but stint.h was included before with timers on"),
    Row("again profiler on", prelude=STINT + "#define WITH_PROFILER YES\n", only="off",
        error="WITH_PROFILER is on here, but stint.h was included before with ranges off"),
    Row("again profiler off", "-DWITH_PROFILER=1", STINT + "#undef WITH_PROFILER\n", only="on",
        error="WITH_PROFILER is off here, but stint.h was included before with ranges on"),
    Row("again inline", prelude=STINT + "#define STINT_INLINE 1\n", only="on",
        error="STINT_INLINE is 1 here, but a header of stint was included before with 2"),
    Row("again copied", "-DSTINT_INLINE=1", "#include <stint/instrument.h>\n#undef STINT_INLINE\n",
        only="on", error="STINT_INLINE is 2 here, but a header of stint was included before with 1"),
    Row("again names", "-O1", prelude="#define STINT_NO_LEGACY_NAMES\n" + PLAIN +
        "#undef STINT_NO_LEGACY_NAMES\n" + PLAIN + "#define STINT_NO_LEGACY_NAMES\n",
        program=LEGACY, calls={"legacy": 1}),
    # Words that are macros elsewhere
    Row("words", prelude=WORDS, clang="-Wno-keyword-macro"),
    Row("words of attributes", prelude=POISONED, clang="-Wno-keyword-macro"),
    Row("words inline", "-DSTINT_INLINE=1 -O1", WORDS + POISONED, only="on",
        clang="-Wno-keyword-macro"),
    Row("own names", prelude="#define STINT_NO_LEGACY_NAMES\n", program=OWN_NAMES, run=False),
    Row("words of CUDA", prelude="#define __noinline__ __attribute__((noinline))\n"),
    # Standards
    Row("oldest", c="-std=gnu89 -Wno-pedantic", cxx="-std=c++11 -pedantic-errors"),
    Row("c89", "-std=c89 -pedantic-errors", only="c off", **C89),
    # <asm/types.h> of 32-bit Arm has another type for it than <stdint.h>.
    Row("uintptr", prelude="#undef __UINTPTR_TYPE__\n#define __UINTPTR_TYPE__ unsigned int\n"
        "#include <stdint.h>\n", only="c"),
    Row("c89 after stdint.h", "-std=c89 -pedantic-errors -O2", "#include <stdint.h>\n", only="c off",
        **C89),
    Row("c89 before stdint.h", "-std=c89 -pedantic-errors", STINT + "#include <stdint.h>\n",
        only="c off", **C89),
    Row("c89 with timers", "-std=c89 -pedantic-errors", only="c on", error="not strict C89", **C89),
    Row("gnu89", "-std=gnu89 -Wno-pedantic -O2", only="c on", **C89),
    Row("c99", "-std=c99 -pedantic-errors", only="c off"),
    Row("feature macros", "-std=c11", include=STINT, program=FEATURES, only="c", calls={"main": 1}),
    Row("c11", c="-std=c11 -pedantic-errors", cxx="-std=c++14 -pedantic-errors"),
    Row("c17", c="-std=c17 -pedantic-errors", cxx="-std=c++17 -pedantic-errors"),
    Row("c2x", c="-std=c2x -pedantic-errors", cxx="-std=c++20 -pedantic-errors"),
    Row("gnu2x", c="-std=gnu2x", cxx="-std=gnu++2b"),
    Row("objective C", "-x objective-c", only="clang c"),
    # Code generation
    Row("O1 alike", "-O1 -fno-exceptions -fvisibility=hidden -fPIE -fno-plt -fno-builtin"),
    Row("O2", "-O2 -fPIC -fstack-protector-all -D_FORTIFY_SOURCE=2"),
    Row("O3", "-O3 -ffast-math -march=native", long=True),
    Row("Os", "-Os -fno-inline -fomit-frame-pointer"),
    Row("Oz", "-Oz", long=True),
    Row("Og", "-Og"),
    Row("Og system", "-Og -DSTINT_INLINE=1", search="-isystem @", only="gcc on"),
    Row("types", "-funsigned-char -fshort-enums -fpack-struct=4 -fno-common -ftrapv -fopenmp"),
    Row("sections", "-ffunction-sections -fdata-sections -fcf-protection=full -mcmodel=large -fPIE", long=True),
    Row("no exceptions", cxx="-fno-exceptions -fno-rtti -fno-threadsafe-statics", only="c++"),
    Row("freestanding", "-ffreestanding -fexceptions", only="c"),
    Row("lto", "-flto -O2", gcc="-ffat-lto-objects"),
    Row("32 bit", "-m32", only="off"),
    # Instrumentation by the compiler
    Row("instrument functions", "-finstrument-functions", HOOKS, more={"hook": 4}),
    Row("instrument functions inline", "-finstrument-functions -DSTINT_INLINE=1 -O2", HOOKS,
        more={"hook": 4}, only="on", long=True),
    Row("pg", "-pg --coverage"),
    Row("profile", "-fprofile-instr-generate -fcoverage-mapping -fxray-instrument", only="clang", long=True),
    Row("address", "-fsanitize=address,undefined -fno-sanitize-recover=all"),
    Row("thread", "-fsanitize=thread"),
    Row("integer", "-fsanitize=integer -fno-sanitize-recover=all", only="clang"),
    Row("integer inline", "-fsanitize=integer -fno-sanitize-recover=all -DSTINT_INLINE=1",
        only="clang on", long=True),
    # MemorySanitizer does not see into the library, which makes the report: scopes are recorded.
    Row("memory", "-fsanitize=memory -DSTINT_INLINE=1", only="clang", calls={}),
    Row("memory O2", "-fsanitize=memory -O2", only="clang", calls={}, long=True),
    # Warnings
    Row("strict", "-Wcast-qual -Wundef -Wdouble-promotion -Wswitch-enum", cxx="-Weffc++",
        c="-Wc++-compat -Wstrict-prototypes -Wmissing-prototypes"),
    Row("strict forms", STRICT + " -std=c++11", include="", program=FORMS_CXX, only="c++",
        gcc="-Wuseless-cast", run=False),
    Row("strict forms system", STRICT + " -std=c++20", include="", program=FORMS_CXX, only="c++",
        search="-isystem @", gcc="-Wuseless-cast", run=False),
    Row("dangling note", program=DANGLES, only="clang c++ on", error="-Wdangling-gsl"),
    Row("dangling note system", "-std=c++11", program=DANGLES, search="-isystem @",
        only="clang c++ on", error="-Wdangling-gsl"),
    Row("everything", "-Weverything " + LESS_CLANG, only="clang"),
    Row("everything inline", "-O1 -DSTINT_INLINE=1 -Weverything " + LESS_CLANG, only="clang on", long=True),
    Row("all of gcc", "-O1 -Wgcc-all", only="gcc"),
    Row("all of gcc inline", "-O2 -DSTINT_INLINE=1 -Wgcc-all", only="gcc on", long=True),
]
