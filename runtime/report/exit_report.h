/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report at the end of the program, from the library's own destructor: after the user's atexit
 * handlers and static destructors.
 */
#ifndef STINT_EXIT_REPORT_H
#define STINT_EXIT_REPORT_H

/* report.c: prints that view if anything was recorded. */
int report_print_at_exit(const char *view);

#endif
