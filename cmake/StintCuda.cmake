# SPDX-License-Identifier: Apache-2.0
#
# Included by every folder with sources in CUDA, for it loads the language there: sets STINT_CUDA to
# whether they can be built, and defines stint_cuda(<target>). The library itself never needs it.
#
# A sanitizer of the C compiler does not reach what nvcc compiles, and the CUDA runtime does not run
# under one, so those builds do without.
option(STINT_BUILD_CUDA "Build the samples and tests written in CUDA, where there is a compiler" ON)

set(STINT_CUDA OFF)
set(stint_cuda_why "STINT_BUILD_CUDA is off")
if(STINT_BUILD_CUDA AND CMAKE_C_FLAGS MATCHES "-fsanitize=")
    set(stint_cuda_why "not under a sanitizer")
elseif(STINT_BUILD_CUDA)
    set(stint_cuda_why "no CUDA compiler; CMAKE_CUDA_COMPILER or CUDACXX may name one")
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
        set(STINT_CUDA ON)
    endif()
endif()

if(STINT_CUDA AND (CMAKE_CUDA_ARCHITECTURES OR DEFINED ENV{CUDAARCHS}))
    enable_language(CUDA)
elseif(STINT_CUDA)
    # The oldest architecture of CUDA 13, as code the driver translates for whatever there is, and
    # Hopper's own, which every toolkit since 11.8 knows. All of them would take minutes.
    set(CMAKE_CUDA_ARCHITECTURES 75-virtual)
    enable_language(CUDA)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 11.8)
        list(APPEND CMAKE_CUDA_ARCHITECTURES 90-real)
    endif()
else()
    get_property(said GLOBAL PROPERTY STINT_CUDA_SAID)
    if(NOT said)
        message(STATUS "stint: no samples and tests in CUDA: ${stint_cuda_why}")
        set_property(GLOBAL PROPERTY STINT_CUDA_SAID ON)
    endif()
endif()

# The standard and the warnings of a target with sources in CUDA. Not pedantic: the line markers
# nvcc gives its host compiler warn there.
function(stint_cuda target)
    target_compile_features(${target} PRIVATE cuda_std_14)
    if(STINT_TOP_LEVEL)
        target_compile_options(${target} PRIVATE
            "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wshadow>")
    endif()
endfunction()
