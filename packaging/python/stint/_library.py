# SPDX-License-Identifier: Apache-2.0
"""The C library, by ctypes: where it is, and the types of its functions."""

import ctypes
import os

# The suffix of the library that this package knows; stint.h, STINT_ABI.
ABI = 5


_OTHERS = {"threads": ctypes.c_uint32, "info": ctypes.c_char * 64}


class Stat(ctypes.Structure):
    """struct stint_stat of stint.h."""

    # gen: stat names
    _names = (
        "calls", "samples", "total_ns", "self_ns", "min_ns", "max_ns", "first_ns", "p50_ns",
        "p90_ns", "p99_ns", "gpu_calls", "gpu_total_ns", "gpu_min_ns", "gpu_max_ns", "gpu_p50_ns",
        "gpu_p99_ns", "device_calls", "device_total_ns", "bytes", "flops", "threads", "info",
        "stddev_ns")
    # gen: end
    _fields_ = [(name, _OTHERS.get(name, ctypes.c_uint64)) for name in _names]

    def as_dict(self):
        found = {name: getattr(self, name) for name, _ in self._fields_}
        found["info"] = found["info"].decode("utf-8", "replace")
        return found


STAT_BYTES = ctypes.sizeof(Stat)

_TEXT, _INT = ctypes.c_char_p, ctypes.c_int
# name -> its result, its parameters, and what it returns without the library.
SHORT = {
    "stint_scope_begin": (_INT, (_TEXT,), 0),
    "stint_scope_end": (_INT, (_TEXT,), 0),
    "stint_sample_add": (_INT, (_TEXT, ctypes.c_uint64), -1),
    "stint_timers_enable": (None, (_INT,), None),
    "stint_version": (_TEXT, (), b""),
}
# These may take milliseconds, or wait for a disk: other threads of Python run meanwhile.
LONG = {
    "stint_step": (ctypes.c_uint64, (), 0),
    "stint_report": (_INT, (_TEXT,), 0),
    "stint_export": (_INT, (_TEXT, _TEXT), 0),
    "stint_reset": (None, (), None),
    "stint_stat_get": (_INT, (_TEXT, ctypes.POINTER(Stat), ctypes.c_size_t), -1),
}


class Library:
    """Its functions are members; path is None without one, and they do nothing."""

    def __init__(self, path, reason):
        self.path = path
        self.reason = reason

    def take(self, functions, library):
        for name, (result, parameters, nothing) in functions.items():
            if library is None:
                setattr(self, name, lambda *arguments, value=nothing: value)
                continue
            function = getattr(library, name)
            function.restype, function.argtypes = result, parameters
            setattr(self, name, function)


def path_bytes(path):
    return os.fsencode(path)


def candidates():
    """PYSTINT_LIBRARY alone if it is set; else what the process has loaded, what is in this
    package, and what the loader finds."""
    given = os.environ.get("PYSTINT_LIBRARY")
    if given:
        return [given]
    name = "libstint.so.%d" % ABI
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    return [None] + ([own] if os.path.exists(own) else []) + [name]


def load():
    reason = ""
    for path in candidates():
        try:
            # PyDLL keeps Python's lock: taking it again costs more than a scope does.
            short, long = ctypes.PyDLL(path), ctypes.CDLL(path)
            found = Library(path or "(in the program)", "")
            found.take(SHORT, short)
            found.take(LONG, long)
            return found
        except AttributeError as error:
            # The error for the program itself says only that nothing was loaded.
            reason = reason if path is None else "%s: %s" % (path, error)
        except OSError as error:
            reason = str(error)
    none = Library(None, reason)
    none.take(SHORT, None)
    none.take(LONG, None)
    return none
