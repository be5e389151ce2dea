/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last interval of a run as a table: calls and percentiles of the interval beside those since
 * the run began. For `stint report --every`.
 */
#ifndef STINT_TOOL_INTERVAL_REPORT_H
#define STINT_TOOL_INTERVAL_REPORT_H

#include "base/text.h"
#include "viewers/metrics.h"

/* 0, or -1 without memory. */
int interval_report_put(struct text *out, const struct metrics *run,
                        const struct metrics *interval);

#endif
