/* SPDX-License-Identifier: Apache-2.0 */
#include "export_columns.h"

#include <string.h>

/* The sums that reports show as rates only, and numbers that mark others as bounds. */
static const struct export_column more[] = {
    {"bytes", 0, 1, ROW_EXTRA_FIELD(bytes), 0},
    {"flops", 0, 1, ROW_EXTRA_FIELD(flops), 0},
    {"open_ns", 0, 1, ROW_EXTRA_FIELD(open_ns), 0},
    {"beyond", 0, 1, ROW_FIELD(beyond), 0},
    {"gpu_beyond", 0, 1, ROW_EXTRA_FIELD(gpu_beyond), 0},
};
#define MORE (sizeof more / sizeof *more)

static const char *column_unit(enum report_kind kind) {
    switch (kind) {
    case REPORT_TIME:
        return "_ns";
    case REPORT_SHARE:
    case REPORT_RATIO:
        return "_ppm";
    case REPORT_RATE:
        return "_per_s";
    case REPORT_SIZE:
        return "_bytes";
    default:
        return "";
    }
}

static void column_make(struct export_column *out, const struct report_column *from) {
    const char *unit = column_unit(from->kind);
    size_t n = strnlen(from->key, sizeof out->key - 8);
    if (from->kind == REPORT_RATE && n > 5 && !memcmp(from->key + n - 5, "_rate", 5)) {
        n -= 5; /* bytes_rate: bytes_per_s */
    }
    memset(out, 0, sizeof *out);
    memcpy(out->key, from->key, n);
    memcpy(out->key + n, unit, strlen(unit));
    out->text = from->kind == REPORT_TEXT;
    out->optional = out->text;
    out->field = from->field;
    out->needs = from->needs;
}

const struct export_columns *export_columns(struct snapshot *s) {
    struct export_columns *out = scratch_get(&s->memory, sizeof *out);
    const struct report_column *from;
    if (!out) {
        return NULL;
    }
    for (uint32_t i = 0; (from = report_column(i)) && out->count < EXPORT_COLUMNS - MORE; ++i) {
        if (strcmp(from->key, "name")) {
            column_make(&out->column[out->count++], from);
        }
    }
    memcpy(&out->column[out->count], more, sizeof more);
    out->count += (uint32_t)MORE;
    return out;
}

uint64_t export_column_value(const struct export_column *c, const struct stint_row *r) {
    return row_number(r, c->field);
}

const char *export_column_text(const struct export_column *c, const struct stint_row *r) {
    return row_text(r, c->field);
}

int export_column_has(const struct export_column *c, const struct stint_row *r) {
    if (c->needs & ~r->has) {
        return 0;
    }
    if (c->text) {
        return *export_column_text(c, r) != '\0';
    }
    uint64_t v = export_column_value(c, r);
    return v != ROW_UNKNOWN && (v || !c->optional);
}

static int column_is_gpu(const struct export_column *c) {
    return !strncmp(c->key, EXPORT_GPU_PREFIX, sizeof EXPORT_GPU_PREFIX - 1);
}

void export_columns_put(struct sink *out, const struct export_columns *columns,
                        const struct stint_row *r, int gpu, const char *before) {
    for (uint32_t i = 0; i < columns->count; ++i) {
        const struct export_column *c = &columns->column[i];
        if (column_is_gpu(c) != gpu || !export_column_has(c, r)) {
            continue;
        }
        sink_text(out, before);
        sink_put(out, "\"", 1);
        sink_text(out, gpu ? c->key + sizeof EXPORT_GPU_PREFIX - 1 : c->key);
        sink_put(out, "\":", 2);
        if (c->text) {
            const char *text = export_column_text(c, r);
            sink_json(out, text, strlen(text));
        } else {
            sink_u64(out, export_column_value(c, r));
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
