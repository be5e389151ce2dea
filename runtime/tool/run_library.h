/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared libraries that the command run has a program load.
 */
#ifndef STINT_RUN_LIBRARY_H
#define STINT_RUN_LIBRARY_H

#include <limits.h>

/* The path of lib<name>.so, which is installed with the tool, below the folder above that of the tool.
 * 0, or -1 after one line. */
int run_library_find(char path[PATH_MAX], const char *name);

#endif
