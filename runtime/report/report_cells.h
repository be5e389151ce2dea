/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows and columns to aligned lines: what the table and the tree view share.
 */
#ifndef STINT_REPORT_CELLS_H
#define STINT_REPORT_CELLS_H

#include "model/columns.h"
#include "report.h"

/* A line to print: a row, how deep its name is indented, and what is printed before the name. */
struct report_line {
    uint32_t row;
    uint32_t depth;
};

/* Prints title and lines with the columns of that view. -1 without memory. */
int report_cells(const struct report *r, const struct rows *rows, const struct report_line *lines,
                 uint32_t count, unsigned view);

#endif
