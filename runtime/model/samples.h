/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first samples of a node, which it keeps itself until it gets a histogram.
 */
#ifndef STINT_SAMPLES_H
#define STINT_SAMPLES_H

#include "base/histogram.h"
#include "snapshot.h"

/* Some of a node's samples, in ticks. */
struct samples {
    uint32_t kept; /* of the interval and in no histogram: ticks[0 … kept) */
    uint32_t old;  /* in the histogram now, but not when the interval began: old_ticks[0 … old) */
    uint32_t counted; /* of all that the node ever kept, those that are in the histogram now */
    uint64_t ticks[STINT_IMPL_RAW]; /* or nanoseconds, where the node is in_ns */
    uint64_t old_ticks[STINT_IMPL_RAW];
};

void samples_read(struct samples *out, const struct snapshot *s, const struct snapshot_node *n);
void samples_to_ns(struct samples *out, const struct snapshot *s);
/* Whether the node keeps any that samples_add would add, or the interval began with such ones;
 * without a histogram these are all samples of the node. */
int samples_any(const struct snapshot *s, const struct snapshot_node *n);
/* How many samples the node has kept so far, for a baseline; and how many of these are in the
 * histogram. */
uint32_t samples_count(const struct snapshot *s, const struct snapshot_node *n, uint32_t *counted);
/* Adds them to a sum of histograms, those of before the interval with a minus. */
void samples_add(struct histogram *to, const struct samples *from);

#endif
