# SPDX-License-Identifier: Apache-2.0
"""The compiler wrapper: `stint instrument --functions GLOBS -- cc ...`.

Runs the command with instrumented copies in place of the C, C++ and CUDA sources that it compiles, and,
where it links, with the library added. Everything else is passed on as it is: preprocessing, assembling,
asking the compiler for its version, the small programs that configuring compiles.

A build that works without this program works with it. Where a source cannot be instrumented (no clang,
clang does not accept it, the compiler does not accept the copy), the original is compiled and one line says
why; where a program cannot be linked with the library, it is linked without.
"""
import argparse
import os
import re
import signal
import subprocess
import sys

import copies
import cuda
import listing
import run_command
from command import Command
from nvcc import Command as NvccCommand

# A symbol that a compiler's optimiser has to remove: no library has it.
BUILTIN = re.compile(rb'\0(__builtin_\w+)\0')
COLOUR = '-fdiagnostics-color'


def say(text):
    print('stint instrument: ' + text, file=sys.stderr)


def parse_command(words):
    nvcc = next((word for word in words[:2] if cuda.is_nvcc(word)), None)
    return NvccCommand(words, nvcc) if nvcc else Command(words)


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
            symbols = subprocess.run(['nm', '-u', path], stdout=subprocess.PIPE, check=False).stdout
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


def installed_paths():
    """The folder of the headers, and the library: of the installation, or the build, that this file
    is in. The build has a link to the sources' folder."""
    here = os.path.dirname(os.path.abspath(__file__))
    prefix = os.path.dirname(os.path.dirname(os.path.dirname(here)))
    sources = os.path.dirname(os.path.dirname(os.path.realpath(here)))
    include = library = None
    for folder in (prefix, sources):
        path = os.path.join(folder, 'include')
        if not include and os.path.exists(os.path.join(path, 'stint', 'instrument.h')):
            include = path
    for folder in ('lib', 'lib64', 'lib/%s-linux-gnu' % os.uname().machine, ''):
        for name in ('libstint.so', 'libstint.a'):
            path = os.path.join(prefix, folder, name)
            if not library and os.path.exists(path):
                library = path
    return include, library


def join_globs(arguments):
    """A list of globs may begin with a minus, as an option does."""
    joined = []
    for word in arguments:
        if joined and joined[-1] in ('-f', '--functions'):
            joined[-1] = '--functions=' + word
        else:
            joined.append(word)
    return joined


def unquoted(text):
    """Without quotes around it, which a shell leaves there that takes the command from a variable."""
    return text[1:-1] if text[:1] in ('"', "'") and text[-1:] == text[:1] else text


def main(arguments):
    include, library = installed_paths()
    parser = argparse.ArgumentParser(prog='stint instrument', allow_abbrev=False,
                                     usage='stint instrument --functions GLOBS [OPTION]... -- '
                                           'COMPILER [ARGUMENT]...')
    parser.add_argument('-f', '--functions', action='append', required=True, metavar='GLOBS',
                        help='names, such as parse_*,-parse_char: the last pattern that matches decides')
    parser.add_argument('--lines', action='store_true',
                        help='measures the lines of the functions')
    parser.add_argument('--sources', action='append', default=[], metavar='FILE',
                        help='instruments only this file; may be repeated')
    parser.add_argument('-l', '--list', metavar='FILE',
                        help='writes what was instrumented, and what was left out and why')
    parser.add_argument('--clang', metavar='PATH', help='the clang that reads the sources')
    parser.add_argument('--include', metavar='FOLDER', default=include,
                        help='folder of stint/instrument.h')
    parser.add_argument('--library', metavar='FILE', default=library,
                        help='libstint.so or libstint.a, added to commands that link')
    parser.add_argument('--only-if-on', action='store_true',
                        help='does nothing unless the command defines WITH_TIMER')
    if '--' not in arguments:
        parser.error('-- and the command of the compiler are missing')
    at = arguments.index('--')
    options = parser.parse_args(join_globs(arguments[:at]))
    if at + 1 == len(arguments):
        parser.error('the command of the compiler is missing')
    options.functions = [unquoted(globs) for globs in options.functions]
    for globs in options.functions:
        if re.search(r'[./]', globs):
            parser.error("--functions '%s': no function has such a name; a shell puts file names in place of "
                         "an unquoted *: write --functions '*'" % globs)
    words = arguments[at + 1:]
    try:
        return wrap_command(words, options)
    except KeyboardInterrupt:
        return run_command.SIGNALLED + signal.SIGINT
    except run_command.CannotRun as e:
        say(str(e))
        return run_command.NOT_FOUND


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
