/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads runs for the export history, which cmd_export.c calls. The runs are read one by one in the
 * order in which their programs began, so a series grows at its end and one run is in memory at a
 * time. A run is left out if its program has not ended or if it was read already. A scope without
 * calls in a run has no value there: a zero would be a change.
 */
#include "history.h"

#include <stdio.h>
#include <string.h>

#include "arena/arena.h"
#include "base/text.h"
#include "model/rows.h"
#include "runfile/run_open.h"
#include "system/log.h"
#include "tool/common/command.h"
#include "tool/common/run_inputs.h"

/* The total or the self time is a bound: the run has no value there. */
#define ROW_BOUNDS (ROW_PARTIAL | ROW_SELF_PARTIAL)

/* ---- The series. */

static int is_series(const struct history_series *s, const struct stint_row *row, const char *set,
                     int gpu) {
    return s->gpu == gpu && s->name_length == row->name_length &&
           !memcmp(s->name, row->name, row->name_length) && !strcmp(s->set, set);
}

static struct history_series *find_series(struct history *h, const struct stint_row *row,
                                          const char *set, int gpu) {
    uint64_t names =
        hash_add(hash_bytes(row->name, row->name_length), hash_bytes(set, strlen(set)));
    uint32_t hash = (uint32_t)hash_add(names, (uint64_t)gpu);
    struct hash_map_walk walk;
    uint32_t i = hash_map_first(&h->series_of, hash, &walk);
    while (i != HASH_MAP_NONE && !is_series(&h->series[i], row, set, gpu)) {
        i = hash_map_next(&h->series_of, &walk);
    }
    if (i != HASH_MAP_NONE) {
        return &h->series[i];
    }
    h->series = scratch_array_grow(&h->memory, h->series, h->count, &h->room, sizeof *h->series);
    if (scratch_failed(&h->memory) || hash_map_add(&h->series_of, hash, h->count)) {
        return NULL;
    }
    struct history_series *s = &h->series[h->count++];
    s->name = scratch_text(&h->memory, row->name, row->name_length);
    s->name_length = row->name_length;
    s->set = scratch_text(&h->memory, set, strlen(set));
    s->gpu = gpu;
    s->known = UINT32_MAX;
    return scratch_failed(&h->memory) ? NULL : s;
}

static int add_value(struct history *h, const struct stint_row *row, const char *set, int gpu) {
    struct history_series *s = find_series(h, row, set, gpu);
    if (!s) {
        return -1;
    }
    s->value = scratch_array_grow(&h->memory, s->value, s->count, &s->room, sizeof *s->value);
    if (!s->value) {
        return -1;
    }
    struct history_value *value = &s->value[s->count++];
    value->run = h->runs;
    for (uint32_t i = 0; i < HISTORY_COLUMNS; ++i) {
        const struct history_column *c = &history_columns[i];
        value->number[i] = row_number(row, gpu ? c->gpu : c->field);
        if (gpu ? !c->has_gpu : (c->needs & ~row->has) != 0) {
            s->known &= ~(1u << i);
        }
    }
    return 0;
}

static int has_cpu_times(const struct stint_row *row) {
    return row->has & ROW_SAMPLES && row->has & ROW_STDDEV && !(row->has & ROW_BOUNDS);
}

static int has_gpu_times(const struct stint_row *row) {
    return row->has & ROW_GPU && row->has & ROW_GPU_HISTOGRAM && !row->extra->gpu_beyond;
}

/* ---- The runs. */

/* A text of a run as one line, in which nothing is a command to a terminal. */
static const char *keep_line(struct history *h, const char *text) {
    struct text line;
    text_start(&line);
    text_name(&line, text, strlen(text), 0);
    const char *kept = line.failed ? NULL : scratch_text(&h->memory, line.data, line.length);
    text_free(&line);
    return kept;
}

static const char *label_of(const struct run *r) {
    const char *label = run_label(r), *slash = strrchr(r->path, '/');
    if (*label) {
        return label;
    }
    return slash ? slash + 1 : r->path;
}

static int describe_run(struct history *h, struct history_run *to, const struct run *r) {
    const struct arena_header *header = (const void *)r->snapshot.base;
    char machine[300];
    snprintf(machine, sizeof machine, "%u x %.200s", r->cpus, text_or_unknown(r->cpu));
    to->start_ticks = header->start.ticks;
    to->pid = r->pid;
    to->path = scratch_text(&h->memory, r->path, strlen(r->path));
    to->host = scratch_text(&h->memory, r->host, strlen(r->host));
    to->program = keep_line(h, text_or_unknown(r->program));
    to->label = keep_line(h, label_of(r));
    to->machine = keep_line(h, machine);
    return to->path && to->host && to->program && to->label && to->machine ? 0 : -1;
}

