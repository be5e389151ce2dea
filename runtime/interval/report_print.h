/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports of this process, for the exit report, the profiler and stint_export.
 */
#ifndef STINT_REPORT_PRINT_H
#define STINT_REPORT_PRINT_H

#include "base/text.h"
#include "report/report_options.h"

/* Adds what stint_report(view) prints to `out`. STINT_OK, or an error after one line. */
int report_into(struct text *out, const char *view);
/* Prints the fluid view of the interval; quiet: only if anything was recorded. STINT_OK, or an
 * error after one line. */
int report_profile(const struct fluid_options *as, int quiet);
/* Prints a text as a report, in lines of the terminal's width. STINT_OK, or an error after one
 * line. */
int report_print_text(const struct text *report);
/* Prints that view if anything was recorded. STINT_OK, or an error after one line. */
int report_print_at_exit(const char *view);

/* ---- exit_report.c: the report at the end of the program: the hook for a profile that ends
 * with it. */

struct exit_profile {
    /* Whether a profile is running that ends with the program. Returns 0 if a signal handler that
     * ends the program interrupted the profiler itself. */
    int (*is_due)(void);
    /* Ends the profile, and prints it if anything was recorded. */
    void (*at_end)(void);
};

/* Once, by a constructor; p must stay valid. */
void exit_set_profile(const struct exit_profile *p);

#endif
