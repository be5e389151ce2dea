/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module (executable or shared object) that this copy of the library is part of.
 */
#ifndef STINT_MODULE_H
#define STINT_MODULE_H

#include <stddef.h>

/* Its file name. 0, or -1 if that says nothing: it is the program, or libstint.so. A module keeps
 * itself mapped whatever is unloaded, as libstint.so is by its link flag: threads, exit and fork
 * handlers point into it. */
int module_name(char *out, size_t size);

#endif
