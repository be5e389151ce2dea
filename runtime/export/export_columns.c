/* SPDX-License-Identifier: Apache-2.0 */
#include "export_columns.h"

#include <string.h>

int export_column_has(const struct report_column *c, const struct stint_row *r) {
    if (c->kind == REPORT_TEXT) {
        return !(c->needs & ~r->has) && *report_text(r, c) != '\0';
    }
    return row_knows(r, c->field, c->needs) && (report_value(r, c) || !c->optional);
}

static int column_is_gpu(const struct report_column *c) {
    return !strncmp(c->export_key, EXPORT_GPU_PREFIX, sizeof EXPORT_GPU_PREFIX - 1);
}

void export_columns_put(struct sink *out, const struct stint_row *r, int gpu, const char *before) {
    const struct report_column *c;
    for (uint32_t i = EXPORT_FIRST_COLUMN; (c = report_column(i)); ++i) {
        if (column_is_gpu(c) != gpu || !export_column_has(c, r)) {
            continue;
        }
        sink_text(out, before);
        sink_put(out, "\"", 1);
        sink_text(out, gpu ? c->export_key + sizeof EXPORT_GPU_PREFIX - 1 : c->export_key);
        sink_put(out, "\":", 2);
        if (c->kind == REPORT_TEXT) {
            sink_json(out, report_text(r, c), strlen(report_text(r, c)));
        } else {
            sink_u128(out, report_value(r, c));
        }
        before = ",";
    }
}

uint32_t *export_rows(struct rows *out, struct snapshot *s, int each_thread) {
    if (rows_flat(out, s, each_thread)) {
        return NULL;
    }
    return report_sort(s, out, report_column_find("total", strlen("total")));
}

struct export_name export_row_name(const struct stint_row *r) {
    return export_name(r->name, r->name_length);
}

const char *export_set(const struct snapshot *s, const struct stint_row *r) {
    return export_set_name(s, r->set, "?");
}
