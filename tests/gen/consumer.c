/* SPDX-License-Identifier: Apache-2.0 */
/* Includes every generated file as the runtime does, between the least declarations they need, and
 * prints what they hold. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "measure_ids.inc"
#include "row_percentiles.inc"

enum report_kind {
    REPORT_TEXT,
    REPORT_COUNT,
    REPORT_TIME,
    REPORT_SHARE,
    REPORT_RATE,
    REPORT_RATIO,
    REPORT_SIZE
};
enum { REPORT_IN_TABLE = 1, REPORT_IN_TREE = 2 };

struct stint_row {
    const char *name, *info;
    uint64_t calls, total_ns, self_ns, share_ppm, avg_ns, min_ns, max_ns, stddev_ns;
    uint64_t percentile_ns[PERCENTILE_COUNT], first_ns, samples, threads;
};
struct stint_row_extra {
    uint64_t waiting_ns, untimed;
    uint64_t gpu_calls, gpu_total_ns, gpu_avg_ns, gpu_min_ns, gpu_max_ns;
    uint64_t gpu_percentile_ns[PERCENTILE_COUNT];
    uint64_t device_calls, device_total_ns;
    uint64_t cpu_share_ppm, gpu_share_ppm, bytes_per_s, flops_per_s, peak_bytes_ppm, peak_flops_ppm;
    const char *bound;
    uint64_t measure[MEASURE_COUNT], queue_avg_ns, cpu_calls, cpu_ns, on_cpu_ppm, ipc_ppm,
        branch_miss_ppm, l1_miss_ppm, llc_miss_ppm, dtlb_miss_ppm, counted_calls, multiplexed_ppm,
        memory_live;
};
struct row_field {
    size_t at;
    int in_extra;
};
#define ROW_FIELD(member)                                                                          \
    { offsetof(struct stint_row, member), 0 }
#define ROW_EXTRA_FIELD(member)                                                                    \
    { offsetof(struct stint_row_extra, member), 1 }

enum {
    ROW_SAMPLES = 1,
    ROW_HISTOGRAM = 2,
    ROW_STDDEV = 16384,
    ROW_FIRST = 4,
    ROW_GPU = 8,
    ROW_GPU_HISTOGRAM = 16,
    ROW_BYTES = 32,
    ROW_FLOPS = 64,
    ROW_BOUND = 128,
    ROW_DEVICE = 256,
    ROW_PARTIAL = 4096,
    ROW_SELF_PARTIAL = 8192,
    ROW_ON_CPU = 131072,
    ROW_CORRECTED = 32768,
    ROW_SELF = 512,
    ROW_COUNTED = 1024,
    ROW_MULTIPLEXED = 2048,
    ROW_WAITING = 65536,
    ROW_AT_MOST = 1 << 30,
    ROW_MEASURES = 18
};
#include "measure_flags.inc"

enum measure_add { MEASURE_SUM, MEASURE_STATE, MEASURE_MOST, MEASURE_TICKS };

struct measure_rule {
    enum measure_add add;
    int of_calls;
    uint32_t place;
};

struct measure_list {
    const uint16_t *number;
    uint32_t count;
};

struct report_column {
    const char *key;
    const char *title;
    enum report_kind kind;
    struct row_field field;
    int sortable;
    unsigned views;
    uint32_t needs;
    int hide;
    int spare;
    uint32_t mark;
    uint32_t bound;
};

enum env_kind {
    ENV_SWITCH,
    ENV_CHOICE,
    ENV_LEVEL,
    ENV_SIZE,
    ENV_TRACE,
    ENV_DURATION,
    ENV_TEXT,
    ENV_GLOBS,
    ENV_VIEW
};

struct stint_config {
    int enable, unit, level, percentiles, clock, log, log_prefix, gpu, nvtx, rusage, waits, mem;
    uint64_t memory, gpu_in_flight, trace, trace_min_ns, mem_table;
    const char *report, *output, *filter, *file, *capture, *driver_lib, *tracer_lib, *gpu_peak,
        *counters, *label, *ranges, *rank;
};

struct env_entry {
    const char *name;
    enum env_kind kind;
    size_t offset;
    uint64_t min, max;
    const char *values;
};

enum status_missing { STATUS_MISSING_NONE, STATUS_MISSING_CALLS, STATUS_MISSING_ANY };
struct status_text {
    const char *key;
    const char *text;
    const char *label;
    enum status_missing missing;
};

struct gpu_device {
    uint32_t major, minor, multiprocessors, clock_khz, memory_clock_khz, memory_bus_bits, l2_bytes;
    uint32_t fp64_ratio, threads_per_mp, blocks_per_mp, registers_per_mp, shared_per_mp;
    uint32_t reserved_shared;
};

struct cupti_symbol {
    const char *name;
    size_t offset;
    int required;
};

struct cupti_words {
    int code;
    const char *name, *words;
};

struct cupti_toolkit {
    uint32_t version;
    const char *toolkit;
};

struct cupti_kind {
    int kind;
    uint32_t least, prefix, since;
    const char *words;
};

struct driver_symbol {
    const char *names[2];
    size_t offset;
    int required;
};

struct driver_attribute {
    int number;
    size_t offset;
};

struct cuda_code_row {
    int code;
    int fatal;
    const char *name;
};

struct gpu_lanes {
    uint32_t major, minor, fp32;
};

struct kernel_pattern {
    const char *text, *means;
};

enum activity_sort {
    ACTIVITY_SORT_TOTAL,
    ACTIVITY_SORT_CALLS,
    ACTIVITY_SORT_AVG,
    ACTIVITY_SORT_MIN,
    ACTIVITY_SORT_MAX
};

enum fluid_key {
    FLUID_BY_CALLS,
    FLUID_BY_TOTAL,
    FLUID_BY_MIN,
    FLUID_BY_MAX,
    FLUID_BY_AVE,
    FLUID_BY_CPU,
    FLUID_BY_GPU
};

struct report_sort {
    enum activity_sort activity;
    enum fluid_key fluid;
};

struct report;

typedef int report_view_function(const struct report *r, int line);

enum exposition_unit { EXPOSITION_NUMBER, EXPOSITION_SECONDS };

struct family {
    const char *name, *type, *help;
    enum exposition_unit unit;
    struct row_field field;
    uint32_t needs;
    int optional;
};

struct text_unit {
    const char *name;
    uint64_t ns;
    int decimals;
};

struct view_name {
    const char *name;
    const char *means;
};

#include "counter_ids.inc"
#include "cupti_types.inc"
#include "option_ids.inc"

struct counter_name {
    const char *name;
    uint32_t type;
    uint64_t config;
};

struct counter_list {
    uint32_t count;
    struct counter_name event[COUNTER_EVENTS];
};

enum { PERF_ABI_TYPE_HARDWARE = 0, PERF_ABI_TYPE_SOFTWARE = 1, PERF_ABI_TYPE_HW_CACHE = 3 };

enum option_kind { OPTION_FLAG, OPTION_TEXT, OPTION_NUMBER, OPTION_CHOICE, OPTION_OPTIONAL };

struct option_entry {
    const char *name, *value;
    enum option_kind kind;
    enum option_id id;
    int letter;
    uint64_t min, max;
    const char *values, *expected;
};

struct command_entry {
    const char *name;
    const struct option_entry *options;
    const char *help;
    int operands;
};

#include "counter_table.inc"
#include "cuda_codes.inc"
#include "cupti_table.inc"
#include "driver_table.inc"
#include "env_table.inc"
#include "gpu_peak_table.inc"
#include "kernel_names_table.inc"
#include "measure_table.inc"
#include "option_table.inc"
#include "prometheus_columns.inc"
#include "report_columns.inc"
#include "report_sorts.inc"
#include "report_view_ids.inc"
#include "report_view_names.inc"
#include "report_view_table.inc"
#include "status_ids.inc"
#include "status_table.inc"
#include "tool_views.inc"
#include "unit_ids.inc"
#include "unit_table.inc"
#include "words.inc"

static const char help[] =
#include "env_help.inc"
    ;

static void print_gpu(void) {
    for (size_t i = 0; i < sizeof driver_symbols / sizeof *driver_symbols; ++i) {
        printf("driver %s at %zu required %d\n", driver_symbols[i].names[0],
               driver_symbols[i].offset, driver_symbols[i].required);
    }
    for (size_t i = 0; i < sizeof driver_attributes / sizeof *driver_attributes; ++i) {
        printf("attribute %d at %zu\n", driver_attributes[i].number, driver_attributes[i].offset);
    }
    for (size_t i = 0; i < sizeof cuda_codes / sizeof *cuda_codes; ++i) {
        printf("code %d %s fatal %d\n", cuda_codes[i].code, cuda_codes[i].name,
               cuda_codes[i].fatal);
    }
    for (size_t i = 0; i < sizeof gpu_lanes / sizeof *gpu_lanes; ++i) {
        printf("lanes %u.%u: %u\n", (unsigned)gpu_lanes[i].major, (unsigned)gpu_lanes[i].minor,
               (unsigned)gpu_lanes[i].fp32);
    }
}

static void print_cupti(void) {
    for (size_t i = 0; i < sizeof cupti_symbols / sizeof *cupti_symbols; ++i) {
        printf("cupti %s at %zu required %d\n", cupti_symbols[i].name, cupti_symbols[i].offset,
               cupti_symbols[i].required);
    }
    for (size_t i = 0; i < sizeof cupti_codes / sizeof *cupti_codes; ++i) {
        printf("cupti code %d %s: %s\n", cupti_codes[i].code, cupti_codes[i].name,
               cupti_codes[i].words ? cupti_codes[i].words : "");
    }
    for (size_t i = 0; i < sizeof cupti_toolkits / sizeof *cupti_toolkits; ++i) {
        printf("cupti version %u: %s\n", (unsigned)cupti_toolkits[i].version,
               cupti_toolkits[i].toolkit);
    }
    for (size_t i = 0; i < sizeof cupti_kinds / sizeof *cupti_kinds; ++i) {
        printf("cupti kind %d at least %u, read %u: %s\n", cupti_kinds[i].kind,
               (unsigned)cupti_kinds[i].least, (unsigned)cupti_kinds[i].prefix,
               cupti_kinds[i].words);
    }
}

static void print_names(const struct kernel_pattern *p) {
    for (; p->text; ++p) {
        printf("kernel %s: %s\n", p->text, p->means);
    }
}

static void print_counters(void) {
    for (int group = 0; group < COUNTER_GROUPS; ++group) {
        const struct counter_list *list = &counter_lists[group];
        for (uint32_t i = 0; i < list->count; ++i) {
            printf("counter %s of %d type %u config %llu\n", list->event[i].name, group,
                   (unsigned)list->event[i].type, (unsigned long long)list->event[i].config);
        }
    }
}

static void print_commands(void) {
    printf("%s", tool_entry.help);
    for (int i = 0; i < TOOL_COMMANDS; ++i) {
        const struct command_entry *c = &command_table[i];
        for (const struct option_entry *o = c->options; o->name; ++o) {
            printf("%s --%s %s kind %d id %d letter %c from %llu to %llu, %s: %s\n", c->name,
                   o->name, o->value ? o->value : "", (int)o->kind, (int)o->id,
                   o->letter ? o->letter : ' ', (unsigned long long)o->min,
                   (unsigned long long)o->max, o->values ? o->values : "",
                   o->expected ? o->expected : "");
        }
    }
}

/* The functions of the views; the runtime's are in views/views.c. */
#define VIEW(name)                                                                                 \
    int report_view_##name(const struct report *r, int line) {                                     \
        return r || line;                                                                          \
    }
