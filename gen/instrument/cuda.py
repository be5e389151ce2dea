# SPDX-License-Identifier: Apache-2.0
"""How clang reads the host code of CUDA sources, with the toolkit of nvcc.

Newer toolkits than a clang knows lack texture references, whose header clang includes, and use what it
refuses in code for the device. That code is not compiled here, so its intrinsics for textures are
replaced by a declaration, in the header of the folder `cuda_headers`.
"""
import os
import re

import run_command

HOST_CODE = ['--cuda-host-only', '-nocudalib', '-Xclang', '-fcuda-allow-variadic-functions']
TEXTURES = 'texture_fetch_functions.h'
FALLBACK = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'cuda_headers')
NVCC = re.compile(r'nvcc(-[\d.]+)?$')


class NoToolkit(Exception):
    """The text is one line."""


def is_nvcc(word):
    return NVCC.match(os.path.basename(word)) is not None


def toolkit_folder(nvcc):
    """The folder with include/cuda_runtime.h that belongs to this nvcc."""
    found = run_command.find_program(nvcc)
    places = [os.environ.get('CUDA_HOME', ''), os.environ.get('CUDA_PATH', ''), '/usr/local/cuda']
    if found:
        for program in (found, os.path.realpath(found)):
            places.insert(0, os.path.dirname(os.path.dirname(program)))
    for place in places:
        if place and os.path.exists(os.path.join(place, 'include', 'cuda_runtime.h')):
            return place
    raise NoToolkit('the headers of the CUDA toolkit were not found; CUDA_HOME may name its folder')


def toolkit_arguments(folder):
    """The arguments that make clang read with this toolkit."""
    include = os.path.join(folder, 'include')
    words = ['--cuda-path=' + folder]
    libraries = os.path.join(include, 'cccl')  # of toolkit 13; before, they were in include
    if os.path.isdir(libraries):
        words += ['-isystem', libraries]
    if not os.path.exists(os.path.join(include, TEXTURES)):
        words += ['-D__CLANG_CUDA_TEXTURE_INTRINSICS_H__', '-idirafter', FALLBACK]
    return words
