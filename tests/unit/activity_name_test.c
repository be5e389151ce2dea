/* SPDX-License-Identifier: Apache-2.0 */
#include "arena/activity_kind.h"
#include "harness.h"
#include "model/activity_name.h"

static const char *named(uint32_t kind, uint32_t detail, const char *name) {
    static char text[ACTIVITY_NAME_BYTES];
    struct snapshot_activity a = {.kind = kind, .detail = detail, .name = name};
    a.name_length = (uint32_t)strlen(name);
    size_t length = activity_name(text, sizeof text, &a);
    CHECK_EQ_U64(length, strlen(text));
    return text;
}

TEST(activity_name, each_kind) {
    CHECK_STR_EQ(named(ACTIVITY_KERNEL, 0, "gemm<4>(float*)"), "gemm<4>(float*)");
    CHECK_STR_EQ(named(ACTIVITY_API, 0, "cudaMalloc"), "cudaMalloc");
    CHECK_STR_EQ(named(ACTIVITY_COPY, ACTIVITY_COPY_DETAIL(ACTIVITY_COPY_HTOD, 1, 3, 1), ""),
                 "memcpy HtoD");
    CHECK_STR_EQ(named(ACTIVITY_COPY, ACTIVITY_COPY_PTOP, ""), "memcpy PtoP");
    CHECK_STR_EQ(named(ACTIVITY_FILL, ACTIVITY_MEMORY_DEVICE, ""), "memset");
    CHECK_STR_EQ(named(ACTIVITY_SYNC, ACTIVITY_SYNC_CONTEXT, ""), "synchronize context");
    CHECK_STR_EQ(named(ACTIVITY_ALLOC, ACTIVITY_MEMORY_MANAGED, ""), "alloc managed");
    CHECK_STR_EQ(named(ACTIVITY_FREE, ACTIVITY_MEMORY_PINNED, ""), "free pinned");
    CHECK_STR_EQ(named(ACTIVITY_OVERHEAD, 5u << 16, "overhead lazy loading"),
                 "overhead lazy loading");
    CHECK_STR_EQ(named(ACTIVITY_OVERHEAD, 5u << 16, ""), "overhead unknown");
    CHECK_STR_EQ(named(ACTIVITY_BUSY, ACTIVITY_BUSY_ANY, ""), "busy");
    CHECK_STR_EQ(named(ACTIVITY_GAP, ACTIVITY_GAP_SYNC, ""), "idle: waiting on sync");
    CHECK_STR_EQ(named(ACTIVITY_GAP, ACTIVITY_GAP_BETWEEN, ""), "idle: between launches");
    CHECK_STR_EQ(named(ACTIVITY_UNIFIED, ACTIVITY_UNIFIED_DTOH, ""), "unified migration DtoH");
    CHECK_STR_EQ(named(ACTIVITY_UNIFIED, ACTIVITY_UNIFIED_GPU_FAULT, ""),
                 "unified GPU page faults");
    CHECK_STR_EQ(named(ACTIVITY_STEP, ACTIVITY_STEP_BUSY, ""), "step busy");
    CHECK_STR_EQ(named(ACTIVITY_MEMORY, 0, ""), "memory");
}

static const char *platform = "CUDA";

static const char *titled(uint32_t kind, uint32_t detail, const char *name) {
    static char text[ACTIVITY_NAME_BYTES];
    struct snapshot_device device = {.words = {{[GPU_WORD_PLATFORM] = platform}}};
    const struct snapshot s = {.devices = &device, .device_count = 1};
    struct snapshot_activity a = {.kind = kind, .detail = detail, .name = name};
    a.name_length = (uint32_t)strlen(name);
    size_t length = activity_title(text, &s, &a);
    CHECK_EQ_U64(length, strlen(text));
    return text;
}

/* The titles are nvprof's: an activity without a name that moves bytes is in brackets. */
TEST(activity_name, as_the_tables_have_it) {
    CHECK_STR_EQ(titled(ACTIVITY_COPY, ACTIVITY_COPY_DTOH, ""), "[CUDA memcpy DtoH]");
    CHECK_STR_EQ(titled(ACTIVITY_FILL, ACTIVITY_MEMORY_DEVICE, ""), "[CUDA memset]");
    CHECK_STR_EQ(titled(ACTIVITY_COPY, 0, "named"), "named");
    CHECK_STR_EQ(titled(ACTIVITY_KERNEL, 0, "gemm<4>(float*)"), "gemm<4>(float*)");
    CHECK_STR_EQ(titled(ACTIVITY_SYNC, ACTIVITY_SYNC_CONTEXT, ""), "synchronize context");
    platform = "ACME";
    CHECK_STR_EQ(titled(ACTIVITY_COPY, ACTIVITY_COPY_DTOH, ""), "[ACME memcpy DtoH]");
    platform = NULL;
    CHECK_STR_EQ(titled(ACTIVITY_COPY, ACTIVITY_COPY_DTOH, ""), "[GPU memcpy DtoH]");
}

/* A file may say anything: each kind and detail has some name, and none is read past a table. */
TEST(activity_name, any_numbers) {
    static const uint32_t details[] = {5, 9, 11, 14, 255, 0x10001, 9u << 16, UINT32_MAX};
    for (uint32_t kind = 0; kind < ACTIVITY_KINDS + 3; ++kind) {
        CHECK(*activity_kind_text(kind));
        for (size_t i = 0; i < sizeof details / sizeof *details; ++i) {
            CHECK(*named(kind, details[i], ""));
        }
    }
    CHECK_STR_EQ(named(ACTIVITY_COPY, 11, ""), "memcpy unknown");
    CHECK_STR_EQ(named(ACTIVITY_KERNEL, 0, ""), "unknown kernel");
    CHECK_STR_EQ(activity_kind_text(UINT32_MAX), "unknown");
}

TEST(activity_name, cut_where_there_is_no_room) {
    struct snapshot_activity kernel = {.kind = ACTIVITY_KERNEL, .name = "abcdef", .name_length = 6};
    struct snapshot_activity copy = {.kind = ACTIVITY_COPY, .detail = 1, .name = ""};
    char out[8] = "1234567";
    CHECK_EQ_U64(activity_name(out, 4, &kernel), 3);
    CHECK_STR_EQ(out, "abc");
    CHECK_EQ_U64(activity_name(out, 4, &copy), 3);
    CHECK_STR_EQ(out, "mem");
    CHECK_EQ_U64(activity_name(out, 1, &kernel), 0);
    CHECK_STR_EQ(out, "");
    out[0] = 'x';
    CHECK_EQ_U64(activity_name(out, 0, &copy), 0);
    CHECK(out[0] == 'x');
}
