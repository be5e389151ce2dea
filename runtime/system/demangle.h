/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demangles C++ names by the demangler of the C++ library: the program's if it has one, else one
 * that is loaded at the first use.
 */
#ifndef STINT_DEMANGLE_H
#define STINT_DEMANGLE_H

#include <stddef.h>

/* "_Z5scalePff" to "scale(float*, float)", cut to `size` with its NUL. 0, or -1 with nothing
 * written: not a mangled name, or no demangler. Any thread, not a signal handler; calls malloc. */
int demangle(char *out, size_t size, const char *mangled);

#endif
