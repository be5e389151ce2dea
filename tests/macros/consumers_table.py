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
    language: str = ""  # the compiler's -x, if it is not c or c++
    error: str = ""  # it must not compile, and the one error has this pattern
    calls: dict = None  # the rows of its report, if the program is not that of consumers.h
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
    # Standards
    Row("oldest", c="-std=gnu89 -Wno-pedantic", cxx="-std=c++11 -pedantic-errors"),
    Row("c99", "-std=c99 -pedantic-errors", only="c off"),
    Row("c11", c="-std=c11 -pedantic-errors", cxx="-std=c++14 -pedantic-errors"),
    Row("c17", c="-std=c17 -pedantic-errors", cxx="-std=c++17 -pedantic-errors"),
    Row("newest", c="-std=c2x -pedantic-errors", cxx="-std=c++20 -pedantic-errors"),
    # Code generation
    Row("O0", "-O0"),
    Row("O2", "-O2"),
    Row("O3", "-O3", long=True),
]
