/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti_records.h"

#include <string.h>

#include "cupti_names.h"

#define PROBE_BYTES 4096 /* two records, eight times as long as they are now */

size_t cupti_record_bytes(const struct cupti *c, int kind) {
    _Alignas(8) uint8_t buffer[PROBE_BYTES];
    CUpti_Activity *first = NULL, *second;
    uint32_t word = (uint32_t)kind;
    /* Wherever the second begins, it is of that kind. */
    for (size_t i = 0; i < sizeof buffer; i += sizeof word) {
        memcpy(buffer + i, &word, sizeof word);
    }
    if (c->cuptiActivityGetNextRecord(buffer, sizeof buffer, &first) ||
        (uint8_t *)first != buffer) {
        return 0;
    }
    second = first;
    if (c->cuptiActivityGetNextRecord(buffer, sizeof buffer, &second) || second <= first ||
        (uint8_t *)second >= buffer + sizeof buffer) {
        return 0;
    }
    return (size_t)((uint8_t *)second - buffer);
}

static void read_kernel(const uint8_t *at, struct activity_record *out) {
    struct cupti_kernel r;
    memcpy(&r, at, sizeof r);
    out->kind = ACTIVITY_KERNEL;
    out->correlation = r.correlationId;
    out->device = r.deviceId;
    out->context = r.contextId;
    out->stream = r.streamId;
    out->start = r.start;
    out->end = r.end;
    out->name = r.name;
    out->grid[0] = r.gridX;
    out->grid[1] = r.gridY;
    out->grid[2] = r.gridZ;
    out->block[0] = r.blockX;
    out->block[1] = r.blockY;
    out->block[2] = r.blockZ;
    out->registers = r.registersPerThread;
    out->shared_static = r.staticSharedMemory;
    out->shared_dynamic = r.dynamicSharedMemory;
}

