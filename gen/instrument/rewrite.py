# SPDX-License-Identifier: Apache-2.0
"""Makes the instrumented copy of a source file.

    copy = rewrite.rewrite(clang, 'file.c', ['-Iinclude'], ['parse_*', '-parse_char'])
    copy.files        what is copied, a File each: the source, and sources that it includes; empty if nothing
                      is instrumented
    copy.done         names of the instrumented functions, in their order
    copy.left_out     (name, place, reason) of those that match and are not instrumented
    copy.in_headers   (name, file, line) of those that match and are defined in the project's headers

With lines=True each statement gets a marker (lines.py) and functions are no scopes.

Text is only inserted, at offsets that the compiler gave and never inside a macro expansion, and no line is
added: line n of the copy is line n of the file. Two things are replaced: the byte order mark at the begin is
removed, and #include of a source names the copy of it.
"""
import fnmatch
import os
import re

import clang_ast
from command import SOURCES

# A function with one of these attributes is not instrumented, for the reason given.
ATTRIBUTES = {
    'Naked': 'naked: it has no room for a guard',
    'Const': 'const: calls of it may be removed or merged',
    'Pure': 'pure: calls of it may be removed or merged',
    'NoInstrumentFunction': 'it has the attribute no_instrument_function',
    'AnyX86Interrupt': 'an interrupt handler',
    'IFunc': 'ifunc: it runs before the program is relocated',
    'CUDAGlobal': 'a kernel',
    'CUDADevice': 'compiled for the device',
}

# Headers below these are not the project's.
SYSTEM = ('/usr/', '/opt/', '/lib/')

BYTE_ORDER_MARK = b'\xef\xbb\xbf'
INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)

# Bodies of other kinds than {}.
BODIES = {
    'CXXTryStmt': 'its body is a try block',
    'CoroutineBodyStmt': 'a coroutine: it is suspended inside of its scopes',
}

RETURNS_TWICE = re.compile(rb'"name": "(_{0,2}(?:sig)?setjmp|vfork|getcontext|savectx)"')
# Functions in the body of another one.
LOCAL = ('LambdaExpr', 'CXXMethodDecl', 'CXXConstructorDecl', 'CXXDestructorDecl',
         'CXXConversionDecl')
RESOLVER = re.compile(rb'\bifunc\s*(?:__)?\s*\(\s*"(\w+)"')


class Globs:
    """A list such as a*, -ab*: the last pattern that matches decides; one that begins with a minus
    excludes."""

    def __init__(self, patterns):
        self.patterns = [p for text in patterns for p in text.split(',') if p]

    def match(self, *names):
        taken = bool(self.patterns) and self.patterns[0].startswith('-')
        for pattern in self.patterns:
            excludes = pattern.startswith('-')
            glob = pattern[1:] if excludes else pattern
            if any(fnmatch.fnmatchcase(name, glob) for name in names):
                taken = not excludes
        return taken


class File:
    """A file that is copied: the source itself, number 0, or one that it includes."""

    def __init__(self, path, number, lines):
        self.path = path
        self.name = path  # in __FILE__
        self.number = number
        with open(path, 'rb') as file:
            self.source = file.read()
        self.marks = None
        if lines:
            import lines as source_lines
            self.marks = source_lines.Marks(path, number)
        self.insertions = {}  # place of a function -> its insertions
        self.replacements = []  # (begin, end, text)
        self.renamed = {}  # headers: the path in the copy -> the path of the original

    @property
    def lines(self):
        return self.marks.numbers if self.marks else []

    def text(self):
        """The copy."""
        edits = [(at, at, text) for place in self.insertions.values() for at, text in place]
        edits += self.replacements
        if self.source.startswith(BYTE_ORDER_MARK):
            edits.append((0, len(BYTE_ORDER_MARK), b''))
        return replace(self.source, edits)


class Copy:
    def __init__(self):
        self.files = []
        self.done = []
        self.left_out = []
        self.in_headers = []


def reason_to_leave(function, resolvers):
    """Why a definition is not instrumented, or None."""
    for attribute in function.attributes:
        if attribute in ATTRIBUTES:
            return ATTRIBUTES[attribute]
    if function.constexpr:
        return 'constexpr'
    if function.name.encode() in resolvers:
        return ATTRIBUTES['IFunc']
    if function.body.kind in BODIES:
        return BODIES[function.body.kind]
    if function.body.begin.macro or function.body.end.macro:
        return 'its body begins or ends in a macro expansion'
    found = RETURNS_TWICE.search(function.node.chunk.text, function.body.start,
                                 function.body.end_at)
    if found:
        return 'it calls %s, which returns twice' % found.group(1).decode()
    return None


def c_literal(text):
    return '"%s"' % text.replace('\\', '\\\\').replace('"', '\\"')


def replace(source, edits):
    """The text with each (begin, end, bytes) put in place of what is there; those of one offset in the
    order of the list."""
    out = []
    last = 0
    for begin, end, text in sorted(edits, key=lambda edit: edit[0]):
        out += [source[last:begin], text]
        last = end
    out.append(source[last:])
    return b''.join(out)


def system_folders(arguments):
    """The folders whose headers are not the project's."""
    folders = list(SYSTEM)
    for option, value in zip(arguments, arguments[1:]):
        if option in ('-isystem', '-idirafter'):
            folders.append(os.path.abspath(value) + '/')
    folders += [os.path.abspath(word[8:]) + '/' for word in arguments
                if word.startswith('-isystem') and word != '-isystem']
    return tuple(folders)


