/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report at the end of the program: the hook for a profile that ends with it.
 */
#ifndef STINT_EXIT_REPORT_H
#define STINT_EXIT_REPORT_H

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
