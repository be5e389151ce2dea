/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers written by hand, read through the double's parser and through the real one, which needs
 * no GPU for it.
 */
#include "cupti/cupti_private.h"
#include "cupti_double.h"
#include "cupti_real.h"
#include "harness.h"

struct sizes {
    int kind;
    size_t bytes; /* in CUDA 13.0 */
};
static const struct sizes sizes[CUPTI_KINDS] = {{10, 216}, {1, 96},   {22, 96}, {2, 88},
                                                {38, 56},  {5, 40},   {4, 40},  {17, 56},
                                                {49, 128}, {25, 104}, {58, 48}, {56, 56}};

static int open_library(const char *library, struct cupti *c) {
    uint32_t version = 0;
    char reason[CUPTI_REASON] = "";
    int bad = cupti_load_library(library, c, &version, reason);
    CHECK_STR_EQ(reason, "");
    CHECK(!bad && version >= 16);
    return bad;
}

static int load(const char *library, struct cupti *c) {
    int bad = open_library(library, c);
    cupti_read_names(c);
    return bad;
}

static void put(uint8_t *buffer, size_t *used, const void *record, size_t size, size_t stride) {
    memset(buffer + *used, 0xee, stride);
    memcpy(buffer + *used, record, size);
    *used += stride;
}

/* Writes one record of each kind, the kernel last. */
static size_t write_all(const struct cupti *c, uint8_t *buffer) {
    size_t used = 0;
    struct cupti_memcpy copy = {1, 2, 2, 3, 1, 100, 10, 20, 1, 2, 3, 4};
    uint64_t copies = 1;
    struct cupti_memcpy_peer peer = {
        .kind = 22, .bytes = 5, .start = 1, .end = 2, .correlationId = 8};
    struct cupti_memset fill = {.kind = 2, .bytes = 6, .start = 1, .end = 2, .memoryKind = 3};
    struct cupti_synchronization wait = {.kind = 38, .type = 4, .start = 7, .end = 9};
    struct cupti_api call = {.kind = 5, .cbid = 1, .start = 3, .end = 5, .threadId = 6};
    struct cupti_overhead own = {.kind = 17, .overheadKind = 2 << 16, .start = 3, .end = 6};
    struct cupti_memory memory = {.kind = 49, .memoryOperationType = 1, .address = 64, .bytes = 7};
    struct cupti_kernel kernel = {.kind = 10, .start = 30, .end = 40, .name = "k", .gridX = 9};
    for (uint32_t i = 1; i < cupti_get_names_end(CUPTI_CB_DOMAIN_RUNTIME_API); ++i) {
        const char *name = cupti_get_name(CUPTI_CB_DOMAIN_RUNTIME_API, i);
        call.cbid = name && !strcmp(name, "cudaMemcpyAsync") ? i : call.cbid;
    }
    put(buffer, &used, &copy, sizeof copy, cupti_measure_record(c, 1));
    if (used >= offsetof(struct cupti_memcpy_batch, copyCount) + sizeof copies) {
        memcpy(buffer + offsetof(struct cupti_memcpy_batch, copyCount), &copies, sizeof copies);
    }
    put(buffer, &used, &peer, sizeof peer, cupti_measure_record(c, 22));
    put(buffer, &used, &fill, sizeof fill, cupti_measure_record(c, 2));
    put(buffer, &used, &wait, sizeof wait, cupti_measure_record(c, 38));
    put(buffer, &used, &call, sizeof call, cupti_measure_record(c, 5));
    put(buffer, &used, &own, sizeof own, cupti_measure_record(c, 17));
    put(buffer, &used, &memory, sizeof memory, cupti_measure_record(c, 49));
    put(buffer, &used, &kernel, sizeof kernel, cupti_measure_record(c, 10));
    return used;
}

