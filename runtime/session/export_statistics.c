/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint_export: the statistics as a file for other programs.
 */
#include <string.h>

#include "base/api.h"
#include "base/errno_keep.h"
#include "base/log.h"
#include "base/target.h"
#include "export/export_columns.h"
#include "interval.h"
#include "report_print.h"

static int put_text(struct sink *to, void *unused) {
    (void)unused;
    struct text out;
    text_start(&out);
    int result = report_into(&out, "table");
    if (!result) {
        sink_put(to, out.data, out.length);
    }
    text_free(&out);
    return result;
}

/* Of the current interval. */
static int put_snapshot(struct sink *to, int json) {
    struct snapshot s;
    int result = interval_open(&s, 0);
    if (!result) {
        result = json ? export_json_snapshot(to, &s, NULL) : export_csv_snapshot(to, &s, 0);
        interval_close(&s);
    }
    if (result) {
        log_line("stint_export: no memory");
    }
    return result;
}

static int put_csv(struct sink *to, void *unused) {
    (void)unused;
    return put_snapshot(to, 0);
}

static int put_json(struct sink *to, void *unused) {
    (void)unused;
    return put_snapshot(to, 1);
}

static const struct {
    const char *name;
    int (*put)(struct sink *to, void *unused);
} formats[] = {{"text", put_text}, {"csv", put_csv}, {"json", put_json}};
#define FORMATS (sizeof formats / sizeof *formats)

int stint_export(const char *path, const char *format) {
    ERRNO_KEEP;
    int result = -1;
    size_t i = 0;
    while (format && i < FORMATS && strcmp(format, formats[i].name)) {
        ++i;
    }
    if (!path || !*path) {
        log_line("stint_export: a path is missing");
    } else if (!format || i == FORMATS) {
        log_line("stint_export: format \"%.40s\": expected text, csv or json; the tool knows more",
                 format ? format : "(NULL)");
    } else {
        result = target_write("stint_export", path, 0666, formats[i].put, NULL);
    }
    return result;
}
