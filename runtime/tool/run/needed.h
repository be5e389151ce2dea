/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared libraries that a program needs, directly or not, before it is run.
 */
#ifndef STINT_TOOL_NEEDED_H
#define STINT_TOOL_NEEDED_H

#include "base/text.h"

/* Puts the names of the libraries that the program would be started with, LD_PRELOAD included, in a
 * text for needed_has; the caller frees it by text_free. The program is looked for as execvp does.
 * The text is empty if they cannot be known: a script, or a static program. */
void needed_read(struct text *names, const char *program);

/* Whether one of the names begins with the prefix, as "libmpi.so". */
int needed_has(const struct text *names, const char *prefix);

#endif
