# SPDX-License-Identifier: Apache-2.0
"""Timers for Python programs, in the call trees of stint's C library.

    import stint

    with stint.scope("load"):           # the rest of the block
        data = read()

    @stint.scope("step")                # each call; @stint.scope() names it after the function
    def step(batch):
        ...

    stint.report("tree")                # on stderr, or STINT_REPORT=tree at the end of the program

Scopes of Python and of C code that links the same library are in one tree. A block that can be
suspended (in a coroutine or a generator) is measured as an interval: a row with its calls and
times, outside the tree, because others run on the thread meanwhile.

Without the library, libstint.so, everything here does nothing: stint.reason says why.
"""

import atexit
import functools
import inspect
import os
import sys
import time

from . import _cost, _library
from ._read import read

__all__ = ["scope", "add_sample", "step", "report", "export", "reset", "enable", "stat", "cost",
           "version", "read", "available", "reason"]

_stint = _library.load()
#: Whether the library was found, and if not, why.
available = _stint.path is not None
reason = _stint.reason

_SUSPENDABLE = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_begin, _end, _add = _stint.stint_scope_begin, _stint.stint_scope_end, _stint.stint_sample_add
_now, _getframe = time.perf_counter_ns, sys._getframe
_NO_NAME = "stint.scope() without a name is for functions: @stint.scope()"


class _Done:
    """The result of a wait that is over at once: no other task runs in an `async with`."""

    def __init__(self, value):
        self.value = value

    def __await__(self):
        return self.value
        yield  # makes it a generator


class scope:  # pylint: disable=invalid-name
    """A context manager and a decorator. One object may be used any number of times, by several
    threads and tasks at once: what belongs to a use is kept by the frame that uses it."""

    __slots__ = ("_name", "_starts")

    def __init__(self, name=None):
        self._name = None if name is None else _bytes_of(name)
        self._starts = {}  # of intervals: frame -> when its blocks began, the innermost last

    def _begin_interval(self, frame):
        if self._name is None:
            raise TypeError(_NO_NAME)
        self._starts.setdefault(frame, []).append(_now())

    def _end_interval(self, frame):
        now, starts = _now(), self._starts[frame]
        _add(self._name, now - starts.pop())
        if not starts:
            del self._starts[frame]

    def __enter__(self):
        frame = _getframe(1)
        if frame.f_code.co_flags & _SUSPENDABLE:
            self._begin_interval(frame)
        elif self._name is None:
            raise TypeError(_NO_NAME)
        else:
            _begin(self._name)
        return self

    def __exit__(self, *error):
        frame = _getframe(1)
        if frame.f_code.co_flags & _SUSPENDABLE:
            self._end_interval(frame)
        else:
            _end(self._name)
        return False

    def __aenter__(self):
        self._begin_interval(_getframe(1))
        return _Done(self)

    def __aexit__(self, *error):
        self._end_interval(_getframe(1))
        return _Done(False)

    def __call__(self, function):
        name = self._name
        if name is None:
            name = _bytes_of("%s.%s" % (function.__module__, function.__qualname__))
        if not available:
            return function
        if inspect.iscoroutinefunction(function):
            return _of_coroutine(function, name)
        if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
            raise TypeError("%s: a generator has no duration of its own: use `with stint.scope(...)` "
                            "in it" % function.__qualname__)
        return _of_function(function, name)


def _bytes_of(name):
    if not isinstance(name, str):
        raise TypeError("the name of a scope is a str, not %s" % type(name).__name__)
    if not name or "\0" in name:
        raise ValueError("the name of a scope has at least one character, and no NUL")
    return name.encode("utf-8", "surrogateescape")


def _of_function(function, name):
    @functools.wraps(function)
    def timed(*arguments, **named):
        _begin(name)
        try:
            return function(*arguments, **named)
        finally:
            _end(name)
    return timed


def _of_coroutine(function, name):
    @functools.wraps(function)
    async def timed(*arguments, **named):
        start = _now()
        try:
            return await function(*arguments, **named)
        finally:
            _add(name, _now() - start)
    return timed


def add_sample(name, seconds):
    """Adds a duration that was measured elsewhere. False if it was not recorded."""
    ns = round(seconds * 1e9)
    return ns >= 0 and _add(_bytes_of(name), ns) == 0


def step():
    """Ends a step, for example an iteration; returns the number of the new one."""
    return _stint.stint_step()


def report(view=None):
    """Prints a report where STINT_OUTPUT says: "table", "tree,sort=self,top=20" ... ValueError for
    an unknown view."""
    if _stint.stint_report(None if view is None else view.encode()):
        raise ValueError("no report %r: see standard error" % view)


def export(path, format="json"):  # pylint: disable=redefined-builtin
    """Writes the statistics so far: "text", "csv" or "json". OSError if that failed."""
    if _stint.stint_export(_library.path_bytes(path), format.encode()):
        raise OSError("%s was not written: see standard error" % path)


def reset():
    """Starts a new interval: later reports cover the time from now on."""
    _stint.stint_reset()


def enable(on=True):
    """Switches recording on or off, for the whole process."""
    _stint.stint_timers_enable(1 if on else 0)


def stat(name):
    """The statistic of that name as a dict, times in nanoseconds; None without a call."""
    out = _library.Stat()
    if _stint.stint_stat_get(_bytes_of(name), out, _library.STAT_BYTES):
        return None
    return out.as_dict()


def cost():
    """Measures what Python adds at least to each use of a scope here: a dict of nanoseconds for a
    decorated call and for a `with` block. The line `stint cost` of a report does not have it. None
    without the library."""
    if not available:
        return None
    call, block = _cost.measure(globals())
    return {"call_ns": call, "block_ns": block}


def _say_cost(process):
    if os.getpid() != process:
        return
    each = cost()
    print("stint: each scope of Python costs more than the line `stint cost` says: at least %.1f us "
          "for a decorated call, %.1f us for a `with` block" % (each["call_ns"] / 1e3,
                                                          each["block_ns"] / 1e3), file=sys.stderr)


def _say_cost_at_exit():
    """Once, before a report at the end of the program; a child of a fork says nothing."""
    atexit.unregister(_say_cost)
    atexit.register(_say_cost, os.getpid())


if available and os.environ.get("STINT_REPORT", "none").split(",")[0] not in ("", "none"):
    _say_cost_at_exit()


def version():
    """The version of the library; "" without it."""
    return _stint.stint_version().decode()
