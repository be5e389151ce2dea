/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of activities in reports and exports. Numbers come from run files and may be any: one that
 * is in no table is "unknown".
 */
#include "activity_name.h"

#include <stdio.h>
#include <string.h>

#include "arena/activity_kind.h"
#include "base/arithmetic.h"

/* `other` for what is in no table: a file may hold any number. */
static const char *activity_text_at(const char *const *texts, size_t count, uint32_t number,
                                    const char *other) {
    return number < count && texts[number] ? texts[number] : other;
}
#define TEXT(texts, number, other)                                                                 \
    activity_text_at(texts, sizeof(texts) / sizeof *(texts), number, other)

const char *activity_kind_text(uint32_t kind) {
    static const char *const texts[ACTIVITY_KINDS] = {
        [ACTIVITY_KERNEL] = "kernel",
        [ACTIVITY_COPY] = "copy",
        [ACTIVITY_FILL] = "fill",
        [ACTIVITY_API] = "api",
        [ACTIVITY_DRIVER] = "driver",
        [ACTIVITY_SYNC] = "sync",
        [ACTIVITY_ALLOC] = "alloc",
        [ACTIVITY_FREE] = "free",
        [ACTIVITY_OVERHEAD] = "overhead",
        [ACTIVITY_BUSY] = "busy",
        [ACTIVITY_GAP] = "gap",
        [ACTIVITY_STEP] = "step",
        [ACTIVITY_MEMORY] = "memory",
        [ACTIVITY_UNIFIED] = "unified",
        [ACTIVITY_TAKEN_BACK] = "taken back",
        [ACTIVITY_LINE] = "line",
    };
    return TEXT(texts, kind, "unknown");
}

const char *activity_copy_text(uint32_t direction) {
    static const char *const texts[ACTIVITY_COPIES] = {
        [ACTIVITY_COPY_HTOD] = "HtoD", [ACTIVITY_COPY_DTOH] = "DtoH", [ACTIVITY_COPY_HTOA] = "HtoA",
        [ACTIVITY_COPY_ATOH] = "AtoH", [ACTIVITY_COPY_ATOA] = "AtoA", [ACTIVITY_COPY_ATOD] = "AtoD",
        [ACTIVITY_COPY_DTOA] = "DtoA", [ACTIVITY_COPY_DTOD] = "DtoD", [ACTIVITY_COPY_HTOH] = "HtoH",
        [ACTIVITY_COPY_PTOP] = "PtoP",
    };
    return TEXT(texts, direction, "unknown");
}

const char *activity_memory_text(uint32_t memory) {
    static const char *const texts[] = {
        [ACTIVITY_MEMORY_PAGEABLE] = "pageable",
        [ACTIVITY_MEMORY_PINNED] = "pinned",
        [ACTIVITY_MEMORY_DEVICE] = "device",
        [ACTIVITY_MEMORY_ARRAY] = "array",
        [ACTIVITY_MEMORY_MANAGED] = "managed",
        [ACTIVITY_MEMORY_DEVICE_STATIC] = "device static",
        [ACTIVITY_MEMORY_MANAGED_STATIC] = "managed static",
    };
    return TEXT(texts, memory, "unknown");
}

static const char *activity_unified_text(uint32_t counter) {
    static const char *const texts[] = {
        [ACTIVITY_UNIFIED_HTOD] = "migration HtoD",
        [ACTIVITY_UNIFIED_DTOH] = "migration DtoH",
        [ACTIVITY_UNIFIED_CPU_FAULT] = "CPU page fault",
        [ACTIVITY_UNIFIED_GPU_FAULT] = "GPU page faults",
        [ACTIVITY_UNIFIED_THRASHING] = "thrashing",
        [ACTIVITY_UNIFIED_THROTTLING] = "throttling",
        [ACTIVITY_UNIFIED_REMOTE_MAP] = "remote map",
        [ACTIVITY_UNIFIED_DTOD] = "migration DtoD",
    };
    return TEXT(texts, counter, "unknown");
}

static const char *activity_sync_text(uint32_t sync) {
    static const char *const texts[] = {
        [ACTIVITY_SYNC_EVENT] = "event",
        [ACTIVITY_SYNC_STREAM_WAIT] = "stream waits for event",
        [ACTIVITY_SYNC_STREAM] = "stream",
        [ACTIVITY_SYNC_CONTEXT] = "context",
    };
    return TEXT(texts, sync, "unknown");
}

