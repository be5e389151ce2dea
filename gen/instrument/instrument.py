# SPDX-License-Identifier: Apache-2.0
"""The compiler wrapper: `stint instrument --functions GLOBS -- cc ...`.

Runs the command with instrumented copies in place of the C, C++ and CUDA sources that it compiles, and,
where it links, with the library added. Everything else is passed on as it is: preprocessing, assembling,
asking the compiler for its version. Where a source cannot be instrumented (no clang, or clang does
not accept it), the original is compiled and one line says why.

The copy of DIR/x.c that is compiled to OUT/x.o is OUT/.stint/x.o.c. Its lines are those of the original,
which #line names, so messages and debuggers show the original; -iquote adds the original's folder for
#include "...".
"""
import argparse
import fcntl
import os
import re
import subprocess
import sys
import tempfile

import clang_ast
import cuda
import output_file
import rewrite
from command import Command
from nvcc import Command as NvccCommand


def say(text):
    print('stint instrument: ' + text, file=sys.stderr)


def copy_path(command, source):
    """Where the copy is written: beside the object, in a folder of its own, so that no file beside
    it is taken for #include "...". Without -o, the compiler names the object like the copy."""
    target = command.object_of(source)
    extension = os.path.splitext(source.path)[1]
    name = os.path.basename(target) + extension
    if not command.output:
        name = os.path.basename(source.path)
    folder = os.path.join(os.path.dirname(target), '.stint')
    try:
        os.makedirs(folder, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise OSError
    except OSError:
        folder = tempfile.mkdtemp(prefix='stint-')
    return os.path.join(folder, name)


def write_list(path, source, copy, failure):
    """Replaces what the list says about the source. Compilers run at the same time: it is locked."""
    lines = []
    if failure:
        lines.append('%s: not instrumented: %s' % (source, failure))
    else:
        in_headers = ''
        if copy.in_headers:
            in_headers = ', %d in headers' % len(copy.in_headers)
        lines.append('%s: %d functions instrumented, %d left out%s'
                     % (source, len(copy.done), len(copy.left_out), in_headers))
        lines += ['%s:%d: %s: left out: %s' % (source, line, name, reason)
                  for name, line, reason in copy.left_out]
        lines += ['%s: %s: left out: defined in %s:%d, and only the source itself is copied'
                  % (source, name, header, line) for name, header, line in copy.in_headers]
    with open(path, 'a+', encoding='utf-8') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        others = [line for line in file.read().splitlines() if not line.startswith(source + ':')]
        file.seek(0)
        file.truncate()
        file.write('\n'.join(sorted(others) + lines) + '\n')


def instrument_source(command, source, options):
    """The path of the copy, or None: the original is compiled."""
    copy = failure = None
    try:
        arguments = command.clang_arguments(source)
        clang = options.clang or clang_ast.find_clang()
        try:
            copy = rewrite.rewrite(clang, source.path, arguments, options.functions, options.lines)
        except clang_ast.AstError:
            newest = clang_ast.find_newest()
            if source.language != 'cuda' or not newest:
                raise
            copy = rewrite.rewrite(newest, source.path, arguments, options.functions, options.lines)
    except (clang_ast.AstError, cuda.NoToolkit, OSError) as e:
        failure = str(e)
        say('%s: not instrumented: %s' % (source.path, failure))
    if options.list:
        write_list(options.list, source.path, copy, failure)
    if failure or copy.text is None:
        return None
    path = copy_path(command, source)
    name = source.path.replace('\\', '\\\\').replace('"', '\\"')
    head = ''
    if options.lines:
        head = 'STINT_LINES_FILE("%s", %d, %s)\n' % (name, len(copy.lines),
                                                   ', '.join(map(str, copy.lines)))
    head += '#line 1 "%s"\n' % name
    output_file.write_if_changed(path, os.fsencode(head) + copy.text)
    return path


def name_original(depfile, copy, original):
    """The compiler says that the object depends on the copy: it depends on the original."""
    def escape(path):
        return path.replace('$', '$$').replace('#', '\\#').replace(' ', '\\ ')
    try:
        with open(depfile, encoding='utf-8', errors='surrogateescape') as file:
            text = file.read()
        with open(depfile, 'w', encoding='utf-8', errors='surrogateescape') as file:
            file.write(text.replace(escape(copy), escape(original)))
    except OSError as e:
        say('%s: %s' % (depfile, e.strerror))


def compile_copies(command, options):
    """The command with copies, and which file each of them is a copy of."""
    words = list(command.words)
    copies = {}
    before = []
    for source in command.sources:
        if options.sources and not is_listed(source.path, options.sources):
            continue
        path = instrument_source(command, source, options)
        if path:
            copies[source] = path
            words[source.index] = path
            folder = command.quote_folder(os.path.dirname(source.path) or '.')
            before += [] if folder[1] in before else folder
    if copies:
        if options.include:
            before += ['-I', options.include]
        if not command.timer_is_on:
            before += ['-DWITH_TIMER=1']
        before += ['-include', 'stint/lines.h' if options.lines else 'stint/instrument.h']
    words[command.first:command.first] = before
    return words, copies


def is_listed(path, sources):
    real = os.path.realpath(path)
    return any(real == os.path.realpath(s) for s in sources)


def run(words):
    try:
        return subprocess.run(words, check=False).returncode
    except OSError as e:
        say('cannot run %s: %s' % (words[0], e.strerror))
        return 127


def parse_command(words):
    nvcc = next((word for word in words[:2] if cuda.is_nvcc(word)), None)
    return NvccCommand(words, nvcc) if nvcc else Command(words)


def wrap_command(words, options):
    command = parse_command(words)
    if options.only_if_on and not command.timer_is_on:
        return run(words)
    if command.mode == 'other' or not command.inputs:
        return run(words)
    new, copies = compile_copies(command, options)
    if command.mode == 'link' and options.library:
        new += command.link_library(options.library)
    status = run(new)
    if status == 0 and command.depends:
        for source, copy in copies.items():
            name_original(command.depfile_of(source), copy, source.path)
    return 128 - status if status < 0 else status


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
    return wrap_command(arguments[at + 1:], options)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
