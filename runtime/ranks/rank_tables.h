/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the view `ranks` that a merged run has: which rank is late, and how evenly each name
 * is spread over the ranks.
 */
#ifndef STINT_RANK_TABLES_H
#define STINT_RANK_TABLES_H

#include "model/ranks.h"
#include "report/report.h"

/* 0, or -1 without memory. */
int report_rank_tables(const struct report *r, const struct ranks *ranks);

#endif
