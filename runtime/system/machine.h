/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a run took place and what it used, for report headers and footers. Tests replace it.
 */
#ifndef STINT_MACHINE_H
#define STINT_MACHINE_H

#include <stdint.h>

struct machine {
    char host[64];
    char program[132]; /* "program", in a module's own copy of the library "program (module.so)" */
    char cpu[128];
    char compiler[64]; /* of the runtime */
    uint32_t cpus;     /* usable by this process */
};

struct machine_usage {
    uint64_t peak_rss; /* bytes */
    uint64_t minor_faults;
    uint64_t major_faults;
};

void machine_read(struct machine *out);
/* Conditions that the speed of the process depends on, besides its program: "aslr=on
 * governor=schedutil load=0.42 env=3211", "?" for what is not known; env: bytes of the environment
 * at the start. */
#define MACHINE_CONDITIONS 160
void machine_conditions(char out[MACHINE_CONDITIONS]);
/* Whether addresses of this process are random; -1: not known. */
int machine_aslr(void);
/* Returns 0, or -1 if it is not known. calls_allowed: by getrusage; otherwise by /proc alone, for
 * processes under a filter that ends them at getrusage. */
int machine_usage(struct machine_usage *out, int calls_allowed);

#endif