static void check_all(const struct cupti *c) {
    static const uint32_t kinds[] = {ACTIVITY_COPY,  ACTIVITY_COPY,  ACTIVITY_FILL,
                                     ACTIVITY_SYNC,  ACTIVITY_API,   ACTIVITY_OVERHEAD,
                                     ACTIVITY_ALLOC, ACTIVITY_KERNEL};
    _Alignas(8) uint8_t buffer[4096];
    struct activity_record r[16];
    size_t used = write_all(c, buffer);
    struct cupti_reader reader = {.cupti = c, .buffer = buffer, .size = used};
    CHECK(cupti_read_records(&reader, r, 3) == 3);
    CHECK(cupti_read_records(&reader, r + 3, 13) == 5);
    CHECK(cupti_read_records(&reader, r, 16) == 0);
    CHECK(!reader.broken);
    for (int i = 0; i < 8; ++i) {
        CHECK(r[i].kind == kinds[i]);
    }
    CHECK(r[0].bytes == 100 && r[0].start == 10 && r[0].end == 20 && r[0].correlation == 4);
    CHECK(r[0].detail == ACTIVITY_COPY_DETAIL(2, 2, 3, 1));
    CHECK(r[1].correlation == 8 && r[2].bytes == 6 && r[2].detail == 3 && r[3].detail == 4);
    CHECK(r[3].start == 7 && r[3].end == 9 && r[3].device == ACTIVITY_NO_DEVICE);
    CHECK_STR_EQ(r[4].name, "cudaMemcpyAsync");
    CHECK(r[5].detail == 2 << 16 && r[6].address == 64 && r[6].bytes == 7);
    CHECK(r[7].start == 30 && r[7].grid[0] == 9);
    CHECK_STR_EQ(r[7].name, "k");
}

/* Nothing after the end of the valid bytes is read, wherever that is. */
static void check_cut(const struct cupti *c) {
    _Alignas(8) static uint8_t whole[4096];
    size_t used = write_all(c, whole);
    unsigned before = 0;
    for (size_t size = 0; size <= used; size += 4) {
        struct activity_record r[16];
        uint8_t *cut = aligned_alloc(8, (size + 8) & ~(size_t)7);
        uint8_t *end = cut + ((size + 8) & ~(size_t)7) - size; /* for a checker of bounds */
        memcpy(end - (uintptr_t)end % 8, whole, size);
        struct cupti_reader reader = {.cupti = c, .buffer = end - (uintptr_t)end % 8, .size = size};
        unsigned n = cupti_read_records(&reader, r, 16);
        CHECK(n >= before);
        before = n;
        free(cut);
    }
    CHECK(before == 8);
}

TEST(cupti_records, of_the_double) {
    struct cupti c;
    if (!load(CUPTI_DOUBLE_LIBRARY, &c)) {
        for (int i = 0; i < CUPTI_KINDS; ++i) {
            CHECK_EQ_U64(cupti_measure_record(&c, sizes[i].kind), sizes[i].bytes);
        }
        check_all(&c);
        check_cut(&c);
    }
}

TEST(cupti_records, of_a_kind_that_is_not_known) {
    struct cupti c;
    if (!load(CUPTI_DOUBLE_LIBRARY, &c)) {
        CHECK_EQ_U64(cupti_measure_record(&c, 55), 0);
        cupti_double_fail("cuptiActivityGetNextRecord:2=999");
        CHECK_EQ_U64(cupti_measure_record(&c, 10), 0);
        cupti_double_fail("cuptiActivityGetNextRecord=999");
        CHECK_EQ_U64(cupti_measure_record(&c, 10), 0);
    }
}

TEST(cupti_records, of_any_size) {
    struct cupti c;
    if (!load(CUPTI_DOUBLE_LIBRARY, &c)) {
        for (size_t stride = 160; stride <= 512; stride += 8) {
            cupti_double_stride(10, stride);
            CHECK_EQ_U64(cupti_measure_record(&c, 10), stride);
            check_all(&c);
        }
    }
}

/* A parser that gives pointers from anywhere, or never ends. */
static CUpti_Activity *stray;

static CUptiResult astray(uint8_t *buffer, size_t size, CUpti_Activity **record) {
    (void)buffer;
    (void)size;
    *record = stray;
    return 0;
}