VIEW(legacy)
VIEW(table)
VIEW(tree)
VIEW(gpu)
VIEW(fluid)
VIEW(ranks)
VIEW(ranges)

static void print_words(void) {
    for (size_t i = 0; i < REPORT_VIEWS; ++i) {
        printf("view %s %d\n", report_view_names[i], report_views[i](NULL, 0));
    }
    for (const struct view_name *v = view_names; v->name; ++v) {
        printf("view %s means %s\n", v->name, v->means);
    }
    for (size_t i = 0; i < CONFIG_UNITS; ++i) {
        printf("unit %s %llu ns %d\n", text_units[i].name, (unsigned long long)text_units[i].ns,
               text_units[i].decimals);
    }
    for (size_t i = 0; i < sizeof column_families / sizeof *column_families; ++i) {
        const struct family *f = &column_families[i];
        printf("family %s %s %d at %zu of %d needs %u %d: %s\n", f->type, f->name, (int)f->unit,
               f->field.at, f->field.in_extra, f->needs, f->optional, f->help);
    }
    for (size_t i = 0; i < STINT_COLUMN_COUNT; ++i) {
        printf("sort %s %d %d\n", report_columns[i].key, (int)report_sorts[i].activity,
               (int)report_sorts[i].fluid);
    }
    printf("%s, %s, %s\n", WORDS_VIEWS, WORDS_SORT_KEYS, WORDS_DEFAULT_VIEW);
}

