/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measurements for record/probe.h: with STINT_RUSAGE=1 the resource usage of the thread, with
 * STINT_COUNTERS the counters of perf_event_open(2).
 */
#ifndef STINT_COUNTERS_H
#define STINT_COUNTERS_H

#include "record/probe.h"

extern const struct probe_ops counters_probe;

#endif
