/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hints about what to look at first, each with the row that proves it, and none without one. The
 * limits are rules of thumb, all here.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "arena/activity_kind.h"
#include "base/arithmetic.h"
#include "base/number.h"
#include "model/activity_name.h"
#include "model/occupancy.h"
#include "model/rows.h"
#include "report.h"
#include "report_grid.h"
#include "system/config.h"

#define SMALL_COPY 65536u   /* bytes on average: below it the call costs more than the copy */
#define MANY_COPIES 100u    /* of a row */
#define LARGE_COPY 1048576u /* bytes on average: above it the speed of the link decides */
#define SLOW_LINK 6e9       /* bytes a second: half of what PCIe 3.0 x16 does in practice */
#define PAGEABLE_BYTES 1048576u
#define MATTERS 20u        /* a part of 1/20 of the device's time is mentioned */
#define LOW_OCCUPANCY 300u /* of 1000 */
#define ONE_SCOPE 0.4      /* of all scopes' own time */
#define IDLE_HOST 0.2      /* of the time a device was seen */

struct hints {
    const struct report *r;
    const struct snapshot *s;
    u128 work; /* of all devices: kernels, copies and fills, added up */
    uint32_t count;
};

/* ---- What a hint is made of. */

static __attribute__((format(printf, 2, 3))) void hint_put(struct hints *h, const char *format,
                                                           ...) {
    char line[400];
    va_list arguments;
    if (!h->count++) {
        text_add(h->r->out, "What to look at first\n");
    }
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    text_add(h->r->out, "%u. %s\n", h->count, line);
}

static struct number time_of(u128 ns) {
    struct number n;
    text_time(n.text, ns, CONFIG_UNIT_AUTO);
    return n;
}

static struct number bytes_of(double bytes) {
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    struct number n;
    unsigned unit = 0;
    for (; bytes >= 1000 && unit < 6; ++unit) {
        bytes /= 1000;
    }
    int decimals = unit && bytes < 100;
    snprintf(n.text, sizeof n.text, "%.24s %s", number_fixed(bytes, decimals).text, units[unit]);
    return n;
}

static struct number percent_of(u128 part, u128 whole) {
    struct number n;
    double percent = 0;
    if (whole) {
        percent = 100.0 * (double)part / (double)whole;
    }
    snprintf(n.text, sizeof n.text, "%.24s %%", number_fixed(percent, 1).text);
    return n;
}

/* The row that proves it: its name, its scope, what it says. */
static void hint_put_proof(struct hints *h, const struct snapshot_activity *a) {
    char name[ACTIVITY_NAME_BYTES], path[REPORT_PATH] = "";
    struct text *out = h->r->out;
    size_t length = activity_title(name, h->s, a);
    text_put(out, "     ", 5);
    text_name(out, name, length, 60);
    if (a->node < h->s->node_count && (length = report_path_text(path, h->s, a->node))) {
        text_put(out, " in ", 4);
        text_name(out, path, length, 60);
    }
    text_add(out, ": %llu call%s, %s", (unsigned long long)a->count, text_plural(a->count),
             time_of(a->total).text);
    if (a->bytes) {
        text_add(out, ", %s, %s each", bytes_of((double)a->bytes).text,
                 bytes_of((double)a->bytes / (double)a->count).text);
        if (a->total) {
            text_add(out, ", %s/s", bytes_of((double)a->bytes * 1e9 / (double)a->total).text);
        }
    }
    text_put(out, "\n", 1);
}

/* The vendor's word for what is done with that activity. */
static const char *hint_word(const struct hints *h, const struct snapshot_activity *a,
                             enum gpu_word which, const char *other) {
    return gpu_words_get(activity_words(h->s, a), which, other);
}

/* The row with the most time of those that `fits`, and how many calls and how much time all of them
 * have; NULL: none does. */
struct found {
    const struct snapshot_activity *worst;
    u128 calls;
    u128 total;
    u128 bytes;
};

static struct found gaps_look_at(const struct snapshot *s,
                                 int (*fits)(const struct snapshot_activity *)) {
    struct found f = {0};
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        const struct snapshot_activity *a = &s->activities[i];
        if (a->count && fits(a)) {
            f.calls += a->count;
            f.total += a->total;
            f.bytes += a->bytes;
            if (!f.worst || a->total > f.worst->total) {
                f.worst = a;
            }
        }
    }
    return f;
}

static int hint_is_work(const struct snapshot_activity *a) {
    return a->kind == ACTIVITY_KERNEL || a->kind == ACTIVITY_COPY || a->kind == ACTIVITY_FILL;
}

static int time_matters(const struct hints *h, u128 total) {
    return total && total >= h->work / MATTERS;
}

/* ---- Copies. */

static int between_host_and_device(const struct snapshot_activity *a) {
    uint32_t direction = ACTIVITY_COPY_DIRECTION(a->detail);
    return a->kind == ACTIVITY_COPY && direction >= ACTIVITY_COPY_HTOD &&
           direction <= ACTIVITY_COPY_ATOH;
}

