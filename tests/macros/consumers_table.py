# SPDX-License-Identifier: Apache-2.0
"""The rows of consumers.py: ways in which projects compile a file that includes stint. One row is
one flag, one definition before the header, one context or one way to include; what means the same
together shares a row."""
import dataclasses

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
# The macros that headers of others define, with the header.
WORDS = """
#define near /* windef.h of Windows */
#define far
#define small char /* rpcndr.h of Windows */
#define interface struct
#define max(a, b) (((a) > (b)) ? (a) : (b)) /* windef.h, X11/Xlibint.h */
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define ERROR 0 /* wingdi.h of Windows */
#define IN
#define OUT
#define OPTIONAL
#define None 0L /* X11/X.h */
#define Success 0
#define Always 2
#define Above 0
#define Below 1
#define Bool int /* X11/Xlib.h */
#define Status int
#define True 1
#define False 0
#define index(s, c) (strchr((s), (c))) /* X11/Xos.h */
#define signals public /* qobjectdefs.h of Qt */
#define slots
#define emit
#define foreach Q_FOREACH /* qglobal.h of Qt */
#define forever for (;;)
#define major(dev) gnu_dev_major(dev) /* sys/sysmacros.h */
#define minor(dev) gnu_dev_minor(dev)
#define I _Complex_I /* complex.h */
#define complex _Complex
#undef linux /* the compiler's own in gnu modes */
#undef unix
#define linux 1
#define unix 1
#define OK (0) /* curses.h */
#define ERR (-1)
#define TRUE 1
#define FALSE 0
#define move(y, x) wmove(stdscr, (y), (x))
#define clear() wclear(stdscr)
#define erase() werase(stdscr)
#define timeout(delay) wtimeout(stdscr, (delay))
#define lines cur_term->type.Numbers[2] /* term.h */
#define columns cur_term->type.Numbers[0]
#define bytes(type) (sizeof(type) * 8) /* linux/netfilter/xt_sctp.h */
#define value pValue /* p11-kit/pkcs11.h */
#define count ulCount
#define reserved pReserved
#define open open64 /* fcntl.h with 64-bit offsets */
#define stat stat64 /* sys/stat.h likewise */
#define local static /* zutil.h of zlib */
#define likely(x) __builtin_expect(!!(x), 1) /* linux/compiler.h */
#define unlikely(x) __builtin_expect(!!(x), 0)
#define __unused __attribute__((unused)) /* sys/cdefs.h of BSD */
#define __always_inline __inline __attribute__((always_inline)) /* sys/cdefs.h of glibc */
#ifndef __cplusplus
#define bool _Bool /* stdbool.h */
#define true 1
#define false 0
#define class struct
#define template
#define this self
#define new fresh
#define private
#else
#define private public /* tests of classes */
#endif
"""
# Attributes, keywords and switches that projects define in many ways: here so that any use of them
# is an error.
POISONED = "".join(f"#define {word} ]\n" for word in """unused noinline always_inline cleanup visibility aligned
tls_model no_instrument_function no_sanitize packed hot cold pure weak used section alias printf
nonnull noreturn deprecated constructor destructor hidden push pop diagnostic ignored system_header GCC
clang asm typeof thread_local on off no ON OFF YES NO disabled mutex atomic lock unlock likely_
T U N S L check verify require assert debug DEBUG LOG CHECK byte u8 u32 u64 uint
""".split()) + """#ifndef __cplusplus
#define inline ]
#endif
"""
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
# -Weverything less: what the standards before C++11 and C99 did not have, the layout of structs, and
# functions of which a file uses some.
LESS_CLANG = ("-Wno-c++98-compat -Wno-c++98-compat-pedantic -Wno-c++98-compat-bind-to-temporary-copy "
              "-Wno-declaration-after-statement -Wno-padded -Wno-used-but-marked-unused")
# All of gcc less the same, what C before it and traditional C did not have, `struct` before a name,
# which C needs, and notes that are no faults.
LESS_GCC = """c90-c99-compat c99-c11-compat c11-c2x-compat traditional traditional-conversion
declaration-after-statement padded redundant-tags system-headers inline aggregate-return abi templates
namespaces chkp fatal-errors unsuffixed-float-constants""".split()