const char *activity_gap_text(uint32_t gap) {
    static const char *const texts[ACTIVITY_GAPS] = {
        [ACTIVITY_GAP_HOST_LATE] = "host late",    [ACTIVITY_GAP_COPY] = "waiting on copy",
        [ACTIVITY_GAP_SYNC] = "waiting on sync",   [ACTIVITY_GAP_BETWEEN] = "between launches",
        [ACTIVITY_GAP_FUNCTION] = "host function",
    };
    return TEXT(texts, gap, "unknown");
}

const char *activity_copy_mode_text(uint32_t detail) {
    if (detail & ACTIVITY_COPY_BATCH) {
        return "batch";
    }
    return ACTIVITY_COPY_ASYNC(detail) ? "async" : "sync";
}

static int activity_put_words(char *out, size_t size, const char *what, const char *more) {
    return snprintf(out, size, "%s%s%s", what, *more ? " " : "", more);
}

/* An activity without a recorded name. */
static int activity_describe(char *out, size_t size, const struct snapshot_activity *a) {
    static const char *const busy[] = {[ACTIVITY_BUSY_ANY] = "",
                                       [ACTIVITY_BUSY_KERNEL] = "with kernels",
                                       [ACTIVITY_BUSY_COPY] = "with copies",
                                       [ACTIVITY_BUSY_OVERLAP] = "with both at once"};
    switch (a->kind) {
    case ACTIVITY_COPY:
        return activity_put_words(out, size, "memcpy",
                                  activity_copy_text(ACTIVITY_COPY_DIRECTION(a->detail)));
    case ACTIVITY_FILL:
        return activity_put_words(out, size, "memset", "");
    case ACTIVITY_SYNC:
        return activity_put_words(out, size, "synchronize", activity_sync_text(a->detail));
    case ACTIVITY_ALLOC:
    case ACTIVITY_FREE:
        return activity_put_words(out, size, activity_kind_text(a->kind),
                                  activity_memory_text(a->detail));
    case ACTIVITY_OVERHEAD: /* of an unknown kind */
        return activity_put_words(out, size, "overhead", "unknown");
    case ACTIVITY_BUSY:
        return activity_put_words(out, size, "busy", TEXT(busy, a->detail, "unknown"));
    case ACTIVITY_GAP:
        return activity_put_words(out, size, "idle:", activity_gap_text(a->detail));
    case ACTIVITY_STEP:
        return activity_put_words(out, size, "step", a->detail == ACTIVITY_STEP_BUSY ? "busy" : "");
    case ACTIVITY_MEMORY:
        return activity_put_words(out, size, "memory", "");
    case ACTIVITY_UNIFIED:
        return activity_put_words(out, size, "unified", activity_unified_text(a->detail));
    default: /* a kernel or call whose name was lost */
        return activity_put_words(out, size, "unknown", activity_kind_text(a->kind));
    }
}

size_t activity_name(char *out, size_t size, const struct snapshot_activity *a) {
    size_t n = a->name_length;
    if (!size) {
        return 0;
    }
    if (!n) {
        int length = activity_describe(out, size, a);
        if (length < 0) {
            return 0;
        }
        return u64_min((size_t)length, size - 1);
    }
    n = u64_min(n, size - 1);
    memcpy(out, a->name, n);
    out[n] = '\0';
    return n;
}

const struct gpu_words *activity_words(const struct snapshot *s,
                                       const struct snapshot_activity *a) {
    if (a->device < s->device_count) {
        return &s->devices[a->device].words;
    }
    return s->device_count ? &s->devices[0].words : NULL;
}

size_t activity_title(char out[ACTIVITY_NAME_BYTES], const struct snapshot *s,
                      const struct snapshot_activity *a) {
    char name[100];
    if ((a->kind != ACTIVITY_COPY && a->kind != ACTIVITY_FILL) || a->name_length) {
        return activity_name(out, ACTIVITY_NAME_BYTES, a);
    }
    activity_name(name, sizeof name, a);
    int n = snprintf(out, ACTIVITY_NAME_BYTES, "[%s %s]", gpu_words_platform(activity_words(s, a)),
                     name);
    if (n < 0) {
        return 0;
    }
    return (size_t)n;
}
