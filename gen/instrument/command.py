# SPDX-License-Identifier: Apache-2.0
"""A command line of a compiler: what it compiles, where to, and what of it clang has to know."""
import os
import re

import cuda

SOURCES = {'.c': 'c', '.C': 'c++', '.cc': 'c++', '.cp': 'c++', '.cpp': 'c++', '.cxx': 'c++',
           '.c++': 'c++', '.CPP': 'c++', '.cu': 'cuda'}
HEADERS = {'.h', '.H', '.hh', '.hp', '.hpp', '.hxx', '.h++', '.tcc', '.cuh'}
LANGUAGES = {'c': 'c', 'c++': 'c++', 'cu': 'cuda', 'cuda': 'cuda'}
# Options whose value is the next argument.
WITH_VALUE = {'-o', '-I', '-D', '-U', '-L', '-l', '-x', '-T', '-u', '-e', '-z', '-B', '-A', '-MF', '-MT',
              '-MQ', '-include', '-imacros', '-isystem', '-iquote', '-idirafter', '-iprefix',
              '-iwithprefix', '-iwithprefixbefore', '-isysroot', '--sysroot', '--param', '-Xlinker',
              '-Xassembler', '-Xpreprocessor', '-Xclang', '-aux-info', '-wrapper', '-target',
              '-arch', '-specs', '-dumpbase', '-dumpdir', '-MJ', '-mllvm'}
# Those that change what clang reads, with their values or not; all others are left out for it.
FOR_CLANG_VALUE = {'-I', '-D', '-U', '-include', '-imacros', '-isystem', '-iquote', '-idirafter',
                   '-isysroot', '--sysroot', '-x', '-target'}
FOR_CLANG = re.compile(r'-(I|D|U|std=|ansi$|O|m(32|64|arch=|sse|avx|fma|bmi)|isystem|iquote|idirafter|'
                       r'isysroot|nostdinc|pthread$|fopenmp$|f(no-)?(unsigned|signed)-char$|fshort-'
                       r'|fgnu89-inline$|fms-extensions$|ffreestanding$|fPI[CE]$|fpi[ce]$|fno-exceptions$'
                       r'|fno-rtti$|fchar8_t$|fcoroutines|trigraphs$|-sysroot=|-target=|-cuda-path=)')
# Words of a response file, and their parts: in quotes of two kinds, or outside.
RESPONSE_PART = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'|((?:[^\s"\'\\]|\\.)+)',
                           re.DOTALL)
RESPONSE_WORD = re.compile('(?:%s)+' % RESPONSE_PART.pattern, re.DOTALL)
MAX_RESPONSE_FILES = 10  # inside each other
# Errors of newer clangs that gcc has as warnings.
TOLERANT = ['-Wno-error=implicit-function-declaration', '-Wno-error=implicit-int',
            '-Wno-error=int-conversion']
# With these nothing is compiled. Without inputs, as with -v alone, neither.
NOT_COMPILING = {'-E', '-M', '-MM', '-fsyntax-only', '--version', '-###', '-dumpversion',
                 '-dumpfullversion', '-dumpmachine', '-dumpspecs', '--help', '--target-help'}
ASKING = ('-print-', '--print-', '--help=')
# The linker makes one object of several.
RELOCATABLE = {'-r', '-Wl,-r', '-Wl,-i', '-Wl,--relocatable'}
STATIC = {'-static', '--static', '-static-pie'}
# Names of compilers, with a prefix and with a version, although that has a dot.
COMPILER = re.compile(r'(.*-)?(gcc|g\+\+|cc|c\+\+|clang|clang\+\+|nvcc)(-[\d.]+)?$')
# Sources that build systems compile to probe the compiler: autoconf, CMake, Meson, SCons, waf.
PROBE = re.compile(r'(^|/)(conftest\d*\.\w+|conftstm\.\w+|sanitycheck\w+\.\w+|cmTC_\w+|'
                   r'(CMakeTmp|CMakeScratch|CompilerId(C|CXX|CUDA)|meson-private|\.sconf_temp|'
                   r'\.conf_check_\w+)/.*)$')


def expand_response_files(words, depth=0):
    """The words as compilers read them: the words of FILE are in the place of @FILE."""
    for word in words:
        try:
            if not word.startswith('@') or depth > MAX_RESPONSE_FILES:
                raise OSError
            with open(word[1:], encoding='utf-8', errors='surrogateescape') as file:
                inner = split_response_file(file.read())
        except OSError:
            yield word
            continue
        yield from expand_response_files(inner, depth + 1)


def split_response_file(text):
    words = []
    for match in RESPONSE_WORD.finditer(text):
        parts = RESPONSE_PART.findall(match.group())
        words.append(''.join(re.sub(r'\\(.)', r'\1', a or b or c, flags=re.DOTALL)
                             for a, b, c in parts))
    return words


class Source:
    def __init__(self, index, path, language):
        self.index = index
        self.path = path
        self.language = language


