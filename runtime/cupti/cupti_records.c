/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads CUPTI's activity records from the buffers that it completed. The bytes are CUPTI's, of a
 * version that is known only at run time: every record must lie within its buffer, and of each only
 * the prefix in cupti_kind_table is read.
 */
#include "cupti_private.h"

#include <string.h>

#include "base/scratch.h"

#define PROBE_BYTES 4096 /* two records, eight times as long as in CUDA 13 */

static size_t record_probe_bytes(const struct cupti *c, int kind, uint8_t *buffer) {
    CUpti_Activity *first = NULL, *second;
    uint32_t word = (uint32_t)kind;
    /* Wherever the second begins, it is of that kind. */
    for (size_t i = 0; i < PROBE_BYTES; i += sizeof word) {
        memcpy(buffer + i, &word, sizeof word);
    }
    if (cupti_scope_next_record(c, buffer, PROBE_BYTES, &first) || (uint8_t *)first != buffer) {
        return 0;
    }
    second = first;
    if (cupti_scope_next_record(c, buffer, PROBE_BYTES, &second) || second <= first ||
        (uint8_t *)second >= buffer + PROBE_BYTES) {
        return 0;
    }
    return (size_t)((uint8_t *)second - buffer);
}

static size_t copy_bytes; /* a record of a copy; measured before records are read */

size_t cupti_measure_record(const struct cupti *c, int kind) {
    uint8_t *buffer = pages_get(PROBE_BYTES);
    size_t bytes = 0;
    if (buffer) {
        bytes = record_probe_bytes(c, kind, buffer);
    }
    pages_put(buffer, PROBE_BYTES);
    if (kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        copy_bytes = bytes;
    }
    return bytes;
}

/* ---- One reader per kind. Most kinds have the same names for the same members, at other
 * offsets. */

#define TIMES(r) .start = (r).start, .end = (r).end
#define CALL(r) .correlation = (r).correlationId
#define STREAM(r) CALL(r), .context = (r).contextId, .stream = (r).streamId
#define DEVICE(r) STREAM(r), .device = (r).deviceId
/* A reader whose values are members of the record r, or come from them. */
#define READER(name, ...)                                                                          \
    static void record_read_##name(const uint8_t *at, struct activity_record *out) {               \
        struct cupti_##name r;                                                                     \
        memcpy(&r, at, sizeof r);                                                                  \
        *out = (struct activity_record){__VA_ARGS__};                                              \
    }

READER(kernel, .kind = ACTIVITY_KERNEL, DEVICE(r), TIMES(r), .name = r.name,
       .grid = {r.gridX, r.gridY, r.gridZ}, .block = {r.blockX, r.blockY, r.blockZ},
       .registers = r.registersPerThread, .shared_static = r.staticSharedMemory,
       .shared_dynamic = r.dynamicSharedMemory, .in_graph = r.graphNodeId != 0)

