/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint_export: writes the statistics of the current interval to a file, for other programs.
 */
#include <string.h>

#include "base/api.h"
#include "export/export_columns.h"
#include "interval.h"
#include "model/run.h"
#include "report_print.h"
#include "system/log.h"
#include "system/target.h"

static int statistics_put_text(struct sink *to, void *unused) {
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

/* Writes the statistics of the current interval. */
static int snapshot_put(struct sink *to, int json) {
    struct run r = {.path = ""};
    struct snapshot *s = &r.snapshot;
    int result = interval_open(s, 0);
    if (!result) {
        run_read_about(&r);
        if (json) {
            result = export_json_snapshot(to, s, &r, NULL);
        } else {
            result = export_csv_snapshot(to, s, &r, 0);
        }
        interval_close(s);
    }
    if (result) {
        log_error("stint_export: no memory");
        return STINT_ERROR_NO_MEMORY;
    }
    return STINT_OK;
}

static int statistics_put_csv(struct sink *to, void *unused) {
    (void)unused;
    return snapshot_put(to, 0);
}

static int statistics_put_json(struct sink *to, void *unused) {
    (void)unused;
    return snapshot_put(to, 1);
}

struct program_format {
    const char *name;
    int (*put)(struct sink *to, void *unused);
};

#include "program_formats.inc"

int stint_export(const char *path, const char *format) {
    FUNCTION_KEEP;
    if (!path || !*path) {
        log_error("stint_export: a path is missing");
        return STINT_ERROR_UNKNOWN;
    }
    if (!format) {
        format = "(NULL)";
    }
    for (size_t i = 0; i < sizeof program_formats / sizeof *program_formats; ++i) {
        if (!strcmp(format, program_formats[i].name)) {
            return target_write("stint_export", path, REPLACE_WHOLE, 0666, program_formats[i].put,
                                NULL);
        }
    }
    log_error("stint_export: format \"%.40s\": expected " PROGRAM_FORMATS
              "; the tool writes more formats",
              format);
    return STINT_ERROR_UNKNOWN;
}