TEST(cupti_records, from_outside_the_buffer) {
    _Alignas(8) uint8_t memory[512] = {0};
    struct activity_record r[4];
    struct cupti c = {.cuptiActivityGetNextRecord = astray};
    uint8_t *const places[] = {memory, memory + 120, memory + 382, memory + 384, NULL};
    for (int i = 0; i < 5; ++i) {
        struct cupti_reader reader = {.cupti = &c, .buffer = memory + 128, .size = 256};
        stray = (CUpti_Activity *)(void *)places[i];
        CHECK(cupti_read_records(&reader, r, 4) == 0);
        CHECK(reader.broken);
    }
    struct cupti_reader cut = {.cupti = &c, .buffer = memory + 128, .size = 256};
    memory[280] = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL; /* 104 bytes before the end */
    stray = (CUpti_Activity *)(void *)(memory + 280);
    CHECK(cupti_read_records(&cut, r, 4) == 0);
    CHECK(cut.broken);
    struct cupti_reader reader = {.cupti = &c, .buffer = memory + 128, .size = 256};
    stray = (CUpti_Activity *)(void *)(memory + 128); /* again and again */
    CHECK(cupti_read_records(&reader, r, 4) == 0);
    CHECK(reader.broken);
    CHECK_EQ_U64(cupti_measure_record(&c, 10), 0);
}

TEST(cupti_records, names_of_the_double) {
    struct cupti c;
    if (!load(CUPTI_DOUBLE_LIBRARY, &c)) {
        CHECK(cupti_get_name(CUPTI_CB_DOMAIN_DRIVER_API, 0) == NULL);
        CHECK(cupti_get_name(CUPTI_CB_DOMAIN_DRIVER_API, 9999) == NULL);
        CHECK(cupti_get_name(7, 1) == NULL && cupti_get_name(-1, 1) == NULL);
        CHECK_STR_EQ(cupti_get_name(CUPTI_CB_DOMAIN_DRIVER_API, 2), "cuMemcpyHtoD_v2");
        CHECK_STR_EQ(cupti_get_name(CUPTI_CB_DOMAIN_RUNTIME_API, 3), "cudaMemcpyAsync_ptsz");
    }
}

/* ---- The real one. ---- */

#ifdef CUPTI_REAL
TEST(cupti_real, records) {
    struct cupti c;
    NEED_REAL_DRIVER();
    if (load(CUPTI_REAL, &c)) {
        return;
    }
    for (int i = 0; i < CUPTI_KINDS; ++i) {
        size_t bytes = cupti_measure_record(&c, sizes[i].kind);
        CHECK(bytes >= cupti_kind_table[i].min_bytes && bytes % 8 == 0);
    }
    CHECK_EQ_U64(cupti_measure_record(&c, 200), 0);
    check_all(&c);
    check_cut(&c);
}

/* Without the bits of streams, and whether the library itself calls it. */
static unsigned uses(int domain, const char *name) {
    for (uint32_t i = 1; i < cupti_get_names_end(domain); ++i) {
        if (cupti_get_name(domain, i) && !strcmp(cupti_get_name(domain, i), name)) {
            return cupti_get_use(domain, i) & ~(CUPTI_STREAM_MASK | CUPTI_USE_OWN);
        }
    }
    return 99;
}

TEST(cupti_real, names) {
    struct cupti c;
    NEED_REAL_DRIVER();
    if (load(CUPTI_REAL, &c)) {
        return;
    }
    unsigned launches = 0;
    for (int d = 1; d <= 2; ++d) {
        CHECK(cupti_get_names_end(d) > 300);
        for (uint32_t i = 1; i < cupti_get_names_end(d); ++i) {
            const char *name = cupti_get_name(d, i);
            CHECK(name && !strstr(name, "_v3020") && !strstr(name, "_v1"));
            launches += (cupti_get_use(d, i) & CUPTI_USE_LAUNCH) != 0;
        }
    }
    CHECK(launches > 100);
    unsigned launch = CUPTI_USE_RECORD | CUPTI_USE_LAUNCH;
    CHECK(uses(2, "cudaLaunchKernel") == launch && uses(2, "cudaLaunchKernelExC") == launch);
    CHECK(uses(2, "cudaMemcpy2DAsync_ptsz") == launch && uses(2, "cudaGraphLaunch") == launch);
    CHECK(uses(2, "cudaMallocAsync") == launch && uses(2, "cudaStreamSynchronize_ptsz") == launch);
    CHECK(uses(1, "cuLaunchKernelEx") == launch && uses(1, "cuMemcpyHtoDAsync_v2") == launch);
    CHECK(uses(1, "cuCtxSynchronize") == launch && uses(1, "cuMemFree_v2") == launch);
    CHECK(uses(1, "cuEventQuery") == CUPTI_USE_QUERY && uses(1, "cuEventRecord") == 0);
    CHECK(uses(2, "cudaEventQuery") == (CUPTI_USE_RECORD | CUPTI_USE_QUERY));
    CHECK(uses(1, "cuMemBatchDecompressAsync") == launch && uses(1, "cuGraphUpload") == launch);
    CHECK(uses(1, "cuMemDiscardBatchAsync") == launch);
    CHECK(uses(2, "cudaMemDiscardAndPrefetchBatchAsync") == launch);
    CHECK(uses(2, "cudaGetDevice") == 0 && uses(1, "cuModuleLoad") == CUPTI_USE_RECORD);
}

