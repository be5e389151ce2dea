# SPDX-License-Identifier: Apache-2.0
"""Reads what `clang -Xclang -ast-dump=json` prints, as a stream and with little memory.

    import clang_ast

    with clang_ast.dump(clang_ast.find_clang(), ['-Iinclude', '-O2', 'file.c']) as nodes:
        for node in nodes:                              # declarations of namespace level, in order
            for f in clang_ast.functions(node):         # with those in classes and templates
                if f.place.file == 'file.c' and f.body:
                    print(f.name, f.place.line(), f.begin.offset, f.end.after, f.type, f.storage)

`dump(clang, arguments, files)` runs the compiler and gives its declarations as `Node`; those that begin
in a file other than `files` (a list of paths as the command line or #include gives them, or a function of a
path that says whether; default: all) are left out. A failure of the compiler raises AstError, at the latest at the end of the `with`.

A Node is a piece of the dump that is decoded on demand: `kind`, `head` (its own fields as a dict,
without "inner"), `children()` (None for a null child), `begin`, `end` and `place` (each a Place, or None
where clang gives no location), `contains(kind)` and `walk(kinds)`. One declaration is in memory at a
time, as text: the dump of a file of 10 000 lines, 106 MB with clang 14, is read in 22 MB
and 0.7 s of CPU time. Of one that is larger than LARGE the text is shortened while it is read (COMPACT).

A Place is where something is in a file: `file`, `offset` in bytes, `length` of the token there, `after`
(the offset after it), `line()` (of the file itself: #line is not applied). Inside a macro expansion
`macro` is True, the place is where the macro's name is used, and `spelling` is the Place
where the token is written; `argument` says that it is written in an argument of the macro.

What the reader relies on, checked with clang 14: one field per line, indented by two blanks per
level; "id" and "kind" are the first fields of a node; a null child is {}; "loc" and "range" come
next; "file" is printed only if it differs from that of the location printed before, anywhere in the
dump. So the whole dump is searched for "file", but only what is asked for is decoded.
"""
import bisect
import contextlib
import functools
import json
import os
import re

import run_command

BLOCK = 1 << 20  # bytes read at a time
LARGE = 64 << 20  # a declaration of more bytes is kept without what is not asked for
PIECE = 8 << 20  # shortened at a time
SCOPE_BYTES = 1024  # of a::b<T>:: before a name

CONTAINERS = {b'NamespaceDecl', b'LinkageSpecDecl', b'ExportDecl'}
FUNCTIONS = {'FunctionDecl', 'CXXMethodDecl', 'CXXConstructorDecl', 'CXXDestructorDecl',
             'CXXConversionDecl'}
CLASSES = {'CXXRecordDecl', 'ClassTemplateDecl', 'ClassTemplatePartialSpecializationDecl',
           'ClassTemplateSpecializationDecl'}

KIND = re.compile(rb'\{\s*(?:"id": "[^"]*",\s*)?"kind": "(\w+)"')
# The file of a location, after which comes its line. The "file" of "includedFrom" has nothing
# after it.
FILE_MARK = b'"file": '
FILE = re.compile(FILE_MARK + rb'("(?:[^"\\]|\\.)*"),')

# Replacements in large declarations, in this order: fields that are not asked for, and line ends
# inside of a node, before the list of its children. No string of the dump has a line end. Further
# patterns would cost more time than the memory is worth.
COMPACT = [(re.compile(pattern), text) for pattern, text in (
    (rb'"id": "0x[0-9a-f]+",\n +', b''),
    (rb',\n +"col": \d+', b''),
    (rb',\n +"(?!inner)', b', "'),
    (rb', "includedFrom": \{\n +"file": "(?:[^"\\]|\\.)*"\n +\}', b''),
    (rb'\n +', lambda found: indent_compact(found.end() - found.start() - 1)),
)]


