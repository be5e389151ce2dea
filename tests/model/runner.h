/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program with the library and, at the same moments, with the reference. */
#ifndef STINT_TESTS_RUNNER_H
#define STINT_TESTS_RUNNER_H

#include "program.h"

struct runner;

#ifdef __cplusplus
extern "C" {
#endif

/* Runs the program in the calling process, which must have recorded nothing yet. Returns the number
 * of differences, which are printed unless `quiet`. */
int run_program(const struct program *p, int quiet);

/* The C++ half. Calls body(runner) in a block that catches what run_throw throws. */
void run_catch(void (*body)(struct runner *), struct runner *r);
__attribute__((noreturn)) void run_throw(void);
/* body in a C++ scope; opened is told its guard's address, closed that it has ended. */
void run_cxx_scope(struct runner *r, struct stint_impl_site *site, uint32_t set,
                   uint64_t (*opened)(struct runner *, const void *guard),
                   void (*body)(struct runner *),
                   void (*closed)(struct runner *, const void *guard, uint64_t opening));

#ifdef __cplusplus
}
#endif

/* Counts and prints a difference. */
__attribute__((format(printf, 1, 2))) void run_differs(const char *format, ...);
/* Compares every column and every loss, now. In compare.c. */
void compare_all(void);
/* Compares at the end: opened = recorded + abandoned + lost, by the library's numbers alone. */
void compare_ledger(void);

#endif