/* Every function of the installed library that launches something, and every internal one. */
TEST(cupti_real, launches) {
    struct cupti c;
    NEED_REAL_DRIVER();
    if (load(CUPTI_REAL, &c)) {
        return;
    }
    for (int d = 1; d <= 2; ++d) {
        for (uint32_t i = 1; i < cupti_get_names_end(d); ++i) {
            const char *name = NULL;
            CHECK(!c.cuptiGetCallbackName(d, i, &name));
            unsigned use = cupti_get_use(d, i) & ~(CUPTI_STREAM_MASK | CUPTI_USE_OUTER);
            int launches = strstr(name, "Launch") != NULL && !strstr(name, "Attribute");
            if (launches && !CHECK(use == (CUPTI_USE_RECORD | CUPTI_USE_LAUNCH))) {
                dprintf(harness_fd, "    not known as a launch: %s\n", name);
            }
            if (!launches && !strncmp(name, "__", 2) && !CHECK(use == 0)) {
                dprintf(harness_fd, "    an internal function: %s\n", name);
            }
            CHECK(strncmp(cupti_get_name(d, i), "__", 2) != 0);
        }
    }
}

static int real_has(const struct cupti *real, int domain, const char *wanted) {
    const char *name = NULL;
    for (uint32_t i = 1; i < 2000; ++i) {
        if (!real->cuptiGetCallbackName((CUpti_CallbackDomain)domain, i, &name) && name &&
            !strcmp(name, wanted)) {
            return 1;
        }
    }
    return 0;
}

/* The double's names of functions are names of the real library, and its records have the size of
 * the real ones, or the beginning of it: later versions append. */
TEST(cupti_real, the_double_is_like_it) {
    struct cupti real, d;
    NEED_REAL_DRIVER();
    if (open_library(CUPTI_REAL, &real) || open_library(CUPTI_DOUBLE_LIBRARY, &d)) {
        return;
    }
    for (int domain = 1; domain <= 2; ++domain) {
        const char *name = NULL;
        for (uint32_t i = 1; !d.cuptiGetCallbackName((CUpti_CallbackDomain)domain, i, &name); ++i) {
            if (!CHECK(real_has(&real, domain, name))) {
                dprintf(harness_fd, "    not a function: %s\n", name);
            }
        }
    }
    for (int i = 0; i < CUPTI_KINDS; ++i) {
        size_t ours = cupti_measure_record(&d, sizes[i].kind);
        size_t theirs = cupti_measure_record(&real, sizes[i].kind);
        if (!CHECK(theirs >= ours)) {
            dprintf(harness_fd, "    kind %d: %zu, not %zu\n", sizes[i].kind, ours, theirs);
        }
    }
}
#else
#define REAL_IS_MISSING(name)                                                                      \
    TEST(cupti_real, name) {                                                                       \
        SKIP("no CUDA toolkit here");                                                              \
    }
REAL_IS_MISSING(records)
REAL_IS_MISSING(names)
REAL_IS_MISSING(launches)
REAL_IS_MISSING(the_double_is_like_it)
#endif
