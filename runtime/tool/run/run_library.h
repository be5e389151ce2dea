/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared libraries of stint that the command run has a program load.
 */
#ifndef STINT_RUN_LIBRARY_H
#define STINT_RUN_LIBRARY_H

#include <limits.h>

/* The path of lib<name>.so of the interface's number, which is installed or built with the tool.
 * 0, or -1 after one line. */
int run_library_find(char path[PATH_MAX], const char *name);
/* The same without a line. */
int run_library_seek(char path[PATH_MAX], const char *name);

/* Puts that library, or the one of that path, first in LD_PRELOAD. 0, or -1 after one line. */
int run_library_preload(const char *name);
int run_library_preload_path(const char *path);

#endif