static int is_small(const struct snapshot_activity *a) {
    return a->kind == ACTIVITY_COPY && a->count >= MANY_COPIES && a->bytes / a->count < SMALL_COPY;
}

static int is_pageable(const struct snapshot_activity *a) {
    return between_host_and_device(a) && a->bytes >= PAGEABLE_BYTES &&
           (ACTIVITY_COPY_FROM(a->detail) == ACTIVITY_MEMORY_PAGEABLE ||
            ACTIVITY_COPY_TO(a->detail) == ACTIVITY_MEMORY_PAGEABLE);
}

static int is_slow(const struct snapshot_activity *a) {
    return between_host_and_device(a) && !is_pageable(a) && a->bytes / a->count >= LARGE_COPY &&
           a->total && (double)a->bytes * 1e9 / (double)a->total < SLOW_LINK;
}

static void hint_copies(struct hints *h) {
    struct found f = gaps_look_at(h->s, is_small);
    if (time_matters(h, f.total)) {
        hint_put(h,
                 "many small copies: %s, %s of the devices' work; copy more at once, or leave it "
                 "where it is",
                 number_whole(f.calls).text, percent_of(f.total, h->work).text);
        hint_put_proof(h, f.worst);
    }
    f = gaps_look_at(h->s, is_pageable);
    if (time_matters(h, f.total)) {
        hint_put(h,
                 "copies of pageable memory: %s; pinned memory (%s) copies faster, and "
                 "beside kernels",
                 bytes_of((double)f.bytes).text,
                 hint_word(h, f.worst, GPU_WORD_PINNED, "page-locked"));
        hint_put_proof(h, f.worst);
    }
    f = gaps_look_at(h->s, is_slow);
    if (time_matters(h, f.total)) {
        hint_put(
            h, "large copies below %s/s, half of what PCIe 3.0 x16 does: a shared or narrow link?",
            bytes_of(SLOW_LINK).text);
        hint_put_proof(h, f.worst);
    }
}

/* ---- Unified memory. */

static int is_unified(const struct snapshot_activity *a) {
    return a->kind == ACTIVITY_UNIFIED;
}

static int is_page_fault(const struct snapshot_activity *a) {
    return is_unified(a) &&
           (a->detail == ACTIVITY_UNIFIED_GPU_FAULT || a->detail == ACTIVITY_UNIFIED_CPU_FAULT);
}

static void hint_unified(struct hints *h) {
    struct found all = gaps_look_at(h->s, is_unified), faults = gaps_look_at(h->s, is_page_fault);
    if (time_matters(h, all.total)) {
        hint_put(h,
                 "unified memory: %s moved, with %s page faults, in %s; %s "
                 "before the work that needs it, or %s",
                 bytes_of((double)all.bytes).text, number_whole(faults.calls).text,
                 time_of(all.total).text, hint_word(h, all.worst, GPU_WORD_PREFETCH, "a prefetch"),
                 hint_word(h, all.worst, GPU_WORD_ADVISE, "advice on its use"));
        hint_put_proof(h, all.worst);
    }
}

/* ---- Devices. */

static u128 device_busy_time(const struct snapshot *s, uint32_t device, uint32_t detail) {
    u128 total = 0;
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        const struct snapshot_activity *a = &s->activities[i];
        if (a->kind == ACTIVITY_BUSY && a->device == device && a->detail == detail) {
            total += a->total;
        }
    }
    return total;
}

static void hint_overlap(struct hints *h, uint32_t device) {
    u128 kernels = device_busy_time(h->s, device, ACTIVITY_BUSY_KERNEL);
    u128 copies = device_busy_time(h->s, device, ACTIVITY_BUSY_COPY);
    u128 overlap = device_busy_time(h->s, device, ACTIVITY_BUSY_OVERLAP);
    u128 possible = u128_min(kernels, copies);
    if (time_matters(h, possible) && overlap < possible / MATTERS) {
        hint_put(h,
                 "copies and kernels take turns on GPU %u; streams of their own, "
                 "%s and pinned memory let them overlap",
                 h->s->devices[device].number,
                 gpu_words_get(&h->s->devices[device].words, GPU_WORD_COPY_ASYNC,
                               "asynchronous copies"));
        text_add(h->r->out, "     kernels %s, copies %s, both at once %s\n", time_of(kernels).text,
                 time_of(copies).text, time_of(overlap).text);
    }
}

static int is_host_late(const struct snapshot_activity *a) {
    return a->kind == ACTIVITY_GAP && a->detail == ACTIVITY_GAP_HOST_LATE;
}