@functools.lru_cache(maxsize=None)
def indent_compact(blanks):
    return b'\n' + b'\t' * (blanks // 4) + b' ' * (blanks % 4)


@functools.lru_cache(maxsize=None)
def closing(blanks, compact=False):
    """Finds the brace that ends a node: a pattern, which finds text that begins with blanks several times
    as fast as bytes.find does."""
    return re.compile((indent_compact(blanks) if compact else b'\n' + b' ' * blanks) + rb'\}')


def decode(text):
    """JSON, from bytes."""
    return json.loads(text.decode())


@functools.lru_cache(maxsize=None)
def file_name(literal):
    return decode(literal)


class AstError(Exception):
    """The compiler is missing or failed; the text is one line."""


VERSIONS = ['clang-%d' % n for n in range(22, 13, -1)]


def find_newest():
    """The path of the newest clang whose name has its version, or None."""
    return next(filter(None, map(run_command.find_program, VERSIONS)), None)


def find_clang(names=None):
    """The path of the first of these compilers that is in PATH; by default clang, clang-22, ...."""
    for name in names or ['clang'] + VERSIONS:
        path = run_command.find_program(name)
        if path:
            return path
    raise AstError('clang is needed to read the sources and is not in PATH (apt-get install clang)')


class Place:
    __slots__ = ('file', 'offset', 'length', 'macro', 'argument', 'spelling')

    def __init__(self, file, offset, length, spelling=None, argument=False):
        self.file = file
        self.offset = offset
        self.length = length
        self.spelling = spelling
        self.macro = spelling is not None
        self.argument = argument

    @property
    def after(self):
        return self.offset + self.length

    def line(self):
        return line_of(self.file, self.offset)

    def __repr__(self):
        return '%s@%d' % (self.file, self.offset)


line_starts = {}


def line_of(file, offset):
    """The number of the line with the byte at the offset; files are read once."""
    if file not in line_starts:
        try:
            with open(file, 'rb') as f:
                line_starts[file] = [m.end() for m in re.finditer(rb'\n', f.read())]
        except OSError:
            line_starts[file] = []
    return bisect.bisect_right(line_starts[file], offset) + 1


class Chunk:
    """The text of one declaration, and which file is the current one where in it."""

    def __init__(self, text, file, qualified='', compact=False):
        self.text = text
        self.compact = compact
        self.qualified = qualified  # the namespaces around it, as a::b::
        self.positions = [0]  # where the file changes
        self.files = [file]  # and to which
        self.searched = 0  # up to there

    def indented(self, blanks):
        """A line end and so many blanks."""
        return indent_compact(blanks) if self.compact else b'\n' + b' ' * blanks

    def file_at(self, position):
        """The current file at the begin of a node."""
        if position > self.searched:
            for found in FILE.finditer(self.text, self.searched, position):
                self.positions.append(found.start())
                self.files.append(file_name(found.group(1)))
            self.searched = position
        return self.files[bisect.bisect_right(self.positions, position) - 1]

    def last_file(self):
        """The current file after it."""
        at = self.text.rfind(FILE_MARK)
        while at >= 0:
            found = FILE.match(self.text, at)
            if found:
                return file_name(found.group(1))
            at = self.text.rfind(FILE_MARK, 0, at)
        return self.files[0]


class Node:
    __slots__ = ('chunk', 'start', 'end_at', 'indent', 'kind', 'head_dict', 'inner_at', 'places')

    def __init__(self, chunk, start, end_at, indent):
        self.chunk = chunk
        self.start = start
        self.end_at = end_at
        self.indent = indent
        found = KIND.match(chunk.text, start)
        self.kind = found.group(1).decode() if found else ''
        self.head_dict = None
        self.inner_at = None
        self.places = None

    def inner_position(self):
        if self.inner_at is None:
            mark = self.chunk.indented(self.indent + 2) + b'"inner": [\n'
            at = self.chunk.text.find(mark, self.start, self.end_at)
            self.inner_at = (at, at + len(mark))
        return self.inner_at

    def head_files(self):
        """The files that the places of the node itself may be in."""
        at = self.inner_position()[0]
        yield self.chunk.file_at(self.start)
        for found in FILE.finditer(self.chunk.text, self.start, self.end_at if at < 0 else at):
            yield file_name(found.group(1))

    @property
    def head(self):
        """The fields of the node itself."""
        if self.head_dict is None:
            at = self.inner_position()[0]
            if at < 0:
                text = self.chunk.text[self.start:self.end_at]
            else:
                text = self.chunk.text[self.start:at].rstrip(b',') + b'}'
            self.head_dict = decode(text)
        return self.head_dict

    def children(self):
        """The nodes right inside, None for those that are absent, as the parts of for (;;)."""
        at, position = self.inner_position()
        if at < 0:
            return
        text = self.chunk.text
        indent = self.indent + 4
        close = closing(indent, self.chunk.compact)
        before = len(self.chunk.indented(indent)) - 1
        while text[position + before:position + before + 1] == b'{':
            start = position + before
            if text[start + 1:start + 2] == b'}':
                end = start + 2
                yield None
            else:
                end = close.search(text, start, self.end_at).end()
                yield Node(self.chunk, start, end, indent)
            if text[end:end + 1] != b',':
                return
            position = end + 2

    def resolve_places(self):
        if self.places is None:
            file = [self.chunk.file_at(self.start)]
            head = self.head
            extent = head.get('range', {})
            self.places = (place_of(head.get('loc'), file), place_of(extent.get('begin'), file),
                           place_of(extent.get('end'), file))
        return self.places

    @property
    def place(self):
        """The place of the name of a declaration; the begin of any other node."""
        places = self.resolve_places()
        return places[0] or places[1]

    @property
    def begin(self):
        return self.resolve_places()[1]

    @property
    def end(self):
        return self.resolve_places()[2]

    def contains(self, kind):
        """Is there a node of that kind anywhere inside? A search in the text."""
        return self.chunk.text.find(b'"kind": "%s"' % kind.encode(), self.start + 1, self.end_at) >= 0

    def count(self, kind):
        return self.chunk.text.count(b'"kind": "%s"' % kind.encode(), self.start + 1, self.end_at)

    def walk(self, kinds):
        """The nodes of these kinds inside, outermost first, in the order of the source."""
        for child in self.children():
            if child:
                if child.kind in kinds:
                    yield child
                if any(child.contains(kind) for kind in kinds):
                    yield from child.walk(kinds)

    def matches(self, pattern):
        """Is there a match of the compiled bytes pattern in the text of the node?"""
        return pattern.search(self.chunk.text, self.start, self.end_at) is not None


def place_bare(loc, file):
    if not loc or 'offset' not in loc:
        return None
    file[0] = loc.get('file', file[0])
    return Place(file[0], loc['offset'], loc['tokLen'])


def place_of(loc, file):
    if not loc:
        return None
    if 'spellingLoc' not in loc and 'expansionLoc' not in loc:
        return place_bare(loc, file)
    spelling = place_bare(loc.get('spellingLoc'), file)
    expansion = place_bare(loc.get('expansionLoc'), file)
    if not expansion:
        return None
    argument = bool(loc['expansionLoc'].get('isMacroArgExpansion'))
    return Place(expansion.file, expansion.offset, expansion.length, spelling or expansion, argument)


def scope_before(place):
    """The scopes before a name without arguments of templates: a::b:: of a::b<T>::name."""
    if place is None or place.macro:
        return ''
    start = max(0, place.offset - SCOPE_BYTES)
    with open(place.file, 'rb') as file:
        file.seek(start)
        text = file.read(place.offset - start).rstrip()
    names = []
    while text.endswith(b'::'):
        text = text[:-2].rstrip()
        if text.endswith(b'>'):
            open_brackets = 0
            while text:
                open_brackets += (text[-1:] == b'>') - (text[-1:] == b'<')
                text = text[:-1]
                if not open_brackets:
                    break
            text = text.rstrip()
        name = re.search(rb'[\w\x80-\xff]+$', text)
        if not name:
            break
        names.insert(0, name.group().decode(errors='replace') + '::')
        text = text[:name.start()].rstrip()
    return ''.join(names)


class Parameter:
    __slots__ = ('name', 'type')

    def __init__(self, name, type_name):
        self.name = name
        self.type = type_name


class Function:
    """One declaration of a function; `body` is the Node of its CompoundStmt, or None."""

    def __init__(self, node, qualified):
        head = node.head
        self.node = node
        self.kind = node.kind
        self.name = head.get('name', '')
        if 'parentDeclContextId' in head:  # defined outside of its class or namespace
            qualified += scope_before(node.place)
        self.qualified = qualified + self.name
        self.mangled = head.get('mangledName', self.name)
        self.place = node.place
        self.begin = node.begin
        self.end = node.end
        self.type = head.get('type', {}).get('qualType', '')
        self.storage = head.get('storageClass', '')
        self.inline = bool(head.get('inline'))
        self.variadic = bool(head.get('variadic'))
        self.constexpr = bool(head.get('constexpr'))
        self.implicit = bool(head.get('isImplicit'))
        self.defaulted = 'explicitlyDefaulted' in head
        self.attributes = []
        self.parameters = []
        self.body = None
        for child in node.children():
            if not child:
                continue
            if child.kind == 'ParmVarDecl':
                self.parameters.append(Parameter(child.head.get('name', ''),
                                                 child.head.get('type', {}).get('qualType', '')))
            elif child.kind.endswith('Attr'):
                self.attributes.append(child.kind[:-4])
            elif child.kind in ('CompoundStmt', 'CXXTryStmt', 'CoroutineBodyStmt'):
                self.body = child

    @property
    def result(self):
        """The type it returns, as clang writes it."""
        return self.type.split('(', 1)[0].strip()


def functions(node, qualified=None):
    """The functions that a declaration declares: itself, or those in a class or template. Instances of
    templates are not in the source and so not among them."""
    if qualified is None:
        qualified = node.chunk.qualified
    if node.kind in FUNCTIONS:
        yield Function(node, qualified)
    elif node.kind in CLASSES:
        inner = qualified
        if node.kind != 'ClassTemplateDecl' and node.head.get('name'):
            inner = qualified + node.head['name'] + '::'
        for child in node.children():
            # Right inside its template a specialisation is an instance, or one that is listed after
            # it.
            if child and not (node.kind == 'ClassTemplateDecl' and
                              child.kind == 'ClassTemplateSpecializationDecl'):
                yield from functions(child, inner)
    elif node.kind == 'FriendDecl':
        for child in node.children():
            if child:
                yield from functions(child, node.chunk.qualified)
    elif node.kind == 'FunctionTemplateDecl':
        for child in node.children():
            if child and child.kind in FUNCTIONS:
                yield Function(child, qualified)
                return


class Stream:
    """The nodes of a dump that is read block by block."""

    def __init__(self, read, files=None):
        self.read = read
        self.files = files
        self.names = {}
        self.buffer = bytearray()
        self.file = ''
        self.qualified = ''

    def more(self):
        block = self.read(BLOCK)
        self.buffer += block
        return bool(block)

    def find(self, what, start):
        """The place of what in the buffer from start on; reads on until it is there. -1: the end."""
        while True:
            at = self.buffer.find(what, start)
            if at >= 0:
                return at
            start = max(start, len(self.buffer) - len(what))
            if not self.more():
                return -1

    def need(self, size):
        while len(self.buffer) < size and self.more():
            pass

    def wanted(self, node):
        if self.files is None:
            return True
        if not any(self.is_named(file) for file in node.head_files()):
            return False
        place = node.place
        return place is not None and self.is_named(place.file)

    def is_named(self, file):
        if callable(self.files):
            return self.files(file)
        if file not in self.names:
            real = os.path.realpath(file)
            self.names[file] = any(file == f or real == os.path.realpath(f) for f in self.files)
        return self.names[file]

    def take(self, length):
        """The next so many bytes, as a chunk; the current file moves on."""
        return self.chunk(self.take_bytes(length))

    def chunk(self, text, compact=False):
        chunk = Chunk(text, self.file, self.qualified, compact)
        self.file = chunk.last_file()
        return chunk

    def take_declaration(self, indent):
        """The chunk of the node that is so far indented, or None if it has no end."""
        close = closing(indent)
        length = len(b'\n}') + indent
        compacted = bytearray()
        start = 0
        while True:
            found = close.search(self.buffer, start)
            if found:
                at = found.start()
                break
            start = max(start, len(self.buffer) - length)
            if len(self.buffer) > LARGE:
                lines = self.buffer.rfind(b'\n', 0, start)
                compacted += self.take_compact(lines)
                start -= lines
            if not self.more():
                return None
        if not compacted:
            return self.take(at + length)
        compacted += self.take_compact(at) + indent_compact(indent) + b'}'
        del self.buffer[:length]
        return self.chunk(compacted, compact=True)

    def take_bytes(self, length):
        text = bytes(memoryview(self.buffer)[:length])
        del self.buffer[:length]
        return text

    def take_compact(self, length):
        """The next so many bytes, shortened."""
        compacted = bytearray()
        while length:
            size = length
            if length > PIECE:
                size = self.buffer.rfind(b'\n', 0, PIECE)
            text = self.take_bytes(size)
            length -= size
            for pattern, replacement in COMPACT:
                text = pattern.sub(replacement, text)
            compacted += text
        return compacted

    def nodes(self):
        at = self.find(b'\n  "inner": [\n', 0)
        if at < 0:
            return
        self.take(at + len(b'\n  "inner": [\n'))
        yield from self.list_nodes(4)

    def list_nodes(self, indent):
        """The nodes of the list whose elements are so far indented; the stream is then after it."""
        while True:
            self.need(4096)
            if self.buffer[indent:indent + 1] != b'{':
                return
            found = KIND.match(self.buffer, indent)
            if found and found.group(1) in CONTAINERS:
                yield from self.container_nodes(indent)
            else:
                chunk = self.take_declaration(indent)
                if chunk is None:
                    return
                node = Node(chunk, indent, len(chunk.text), indent)
                if self.wanted(node):
                    yield node
            self.need(2)
            if self.buffer[:1] != b',':
                return
            self.take(2)

    def container_nodes(self, indent):
        inner = b'\n' + b' ' * (indent + 2) + b'"inner": [\n'
        close = b'\n' + b' ' * indent + b'}'
        # The head of a container is short; without declarations it has no list.
        at = self.find_first(inner, close)
        if at < 0:
            return
        outer = self.qualified
        is_empty = not self.buffer.startswith(inner, at)
        head = self.take(at + len(close if is_empty else inner))
        if is_empty:
            return
        name = re.search(rb'\n {%d}"name": "([^"]*)"' % (indent + 2), head.text)
        if name:
            self.qualified += name.group(1).decode() + '::'
        yield from self.list_nodes(indent + 4)
        self.qualified = outer
        end = self.find(close, 0)
        self.take(end + len(close))

    def find_first(self, a, b):
        while True:
            places = [p for p in (self.buffer.find(a), self.buffer.find(b)) if p >= 0]
            if places:
                return min(places)
            if not self.more():
                return -1


def first_error(text):
    for line in text.splitlines():
        if 'error:' in line:
            return line
    return text.strip().splitlines()[0] if text.strip() else 'no message'


@contextlib.contextmanager
def dump(clang, arguments, files=None):
    """Runs `clang ARGUMENTS` for its syntax tree; gives the nodes, see the head of this file."""
    command = [clang, '-fsyntax-only', '-Xclang', '-ast-dump=json', '-w',
               '-fno-color-diagnostics'] + list(arguments)
    messages = run_command.Messages()
    try:
        output = run_command.Output(command, messages.descriptor)
    except OSError as e:
        messages.close()
        raise AstError('%s: %s' % (clang, e.strerror))
    try:
        is_complete = False
        try:
            yield Stream(output.read, files).nodes()
            is_complete = not output.read(1)
        finally:
            # Output that was not asked for is not read: clang would wait for a reader, so the pipe
            # is closed.
            status = output.close()
        if is_complete and status != 0:
            raise AstError(first_error(messages.text()))
    finally:
        messages.close()
