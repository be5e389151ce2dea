/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report of PaddlePaddle's Stat.h.
 */
#ifndef STINT_REPORT_LEGACY_H
#define STINT_REPORT_LEGACY_H

#include "model/report_form.h"

/* Headers and rows of one set or of all of them. -1 without memory. */
int report_legacy(const struct report *r);
/* The line below them. */
void report_legacy_line(const struct report *r);
/* One row by name; -1 if the set has no such name. */
int report_legacy_row(const struct report *r, const char *name);

#endif