def definitions(clang, path, arguments):
    """The functions that are defined in the file and in the project's headers. What is included twice
    defines functions of several names in one place; each other one is given once."""
    seen = set()
    system = system_folders(arguments)
    known = {}

    def is_of_the_project(file):
        if file not in known:
            known[file] = file == path or not os.path.abspath(file).startswith(system)
        return known[file]

    with clang_ast.dump(clang, arguments + [path], is_of_the_project) as nodes:
        for node in nodes:
            for function in clang_ast.functions(node):
                if not function.body or function.implicit or function.defaulted:
                    continue
                begin = function.body.begin
                place = begin.file, begin.offset, function.qualified
                # A template may be of another file than the instance of it.
                if is_of_the_project(begin.file) and place not in seen:
                    seen.add(place)
                    yield function


def local_functions(function, path):
    """(name, line, reason) of the functions in the body of that one."""
    seen = set()
    if not any(function.body.contains(kind) for kind in LOCAL):
        return
    for node in function.body.walk(LOCAL):
        bodies = [child for child in node.children() if child and child.kind == 'CompoundStmt']
        if not bodies or node.head.get('isImplicit') or node.place.file != path:
            continue
        at = bodies[-1].begin.offset
        if at in seen:
            continue  # the method of a lambda
        seen.add(at)
        name = node.head.get('name', 'lambda')
        yield ('%s::%s' % (function.qualified, name), node.place,
               'it is inside of a function, which its time belongs to')


def included_parts(files):
    """Which of the files are reached from the first one by #include of their names. These directives
    then name the copies."""
    reached = files[:1]
    by_path = {os.path.realpath(file.path): file for file in files[1:]}
    for file in reached:
        for found in INCLUDE.finditer(file.source):
            name = os.fsdecode(found.group(1))
            beside = os.path.join(os.path.dirname(file.path), name)
            part = by_path.get(os.path.realpath(beside))
            if not part and not os.path.exists(beside):  # found by -I
                part = next((other for other in files[1:] if other.path.endswith('/' + name)), None)
            if not part:
                continue
            begin, end = found.start(1) - 1, found.end(1) + 1
            file.replacements.append((begin, end, b'"%s"' % os.fsencode(copy_name(part))))
            if part not in reached:
                reached.append(part)
    return reached


def copy_name(file):
    """The name of the copy, in the folder of the copies of one object."""
    name = os.path.basename(file.path)
    return '%d-%s' % (file.number, name) if file.number else name


def keep_includes(files):
    """A part finds the headers beside it, also where the folder of another file, which is searched
    first, has some of the same name."""
    folders = [os.path.dirname(file.path) for file in files]
    for file in files[1:]:
        mine = os.path.dirname(file.path)
        taken = {begin for begin, _, _ in file.replacements}
        for found in INCLUDE.finditer(file.source):
            begin, end = found.start(1) - 1, found.end(1) + 1
            name = os.fsdecode(found.group(1))
            beside = os.path.join(mine, name)
            if begin in taken or not found.group().endswith(b'"') or not os.path.exists(beside):
                continue
            first = next(folder for folder in folders if os.path.exists(os.path.join(folder, name)))
            if os.path.realpath(os.path.join(first, name)) != os.path.realpath(beside):
                absolute = os.path.abspath(beside)
                file.replacements.append((begin, end, b'"%s"' % os.fsencode(absolute)))
                file.renamed[absolute] = beside


class Rewriter:
    """Rewrites one source: the files that are copied, and the messages about the functions."""

    def __init__(self, path, globs, lines):
        self.path = path
        self.wanted = Globs(globs)
        self.lines = lines
        self.copy = Copy()
        self.files = {}
        self.file(path)
        self.resolvers = set(RESOLVER.findall(self.files[path].source))

    def file(self, path):
        """The File of a source; None for a header."""
        if path not in self.files:
            is_source = path == self.path or os.path.splitext(path)[1] in SOURCES
            self.files[path] = File(path, len(self.files), self.lines) if is_source else None
        return self.files[path]

    def leave(self, function, reason):
        self.copy.left_out.append((function.qualified, function.place, reason))

    def take(self, function):
        begin = function.body.begin
        file = self.file(begin.file)
        if not self.wanted.match(function.name, function.qualified):
            return
        if not file:
            place = function.place
            self.copy.in_headers.append((function.qualified, place.file, place.line()))
            return
        reason = reason_to_leave(function, self.resolvers)
        at = begin.offset
        if not reason and file.source[at:at + 1] != b'{':
            reason = 'its body does not begin with {'  # a digraph
        if reason:
            self.leave(function, reason)
            return
        self.copy.done.append((function.qualified, begin.file))
        if at in file.insertions:
            if not self.lines:  # functions that share the text have the name of the one that runs
                file.insertions[at] = [(at + 1, b' STINT_INSTRUMENT_FUNCTION(__func__)')]
            return
        if self.lines:
            file.insertions[at] = file.marks.function(file.source, function)
        else:
            text = ' STINT_INSTRUMENT_FUNCTION(%s)' % c_literal(function.qualified)
            file.insertions[at] = [(at + 1, text.encode())]
        self.copy.left_out += local_functions(function, begin.file)

    def finish(self):
        files = [file for file in self.files.values() if file]
        reached = included_parts(files)
        self.copy.left_out += [(name, None, 'in %s, which is not included by its name' % path)
                               for name, path in self.copy.done if self.files[path] not in reached]
        self.copy.done = [name for name, path in self.copy.done if self.files[path] in reached]
        if self.copy.done:
            keep_includes(reached)
            self.copy.files = reached
        return self.copy


def rewrite(clang, path, arguments, globs, lines=False):
    rewriter = Rewriter(path, globs, lines)
    for function in definitions(clang, path, arguments):
        rewriter.take(function)
    return rewriter.finish()
