/* SPDX-License-Identifier: Apache-2.0 */
#include "report_options.h"

#include <string.h>

#include "base/number.h"
#include "model/columns.h"

#define TOP_MAX 1000000000u

#include "report_view_names.inc"

const char *report_view_name(enum report_view view) {
    return report_view_names[view];
}

int report_can_correct(enum report_view view) {
    return view == REPORT_TABLE || view == REPORT_TREE;
}

static int parse_view(const char *text, size_t width, enum report_view *out) {
    for (unsigned i = 0; i < REPORT_VIEWS; ++i) {
        const char *name = report_view_name((enum report_view)i);
        if (strlen(name) == width && !memcmp(name, text, width)) {
            *out = (enum report_view)i;
            return 0;
        }
    }
    return -1;
}

static int parse_top(const char *text, size_t width, uint32_t *out) {
    uint64_t n;
    if (number_parse_whole(text, TOP_MAX, &n) != text + width || !n) {
        return -1;
    }
    *out = (uint32_t)n;
    return 0;
}

static int parse_option(const char *text, size_t width, struct report_options *out) {
    if (width > 5 && !memcmp(text, "sort=", 5)) {
        out->sort = report_column_find(text + 5, width - 5);
        if (out->sort == UINT32_MAX) {
            return -1;
        }
        return 0;
    }
    if (width > 4 && !memcmp(text, "top=", 4)) {
        return parse_top(text + 4, width - 4, &out->top);
    }
    if (width == 7 && !memcmp(text, "threads", 7)) {
        out->threads = 1;
        return 0;
    }
    if (width == 9 && !memcmp(text, "corrected", 9)) {
        out->corrected = 1;
        return 0;
    }
    return -1;
}

int report_options_parse(const char *text, struct report_options *out) {
    size_t width = strcspn(text, ",");
    struct report_options o = {.sort = report_column_find("total", 5), .set = REPORT_ALL_SETS};
    if (parse_view(text, width, &o.view)) {
        return -1;
    }
    for (text += width; *text == ','; text += width) {
        ++text;
        width = strcspn(text, ",");
        if (parse_option(text, width, &o)) {
            return -1;
        }
    }
    *out = o;
    return 0;
}
