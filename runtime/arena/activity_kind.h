/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of records about a GPU and its API, for the code that writes them into the arena and
 * the code that reads them there. The numbers are part of the run file's format.
 */
#ifndef STINT_ACTIVITY_KIND_H
#define STINT_ACTIVITY_KIND_H

#include <stdint.h>

/* `detail` of a record is in the enum named here. */
enum activity_kind {
    ACTIVITY_NONE,
    ACTIVITY_KERNEL, /* ran on a device; its name */
    ACTIVITY_COPY,   /* ACTIVITY_COPY_DETAIL */
    ACTIVITY_FILL,   /* memset; detail: kind of memory */
    ACTIVITY_API,    /* a call of the runtime API, on the host; its name */
    ACTIVITY_DRIVER, /* of the driver API, unless made inside a call of the runtime API */
    ACTIVITY_SYNC,   /* the host waited; enum activity_sync */
    ACTIVITY_ALLOC,  /* device memory; no time, but bytes; detail: kind of memory */
    ACTIVITY_FREE,
    ACTIVITY_OVERHEAD, /* of the tracer, as it says itself; detail: its number; its name */
    /* Made of the others: */
    ACTIVITY_BUSY,   /* how long anything of a device ran; enum activity_busy */
    ACTIVITY_GAP,    /* how long nothing of it did; enum activity_gap; node: whom to ask */
    ACTIVITY_STEP,   /* of a step of the program; enum activity_step */
    ACTIVITY_MEMORY, /* of a device; bytes: allocated now, max_bytes: at most */
    /* Again from the tracer: */
    ACTIVITY_UNIFIED, /* migrations and page faults of unified memory; enum activity_unified */
    /* Samples of another kind that later records proved wrong; ACTIVITY_TAKEN_GAP. Snapshots
     * subtract them there. */
    ACTIVITY_TAKEN_BACK,
    /* Kernels, copies and fills again, by the source line that launched them: its number is the
     * detail, its file the name. */
    ACTIVITY_LINE,
    ACTIVITY_KINDS
};

/* Kinds that move bytes: the sizes of single ones are kept. */
static inline int activity_kind_has_sizes(uint32_t kind) {
    return kind == ACTIVITY_COPY || kind == ACTIVITY_FILL || kind == ACTIVITY_UNIFIED;
}

/* Memory: of copies' ends, fills and allocations. Tracers translate. */
enum activity_memory {
    ACTIVITY_MEMORY_UNKNOWN,
    ACTIVITY_MEMORY_PAGEABLE,
    ACTIVITY_MEMORY_PINNED,
    ACTIVITY_MEMORY_DEVICE,
    ACTIVITY_MEMORY_ARRAY,
    ACTIVITY_MEMORY_MANAGED,
    ACTIVITY_MEMORY_DEVICE_STATIC,
    ACTIVITY_MEMORY_MANAGED_STATIC
};

/* Direction; likewise. */
enum activity_copy {
    ACTIVITY_COPY_UNKNOWN,
    ACTIVITY_COPY_HTOD,
    ACTIVITY_COPY_DTOH,
    ACTIVITY_COPY_HTOA,
    ACTIVITY_COPY_ATOH,
    ACTIVITY_COPY_ATOA,
    ACTIVITY_COPY_ATOD,
    ACTIVITY_COPY_DTOA,
    ACTIVITY_COPY_DTOD,
    ACTIVITY_COPY_HTOH,
    ACTIVITY_COPY_PTOP,
    ACTIVITY_COPIES
};
#define ACTIVITY_COPY_DETAIL(direction, from, to, async)                                           \
    ((uint32_t)(direction) | (uint32_t)(from) << 8 | (uint32_t)(to) << 16 | (uint32_t)(async) << 24)
#define ACTIVITY_COPY_DIRECTION(detail) ((detail)&0xffu)
#define ACTIVITY_COPY_FROM(detail) ((detail) >> 8 & 0xffu)
#define ACTIVITY_COPY_TO(detail) ((detail) >> 16 & 0xffu)
#define ACTIVITY_COPY_ASYNC(detail) ((detail) >> 24 & 1u)
/* The copies were reported in batches: each has an equal part of its batch's time and bytes. */
#define ACTIVITY_COPY_BATCH ((uint32_t)1 << 25)

enum activity_sync {
    ACTIVITY_SYNC_UNKNOWN,
    ACTIVITY_SYNC_EVENT,
    ACTIVITY_SYNC_STREAM_WAIT, /* a stream waits for an event, the host does not */
    ACTIVITY_SYNC_STREAM,
    ACTIVITY_SYNC_CONTEXT /* for all work of a context, or device */
};

enum activity_busy {
    ACTIVITY_BUSY_ANY,
    ACTIVITY_BUSY_KERNEL,
    ACTIVITY_BUSY_COPY,   /* copies and fills */
    ACTIVITY_BUSY_OVERLAP /* a kernel and a copy or fill at once */
};

/* Tracers translate. */
enum activity_unified {
    ACTIVITY_UNIFIED_UNKNOWN,
    ACTIVITY_UNIFIED_HTOD, /* pages were moved */
    ACTIVITY_UNIFIED_DTOH,
    ACTIVITY_UNIFIED_CPU_FAULT, /* no time, no bytes */
    ACTIVITY_UNIFIED_GPU_FAULT, /* a group of faults of a page; no bytes */
    ACTIVITY_UNIFIED_THRASHING, /* no time, as of the next but one */
    ACTIVITY_UNIFIED_THROTTLING,
    ACTIVITY_UNIFIED_REMOTE_MAP,
    ACTIVITY_UNIFIED_DTOD
};

/* Why nothing ran. */
enum activity_gap {
    ACTIVITY_GAP_UNKNOWN,
    ACTIVITY_GAP_HOST_LATE, /* what ran next was not launched yet */
    ACTIVITY_GAP_COPY,      /* the host was in a copy that keeps it */
    ACTIVITY_GAP_SYNC,      /* the host waited for the GPU and launched only then */
    ACTIVITY_GAP_BETWEEN,   /* what ran next was launched in time: the GPU's own gap */
    ACTIVITY_GAP_FUNCTION,  /* a stream ran a function of the host */
    ACTIVITY_GAPS
};

/* The detail of a gap that was taken back. */
#define ACTIVITY_TAKEN_GAP(cause) ((uint32_t)ACTIVITY_GAP << 8 | (uint32_t)(cause))
#define ACTIVITY_TAKEN_KIND(detail) ((detail) >> 8)
#define ACTIVITY_TAKEN_DETAIL(detail) ((detail)&0xffu)

enum activity_step {
    ACTIVITY_STEP_WALL, /* of no device */
    ACTIVITY_STEP_BUSY  /* of a device, within the step; what is left of the wall is idle */
};

/* The launch of a kernel, as words and by name. */
#define ACTIVITY_SHAPE                                                                             \
    union {                                                                                        \
        uint32_t shape[9];                                                                         \
        struct {                                                                                   \
            uint32_t grid[3];                                                                      \
            uint32_t block[3];                                                                     \
            uint32_t registers;     /* per thread */                                               \
            uint32_t shared_static; /* bytes per block, as the next */                             \
            uint32_t shared_dynamic;                                                               \
        };                                                                                         \
    }

#endif