/* The run that this one is a copy of, among those that began at the same time; or NULL. */
static const struct history_run *find_copy(const struct history *h, const struct history_run *run) {
    for (uint32_t i = h->runs; i && h->run[i - 1].start_ns == run->start_ns; --i) {
        const struct history_run *other = &h->run[i - 1];
        if (other->start_ticks == run->start_ticks && other->pid == run->pid &&
            !strcmp(other->host, run->host)) {
            return other;
        }
    }
    return NULL;
}

/* Why the run is left out, or NULL. */
static const char *find_fault(const struct history *h, const struct run *r,
                              const struct history_run *run, char said[600]) {
    if (r->state != RUN_ENDED || r->at_least) {
        return "its program has not ended, or was killed";
    }
    const struct history_run *same = find_copy(h, run);
    if (!same) {
        return NULL;
    }
    snprintf(said, 600, "the same run as %.500s", same->path);
    return said;
}

static int add_rows(struct history *h, struct run *r) {
    struct rows rows;
    if (rows_flat(&rows, &r->snapshot, 0)) {
        return -1;
    }
    for (uint32_t i = 0; i < rows.count; ++i) {
        const struct stint_row *row = &rows.row[i];
        const char *set = row->set ? r->snapshot.sets[row->set] : "";
        if ((has_cpu_times(row) && add_value(h, row, set, 0)) ||
            (has_gpu_times(row) && add_value(h, row, set, 1))) {
            return -1;
        }
    }
    return 0;
}

/* Reads a run, or leaves it out. -1 after one line. */
static int history_add_run(struct history *h, struct run_inputs *in,
                           const struct run_input *input) {
    struct run r;
    char said[600];
    struct history_run *run = &h->run[h->runs];
    int failed = run_inputs_open(in, &r, input->path);
    if (failed) {
        return failed == RUN_SHORTAGE ? -1 : 0;
    }
    run->start_ns = input->start_ns;
    failed = describe_run(h, run, &r);
    const char *fault = failed ? NULL : find_fault(h, &r, run, said);
    if (fault) {
        run_inputs_leave_out(in, input->path, fault);
    } else if (!failed) {
        failed = add_rows(h, &r);
        ++h->runs;
    }
    run_close(&r);
    return failed ? command_lack_memory("export", -1) : 0;
}

/* ---- All of them. */

static void warn_of_others(const struct history *h) {
    const struct history_run *first = &h->run[0];
    uint32_t machines = 0, programs = 0;
    for (uint32_t i = 1; i < h->runs; ++i) {
        machines += strcmp(first->machine, h->run[i].machine) != 0;
        programs += strcmp(first->program, h->run[i].program) != 0;
    }
    if (machines) {
        log_warning("export: %u of %u runs are not of the machine of the first, %.200s: a change "
                    "of machine is a change of the series; keep a folder for each",
                    machines, h->runs, first->machine);
    }
    if (programs) {
        log_warning("export: %u of %u runs are not of the program of the first, %.200s: keep a "
                    "folder for each",
                    programs, h->runs, first->program);
    }
}

static int history_read(struct history *h, struct run_inputs *in) {
    const uint32_t *order = run_inputs_by_start(in);
    h->run = scratch_array(&h->memory, (size_t)in->count + 1, sizeof *h->run);
    if (!order || scratch_failed(&h->memory) || hash_map_start(&h->series_of, &h->memory, 0)) {
        return command_lack_memory("export", -1);
    }
    progress_start("reading", NULL);
    int failed = 0;
    for (uint32_t i = 0; i < in->count && !failed; ++i) {
        failed = history_add_run(h, in, &in->input[order[i]]);
    }
    progress_stop();
    return failed;
}

static int export_inputs(struct history *h, struct run_inputs *in, const char *folder) {
    if (in->count > HISTORY_RUNS) {
        log_error("export: %u run files: a history is of at most %u", in->count, HISTORY_RUNS);
        return COMMAND_BAD;
    }
    if (history_read(h, in)) {
        return COMMAND_FAILED;
    }
    if (!h->count) {
        log_error("export: no run with a scope that was timed; nothing was written");
        return COMMAND_BAD;
    }
    warn_of_others(h);
    int status = history_write(h, folder);
    if (status != COMMAND_GOOD) {
        return status;
    }
    return in->left_out ? COMMAND_BAD : COMMAND_GOOD;
}

int history_export(const char *folder, int count, char **paths) {
    struct history h = {0};
    struct run_inputs in;
    int status = COMMAND_BAD;
    if (!run_inputs_take(&in, "export", NULL, count, paths)) {
        status = export_inputs(&h, &in, folder);
    }
    scratch_free(&h.memory);
    run_inputs_free(&in);
    return status;
}
