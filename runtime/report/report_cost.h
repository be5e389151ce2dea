/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of the calls of a node, for the footer, and for reports without that cost.
 */
#ifndef STINT_REPORT_COST_H
#define STINT_REPORT_COST_H

#include "report.h"

/* Calls, and what they cost in nanoseconds. */
struct node_cost {
    u128 calls;
    u128 readings;
    u128 plain; /* calls from code that was built without optimisation */
    double ns_calls;
    double ns_readings;
    /* The same of calls whose records are not in the nearest cache; of one where that is not known,
     * as above. */
    double most_calls;
    /* The cost of a short call, inside its own time and in the time around it. */
    double ns_inner;
    double ns_outer;
    double most_inner;
    double most_outer;
};

/* All 0 where the cost of a call is not known. */
void node_cost_add(struct node_cost *to, const struct report *r, const struct snapshot_node *n);

/* 0 also if the process had no memory to measure it. */
static inline int report_cost_is_known(const struct report *r) {
    return r->cost && (r->cost->inner || r->cost->outer);
}

/* Sets the cost of each node in the snapshot, which rows are without as long as snapshot.corrected
 * is set. -1 without memory. */
int report_correct(const struct report *r);

#endif
