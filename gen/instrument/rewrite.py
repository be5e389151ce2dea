# SPDX-License-Identifier: Apache-2.0
"""Makes the instrumented copy of a source file.

    copy = rewrite.rewrite(clang, 'file.c', ['-Iinclude'], ['parse_*', '-parse_char'])
    copy.text         the copy, bytes; None if nothing of it is instrumented
    copy.done         names of the instrumented functions, in their order
    copy.left_out     (name, line, reason) of those that match and are not instrumented
    copy.in_headers   (name, file, line) of those that match and are defined in the project's headers

With lines=True each statement gets a marker (lines.py) and functions are no scopes.

Text is only inserted, at offsets that the compiler gave and never inside a macro expansion, and no line is
added: line n of the copy is line n of the file.
"""
import fnmatch
import os
import re

import clang_ast
import lines as source_lines

# Of the attributes, what it means that a function has it.
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


class Copy:
    def __init__(self):
        self.text = None
        self.lines = []
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


def insert(source, insertions):
    """The text with each (offset, bytes) put in; those of one offset in the order of the list."""
    out = []
    last = 0
    for offset, text in sorted(insertions, key=lambda i: i[0]):
        out.append(source[last:offset])
        out.append(text)
        last = offset
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
    """The functions that are defined in the file and in the project's headers, each once."""
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
                place = begin.file, begin.offset
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
        yield ('%s::%s' % (function.qualified, name), node.place.line(),
               'it is inside of a function, which its time belongs to')


def rewrite(clang, path, arguments, globs, lines=False):
    copy = Copy()
    marks = source_lines.Marks(path)
    wanted = Globs(globs)
    with open(path, 'rb') as file:
        source = file.read()
    resolvers = set(RESOLVER.findall(source))
    insertions = []
    for function in definitions(clang, path, arguments):
        if not wanted.match(function.name, function.qualified):
            continue
        if function.body.begin.file != path:
            place = function.place
            copy.in_headers.append((function.qualified, place.file, place.line()))
            continue
        reason = reason_to_leave(function, resolvers)
        at = function.body.begin.offset
        if not reason and source[at:at + 1] != b'{':
            reason = 'its body does not begin with {'  # a digraph
        if reason:
            copy.left_out.append((function.qualified, function.place.line(), reason))
            continue
        if lines:
            insertions += marks.function(source, function)
        else:
            text = ' STINT_INSTRUMENT_FUNCTION(%s)' % c_literal(function.qualified)
            insertions.append((at + 1, text.encode()))
        copy.done.append(function.qualified)
        copy.left_out += local_functions(function, path)
    if insertions:
        copy.text = insert(source, insertions)
        copy.lines = marks.numbers
    return copy
