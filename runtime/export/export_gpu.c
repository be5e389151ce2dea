/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices and the tables of export_tables.h, as json's object "gpu" and as tables of csv.
 * Called by export_json_snapshot.c and by the tool (`--to csv --table`).
 */
#include <string.h>

#include "export_columns.h"
#include "export_tables.h"

static const struct {
    const char *key;
    size_t field;
    int memory; /* only if allocations were traced */
} device_columns[] = {
#define FIELD(name, memory)                                                                        \
    { #name, offsetof(struct export_device, name), memory }
    FIELD(busy_ns, 0), FIELD(kernel_ns, 0),       FIELD(copy_ns, 0),   FIELD(overlap_ns, 0),
    FIELD(idle_ns, 0), FIELD(allocated_bytes, 1), FIELD(peak_bytes, 1)};
#define DEVICE_COLUMNS (sizeof device_columns / sizeof *device_columns)

static u128 device_value(const struct export_device *d, size_t field) {
    return *(const u128 *)(const void *)((const char *)d + field);
}

/* ---- json */

static void gpu_put_key(struct sink *out, const char *key) {
    sink_put(out, "\"", 1);
    sink_text(out, key);
    sink_put(out, "\":", 2);
}

static int gpu_put_json_devices(struct sink *out, struct snapshot *s) {
    const struct export_device *d = export_devices(s);
    for (uint32_t i = 0; d && i < s->device_count; ++i) {
        export_start_item(out, i);
        sink_text(out, "{\"number\":");
        sink_u64(out, d[i].number);
        struct export_name name = export_field(d[i].name, sizeof s->devices[i].name);
        sink_text(out, ",\"name\":");
        sink_json(out, name.bytes, name.length);
        for (size_t k = 0; k < DEVICE_COLUMNS; ++k) {
            if (d[i].peaked || !device_columns[k].memory) {
                sink_put(out, ",", 1);
                gpu_put_key(out, device_columns[k].key);
                sink_u128(out, device_value(&d[i], device_columns[k].field));
            }
        }
        sink_put(out, "}", 1);
    }
    if (!d) {
        return -1;
    }
    return 0;
}

static void gpu_put_json_row(struct sink *out, enum export_table table, const struct snapshot *s,
                             const struct activity_row *r) {
    struct export_cell cell;
    const char *before = "{";
    for (uint32_t i = 0; export_table_key(table, i); ++i) {
        if (export_table_cell(&cell, table, i, s, r)) {
            continue;
        }
        sink_text(out, before);
        gpu_put_key(out, cell.key);
        if (cell.is_text) {
            sink_json(out, cell.text.bytes, cell.text.length);
        } else {
            sink_u128(out, cell.number);
        }
        before = ",";
    }
    sink_put(out, "}", 1);
}

static int gpu_put_json_table(struct sink *out, struct snapshot *s, enum export_table table) {
    struct activity_table rows;
    if (export_table_rows(&rows, s, table)) {
        return -1;
    }
    sink_text(out, "],\n");
    gpu_put_key(out, export_table_names[table]);
    sink_put(out, "[", 1);
    for (uint32_t i = 0; i < rows.count; ++i) {
        export_start_item(out, i);
        gpu_put_json_row(out, table, s, rows.row[i]);
    }
    return 0;
}

int export_json_gpu(struct sink *out, struct snapshot *s) {
    if (!s->activity_count) {
        return 0;
    }
    sink_text(out, ",\n\"gpu\":{\"devices\":[");
    int failed = gpu_put_json_devices(out, s);
    for (uint32_t table = 0; !failed && table < EXPORT_TABLES; ++table) {
        failed = gpu_put_json_table(out, s, table);
    }
    sink_text(out, "]}");
    return failed;
}

/* ---- csv */

static int gpu_put_csv_devices(struct sink *out, struct snapshot *s) {
    const struct export_device *d = export_devices(s);
    sink_text(out, "number,name");
    for (size_t k = 0; k < DEVICE_COLUMNS; ++k) {
        sink_put(out, ",", 1);
        sink_text(out, device_columns[k].key);
    }
    for (uint32_t i = 0; d && i < s->device_count; ++i) {
        sink_put(out, "\r\n", 2);
        sink_u64(out, d[i].number);
        sink_put(out, ",", 1);
        export_csv_cell(out, export_field(d[i].name, sizeof s->devices[i].name));
        for (size_t k = 0; k < DEVICE_COLUMNS; ++k) {
            sink_put(out, ",", 1);
            if (d[i].peaked || !device_columns[k].memory) {
                sink_u128(out, device_value(&d[i], device_columns[k].field));
            }
        }
    }
    sink_put(out, "\r\n", 2);
    if (!d) {
        return -1;
    }
    return 0;
}

static void gpu_put_csv_row(struct sink *out, enum export_table table, const struct snapshot *s,
                            const struct activity_row *r) {
    struct export_cell cell;
    for (uint32_t i = 0; export_table_key(table, i); ++i) {
        sink_put(out, ",", i != 0);
        if (export_table_cell(&cell, table, i, s, r)) {
            continue;
        }
        if (cell.is_text) {
            export_csv_cell(out, cell.text);
        } else {
            sink_u128(out, cell.number);
        }
    }
    sink_put(out, "\r\n", 2);
}

int export_csv_table(struct sink *out, struct snapshot *s, uint32_t table) {
    struct activity_table rows;
    if (table >= EXPORT_TABLES) {
        return gpu_put_csv_devices(out, s);
    }
    if (export_table_rows(&rows, s, table)) {
        return -1;
    }
    for (uint32_t i = 0; export_table_key(table, i); ++i) {
        sink_put(out, ",", i != 0);
        sink_text(out, export_table_key(table, i));
    }
    sink_put(out, "\r\n", 2);
    for (uint32_t i = 0; i < rows.count; ++i) {
        gpu_put_csv_row(out, table, s, rows.row[i]);
    }
    return 0;
}
