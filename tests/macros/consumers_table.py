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
PROGRAM = '#include "consumers.h"\n'
EXTERN_C = '#ifdef __cplusplus\nextern "C" {\n#endif\n%s#ifdef __cplusplus\n}\n#endif\n'


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
    Row("stint.h", include="#include <stint/stint.h>\n", only="c++"),
    Row("twice", include=PLAIN + PLAIN),
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
