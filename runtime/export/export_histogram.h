/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The histograms of rows on the grid of nanoseconds (base/histogram.h), as lists in JSON syntax:
 * [[low, high, count], ...], the buckets that are not empty.
 */
#ifndef STINT_EXPORT_HISTOGRAM_H
#define STINT_EXPORT_HISTOGRAM_H

#include "base/sink.h"
#include "model/rows.h"

/* The buckets that a file can have: a count or a sample of four bytes for each. Histograms that
 * have more overlap, so the file is damaged, and their export would have no bound. */
struct export_histograms {
    const struct rows *rows;
    double unit;                  /* nanoseconds per tick */
    uint64_t left;                /* buckets */
    struct histogram *ticks, *ns; /* of the row at hand, in the snapshot's memory */
};

/* 0, or -1 without memory. */
int export_histograms_start(struct export_histograms *h, struct snapshot *s,
                            const struct rows *rows);
/* Writes `before` and the list of a row, or nothing if it has no histogram. */
void export_histogram_put(struct sink *out, struct export_histograms *h, uint32_t row, int gpu,
                          const char *before);

#endif
