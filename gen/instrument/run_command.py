# SPDX-License-Identifier: Apache-2.0
"""Runs compilers, with what they say kept until it is known whether it is wanted."""
import fcntl
import os
import re
import signal
import sys
import time

BAD_USAGE = 2
NOT_FOUND = 127  # the exit status of shells
SIGNALLED = 128
SET_PIPE_SIZE = 1031  # F_SETPIPE_SZ of Linux, which Python 3.8 has no name for
PIPE_BYTES = 1 << 20  # what any user may have
PAUSE_S = 0.003  # in which clang writes less than PIPE_BYTES
IGNORED_BY_PYTHON = [signal.SIGPIPE, signal.SIGXFSZ]  # not by other programs

ERROR = re.compile(r'\berror:|undefined reference|\bld(\.\w+)?: (?!warning|NOTE|.*: in function)')


class CannotRun(Exception):
    """The text is one line."""


def exit_status(status):
    if os.WIFSIGNALED(status):
        return SIGNALLED + os.WTERMSIG(status)
    return os.WEXITSTATUS(status)


def find_program(name):
    """Its path, as shells find it, or None."""
    folders = [''] if os.path.dirname(name) else os.get_exec_path()
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def start(words, output=None, messages=None, no_input=False):
    """Its pid; output and messages: descriptors that take the place of stdout and stderr. OSError."""
    actions = [(os.POSIX_SPAWN_DUP2, descriptor, at) for descriptor, at in ((output, 1), (messages, 2))
               if descriptor is not None]
    if no_input:
        actions.append((os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0))
    return os.posix_spawnp(words[0], words, os.environ, file_actions=actions,
                           setsigdef=IGNORED_BY_PYTHON)


def run(words, messages=None):
    """The exit status; messages: a descriptor that takes the place of stderr."""
    try:
        pid = start(words, messages=messages)
    except OSError as e:
        raise CannotRun('cannot run %s: %s' % (words[0], e.strerror))
    return exit_status(os.waitpid(pid, 0)[1])


def output_of(words):
    """The output of a program, whatever its exit status; empty if it cannot be run."""
    descriptor = os.memfd_create('stint')
    try:
        os.waitpid(start(words, output=descriptor), 0)
        return os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    except OSError:
        return b''
    finally:
        os.close(descriptor)


def become(words):
    """Does not return."""
    for number in IGNORED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(words[0], words)
    except OSError as e:
        raise CannotRun('cannot run %s: %s' % (words[0], e.strerror))


class Output:
    """A program that runs, and what it writes to stdout. OSError if it cannot be run."""

    def __init__(self, words, messages):
        self.read_end, write_end = os.pipe()
        try:
            fcntl.fcntl(self.read_end, SET_PIPE_SIZE, PIPE_BYTES)
            self.is_large = True
        except OSError:  # the user has many
            self.is_large = False
        try:
            self.pid = start(words, write_end, messages, no_input=True)
        except OSError:
            os.close(self.read_end)
            raise
        finally:
            os.close(write_end)

    def read(self, size):
        """The next bytes, so many at most; empty at the end. clang writes 4 KiB at a time, and each of these writes wakes a
        process that waits for it: it is given time to write more."""
        if self.is_large:
            time.sleep(PAUSE_S)
        return os.read(self.read_end, size)

    def close(self):
        """The exit status. A program that still writes ends by SIGPIPE."""
        os.close(self.read_end)
        return exit_status(os.waitpid(self.pid, 0)[1])


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

    def text(self):
        return self.read().decode(errors='replace')

    def close(self):
        os.close(self.descriptor)

    def first_error(self):
        """The line that says why."""
        lines = self.text().splitlines()
        for line in lines:
            if ERROR.search(line) and not line.startswith('collect2'):
                return line.strip()
        return lines[0].strip() if lines else 'no message'
