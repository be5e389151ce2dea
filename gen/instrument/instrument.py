# SPDX-License-Identifier: Apache-2.0
"""The compiler wrapper: `stint instrument --functions GLOBS -- cc ...`.

Runs the command with instrumented copies in place of the C, C++ and CUDA sources that it compiles, and,
where it links, with the library added. Everything else is passed on as it is: preprocessing, assembling,
asking the compiler for its version, the small programs that configuring compiles.

A build that works without this program works with it. Where a source cannot be instrumented (no clang,
clang does not accept it, the compiler does not accept the copy), the original is compiled and one line says
why; where a program cannot be linked with the library, it is linked without.

gen/options.ini says what the options mean; the tool, which starts this program, has checked their names.
"""
import getopt
import os
import re
import signal
import sys

# The environment is the build's, and its PYTHONPATH may be for another Python: -E ignores it.
if os.environ.get('PYTHONDONTWRITEBYTECODE'):
    sys.dont_write_bytecode = True

import build
import run_command

OPTIONS = ['functions=', 'lines', 'sources=', 'list=', 'clang=', 'include=', 'library=', 'only-if-on']
LETTERS = {'-f': '--functions', '-l': '--list'}


class BadUsage(Exception):
    """The text is one line."""


class Options:
    def __init__(self):
        self.include, self.library = installed_paths()
        self.functions = []
        self.sources = []
        self.list = None
        self.clang = None
        self.lines = False
        self.only_if_on = False

    def take(self, name, value):
        field = LETTERS.get(name, name)[2:].replace('-', '_')
        if field == 'functions':
            self.functions.append(unquoted(value))
        elif field == 'sources':
            self.sources.append(value)
        elif field in ('lines', 'only_if_on'):
            setattr(self, field, True)
        else:
            setattr(self, field, value)


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


def unquoted(text):
    """Without quotes around it, which a shell leaves there that takes the command from a variable."""
    return text[1:-1] if text[:1] in ('"', "'") and text[-1:] == text[:1] else text


def read_arguments(arguments):
    """The options, and the command of the compiler."""
    if '--' not in arguments:
        raise BadUsage('-- and the command of the compiler are missing')
    at = arguments.index('--')
    options = Options()
    try:
        pairs, rest = getopt.getopt(arguments[:at], 'f:l:', OPTIONS)
    except getopt.GetoptError as e:
        raise BadUsage(str(e))
    if rest:
        raise BadUsage("'%s': expected an option" % rest[0])
    for name, value in pairs:
        options.take(name, value)
    if not options.functions:
        raise BadUsage('--functions is missing')
    if at + 1 == len(arguments):
        raise BadUsage('the command of the compiler is missing')
    for globs in options.functions:
        if re.search(r'[./]', globs):
            raise BadUsage("--functions '%s': no function has such a name; a shell puts file names in place of "
                           "an unquoted *: write --functions '*'" % globs)
    return options, arguments[at + 1:]


def main(arguments):
    try:
        options, words = read_arguments(arguments)
        return build.wrap_command(words, options)
    except BadUsage as e:
        build.say(str(e))
        return run_command.BAD_USAGE
    except KeyboardInterrupt:
        return run_command.SIGNALLED + signal.SIGINT
    except run_command.CannotRun as e:
        build.say(str(e))
        return run_command.NOT_FOUND


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
