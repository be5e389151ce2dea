/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the statistics as the JSON that actions of GitHub which keep benchmark results take
 * ("customSmallerIsBetter"): a list of {name, unit, value, range, extra}. A row is the mean of a
 * call; GPU times are rows of their own. Names are the keys of such a list, and rows of two sets
 * may have one name: it is followed by the set, but of the default one.
 */
#include "base/text.h"
#include "export/export_columns.h"
#include "export/export_names.h"
#include "formats.h"

#define BENCHMARK_NAME_BYTES (2 * EXPORT_NAME_BYTES + 16)

/* A row of the list, on its way out. */
struct benchmark {
    struct sink *out;
    uint64_t items;
};

static size_t name_append(char *to, size_t length, const char *text, size_t bytes) {
    memcpy(to + length, text, bytes);
    return length + bytes;
}

static void put_benchmark_name(const struct benchmark *b, const struct snapshot *s,
                               const struct stint_row *r, const char *suffix) {
    char name[BENCHMARK_NAME_BYTES];
    struct export_name own = export_row_name(r);
    struct export_name set = export_field(export_set(s, r), EXPORT_NAME_BYTES);
    size_t length = name_append(name, 0, own.bytes, own.length);
    if (r->set) {
        length = name_append(name, length, " @", 2);
        length = name_append(name, length, set.bytes, set.length);
    }
    length = name_append(name, length, suffix, strlen(suffix));
    sink_json(b->out, name, length);
}

/* The mean, in nanoseconds. */
static void put_benchmark(struct benchmark *b, const struct snapshot *s, const struct stint_row *r,
                          const char *suffix, uint64_t ns) {
    export_start_item(b->out, b->items++);
    sink_text(b->out, "{\"name\":");
    put_benchmark_name(b, s, r, suffix);
    sink_text(b->out, ",\"unit\":\"ns\",\"value\":");
    sink_u64(b->out, ns);
}

static void put_extra(const struct benchmark *b, uint64_t calls, uint64_t p99_ns, int has_p99) {
    sink_text(b->out, ",\"extra\":\"calls ");
    sink_u64(b->out, calls);
    if (has_p99) {
        sink_text(b->out, ", p99 ");
        sink_u64(b->out, p99_ns);
        sink_text(b->out, " ns");
    }
    sink_text(b->out, "\"}");
}

static void put_benchmark_row(struct benchmark *b, const struct snapshot *s,
                              const struct stint_row *r) {
    if (r->has & ROW_SAMPLES) {
        put_benchmark(b, s, r, "", r->avg_ns);
        if (r->has & ROW_HISTOGRAM) {
            sink_text(b->out, ",\"range\":\"+/- ");
            sink_u64(b->out, r->stddev_ns);
            sink_text(b->out, "\"");
        }
        put_extra(b, r->calls, r->percentile_ns[PERCENTILE_P99], (r->has & ROW_HISTOGRAM) != 0);
    }
    if (r->has & ROW_GPU) {
        put_benchmark(b, s, r, " (GPU)", r->extra->gpu_avg_ns);
        put_extra(b, r->extra->gpu_calls, r->extra->gpu_percentile_ns[PERCENTILE_P99],
                  (r->has & ROW_GPU_HISTOGRAM) != 0);
    }
}

int export_benchmark(struct sink *out, struct run *r) {
    struct benchmark b = {out, 0};
    struct rows rows;
    uint32_t *order = export_rows(&rows, &r->snapshot, 0);
    if (!order) {
        return -1;
    }
    sink_text(out, "[");
    for (uint32_t i = 0; i < rows.count; ++i) {
        put_benchmark_row(&b, &r->snapshot, &rows.row[order[i]]);
    }
    sink_text(out, "]\n");
    return 0;
}