#define COPY(r)                                                                                    \
    .kind = ACTIVITY_COPY, DEVICE(r), TIMES(r), .bytes = (r).bytes,                                \
    .detail = ACTIVITY_COPY_DETAIL((r).copyKind, (r).srcKind, (r).dstKind,                         \
                                   ((r).flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0)

READER(memcpy, COPY(r))

/* room: from the record to the end of its buffer. Older records have no number of copies. */
static void record_read_batch(const uint8_t *at, size_t room, struct activity_record *out) {
    struct cupti_memcpy_batch r;
    if (copy_bytes < sizeof r || room < sizeof r) {
        return;
    }
    memcpy(&r, at, sizeof r);
    out->copies = r.copyCount;
    if (r.copyCount > 1) {
        out->detail |= ACTIVITY_COPY_BATCH;
    }
}

READER(memcpy_peer, COPY(r))

READER(memset, .kind = ACTIVITY_FILL, .detail = r.memoryKind, DEVICE(r), TIMES(r), .bytes = r.bytes)

READER(synchronization, .kind = ACTIVITY_SYNC, .detail = r.type, STREAM(r),
       .device = ACTIVITY_NO_DEVICE, TIMES(r))

/* By CUPTI's numbers: 1 is the driver's compiler, its own overheads are multiples of 2^16. */
static const char *record_name_overhead(uint32_t kind) {
    static const char *const own[] = {
        [1] = "overhead buffer flush", [2] = "overhead instrumentation",
        [3] = "overhead resources",    [4] = "overhead module load",
        [5] = "overhead lazy loading", [6] = "overhead command buffer full",
        [7] = "overhead new buffer",   [8] = "overhead managed memory",
    };
    uint32_t number = kind >> 16;
    if (kind == 1) {
        return "overhead compiler";
    }
    if (kind & 0xffff || number >= sizeof own / sizeof *own || !own[number]) {
        return "overhead unknown";
    }
    return own[number];
}

READER(overhead, .kind = ACTIVITY_OVERHEAD, .detail = r.overheadKind,
       .name = record_name_overhead(r.overheadKind), .device = ACTIVITY_NO_DEVICE, TIMES(r))

READER(host_launch, .kind = ACTIVITY_HOST_FUNCTION, DEVICE(r), TIMES(r))

READER(graph_host_node, .kind = ACTIVITY_HOST_FUNCTION, DEVICE(r), TIMES(r))

static uint32_t record_get_memory_kind(uint32_t operation) {
    switch (operation) {
    case CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION:
        return ACTIVITY_ALLOC;
    case CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE:
        return ACTIVITY_FREE;
    default:
        return ACTIVITY_NONE;
    }
}

READER(memory, .kind = record_get_memory_kind(r.memoryOperationType), .detail = r.memoryKind,
       DEVICE(r), .start = r.timestamp, .end = r.timestamp, .bytes = r.bytes, .address = r.address)

/* ---- Unified memory, as cupti_activity.h of CUDA 13.0 describes the members of
 * CUpti_ActivityUnifiedMemoryCounter3: srcId and dstId are "the source" and "the destination
 * CPU/device involved in the memory transfer", both to be ignored for CPU page faults, dstId for
 * GPU page faults, thrashing and throttling; srcId of thrashing is an OR of device numbers. `value`
 * is "the size of the memory region in bytes" of transfers, thrashing and remote maps, "the number
 * of page fault groups for the same page" of GPU page faults, the program counter of CPU page
 * faults. `end` is to be ignored of CPU page faults, thrashing and remote maps. */

/* The device is the one that is not the host; both are devices: the one that gets the memory. */
static uint32_t record_get_unified_device(const struct cupti_unified *r) {
    switch (r->counterKind) {
    case ACTIVITY_UNIFIED_HTOD:
    case ACTIVITY_UNIFIED_DTOD:
        return r->dstId;
    case ACTIVITY_UNIFIED_DTOH:
    case ACTIVITY_UNIFIED_GPU_FAULT:
    case ACTIVITY_UNIFIED_THROTTLING:
        return r->srcId;
    default:
        return ACTIVITY_NO_DEVICE;
    }
}

/* For page faults `value` is an address or a number of groups. */
static int record_unified_has_bytes(uint32_t counter) {
    return counter != ACTIVITY_UNIFIED_CPU_FAULT && counter != ACTIVITY_UNIFIED_GPU_FAULT &&
           counter != ACTIVITY_UNIFIED_THROTTLING;
}

static int record_unified_has_end(uint32_t counter) {
    return counter != ACTIVITY_UNIFIED_CPU_FAULT && counter != ACTIVITY_UNIFIED_THRASHING &&
           counter != ACTIVITY_UNIFIED_REMOTE_MAP;
}

static void record_read_unified(const uint8_t *at, struct activity_record *out) {
    struct cupti_unified r;
    memcpy(&r, at, sizeof r);
    *out = (struct activity_record){.kind = ACTIVITY_UNIFIED,
                                    .detail = r.counterKind,
                                    .device = record_get_unified_device(&r),
                                    .start = r.start,
                                    .end = r.start};
    if (record_unified_has_bytes(r.counterKind)) {
        out->bytes = r.value;
    }
    if (record_unified_has_end(r.counterKind)) {
        out->end = r.end;
    }
}

static void record_read_api(const uint8_t *at, struct activity_record *out) {
    struct cupti_api r;
    memcpy(&r, at, sizeof r);
    int domain = CUPTI_CB_DOMAIN_DRIVER_API;
    uint32_t kind = ACTIVITY_DRIVER;
    if (r.kind == CUPTI_ACTIVITY_KIND_RUNTIME) {
        domain = CUPTI_CB_DOMAIN_RUNTIME_API;
        kind = ACTIVITY_API;
    }
    if (cupti_get_use(domain, r.cbid) & CUPTI_USE_RECORD) {
        *out = (struct activity_record){.kind = kind,
                                        CALL(r),
                                        .device = ACTIVITY_NO_DEVICE,
                                        TIMES(r),
                                        .name = cupti_get_name(domain, r.cbid),
                                        .thread = r.threadId,
                                        .waits = cupti_get_waits(domain, r.cbid)};
    }
}

/* The record's kind is ACTIVITY_NONE if it is not one of these; its other fields are undefined
 * then. */
static void record_read_any(const uint8_t *at, int kind, struct activity_record *out) {
    static void (*const readers[])(const uint8_t *, struct activity_record *) = {
        [CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] = record_read_kernel,
        [CUPTI_ACTIVITY_KIND_MEMCPY] = record_read_memcpy,
        [CUPTI_ACTIVITY_KIND_MEMCPY2] = record_read_memcpy_peer,
        [CUPTI_ACTIVITY_KIND_MEMSET] = record_read_memset,
        [CUPTI_ACTIVITY_KIND_SYNCHRONIZATION] = record_read_synchronization,
        [CUPTI_ACTIVITY_KIND_RUNTIME] = record_read_api,
        [CUPTI_ACTIVITY_KIND_DRIVER] = record_read_api,
        [CUPTI_ACTIVITY_KIND_OVERHEAD] = record_read_overhead,
        [CUPTI_ACTIVITY_KIND_MEMORY2] = record_read_memory,
        [CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER] = record_read_unified,
        [CUPTI_ACTIVITY_KIND_HOST_LAUNCH] = record_read_host_launch,
        [CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE] = record_read_graph_host_node,
    };
    out->kind = ACTIVITY_NONE;
    if ((size_t)kind < sizeof readers / sizeof *readers && readers[kind]) {
        readers[kind](at, out);
    }
}

/* The bytes that are read of a record of that kind. */
static size_t record_get_prefix(int kind) {
    for (int i = 0; i < CUPTI_KINDS; ++i) {
        if (cupti_kind_table[i].kind == kind) {
            return cupti_kind_table[i].prefix;
        }
    }
    return sizeof(struct cupti_any);
}

/* The next record, if the bytes to be read of it lie within the buffer; NULL: none. */
static const uint8_t *reader_find_next(struct cupti_reader *r, int *kind) {
    CUpti_Activity *at = r->at;
    struct cupti_any head;
    int code = cupti_scope_next_record(r->cupti, r->buffer, r->size, &at);
    if (code) {
        r->broken = code != CUPTI_NO_MORE;
        return NULL;
    }
    uintptr_t from = (uintptr_t)r->buffer;
    if (r->at) {
        from = (uintptr_t)r->at + sizeof head;
    }
    uintptr_t end = (uintptr_t)r->buffer + r->size;
    int fits = (uintptr_t)at >= from && (uintptr_t)at < end && end - (uintptr_t)at >= sizeof head;
    if (fits) {
        memcpy(&head, at, sizeof head);
        *kind = (int)head.kind;
        fits = end - (uintptr_t)at >= record_get_prefix(*kind);
    }
    r->broken = !fits;
    r->at = at;
    if (!fits) {
        return NULL;
    }
    return (const uint8_t *)at;
}

unsigned cupti_read_records(struct cupti_reader *r, struct activity_record *out, unsigned room) {
    unsigned count = 0;
    while (count < room && !r->broken) {
        int kind = 0;
        const uint8_t *at = reader_find_next(r, &kind);
        if (!at) {
            break;
        }
        record_read_any(at, kind, &out[count]);
        if (kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
            record_read_batch(at, r->size - (size_t)(at - r->buffer), &out[count]);
        }
        count += out[count].kind != ACTIVITY_NONE;
    }
    return count;
}
