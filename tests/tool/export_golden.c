/* SPDX-License-Identifier: Apache-2.0 */
/* export_golden FORMAT RUN: one of hand_run.h's runs, exported to stdout. */
#include <stdio.h>
#include <string.h>

#include "export/export.h"
#include "export/export_tables.h"
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

static const struct format {
    const char *name;
    int (*exporter)(struct sink *, struct run *);
} formats[] = {
    {"chrome", export_chrome},
    {"perfetto", export_perfetto},
    {"speedscope", export_speedscope},
    {"folded", export_folded},
    {"csv", export_csv},
    {"csv_devices", csv_devices},
    {"csv_kernels", csv_kernels},
    {"csv_memory", csv_memory},
    {"csv_api", csv_api},
    {"csv_gaps", csv_gaps},
    {"csv_steps", csv_steps},
    {"csv_activities", csv_activities},
    {"json", export_json},
    {"prometheus", export_prometheus},
};

int main(int argc, char **argv) {
    test_locale_take();
    static struct hand_run h;
    static struct sink out;
    struct run *r = argc == 3 ? hand_run_of(&h, argv[2]) : NULL;
    for (size_t i = 0; r && i < sizeof formats / sizeof *formats; ++i) {
        if (!strcmp(formats[i].name, argv[1])) {
            sink_start(&out, 1);
            int failed = formats[i].exporter(&out, r) || sink_close(&out);
            hand_end(&h);
            return failed;
        }
    }
    fprintf(stderr, "usage: export_golden FORMAT RUN\n");
    return 2;
}
