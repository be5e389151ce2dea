/* SPDX-License-Identifier: Apache-2.0 */
/*
 * size_t, NULL and the integer types of fixed width, without a header of the C library: the first
 * one of those reads the feature macros, and a `#define _GNU_SOURCE` in a file that includes stint
 * before it would come too late. <stddef.h> is the compiler's own. Not for users.
 */
#ifndef STINT_IMPL_TYPES_H
#define STINT_IMPL_TYPES_H

#include <stddef.h>

#if defined(__linux__) && defined(__GNUC__) && defined(__UINT64_TYPE__) && !defined(__cplusplus)
/* The types <stdint.h> gives the names to, so that it may come before or after. __extension__: of
 * 32-bit targets some are long long. */
__extension__ typedef __INT64_TYPE__ int64_t;
__extension__ typedef __UINT64_TYPE__ uint64_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT8_TYPE__ uint8_t;
#else
#include <stdint.h> /* g++ and clang++ define _GNU_SOURCE themselves */
#endif

/* Functions of the headers. Keywords and attributes have the spelling with underscores, because
 * projects define the plain one as macros. UNSEEN: the hooks of -finstrument-functions and -pg do
 * not see the function, nor does -fsanitize=integer, because ticks wrap on purpose. NOINLINE: the
 * headers of CUDA up to 12 and of HIP have a macro for the whole attribute. UNCHECKED:
 * MemorySanitizer does not know what the library wrote, and does not look at such reads here. */
#if defined(__GNUC__) && defined(__clang__)
#define STINT_IMPL_UNSEEN __attribute__((__no_instrument_function__, __no_sanitize__("integer")))
#elif defined(__GNUC__)
#define STINT_IMPL_UNSEEN __attribute__((__no_instrument_function__))
#else
#define STINT_IMPL_UNSEEN
#endif
#ifdef __noinline__
#define STINT_IMPL_NOINLINE __noinline__
#else
#define STINT_IMPL_NOINLINE __attribute__((__noinline__))
#endif
#define STINT_IMPL_UNCHECKED
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#define STINT_IMPL_MSAN 1
#undef STINT_IMPL_UNCHECKED
#define STINT_IMPL_UNCHECKED __attribute__((__no_sanitize__("memory")))
#endif
#endif
#if defined(__GNUC__)
#define STINT_IMPL_INLINE static __inline__ STINT_IMPL_UNSEEN __attribute__((__unused__))
#define STINT_IMPL_INLINED STINT_IMPL_INLINE __attribute__((__always_inline__))
#elif defined(_MSC_VER) && !defined(__cplusplus)
#define STINT_IMPL_INLINE static __inline
#else
#define STINT_IMPL_INLINE static inline
#endif
#ifndef __GNUC__
#define STINT_IMPL_INLINED STINT_IMPL_INLINE
#endif
#ifdef __CUDACC__
#define STINT_IMPL_ANYWHERE __host__ __device__
#else
#define STINT_IMPL_ANYWHERE
#endif

/* Projects make a plain 0 for a pointer an error (in C since gcc 15), in C++ NULL, too. */
#ifdef __cplusplus
#define STINT_IMPL_NULL nullptr
#else
#define STINT_IMPL_NULL ((void *)0)
#endif

#endif