int main(void) {
    print_cupti();
    print_gpu();
    print_counters();
    print_words();
    print_names(kernel_lib_patterns);
    print_names(kernel_precision_patterns);
    _Static_assert(sizeof env_table / sizeof *env_table == STINT_ENV_COUNT, "count and rows");
    for (size_t i = 0; i < STINT_COLUMN_COUNT; ++i) {
        const struct report_column *c = &report_columns[i];
        printf("column %s \"%s\" kind %d at %zu of %d sort %d views %u needs %u hide %d mark %u\n",
               c->key, c->title, (int)c->kind, c->field.at, c->field.in_extra, c->sortable,
               c->views, c->needs, c->hide, c->mark);
    }
    for (size_t i = 0; i < STINT_ENV_COUNT; ++i) {
        const struct env_entry *e = &env_table[i];
        printf("env %s=%s kind %d at %zu from %llu to %llu\n", e->name, e->values, (int)e->kind,
               e->offset, (unsigned long long)e->min, (unsigned long long)e->max);
    }
    for (size_t i = 0; i < STINT_STATUS_COUNT; ++i) {
        const struct status_text *s = &status_table[i];
        printf("status %s: 1 %s (%s) %d\n", s->key, s->text, s->label, (int)s->missing);
    }
    for (size_t i = 0; i < MEASURE_COUNT; ++i) {
        printf("measure add %d of calls %d place %u\n", (int)measure_rules[i].add,
               measure_rules[i].of_calls, measure_rules[i].place);
    }
    for (size_t i = 0; i < MEASURE_GROUP_COUNT; ++i) {
        printf("group of %u from %u\n", measure_lists[i].count, measure_lists[i].number[0]);
    }
    printf("last status %s\n", status_table[STINT_STATUS_CAPTURE_UNBALANCED].key);
    fputs(help, stdout);
    print_commands();
    return 0;
}
