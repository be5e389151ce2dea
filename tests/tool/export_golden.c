/* SPDX-License-Identifier: Apache-2.0 */
/* export_golden FORMAT RUN: one of hand_run.h's runs, exported to stdout. */
#include <stdio.h>
#include <string.h>

#include "export/export_tables.h"
#include "export/tool/formats.h"
#include "hand_run.h"
#include "test_locale.h"

static int csv_devices(struct sink *out, struct run *r) {
    return export_csv_table(out, &r->snapshot, EXPORT_TABLES);
}

static int csv_kernels(struct sink *out, struct run *r) {
    return export_csv_table(out, &r->snapshot, EXPORT_KERNELS);
}

static int csv_memory(struct sink *out, struct run *r) {
    return export_csv_table(out, &r->snapshot, EXPORT_MEMORY);
}

static int csv_api(struct sink *out, struct run *r) {
    return export_csv_table(out, &r->snapshot, EXPORT_API);
}

static int csv_gaps(struct sink *out, struct run *r) {
    return export_csv_table(out, &r->snapshot, EXPORT_GAPS);
}

static int csv_steps(struct sink *out, struct run *r) {
    return export_csv_table(out, &r->snapshot, EXPORT_STEPS);
}

static int csv_activities(struct sink *out, struct run *r) {
    return export_csv_table(out, &r->snapshot, EXPORT_ACTIVITIES);
}

/* The tables of csv. */
static const struct format tables[] = {
    {"csv_devices", csv_devices, 0},
    {"csv_kernels", csv_kernels, 0},
    {"csv_memory", csv_memory, 0},
    {"csv_api", csv_api, 0},
    {"csv_gaps", csv_gaps, 0},
    {"csv_steps", csv_steps, 0},
    {"csv_activities", csv_activities, 0},
};

static const struct format *exporter_find(const char *name) {
    for (size_t i = 0; i < sizeof tables / sizeof *tables; ++i) {
        if (!strcmp(tables[i].name, name)) {
            return &tables[i];
        }
    }
    return format_find(name);
}

int main(int argc, char **argv) {
    test_locale_take();
    static struct hand_run h;
    static struct sink out;
    struct run *r = argc == 3 ? hand_run_of(&h, argv[2]) : NULL;
    const struct format *to = argc == 3 ? exporter_find(argv[1]) : NULL;
    if (!r || !to || !to->write) {
        fprintf(stderr, "usage: export_golden FORMAT RUN\n");
        return 2;
    }
    sink_start(&out, 1);
    int failed = to->write(&out, r) || sink_close(&out);
    hand_end(&h);
    return failed;
}
