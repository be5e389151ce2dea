/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Local time without the C library's lock, for lines that are written in signal handlers and in the
 * children of forks. localtime_r is called only when the library is loaded.
 */
#ifndef STINT_LOCAL_TIME_H
#define STINT_LOCAL_TIME_H

#include <time.h>

struct local_time {
    int year;       /* 1970 … */
    int month, day; /* from 1 */
    int hour, minute, second;
};

/* Reads the offsets to UTC that hold from `now` on, for some years. Takes locks and memory of the C
 * library. */
void local_time_read(time_t now);
/* UTC where no offsets were read. Async-signal-safe. */
void local_time_at(time_t when, struct local_time *out);

#endif
