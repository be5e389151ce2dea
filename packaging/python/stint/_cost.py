# SPDX-License-Identifier: Apache-2.0
"""The cost of a scope of Python in this interpreter: the code of the package is measured with a
function of the C library in place of stint's, which takes the same argument and records nothing."""

import ctypes
import time
import types

CALLS = 200
ROUNDS = 4


def _best_ns(run):
    """Nanoseconds of a call, of the best round."""
    rounds = []
    for _ in range(ROUNDS):
        start = time.perf_counter_ns()
        run()
        rounds.append(time.perf_counter_ns() - start)
    return min(rounds) / CALLS


def _empty():
    return None


def measure(package):
    """package: the names of the package's module. Returns what a decorated call and a `with` block add
    at least to what they contain, in nanoseconds, without the library's part."""
    nothing = ctypes.PyDLL(None).strlen
    nothing.restype, nothing.argtypes = ctypes.c_int, (ctypes.c_char_p,)
    names = dict(package, _begin=nothing, _end=nothing)

    def renamed(function):
        return types.FunctionType(function.__code__, names, function.__name__)

    scope = package["scope"]
    block = type("measured", (scope,), {"__slots__": (),
                                        "__enter__": renamed(scope.__enter__),
                                        "__exit__": renamed(scope.__exit__)})("measured")
    timed = renamed(package["_of_function"])(_empty, b"measured")

    def plain_calls():
        for _ in range(CALLS):
            _empty()

    def timed_calls():
        for _ in range(CALLS):
            timed()

    def plain_blocks():
        for _ in range(CALLS):
            pass

    def timed_blocks():
        for _ in range(CALLS):
            with block:
                pass

    return (max(_best_ns(timed_calls) - _best_ns(plain_calls), 0.0),
            max(_best_ns(timed_blocks) - _best_ns(plain_blocks), 0.0))