static void hint_idle(struct hints *h) {
    struct found f = gaps_look_at(h->s, is_host_late);
    u128 all = f.total;
    for (uint32_t d = 0; d < h->s->device_count; ++d) {
        all += device_busy_time(h->s, d, ACTIVITY_BUSY_ANY);
    }
    if (f.total && (double)f.total > IDLE_HOST * (double)all) {
        char path[REPORT_PATH] = "?";
        size_t length = 1;
        if (f.worst->node < h->s->node_count) {
            length = report_path_text(path, h->s, f.worst->node);
        }
        hint_put(h,
                 "the GPU waits for the host: %s in %s gap%s; launch earlier, launch less often, "
                 "or put the launches into a graph",
                 time_of(f.total).text, number_whole(f.calls).text, text_plural(f.calls));
        text_put(h->r->out, "     before ", 12);
        text_name(h->r->out, path, length, 60);
        text_add(h->r->out, ": %llu gap%s, %s, the longest %s\n",
                 (unsigned long long)f.worst->count, text_plural(f.worst->count),
                 time_of(f.worst->total).text, time_of(f.worst->max).text);
    }
}

/* ---- Synchronisation in steps. */

static int host_waits(const struct snapshot_activity *a) {
    return a->kind == ACTIVITY_SYNC && a->detail != ACTIVITY_SYNC_STREAM_WAIT;
}

static u128 steps_of(const struct snapshot *s) {
    u128 steps = 0;
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        const struct snapshot_activity *a = &s->activities[i];
        if (a->kind == ACTIVITY_STEP && a->detail == ACTIVITY_STEP_WALL) {
            steps += a->count;
        }
    }
    return steps;
}

static void hint_sync(struct hints *h) {
    struct found f = gaps_look_at(h->s, host_waits);
    u128 steps = steps_of(h->s);
    if (steps && f.calls >= steps && time_matters(h, f.total)) {
        hint_put(h,
                 "%s synchronisations a step, %s waited; events and streams order the work "
                 "without the host",
                 number_fixed((double)f.calls / (double)steps, 1).text, time_of(f.total).text);
        hint_put_proof(h, f.worst);
    }
}

/* ---- Kernels and scopes. */

static void hint_occupancy(struct hints *h) {
    const struct snapshot_activity *worst = NULL;
    struct occupancy o, of_worst = {0};
    for (uint32_t i = 0; i < h->s->activity_count; ++i) {
        const struct snapshot_activity *a = &h->s->activities[i];
        if (a->kind == ACTIVITY_KERNEL && a->device < h->s->device_count &&
            time_matters(h, a->total) && (!worst || a->total > worst->total) &&
            !occupancy_of(&o, &h->s->devices[a->device], a) && o.permille < LOW_OCCUPANCY) {
            worst = a;
            of_worst = o;
        }
    }
    if (worst) {
        hint_put(h,
                 "low occupancy: at most %s %% of the warps a multiprocessor holds, because of %s",
                 number_fixed((double)of_worst.permille / 10, 1).text, of_worst.limiter);
        hint_put_proof(h, worst);
        text_add(h->r->out, "     blocks of %ux%ux%u threads, %u registers a thread, %s shared\n",
                 worst->block[0], worst->block[1], worst->block[2], worst->registers,
                 bytes_of((double)worst->shared_static + (double)worst->shared_dynamic).text);
    }
}

static int hint_scope(struct hints *h) {
    struct scratch *memory = &h->r->snapshot->memory;
    struct scratch_mark before = scratch_mark(memory);
    struct rows rows;
    const struct stint_row *most = NULL;
    double all = 0;
    if (rows_flat(&rows, h->r->snapshot, 0)) {
        return -1;
    }
    for (uint32_t i = 0; i < rows.count; ++i) {
        all += (double)rows.row[i].self_ns;
        if (!most || rows.row[i].self_ns > most->self_ns) {
            most = &rows.row[i];
        }
    }
    if (most && rows.count > 1 && (double)most->self_ns > ONE_SCOPE * all) {
        hint_put(h, "one scope has %s %% of all scopes' own time; begin there",
                 number_fixed(100 * (double)most->self_ns / all, 1).text);
        text_put(h->r->out, "     ", 5);
        text_name(h->r->out, most->name, most->name_length, 60);
        text_add(h->r->out, ": %s call%s, %s of its own, %s in all\n",
                 number_whole(most->calls).text, text_plural(most->calls),
                 time_of(most->self_ns).text, time_of(most->total_ns).text);
    }
    scratch_release(memory, before);
    return 0;
}

int report_hints(const struct report *r) {
    struct hints h = {.r = r, .s = r->snapshot};
    for (uint32_t i = 0; i < h.s->activity_count; ++i) {
        if (hint_is_work(&h.s->activities[i])) {
            h.work += h.s->activities[i].total;
        }
    }
    if (!h.work) {
        return 0; /* nothing of a GPU was seen */
    }
    hint_copies(&h);
    hint_unified(&h);
    for (uint32_t d = h.s->device_count; d-- > 0;) {
        hint_overlap(&h, d);
    }
    hint_idle(&h);
    hint_sync(&h);
    hint_occupancy(&h);
    int failed = hint_scope(&h);
    if (h.count) {
        text_put(r->out, "\n", 1);
    }
    return failed;
}
