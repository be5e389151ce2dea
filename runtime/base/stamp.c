/* SPDX-License-Identifier: Apache-2.0 */
#include "stamp.h"

/* A run's rate that is so far from the first measurement is wrong itself: the machine slept, and
 * one of the two clocks went on, or started over. */
#define BENT (1.0 / 32)
double stamp_ns_per_tick(const struct clock_stamp *from, const struct clock_stamp *to,
                         uint64_t first) {
    double measured = 1.0;
    if (first) {
        measured = 256000.0 / (double)first;
    }
    if (to->ticks <= from->ticks || to->monotonic_ns <= from->monotonic_ns) {
        return measured;
    }
    double rate =
        (double)(to->monotonic_ns - from->monotonic_ns) / (double)(to->ticks - from->ticks);
    if (first && (rate > measured * (1 + BENT) || rate < measured * (1 - BENT))) {
        return measured;
    }
    return rate;
}
