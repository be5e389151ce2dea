# SPDX-License-Identifier: Apache-2.0
"""A command line of nvcc. Its options are those of gcc in part; others have values of their own, long
names, or are for the compiler of the host code, behind -Xcompiler."""
import os
import re

import command
import cuda

LONG = {'--compile': '-c', '--device-c': '-dc', '--device-w': '-dw', '--output-file': '-o',
        '--include-path': '-I', '--define-macro': '-D', '--undefine-macro': '-U',
        '--pre-include': '-include', '--system-include': '-isystem', '--x': '-x', '--std': '-std',
        '--compiler-options': '-Xcompiler', '--dependency-output': '-MF',
        '--dependency-target-name': '-MT', '--generate-dependencies-with-compile': '-MD',
        '--generate-nonsystem-dependencies-with-compile': '-MMD', '--preprocess': '-E',
        '--generate-dependencies': '-M', '--generate-nonsystem-dependencies': '-MM',
        '--device-link': '-dlink', '--library': '-l', '--library-path': '-L'}
OWN_WITH_VALUE = {
    '-Xarchive', '-Xptxas', '-Xcudafe', '-Xnvlink', '-Xnvvm', '-ccbin', '-code',
    '-gencode', '-maxrregcount', '-odir', '-objdir', '-t', '-cudart', '-cudadevrt', '-rdc', '-optf',
    '-idp', '-ddp', '-Werror', '-diag-error', '-diag-suppress', '-diag-warn', '-prec-div', '-prec-sqrt',
    '-fmad', '-ftz', '-tree', '-split-compile', '-arch-list',
    '--linker-options', '--archive-options', '--ptxas-options', '--nvlink-options', '--compiler-bindir',
    '--gpu-architecture', '--gpu-code', '--generate-code', '--maxrregcount', '--output-directory',
    '--threads', '--cudart', '--cudadevrt', '--relocatable-device-code', '--options-file', '--machine',
    '--diag-error', '--diag-suppress', '--diag-warn', '--prec-div', '--prec-sqrt', '--fmad', '--ftz',
    '--drive-prefix', '--split-compile', '--keep-dir', '--target-directory'}
WITH_VALUE = command.WITH_VALUE | OWN_WITH_VALUE | {'-std', '-Xcompiler'}
# With these no host code is compiled.
NOT_COMPILING = command.NOT_COMPILING | {
    '-ptx', '--ptx', '-cubin', '--cubin', '-fatbin', '--fatbin', '-cuda', '--cuda', '-dlink', '-lib',
    '--lib', '-dryrun', '--dryrun', '-h', '-V', '-optix-ir', '--optix-ir', '-ltoir', '--ltoir'}


class Command(command.Command):
    with_value = WITH_VALUE
    not_compiling = NOT_COMPILING
    compiling = {'-c': '-c', '-dc': '-c', '-dw': '-c'}

    def __init__(self, words, nvcc):
        self.nvcc = nvcc
        super().__init__(words)

    @classmethod
    def split_words(cls, words):
        return [part for word in words for part in cls.split_long(word)]

    @staticmethod
    def split_long(word):
        """--output-file=x in two words."""
        name, equals, value = word.partition('=')
        return [name, value] if equals and name in LONG else [word]

    @staticmethod
    def option_name(word):
        return LONG.get(word, word)

    def take_option(self, word, value):
        if word in OWN_WITH_VALUE:
            return
        if word == '-std':
            word, value = '-std=' + value, None
        if word == '-Xcompiler' or word.startswith('-Xcompiler='):
            host = word[len('-Xcompiler='):] if value is None else value
            self.for_clang += [part for part in host.split(',') if command.FOR_CLANG.match(part)]
            return
        super().take_option(word, value)

    def clang_arguments(self, source):
        words = super().clang_arguments(source)
        if source.language != 'cuda':
            return words
        # The default of nvcc; a later option of the command replaces it.
        return ['-std=gnu++17', *words]

    def toolkit_folder(self):
        return cuda.toolkit_folder(self.nvcc)

    @staticmethod
    def quote_folder(folder):
        """nvcc splits the value at commas, and a shell reads it."""
        folder = re.sub(r'([\\"$`])', r'\\\1', folder).replace(',', '\\,')
        return ['-Xcompiler', '-iquote,"%s"' % folder]

    def link_library(self, path):
        # nvcc knows no libraries with a version after .so, and takes -x for each file.
        known = path.endswith(('.so', '.a')) and not self.language
        library = [path] if known else ['-Xlinker', path]
        if re.search(r'\.so(\.|$)', path):
            folder = os.path.dirname(os.path.abspath(path))
            return [*library, '-Xlinker', '-rpath', '-Xlinker', folder]
        return [*library, '-Xcompiler', '-pthread', '-ldl']
