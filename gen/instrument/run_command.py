# SPDX-License-Identifier: Apache-2.0
"""Runs compilers, with what they say kept until it is known whether it is wanted."""
import os
import re
import signal
import sys

NOT_FOUND = 127  # the exit status of shells
SIGNALLED = 128
IGNORED_BY_PYTHON = [signal.SIGPIPE, signal.SIGXFSZ]  # not by other programs

ERROR = re.compile(r'\berror:|undefined reference|\bld(\.\w+)?: (?!warning|NOTE|.*: in function)')


class CannotRun(Exception):
    """The text is one line."""


def exit_status(status):
    if os.WIFSIGNALED(status):
        return SIGNALLED + os.WTERMSIG(status)
    return os.WEXITSTATUS(status)


def run(words, messages=None):
    """The exit status; messages: a descriptor that takes the place of stderr."""
    actions = [(os.POSIX_SPAWN_DUP2, messages, 2)] if messages is not None else []
    try:
        process = os.posix_spawnp(words[0], words, os.environ, file_actions=actions,
                                  setsigdef=IGNORED_BY_PYTHON)
    except OSError as e:
        raise CannotRun('cannot run %s: %s' % (words[0], e.strerror))
    return exit_status(os.waitpid(process, 0)[1])


def become(words):
    """Does not return."""
    for number in IGNORED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(words[0], words)
    except OSError as e:
        raise CannotRun('cannot run %s: %s' % (words[0], e.strerror))


class Messages:
    """Collects the messages of a program on stderr."""

    def __init__(self):
        self.descriptor = os.memfd_create('stint')

    def read(self):
        size = os.fstat(self.descriptor).st_size
        return os.pread(self.descriptor, size, 0)

    def show(self):
        sys.stderr.flush()
        sys.stderr.buffer.write(self.read())
        sys.stderr.flush()

    def first_error(self):
        """The line that says why."""
        lines = self.read().decode(errors='replace').splitlines()
        for line in lines:
            if ERROR.search(line) and not line.startswith('collect2'):
                return line.strip()
        return lines[0].strip() if lines else 'no message'
