# SPDX-License-Identifier: Apache-2.0
"""The instrumented copies of the sources of one command, as files.

The copies of DIR/x.c that is compiled to OUT/x.o are in OUT/.stint/x.o.copy, or OUT/.stint/program/x.o.copy:
the copy of x.c has that name, those of sources that it includes have a number before it. Lines are those of the
original, which #line names, so messages and debuggers show the original.
"""
import os

import clang_ast
import cuda
import output_file
import rewrite


class Unit:
    """A source of the command."""

    def __init__(self, source):
        self.source = source
        self.copy = None
        self.failure = None  # why it is not instrumented
        self.path = None  # of the copy
        self.originals = {}  # path of a copy -> path of its original; headers that copies name otherwise
        self.folders = []  # of the originals
        self.temporary = None

    def forget(self, failure):
        """The original is compiled."""
        self.failure = failure
        self.path = None

    def remove_temporary(self):
        if self.temporary:
            import shutil
            shutil.rmtree(self.temporary, ignore_errors=True)


def make_copies(command, source, options):
    """The Unit of a source, with its copies written."""
    unit = Unit(source)
    try:
        unit.copy = read_source(command, source, options)
    except (clang_ast.AstError, cuda.NoToolkit, OSError) as e:
        unit.failure = str(e)
        return unit
    if unit.copy.files:
        folder = make_folder(unit, command)
        for file in unit.copy.files:
            file.name = command.file_name(file.path, source)
            path = os.path.join(folder, rewrite.copy_name(file))
            head = line_directive(file.name)
            if file.number == 0:
                unit.path = path
                head = copy_head(unit.copy, options.lines) + head
            output_file.write_if_changed(path, os.fsencode(head) + file.text())
            unit.originals[path] = file.name
            unit.originals.update(file.renamed)
            unit.folders.append(os.path.dirname(file.path) or '.')
    return unit


def read_source(command, source, options):
    arguments = command.clang_arguments(source)
    clang = options.clang or clang_ast.find_clang()
    try:
        return rewrite.rewrite(clang, source.path, arguments, options.functions, options.lines)
    except clang_ast.AstError:
        newest = clang_ast.find_newest()
        if source.language != 'cuda' or not newest:
            raise
        return rewrite.rewrite(newest, source.path, arguments, options.functions, options.lines)


def make_folder(unit, command):
    """Beside the object, in a folder of its own, so that no file beside it is taken for
    #include "..."."""
    folder, name = os.path.split(command.object_of(unit.source))
    folder = os.path.join(folder, '.stint')
    if command.mode == 'link' and command.output:  # several programs may be made of one source
        folder = os.path.join(folder, os.path.basename(command.output))
    same = [source for source in command.sources
            if os.path.basename(source.path) == os.path.basename(unit.source.path)]
    number = same.index(unit.source)
    folder = os.path.join(folder, '%s.copy%s' % (name, number or ''))
    try:
        os.makedirs(folder, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise OSError
    except OSError:
        import tempfile
        folder = unit.temporary = tempfile.mkdtemp(prefix='stint-')
    return folder


def c_string(text):
    return '"%s"' % text.replace('\\', '\\\\').replace('"', '\\"')


def line_directive(path):
    return '#line 1 %s\n' % c_string(path)


def content_of(source):
    """By which `stint annotate` knows the source again (stint/lines.h)."""
    import hashlib
    return '%d %s' % (len(source), hashlib.sha256(source).hexdigest())


def copy_head(copy, lines):
    """The text before the first line of the copy of a source. All is in the copy, and not on the
    command line, as the command may have other files, too."""
    header = 'lines.h' if lines else 'instrument.h'
    head = '#include <stint/%s>\n' % header
    head += '#define STINT_IMPL_BASE_FILE %s\n' % c_string(copy.files[0].name)
    head += '#include <stint/detail/base_file.h>\n'
    for file in copy.files:
        if file.lines:
            numbers = ', '.join(map(str, file.lines))
            head += 'STINT_LINES_FILE(%d, %s, "%s", %d, %s)\n' % (
                file.number, c_string(file.name), content_of(file.source), len(file.lines), numbers)
    return head


def name_originals(depfile, originals):
    """The compiler says that the object depends on the copies: it depends on the originals. OSError if
    the file cannot be read or written."""
    def escape(path):
        return path.replace('$', '$$').replace('#', '\\#').replace(' ', '\\ ')
    with open(depfile, encoding='utf-8', errors='surrogateescape') as file:
        text = file.read()
    for copy, original in originals.items():
        text = text.replace(escape(copy), escape(original))
    with open(depfile, 'w', encoding='utf-8', errors='surrogateescape') as file:
        file.write(text)
