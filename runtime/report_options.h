/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a report shows: "legacy|table|tree[,sort=KEY][,top=N][,threads]".
 */
#ifndef STINT_REPORT_OPTIONS_H
#define STINT_REPORT_OPTIONS_H

#include <stdint.h>

#define REPORT_OPTIONS_FORM                                                                        \
    "legacy|table|tree[,sort=total|self|calls|min|max|avg|p99][,top=N][,threads]"

enum report_view { REPORT_LEGACY, REPORT_TABLE, REPORT_TREE, REPORT_VIEWS };

struct report_options {
    enum report_view view;
    uint32_t sort; /* column */
    uint32_t top;  /* 0 = all */
    int threads;
    uint32_t set; /* REPORT_ALL_SETS or an id */
};
#define REPORT_ALL_SETS UINT32_MAX

/* 0, or -1 for a text of another form. */
int report_options_parse(const char *text, struct report_options *out);

#endif
