/* SPDX-License-Identifier: Apache-2.0 */
#include "about.h"

#include <string.h>

#include "arena/arena.h"
#include "base/print.h"
#include "base/scratch.h"
#include "system/clock.h"
#include "system/config.h"
#include "system/machine.h"
#include "system/read_beginning.h"

#define LABEL_BYTES 200

static uint32_t conditions;

/* In pages, not on the stack: a first scope may be in a signal handler on a small stack. */
struct description {
    struct machine machine;
    char command[ARENA_NAME_BYTES + 1];
};

/* The command line with spaces between its arguments. */
static uint32_t about_put_arguments(char text[ARENA_NAME_BYTES + 1]) {
    size_t length = read_beginning("/proc/self/cmdline", text, ARENA_NAME_BYTES + 1);
    while (length && !text[length - 1]) {
        --length;
    }
    for (size_t i = 0; i < length; ++i) {
        if (!text[i]) {
            text[i] = ' ';
        }
    }
    return arena_text_put(text, length);
}

uint32_t about_put_text(const char *text) {
    return arena_text_put(text, strlen(text));
}

static uint32_t about_put_conditions(void) {
    char text[MACHINE_CONDITIONS + 8 + LABEL_BYTES];
    const char *label = config.label ? config.label : "";
    machine_conditions(text);
    size_t length = strlen(text);
    if (*label) {
        print_text(text + length, sizeof text - length, " label=%.*s", LABEL_BYTES, label);
    }
    return about_put_text(text);
}

void about_fill(void) {
    struct arena_header *h = arena_header();
    struct description *d = pages_get(sizeof *d);
    h->about.clock = about_put_text(clock_name());
    if (config.file) {
        h->about.reference_ps = reference_ps();
        conditions = about_put_conditions();
    }
    if (!d) {
        return;
    }
    machine_read(&d->machine);
    h->about.program = about_put_text(d->machine.program);
    h->about.command = about_put_arguments(d->command);
    h->about.host = about_put_text(d->machine.host);
    h->about.cpu = about_put_text(d->machine.cpu);
    h->about.compiler = about_put_text(d->machine.compiler);
    h->about.cpus = d->machine.cpus;
    pages_put(d, sizeof *d);
}

uint32_t about_conditions(void) {
    return conditions;
}
