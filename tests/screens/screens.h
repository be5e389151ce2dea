/* SPDX-License-Identifier: Apache-2.0 */
/* A program whose report is compared with NAME.txt beside it, to the digit. */
#ifndef STINT_TESTS_SCREENS_H
#define STINT_TESTS_SCREENS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_clock.h"
#include "stint/stint.h"

struct screen {
    const char *name;
    void (*work)(void);
};

/* Each file of programs has its table, ended by {NULL, NULL}. */
extern const struct screen legacy_screens[];
extern const struct screen table_screens[];
extern const struct screen tree_screens[];
extern const struct screen gpu_screens[];
extern const struct screen activity_screens[];
extern const struct screen fluid_screens[];

#define US 1000u
#define MS 1000000u
#define SEC 1000000000u

static inline __attribute__((unused)) void timed(const char *name, uint64_t ns) {
    REGISTER_TIMER_DYNAMIC(name);
    fake_advance(ns);
}

/* Two steps of a training loop, which most screens show. */
void training(void);
/* Makes the header report a GPU from now on. Without this call it reports none, on every
 * machine. */
void use_gpu(void);
/* Runs `work` on a thread that ends before it returns. */
void on_a_thread(void (*work)(void));
/* Runs `work` on a thread that stays until the program ends. */
void beside(void (*work)(void));

#endif