static uint32_t copy_detail(uint32_t direction, uint32_t from, uint32_t to, uint32_t flags) {
    return ACTIVITY_COPY_DETAIL(direction, from, to,
                                (flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0);
}

static void read_memcpy(const uint8_t *at, struct activity_record *out) {
    struct cupti_memcpy r;
    memcpy(&r, at, sizeof r);
    out->kind = ACTIVITY_COPY;
    out->detail = copy_detail(r.copyKind, r.srcKind, r.dstKind, r.flags);
    out->correlation = r.correlationId;
    out->device = r.deviceId;
    out->context = r.contextId;
    out->stream = r.streamId;
    out->start = r.start;
    out->end = r.end;
    out->bytes = r.bytes;
}

static void read_memcpy_peer(const uint8_t *at, struct activity_record *out) {
    struct cupti_memcpy_peer r;
    memcpy(&r, at, sizeof r);
    out->kind = ACTIVITY_COPY;
    out->detail = copy_detail(r.copyKind, r.srcKind, r.dstKind, r.flags);
    out->correlation = r.correlationId;
    out->device = r.deviceId;
    out->context = r.contextId;
    out->stream = r.streamId;
    out->start = r.start;
    out->end = r.end;
    out->bytes = r.bytes;
}

static void read_memset(const uint8_t *at, struct activity_record *out) {
    struct cupti_memset r;
    memcpy(&r, at, sizeof r);
    out->kind = ACTIVITY_FILL;
    out->detail = r.memoryKind;
    out->correlation = r.correlationId;
    out->device = r.deviceId;
    out->context = r.contextId;
    out->stream = r.streamId;
    out->start = r.start;
    out->end = r.end;
    out->bytes = r.bytes;
}

static void read_synchronization(const uint8_t *at, struct activity_record *out) {
    struct cupti_synchronization r;
    memcpy(&r, at, sizeof r);
    out->kind = ACTIVITY_SYNC;
    out->detail = r.type;
    out->correlation = r.correlationId;
    out->context = r.contextId;
    out->stream = r.streamId;
    out->start = r.start;
    out->end = r.end;
}

static void read_overhead(const uint8_t *at, struct activity_record *out) {
    struct cupti_overhead r;
    memcpy(&r, at, sizeof r);
    out->kind = ACTIVITY_OVERHEAD;
    out->detail = r.overheadKind;
    out->start = r.start;
    out->end = r.end;
}

static void read_memory(const uint8_t *at, struct activity_record *out) {
    struct cupti_memory r;
    memcpy(&r, at, sizeof r);
    out->kind =
        r.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION ? ACTIVITY_ALLOC
        : r.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE  ? ACTIVITY_FREE
                                                                                 : ACTIVITY_NONE;
    out->detail = r.memoryKind;
    out->correlation = r.correlationId;
    out->device = r.deviceId;
    out->context = r.contextId;
    out->stream = r.streamId;
    out->start = r.timestamp;
    out->end = r.timestamp;
    out->bytes = r.bytes;
    out->address = r.address;
}

static void read_api(const uint8_t *at, int domain, struct activity_record *out) {
    struct cupti_api r;
    memcpy(&r, at, sizeof r);
    if (!(cupti_use(domain, r.cbid) & CUPTI_USE_RECORD)) {
        return;
    }
    out->kind = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? ACTIVITY_API : ACTIVITY_DRIVER;
    out->correlation = r.correlationId;
    out->start = r.start;
    out->end = r.end;
    out->name = cupti_name(domain, r.cbid);
    out->thread = r.threadId;
}

/* The record's kind stays ACTIVITY_NONE if it is none of ours. */
static void read_record(const uint8_t *at, int kind, struct activity_record *out) {
    memset(out, 0, sizeof *out);
    out->device = ACTIVITY_NO_DEVICE;
    switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        read_kernel(at, out);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        read_memcpy(at, out);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        read_memcpy_peer(at, out);
        break;
    case CUPTI_ACTIVITY_KIND_MEMSET:
        read_memset(at, out);
        break;
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        read_synchronization(at, out);
        break;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
        read_api(at, CUPTI_CB_DOMAIN_RUNTIME_API, out);
        break;
    case CUPTI_ACTIVITY_KIND_DRIVER:
        read_api(at, CUPTI_CB_DOMAIN_DRIVER_API, out);
        break;
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
        read_overhead(at, out);
        break;
    case CUPTI_ACTIVITY_KIND_MEMORY2:
        read_memory(at, out);
        break;
    default:
        break;
    }
}

/* Bytes that are read of a kind. */
static size_t prefix_of(int kind) {
    for (int i = 0; i < CUPTI_KINDS; ++i) {
        if (cupti_kind_table[i].kind == kind) {
            return cupti_kind_table[i].prefix;
        }
    }
    return sizeof(struct cupti_any);
}

/* The next record, all of what is read of it within the buffer; NULL: none. */
static const uint8_t *next_record(struct cupti_reader *r, int *kind) {
    CUpti_Activity *at = r->at;
    struct cupti_any head;
    int code = r->cupti->cuptiActivityGetNextRecord(r->buffer, r->size, &at);
    if (code) {
        r->broken = code != CUPTI_NO_MORE;
        return NULL;
    }
    uintptr_t from = r->at ? (uintptr_t)r->at + sizeof head : (uintptr_t)r->buffer;
    uintptr_t end = (uintptr_t)r->buffer + r->size;
    int fits = (uintptr_t)at >= from && (uintptr_t)at < end && end - (uintptr_t)at >= sizeof head;
    if (fits) {
        memcpy(&head, at, sizeof head);
        *kind = (int)head.kind;
        fits = end - (uintptr_t)at >= prefix_of(*kind);
    }
    r->broken = !fits;
    r->at = at;
    return fits ? (const uint8_t *)at : NULL;
}

unsigned cupti_records_read(struct cupti_reader *r, struct activity_record *out, unsigned room) {
    unsigned count = 0;
    while (count < room && !r->broken) {
        int kind = 0;
        const uint8_t *at = next_record(r, &kind);
        if (!at) {
            break;
        }
        read_record(at, kind, &out[count]);
        count += out[count].kind != ACTIVITY_NONE;
    }
    return count;
}
