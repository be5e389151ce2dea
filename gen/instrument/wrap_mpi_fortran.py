# SPDX-License-Identifier: Apache-2.0
"""The wrappers of MPI's functions for Fortran, made of those for C; wrap_mpi.py calls it.

Only functions that go past the wrappers for C are wrapped, so that a call is counted once. Open
MPI's libraries for Fortran call MPI by names with PMPI_: mpif.h and `use mpi` call mpi_send_, `use
mpi_f08` mpi_send_f08_, and neither calls the other. MPICH's call the wrappers for C, but for
functions of `use mpi_f08` without a buffer, such as mpi_barrier_f08_.

These take the parameters of the function for C by reference, in the same order, then the error, and
the lengths of texts. A wrapper passes on as many words; there may be fewer, as in MPI_INIT, and what
lies behind them is passed on unseen.
"""

import re

# Functions for C that Fortran has not.
NOT_FORTRAN = re.compile(r"_[fc]2|2[fc]_|^MPI_Aint_")


def value_of(number, text):
    """The declaration of a parameter as the function for C has it."""
    word, name = "stint_word%d" % number, "stint_arg%d" % number
    if text == "MPI_Comm *":
        return "MPI_Comm stint_value{0} = stint_mpi_fortran_comm({1}), *{2} = &stint_value{0};".format(
            number, word, name)
    if text == "MPI_Comm":
        return "MPI_Comm %s = stint_mpi_fortran_comm(%s);" % (name, word)
    if text == "MPI_Datatype":
        return "MPI_Datatype %s = stint_mpi_fortran_type(%s);" % (name, word)
    if re.fullmatch(r"(const )?void \*", text):
        return "const void *%s = stint_mpi_fortran_buffer(%s);" % (name, word)
    if text.endswith("*"):
        return "%s%s = %s;" % (text, name, word)
    return "%s %s = *(const %s *)%s;" % (text, name, text, word)


def write_entry(out, candidate, symbol, words):
    """A wrapper with that symbol."""
    declared = ", ".join("void *stint_word%d" % n for n in range(words))
    types = ", ".join(["void *"] * words)
    own = "stint_fortran_" + symbol
    out.append('void %s(%s) __asm__("%s") __attribute__((used, no_instrument_function, '
               'visibility("default")));' % (own, declared, symbol))
    out.append("void %s(%s) {" % (own, declared))
    out.append("    static void (*known)(%s);" % types)
    out.append("    void (*real)(%s) = __atomic_load_n(&known, __ATOMIC_RELAXED);" % types)
    out.append("    if (!real) {")
    out.append('        real = (void (*)(%s))stint_wrap_find("%s");' % (types, symbol))
    out.append("        __atomic_store_n(&known, real, __ATOMIC_RELAXED);")
    out.append("    }")
    out.append("    stint_fortran_%s(real, %s);"
               % (candidate.name, ", ".join("stint_word%d" % n for n in range(words))))
    out.append("}")


def symbols_of(candidate, is_open_mpi):
    """The symbols of the function that do not call the wrapper for C."""
    name = candidate.name.lower()
    if not name.startswith("mpi_") or NOT_FORTRAN.search(candidate.name):
        return []
    if is_open_mpi:
        return [name + "_", name + "_f08_"]
    if any(re.fullmatch(r"(const )?void \*", text) for text in candidate.parameters):
        return []
    if name.endswith("_c"):
        return [name[:-2] + "_f08_large_"]
    return [name + "_f08_"]


def write_function(out, candidate, symbols, scope, place):
    """scope: what wrap_mpi.scope returns; place: the line of the header, for #line."""
    timer, before, inside, after = scope
    count = len(candidate.parameters)
    words = count + 1 + sum("char" in text for text in candidate.parameters)
    out.append("static void stint_fortran_%s(void (*real)(%s), %s) {"
               % (candidate.name, ", ".join(["void *"] * words),
                  ", ".join("void *stint_word%d" % n for n in range(words))))
    used = " ".join([timer, *before, *inside, *after])
    for n, text in enumerate(candidate.parameters):
        if re.search(r"\bstint_arg%d\b" % n, used):
            out.append("    " + value_of(n, text))
    out.extend("    " + line for line in before)
    out.append(place)
    out.append("    " + timer)
    out.extend("    " + line for line in inside)
    out.append("    real(%s);" % ", ".join("stint_word%d" % n for n in range(words)))
    if after:
        out.append("    int stint_result = stint_word{0} ? *(int *)stint_word{0} : MPI_SUCCESS;".format(
            count))
        out.extend("    " + line for line in after)
    out.append("}")
    for symbol in symbols:
        write_entry(out, candidate, symbol, words)


def write(out, chosen, is_open_mpi, scope_of, place_of):
    """scope_of(candidate), place_of(candidate): as for the wrappers for C."""
    for candidate in chosen:
        symbols = symbols_of(candidate, is_open_mpi)
        if symbols:
            write_function(out, candidate, symbols, scope_of(candidate), place_of(candidate))
