/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops over many call places. places.c is compiled once and linked into a library for each
 * alignment, after so many times 8 bytes of code.
 */
#ifndef BENCH_PLACES_H
#define BENCH_PLACES_H

#include "floor.h"

/* Call places of a loop, and the first and the last name of its scopes. */
#define PLACES_COUNTS(X)                                                                           \
    X(1, "0", "0")                                                                                 \
    X(8, "0", "7")                                                                                 \
    X(64, "00", "3f")                                                                              \
    X(256, "00", "ff")                                                                             \
    X(1024, "000", "3ff")

#define PLACES_ENUM(count, first, last) PLACES_##count,
enum places { PLACES_COUNTS(PLACES_ENUM) PLACES_LOOPS };

/* A loop of n scopes; n is a multiple of the number of places. */
struct places_loops {
    bench_loop *run[PLACES_LOOPS];
};

/* In each library, by this name. */
#define PLACES_SYMBOL "places_loops"
extern const struct places_loops places_loops;

#endif
