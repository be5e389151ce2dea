# SPDX-License-Identifier: Apache-2.0
"""A command line of a compiler: what it compiles, where to, and what of it clang has to know."""
import os
import re

import cuda

SOURCES = {'.c': 'c', '.C': 'c++', '.cc': 'c++', '.cp': 'c++', '.cpp': 'c++', '.cxx': 'c++',
           '.c++': 'c++', '.CPP': 'c++', '.cu': 'cuda'}
LANGUAGES = {'c': 'c', 'c++': 'c++', 'cu': 'cuda', 'cuda': 'cuda'}
# Options whose value is the next argument.
WITH_VALUE = {'-o', '-I', '-D', '-U', '-L', '-l', '-x', '-T', '-u', '-e', '-z', '-B', '-A', '-MF', '-MT',
              '-MQ', '-include', '-imacros', '-isystem', '-iquote', '-idirafter', '-iprefix',
              '-iwithprefix', '-iwithprefixbefore', '-isysroot', '--sysroot', '--param', '-Xlinker',
              '-Xassembler', '-Xpreprocessor', '-Xclang', '-aux-info', '-wrapper', '-target',
              '-arch', '-specs', '-dumpbase', '-dumpdir'}
# Those that change what clang reads, with their values or not; all others are left out for it.
FOR_CLANG_VALUE = {'-I', '-D', '-U', '-include', '-imacros', '-isystem', '-iquote', '-idirafter',
                   '-isysroot', '--sysroot', '-x', '-target'}
FOR_CLANG = re.compile(r'-(I|D|U|std=|ansi$|O|m(32|64|arch=|sse|avx|fma|bmi)|isystem|iquote|idirafter|'
                       r'isysroot|nostdinc|pthread$|fopenmp$|f(no-)?(unsigned|signed)-char$|fshort-'
                       r'|fgnu89-inline$|fms-extensions$|ffreestanding$|fPI[CE]$|fpi[ce]$|fno-exceptions$'
                       r'|fno-rtti$|fchar8_t$|fcoroutines|trigraphs$|-sysroot=|-target=|-cuda-path=)')
# Errors of newer clangs that gcc has as warnings.
TOLERANT = ['-Wno-error=implicit-function-declaration', '-Wno-error=implicit-int',
            '-Wno-error=int-conversion']
# With these nothing is compiled.
NOT_COMPILING = {'-E', '-M', '-MM', '-fsyntax-only', '--version', '-v', '-###', '-dumpversion',
                 '-dumpmachine', '--help'}


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

    def __init__(self, words):
        self.words = words
        self.first = 1  # the first argument of the compiler: ccache gcc ...
        while self.first < len(words) and not words[self.first].startswith('-') and \
                not self.is_file(words[self.first]):
            self.first += 1
        self.sources = []
        self.inputs = False
        self.output = None
        self.depfile = None
        self.mode = 'link'
        self.depends = False
        self.timer_is_on = False
        self.for_clang = []
        self.read_arguments()

    @staticmethod
    def is_file(word):
        return '.' in os.path.basename(word) and os.path.exists(word)

    def read_arguments(self):
        language = None
        i = self.first
        while i < len(self.words):
            word = self.option_name(self.words[i])
            value = None
            if word in self.with_value and i + 1 < len(self.words):
                i += 1
                value = self.words[i]
            if word == '-x':
                language = None if value == 'none' else value
            elif not word.startswith('-') or word == '-':
                self.take_input(i, word, language)
            else:
                self.take_option(word, value)
            i += 1

    @staticmethod
    def option_name(word):
        """The one name of options that have several."""
        return word

    def take_input(self, i, word, language):
        self.inputs = True
        if language is None:
            language = SOURCES.get(os.path.splitext(word)[1])
        else:
            language = LANGUAGES.get(language)
        if language and word != '-':
            self.sources.append(Source(i, word, language))

    def take_option(self, word, value):
        if word in self.not_compiling or word.startswith('-print-'):
            self.mode = 'other'
        elif word in self.compiling and self.mode == 'link':
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
        definition = value if word == '-D' else word[2:] if word.startswith('-D') else ''
        name, _, text = definition.partition('=')
        if name == 'WITH_TIMER':
            self.timer_is_on = text.upper() in ('', '1', 'ON', 'YES', 'TRUE')
        if value is not None:
            if word in FOR_CLANG_VALUE:
                self.for_clang += [word, value]
        elif FOR_CLANG.match(word):
            self.for_clang.append(word)

    def object_of(self, source):
        """The file that the source is compiled to, or one named like it."""
        if self.output and self.mode != 'link':
            return self.output
        stem = os.path.splitext(os.path.basename(source.path))[0]
        suffix = '.s' if self.mode == '-S' else '.o'
        folder = os.path.dirname(self.output) if self.output else ''
        return os.path.join(folder, stem + suffix)

    def depfile_of(self, source):
        if self.depfile:
            return self.depfile
        return os.path.splitext(self.object_of(source))[0] + '.d'

    def clang_arguments(self, source):
        """How clang reads the source like this compiler."""
        words = self.for_clang + ['-x', source.language] + TOLERANT
        if source.language == 'cuda':
            words += cuda.HOST_CODE + cuda.toolkit_arguments(self.toolkit_folder())
        return words

    def toolkit_folder(self):
        """Of a clang that compiles CUDA sources."""
        given = [word for word in self.for_clang if word.startswith('--cuda-path=')]
        return given[-1].partition('=')[2] if given else cuda.toolkit_folder('nvcc')

    @staticmethod
    def quote_folder(folder):
        """The options that add a folder for #include "..."."""
        return ['-iquote', folder]

    @staticmethod
    def link_library(path):
        """What a link needs: the library by its path, and where it is found at run time."""
        if re.search(r'\.so(\.|$)', path):
            return [path, '-Wl,-rpath,' + os.path.dirname(os.path.abspath(path))]
        return [path, '-pthread', '-ldl']
