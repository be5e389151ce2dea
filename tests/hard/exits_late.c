/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library that is not linked with stint, so that nothing puts its destructor before stint's: one
 * copy of it is unloaded before it and one after. What it calls comes from the program.
 */
#include "exits_late.h"

#include <stddef.h>

static void (*call)(const char *);
static const char *name;

void LATE(void (*function)(const char *), const char *its_name) {
    call = function;
    name = its_name;
}

__attribute__((destructor)) static void at_end(void) {
    if (call) {
        call(name);
    }
}
