/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole reports: the views of gen/views.ini, each made of the parts in report/ and fluid/.
 */
#ifndef STINT_VIEWS_H
#define STINT_VIEWS_H

#include "report/report.h"

/* Prints the report that the options request; closing: with the closing line of the legacy view.
 * Returns -1 without memory. */
int report_render(const struct report *r, int closing);

#endif
