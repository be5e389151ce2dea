/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about a program from its file, before it is run.
 */
#ifndef STINT_RUN_PROGRAM_H
#define STINT_RUN_PROGRAM_H

/* Whether the text, as the name of a library that it needs, is in the program's file. The file is
 * looked for as execvp does; 0 without one. */
int run_program_has(const char *program, const char *text);

#endif
