/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU activities as tables for the csv, json and prometheus exports: rows of activity_table.h,
 * columns in whole units, with the unit in the key, as in export_columns.h.
 */
#ifndef STINT_EXPORT_TABLES_H
#define STINT_EXPORT_TABLES_H

#include "base/sink.h"
#include "export_names.h"
#include "model/activity_name.h"
#include "model/activity_table.h"

enum export_table {
    EXPORT_KERNELS,
    EXPORT_MEMORY,    /* copies and fills, by direction and kinds of memory */
    EXPORT_API,       /* calls */
    EXPORT_GAPS,      /* idle time, its cause, and the scope that is responsible */
    EXPORT_STEPS,     /* wall time, and the busy time of each device */
    EXPORT_ACTIVITIES /* all activities, by scope and stream */
};
#define EXPORT_TABLES (EXPORT_ACTIVITIES + 1)

extern const char *const export_table_names[EXPORT_TABLES];

/* The largest total first. In the snapshot's memory. 0, or -1 if there is not enough memory. */
int export_table_rows(struct activity_table *out, struct snapshot *s, enum export_table table);

/* The value of a row in a column. */
struct export_cell {
    const char *key;
    int is_text;
    u128 number;
    struct export_name text;
    char room[ACTIVITY_NAME_BYTES];
};

/* Columns from 0 on; NULL after the last. */
const char *export_table_key(enum export_table table, uint32_t column);
/* 0, or -1: the row has no value in this column. */
int export_table_cell(struct export_cell *out, enum export_table table, uint32_t column,
                      const struct snapshot *s, const struct activity_row *row);

/* A GPU over the whole run; nanoseconds and bytes. */
struct export_device {
    u128 busy_ns;
    u128 kernel_ns;
    u128 copy_ns;
    u128 overlap_ns; /* of both at once */
    u128 idle_ns;    /* between the first and the last activity */
    u128 allocated_bytes;
    u128 peak_bytes;
    uint32_t number;
    int peaked; /* allocations were traced */
    const char *name;
};
/* One for each device of the snapshot, in its memory; NULL if there is not enough memory. */
struct export_device *export_devices(struct snapshot *s);

/* csv; EXPORT_TABLES: the devices. json: `,"gpu":{…}`, or nothing if there are no activities. 0, or
 * -1 if there is not enough memory. */
int export_csv_table(struct sink *out, struct snapshot *s, uint32_t table);
int export_json_gpu(struct sink *out, struct snapshot *s);

#endif
