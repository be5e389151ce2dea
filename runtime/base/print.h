/* SPDX-License-Identifier: Apache-2.0 */
/*
 * printf for lines and paths that are made where there is little stack, in a signal handler say:
 * the C library's takes 2 KB. It knows %s %d %i %u %x %c %%, with 0, width, precision (or *), l, ll
 * and z; of strings no width. Async-signal-safe.
 */
#ifndef STINT_PRINT_H
#define STINT_PRINT_H

#include <stdarg.h>
#include <stddef.h>

/* Returns the bytes written without the NUL: what does not fit, or follows an unknown conversion,
 * is cut. size is at least 1. */
__attribute__((format(printf, 3, 0))) size_t print_list(char *out, size_t size, const char *format,
                                                        va_list args);
__attribute__((format(printf, 3, 4))) size_t print_text(char *out, size_t size, const char *format,
                                                        ...);

#endif