class Command:
    """A command line of gcc or clang, as far as this program has to know it."""
    with_value = WITH_VALUE
    not_compiling = NOT_COMPILING
    compiling = {'-c': '-c', '-S': '-S'}
    nvcc = None

    def __init__(self, words):
        self.given = words
        self.words = words = self.split_words(expand_response_files(words))
        self.first = 1  # the first argument of the compiler: ccache gcc ...
        while self.first < len(words) and not words[self.first].startswith('-') and \
                not self.is_file(words[self.first]):
            self.first += 1
        self.sources = []
        self.inputs = []
        self.libraries = False
        self.static = False
        self.language = None  # of -x, where it is for what follows the command
        self.output = None
        self.depfile = None
        self.mode = 'link'
        self.depends = False
        self.timer_is_on = False
        self.for_clang = []
        self.read_arguments()

    @staticmethod
    def is_file(word):
        name = os.path.basename(word)
        return '.' in name and os.path.exists(word) and not COMPILER.match(name)

    def read_arguments(self):
        i = self.first
        while i < len(self.words):
            word = self.option_name(self.words[i])
            value = None
            if word in self.with_value and i + 1 < len(self.words):
                i += 1
                value = self.words[i]
            if re.match('-x([a-z]|$)', word):
                language = word[2:] or value
                self.language = None if language == 'none' else language
            elif not word.startswith('-') or word == '-':
                self.take_input(i, word, self.language)
            else:
                self.take_option(word, value)
            i += 1

    @staticmethod
    def split_words(words):
        return list(words)

    @staticmethod
    def option_name(word):
        """The one name of options that have several."""
        return word

    def take_input(self, i, word, language):
        self.inputs.append(word)
        extension = os.path.splitext(word)[1]
        is_header = extension in HEADERS
        if language is None:
            language = SOURCES.get(extension)
        else:
            is_header = language.endswith('-header')
            language = LANGUAGES.get(language)
        if is_header:
            self.mode = 'other'  # it is compiled ahead, for other sources
        elif language and os.path.isfile(word):
            self.sources.append(Source(i, word, language))

    def take_option(self, word, value):
        if word in self.not_compiling or word.startswith(ASKING):
            self.mode = 'other'
        elif word in RELOCATABLE and self.mode == 'link':
            self.mode = '-r'
        elif word in self.compiling and self.mode in ('link', '-r'):
            self.mode = self.compiling[word]
        elif word in ('-MD', '-MMD'):
            self.depends = True
        elif word == '-o':
            self.output = value
        elif word == '-MF':
            self.depfile = value
        elif word.startswith('-o'):
            self.output = word[2:]
        elif word.startswith('-MF'):
            self.depfile = word[3:]
        elif word.startswith('-Wp,'):
            self.take_preprocessor(word.split(',')[1:])
        elif word in STATIC:
            self.static = True
        elif word.startswith('-l'):
            self.libraries = True
        definition = value if word == '-D' else word[2:] if word.startswith('-D') else ''
        name, _, text = definition.partition('=')
        if name == 'WITH_TIMER':
            self.timer_is_on = text.upper() in ('', '1', 'ON', 'YES', 'TRUE')
        if value is not None:
            if word in FOR_CLANG_VALUE:
                self.for_clang += [word, value]
        elif FOR_CLANG.match(word):
            self.for_clang.append(word)

    def take_preprocessor(self, parts):
        """The options in -Wp,..., where -MD has the name of the file."""
        for i, part in enumerate(parts):
            if part in ('-MD', '-MMD'):
                self.depends = True
                self.depfile = parts[i + 1] if i + 1 < len(parts) else None
            elif re.match('-[DUI].', part):
                self.for_clang.append(part)

    def is_probe(self):
        """Whether a build system asks the compiler with it, and keeps nothing that it makes."""
        here = os.getcwd() + '/'
        paths = self.inputs + ([self.output] if self.output else [])
        return self.output == os.devnull or PROBE.search(here) is not None or \
            any(PROBE.search(path) for path in paths)

    def needs_library(self):
        """Whether what is linked may have timers: not a program on stdin alone."""
        return self.libraries or self.inputs != ['-']

    def object_of(self, source):
        """The file that the source is compiled to, or one named like it."""
        if self.output and self.mode in ('-c', '-S'):
            return self.output
        stem = os.path.splitext(os.path.basename(source.path))[0]
        suffix = '.s' if self.mode == '-S' else '.o'
        folder = os.path.dirname(self.output) if self.output else ''
        return os.path.join(folder, stem + suffix)

    def depfiles_of(self, source):
        """Where the compiler may write what the source depends on; that of a linked program has a name
        that newer compilers put before the source's."""
        if self.depfile:
            return [self.depfile]
        path = os.path.splitext(self.object_of(source))[0] + '.d'
        folder, name = os.path.split(path)
        programs = [self.output, os.path.splitext(self.output)[0]] if self.output else ['a']
        return [path] + [os.path.join(folder, os.path.basename(program) + '-' + name)
                         for program in programs if self.mode not in ('-c', '-S')]

    def file_name(self, path, source):
        """The name that this compiler has for a file that clang names by that path: clang has ./
        before those beside a source of the current folder."""
        by_clang = any('clang' in os.path.basename(word) for word in self.words[:self.first])
        if path.startswith('./') and not by_clang and not source.path.startswith('./'):
            return path[2:]
        return path

    def clang_arguments(self, source):
        """How clang reads the source like this compiler."""
        words = self.for_clang + ['-x', source.language] + TOLERANT
        if source.language == 'cuda':
            words += cuda.HOST_CODE + cuda.toolkit_arguments(self.toolkit_folder())
        return words

    def toolkit_folder(self):
        """The folder of the toolkit that a clang for CUDA sources is given, else nvcc's."""
        given = [word for word in self.for_clang if word.startswith('--cuda-path=')]
        return given[-1].partition('=')[2] if given else cuda.toolkit_folder('nvcc')

    @staticmethod
    def quote_folder(folder):
        """The options that add a folder for #include "..."."""
        return ['-iquote', folder]

    def link_library(self, path):
        """The arguments that a link needs: the library by its path, and where it is found at run
        time."""
        before = ['-x', 'none'] if self.language else []
        if re.search(r'\.so(\.|$)', path):
            return [*before, path, '-Wl,-rpath,' + os.path.dirname(os.path.abspath(path))]
        return [*before, path, '-pthread', '-ldl']
