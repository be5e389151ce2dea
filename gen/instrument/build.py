# SPDX-License-Identifier: Apache-2.0
"""One command of a compiler, with instrumented copies in place of the sources in it.

Modules that few commands need are imported where they are used: this program runs once for each source of
a build, and most of the time of a small source is its start.
"""
import os
import re
import sys

import copies
import cuda
import run_command
from command import Command

# A symbol that a compiler's optimiser has to remove: no library has it.
BUILTIN = re.compile(rb'\0(__builtin_\w+)\0')
COLOUR = '-fdiagnostics-color'


def say(text):
    print('stint instrument: ' + text, file=sys.stderr)


def parse_command(words):
    nvcc = next((word for word in words[:2] if cuda.is_nvcc(word)), None)
    if nvcc:
        import nvcc as of_nvcc
        return of_nvcc.Command(words, nvcc)
    return Command(words)


def is_listed(path, sources):
    real = os.path.realpath(path)
    return any(real == os.path.realpath(s) for s in sources)


def may_need_builtin(path):
    try:
        with open(path, 'rb') as file:
            return BUILTIN.search(file.read())
    except OSError:  # it has another name
        return None


class Attempt:
    """One way to run the command. What it says is kept if there are others."""

    def __init__(self, words, copies_used=False, library_used=False):
        self.words = words
        self.copies_used = copies_used
        self.library_used = library_used
        self.messages = None
        self.status = 0
        self.failure = None

    def run(self, keep):
        if not keep:
            self.status = run_command.run(self.words)
            return
        self.messages = run_command.Messages()
        self.status = run_command.run(self.words, self.messages.descriptor)
        if self.status:
            self.failure = self.messages.first_error()

    def show(self):
        if self.messages:
            self.messages.show()


class Build:
    """One command of a compiler, with copies."""

    def __init__(self, command, options):
        self.command = command
        self.options = options
        self.library = self.library_words()
        self.units = []
        for source in command.sources:
            if not options.sources or is_listed(source.path, options.sources):
                self.units.append(copies.make_copies(command, source, options))
        if self.library is None:
            self.leave('the program is static, and there is no libstint.a')
        for unit in self.units:
            self.say_failure(unit)

    @staticmethod
    def say_failure(unit):
        if unit.failure:
            say('%s: not instrumented: %s' % (unit.source.path, unit.failure))

    def library_words(self):
        """The arguments that are added where the command links; None: a static program has no
        library to link."""
        path = self.options.library
        if self.command.mode != 'link' or not path or not self.command.needs_library():
            return []
        if self.command.static and not path.endswith('.a'):
            path = os.path.join(os.path.dirname(path), 'libstint.a')
            if not os.path.exists(path):
                say('%s: no such file, which -static needs; stint built with -DBUILD_SHARED_LIBS=OFF has it, '
                    'and --library may name it' % path)
                return None
        return self.command.link_library(path)

    def leave(self, failure):
        for unit in self.units:
            if unit.path:
                unit.forget(failure)

    def words_of_copies(self):
        """The command with the copies, or None if there are none."""
        command = self.command
        words = list(command.words)
        before = []
        for unit in self.units:
            if unit.path:
                words[unit.source.index] = unit.path
                for folder in unit.folders:
                    option = command.quote_folder(folder)
                    before += [] if option[1] in before else option
        if not before:
            return None
        if self.options.include:
            before += ['-I', self.options.include]
        if not command.timer_is_on:
            before += ['-DWITH_TIMER=1']
        if sys.stderr.isatty() and not command.nvcc and \
                not any(word.startswith((COLOUR, '-fno-diagnostics')) for word in words):
            before += [COLOUR]  # the compiler does not write to the terminal itself
        words[command.first:command.first] = before
        return words

    def attempts(self):
        """The ways to run the command, until one works: as it was given at last."""
        given = self.command.given
        library = self.library or []
        words = self.words_of_copies()
        found = [Attempt(words + library, True, bool(library))] if words else []
        if library:
            found.append(Attempt(given + library, library_used=True))
        found.append(Attempt(given))
        return found[:1] if '-' in self.command.inputs else found  # stdin is read once

    def run(self):
        """The exit status of the first attempt that works, else of what is as given."""
        attempts = self.attempts()
        for at, attempt in enumerate(attempts):
            attempt.run(keep=len(attempts) > 1)
            if not attempt.status and attempt.copies_used:
                attempt.failure = self.missing_builtin()
            if not attempt.status and not attempt.failure:
                attempt.show()
                self.finish(attempt, attempts[:at])
                return 0
            if attempt.status >= run_command.NOT_FOUND:
                break
        # Objects that are linked may need the library.
        shown = next((a for a in attempts if a.library_used and not a.copies_used), attempt)
        shown.show()
        return shown.status

    def finish(self, attempt, failed):
        """Says what was not done, and why."""
        if attempt.copies_used and self.command.depends:
            self.name_originals()
        if failed and failed[0].copies_used:
            self.leave('with timers: ' + failed[0].failure)
            for unit in self.units:
                self.say_failure(unit)
        elif failed:
            say('%s: linked without the library: %s' % (self.command.output or 'a.out', failed[0].failure))
        if self.options.list:
            import listing
            for unit in self.units:
                listing.write_list(self.options.list, unit.source.path, unit.copy, unit.failure)

    def missing_builtin(self):
        """Why the object cannot be linked: the optimiser removes calls of what no library has, but not
        from code that stays because of timers. None if it can."""
        if self.command.mode != '-c':
            return None
        for unit in self.units:
            path = self.command.object_of(unit.source)
            if not may_need_builtin(path):
                continue
            symbols = run_command.output_of(['nm', '-u', path])
            found = re.search(rb'__builtin_\w+', symbols)
            if found:
                return 'the object needs %s, which no library has' % found.group().decode()
        return None

    def name_originals(self):
        for unit in self.units:
            for depfile in self.command.depfiles_of(unit.source):
                if unit.path and os.path.exists(depfile):
                    copies.name_originals(depfile, unit.originals)


def wrap_command(words, options):
    command = parse_command(words)
    if (options.only_if_on and not command.timer_is_on) or command.mode == 'other' or \
            not command.inputs or command.is_probe():
        return run_command.become(words)
    if not command.sources and (command.mode != 'link' or not command.needs_library()):
        return run_command.become(words)
    build = Build(command, options)
    try:
        return build.run()
    finally:
        for unit in build.units:
            unit.remove_temporary()
