/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run file as a small input: an arena is mostly zero, so an input lists the lines of 64 bytes
 * that are not, each with its number. References in an arena are such numbers: a change of some
 * bytes is a change of the structure.
 *
 *     lines (2 bytes), bytes cut off its end (1), options (5), ticks and nanoseconds from its start
 *     to now (8, 8), then number (2) and content (64) of each line
 */
#ifndef STINT_TESTS_FUZZ_IMAGE_H
#define STINT_TESTS_FUZZ_IMAGE_H

#include "fuzz.h"
#include "system/clock.h"

#define FUZZ_LINES 1280u /* the largest seed, and some: twice as many take four times as long */
#define FUZZ_OPTIONS 5u
#define FUZZ_HEAD 24u
#define FUZZ_RECORD 66u

struct fuzz_image {
    const char *base;
    uint64_t size;
    uint8_t option[FUZZ_OPTIONS];
    struct clock_stamp now;
};

/* Valid until the next one; -1 if the input is none. Magic number and format are made good: the
 * fuzzer need not find them. */
int fuzz_image_read(struct fuzz_image *out, const uint8_t *data, size_t size);
/* The input of an arena, written to `out`. */
void fuzz_image_write(FILE *out, const struct fuzz_image *image);

#endif
