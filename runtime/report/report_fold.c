/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/visible.h"
#include "report.h"

#define FOLD_INDENT 4

/* Its bytes without the blanks at its end, as the legacy view has them. */
static size_t fold_trim(const char *line, size_t length) {
    while (length && line[length - 1] == ' ') {
        --length;
    }
    return length;
}

static void fold_line(struct text *out, const char *line, size_t length, size_t width) {
    size_t from = 0, space = 0, used = 0;
    length = fold_trim(line, length);
    for (size_t at = 0; at < length;) {
        size_t columns;
        size_t n = visible_next(line + at, length - at, &columns);
        if (line[at] == ' ' && at > from) {
            space = at;
        }
        if (columns && used + columns > width && space > from) {
            text_put(out, line + from, fold_trim(line + from, space - from));
            text_put(out, "\n", 1);
            text_spaces(out, FOLD_INDENT);
            for (from = space; line[from] == ' ';) {
                ++from;
            }
            at = from;
            used = FOLD_INDENT;
            continue;
        }
        used += columns;
        at += n;
    }
    text_put(out, line + from, length - from);
    text_put(out, "\n", 1);
}

void report_fold(struct text *out, const struct text *in, size_t width) {
    for (size_t at = 0; at < in->length;) {
        const char *end = memchr(in->data + at, '\n', in->length - at);
        size_t length = in->length - at;
        if (end) {
            length = (size_t)(end - in->data) - at;
        }
        fold_line(out, in->data + at, length, width);
        at += length + 1;
    }
}
