/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the records that the library makes of CUPTI's, on their way into the arena. A program that
 * includes this file is linked with --wrap for the three functions below. One file per program.
 */
#ifndef STINT_TESTS_CUPTI_SEEN_H
#define STINT_TESTS_CUPTI_SEEN_H

#include "../unit/recorded.h"
#include "activity/activity.h"
#include "capture/tracer.h"
#include "cuda_double.h"
#include "cupti_double.h"

#define SEEN static inline __attribute__((unused))
#define MOST 4096
static struct activity_record seen[MOST];
static unsigned seen_count, launch_count, device_count;
static uint32_t launches[MOST];
static char device_name[64];

void __real_activity_add(const struct activity_record *r);
void __real_activity_launch(uint32_t correlation);
void __real_activity_device(uint32_t number, const struct gpu_device *d);
void __wrap_activity_add(const struct activity_record *r);
void __wrap_activity_launch(uint32_t correlation);
void __wrap_activity_device(uint32_t number, const struct gpu_device *d);

void __wrap_activity_add(const struct activity_record *r) {
    unsigned i = __atomic_fetch_add(&seen_count, 1, __ATOMIC_RELAXED);
    if (i < MOST) {
        seen[i] = *r;
    }
    __real_activity_add(r);
    errno = EBADF; /* as anything in there might */
}

void __wrap_activity_launch(uint32_t correlation) {
    launches[__atomic_fetch_add(&launch_count, 1, __ATOMIC_RELAXED) % MOST] = correlation;
    __real_activity_launch(correlation);
    errno = EBADF;
}

void __wrap_activity_device(uint32_t number, const struct gpu_device *d) {
    ++device_count;
    memcpy(device_name, d->name, sizeof device_name);
    __real_activity_device(number, d);
}

SEEN const struct activity_record *first_of(uint32_t kind) {
    for (unsigned i = 0; i < seen_count && i < MOST; ++i) {
        if (seen[i].kind == kind) {
            return &seen[i];
        }
    }
    static const struct activity_record none;
    int found = 0;
    CHECK(found);
    return &none;
}

SEEN unsigned count_of(uint32_t kind) {
    unsigned n = 0;
    for (unsigned i = 0; i < seen_count && i < MOST; ++i) {
        n += seen[i].kind == kind;
    }
    return n;
}

SEEN void prepare(void) {
    setenv("STINT_CUPTI_LIB", CUPTI_DOUBLE_LIBRARY, 1);
    setenv("STINT_CUDA_LIB", DOUBLE_LIBRARY, 1);
    cupti_double_reset(fake_advance, fake_read);
}

/* A program that has initialised CUDA. */
SEEN void prepare_initialised(void) {
    prepare();
    double_reset();
    double_init();
}

SEEN void begin(void) {
    prepare();
    CHECK(!tracer_start());
    CHECK(tracer_is_on());
    fake_advance(1000); /* no record is of moment 0 */
}

SEEN const char *described(void) {
    static char text[400];
    tracer_describe(text, sizeof text);
    return text;
}

static const struct cupti_double_kernel add_kernel = {.name = "_Z3addPf",
                                                      .device = 2,
                                                      .context = 3,
                                                      .stream = 7,
                                                      .ns = 5000,
                                                      .late = 300,
                                                      .grid = {10, 20, 30},
                                                      .block = {40, 5, 6},
                                                      .registers = 33,
                                                      .shared_static = 1024,
                                                      .shared_dynamic = 2048};

SEEN void wait_and_flush(uint32_t device) {
    cupti_double_wait(CUPTI_DOUBLE_ALL, device, 0);
    tracer_flush(0);
}

#endif