@dataclasses.dataclass
class Row:
    name: str
    flags: str = ""
    prelude: str = ""  # the file's first lines, before it includes stint
    include: str = PLAIN
    program: str = PROGRAM
    search: str = "-I@"  # @: the folder of the headers
    only: str = ""  # of gcc clang c c++ on off, those that the row is for; a kind not named: all
    gcc: str = ""  # flags of one compiler or language
    clang: str = ""
    c: str = ""
    cxx: str = ""
    error: str = ""  # it must not compile, and the one error has this pattern
    calls: dict = None  # the rows of its report in place of those of consumers.h; empty: none
    more: dict = None  # rows that come to those of consumers.h
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
    Row("amalgamated", include='#include "stint.h"\n' * 2, search="-I$"),
    Row("extern C", include=EXTERN_C % (PLAIN + PLAIN)),
    Row("extern C inline", "-DSTINT_INLINE=1 -O2", include=EXTERN_C % STINT, only="on"),
    Row("instrument", include=EXTERN_C % ("#include <stint/instrument.h>\n" * 2),
        program=INSTRUMENTED, only="on", calls={"main": 1}),
    Row("lines", include=EXTERN_C % ("#include <stint/lines.h>\n" * 2), program=LINES, only="on",
        calls={"main": 1}),
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
    Row("words of CUDA", prelude="#define __noinline__ __attribute__((noinline))\n"),
    # Standards
    Row("oldest", c="-std=gnu89 -Wno-pedantic", cxx="-std=c++11 -pedantic-errors"),
    Row("c89", "-std=c89", only="c off", include=STINT),
    Row("c99", "-std=c99 -pedantic-errors", only="c off"),
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
    Row("types", "-funsigned-char -fshort-enums -fno-common -fwrapv -ftrapv"),
    Row("no exceptions", cxx="-fno-exceptions -fno-rtti -fno-threadsafe-statics", only="c++"),
    Row("freestanding", "-ffreestanding -fexceptions", only="c"),
    Row("lto", "-flto -O2", gcc="-ffat-lto-objects"),
    Row("32 bit", "-m32", only="off"),
    # Instrumentation by the compiler
    Row("instrument functions", "-finstrument-functions", HOOKS, STINT, more={"hook": 4}),
    Row("instrument functions inline", "-finstrument-functions -DSTINT_INLINE=1 -O2", HOOKS, STINT,
        more={"hook": 4}, only="on", long=True),
    Row("pg", "-pg --coverage"),
    Row("address", "-fsanitize=address,undefined -fno-sanitize-recover=all"),
    Row("thread", "-fsanitize=thread"),
    Row("integer", "-fsanitize=integer -fno-sanitize-recover=all", only="clang"),
    Row("integer inline", "-fsanitize=integer -fno-sanitize-recover=all -DSTINT_INLINE=1",
        only="clang on", long=True),
    # The report is made in a library that MemorySanitizer does not see into: only scopes are recorded.
    Row("memory", "-fsanitize=memory -DSTINT_INLINE=1", only="clang", calls={}),
    Row("memory O2", "-fsanitize=memory -O2", only="clang", calls={}, long=True),
    # Warnings
    Row("strict", "-Wcast-qual -Wundef -Wdouble-promotion -Wfloat-equal -Wswitch-enum", c="-Wc++-compat "
        "-Wstrict-prototypes -Wmissing-prototypes", cxx="-Weffc++ -Wold-style-cast "
        "-Wzero-as-null-pointer-constant"),
    Row("everything", "-Weverything " + LESS_CLANG, only="clang"),
    Row("everything inline", "-O1 -DSTINT_INLINE=1 -Weverything " + LESS_CLANG, only="clang on"),
    Row("all of gcc", "-O1 -Wgcc-all", only="gcc"),
    Row("all of gcc inline", "-O2 -DSTINT_INLINE=1 -Wgcc-all", only="gcc on"),
]
