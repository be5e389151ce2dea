/* SPDX-License-Identifier: Apache-2.0 */
/*
 * activity_program COPIES [NS [LATE]]: a program on the fake clock whose GPU is made up: ten steps
 * that copy COPIES times in all, 4096 bytes in some NS each (1000), and run a kernel a step; the
 * last ones on a second thread and its own stream. What a tracer would see is put in as records.
 * Then two kernels with LATE ns between them, where a third one ran whose record comes when the
 * time between was counted as a gap: in a scope and on a source line, then outside of all. LATE 0:
 * the lines alone. With ACTIVITY_MEMORY in the environment it allocates 1, then 2 MiB first, and
 * frees the first.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "activity/activity.h"
#include "fake_clock.h"
#include "gpu/cuda_codes.h"
#include "stint/lines.h"
#include "stint/stint.h"

STINT_LINES_FILE(0, "made/up.c", NULL, 2, 10, 20)

static uint32_t correlation;
static uint64_t copy_ns = 1000;

/* An API call now, and what it launched: on the device 500 ns later. */
static void call(const char *name, struct activity_record r, uint32_t thread, uint64_t ns) {
    struct activity_record api = {.kind = ACTIVITY_API,
                                  .device = ACTIVITY_NO_DEVICE,
                                  .correlation = ++correlation,
                                  .name = name,
                                  .thread = thread,
                                  .start = activity_clock()};
    activity_launch(correlation);
    fake_advance(300);
    api.end = activity_clock();
    r.correlation = correlation;
    r.start = api.end + 500;
    r.end = r.start + ns;
    fake_advance(500 + ns);
    activity_begin();
    if (r.device != ACTIVITY_NO_DEVICE && !activity_knows_device(0)) {
        static const struct gpu_device device = {.name = "Example GPU", .major = 9};
        activity_device(0, &device);
    }
    activity_add(&api);
    activity_add(&r);
    activity_end();
}

static void copies(unsigned count, uint32_t thread, uint32_t stream) {
    REGISTER_TIMER("load");
    for (unsigned i = 0; i < count; ++i) {
        struct activity_record r = {.kind = ACTIVITY_COPY,
                                    .detail = ACTIVITY_COPY_DETAIL(ACTIVITY_COPY_HTOD,
                                                                   ACTIVITY_MEMORY_PAGEABLE,
                                                                   ACTIVITY_MEMORY_DEVICE, 0),
                                    .context = 1,
                                    .stream = stream,
                                    .bytes = 4096};
        call("cudaMemcpyAsync", r, thread, copy_ns + i % 16 * copy_ns / 64);
    }
}

static void step(unsigned count, uint32_t thread, uint32_t stream) {
    REGISTER_TIMER("step");
    struct activity_record r = {.kind = ACTIVITY_KERNEL,
                                .context = 1,
                                .stream = stream,
                                .name = "scale",
                                .grid = {132, 1, 1},
                                .block = {256, 1, 1},
                                .registers = 32};
    copies(count, thread, stream);
    call("cudaLaunchKernel", r, thread, 50000);
    stint_step();
}

static void *second(void *count) {
    step(*(unsigned *)count, 2, 13);
    return NULL;
}

static void kernel_at(uint64_t start, uint64_t ns) {
    struct activity_record r = {.kind = ACTIVITY_KERNEL,
                                .correlation = correlation,
                                .context = 1,
                                .stream = 7,
                                .name = "late",
                                .start = start,
                                .end = start + ns};
    activity_begin();
    activity_add(&r);
    activity_end();
}

static void run_late_kernel(uint64_t between) {
    activity_launch(++correlation);
    fake_advance(1000);
    uint64_t start = activity_clock();
    fake_advance(2 * between);
    kernel_at(start, 1000);
    kernel_at(start + 1000 + between, 1000);
    activity_settle();
    kernel_at(start + 1000 + between / 4, between / 2);
    activity_settle();
}

static void run_late_in_scope(uint64_t between) {
    STINT_LINES_FUNCTION(0)
    REGISTER_TIMER("late");
    STINT_LINE(0);
    if (between) {
        run_late_kernel(between);
    }
    STINT_LINE(1);
    fake_advance(3000);
}

static void change_memory(uint32_t kind, uint64_t address, uint64_t bytes) {
    struct activity_record r = {.kind = kind,
                                .detail = ACTIVITY_MEMORY_DEVICE,
                                .bytes = bytes,
                                .address = address,
                                .start = activity_clock(),
                                .end = activity_clock()};
    activity_begin();
    activity_add(&r);
    activity_end();
    fake_advance(1000);
}

static void allocate_memory(void) {
    change_memory(ACTIVITY_ALLOC, 0x1000, 1 << 20);
    change_memory(ACTIVITY_ALLOC, 0x2000, 2 << 20);
    change_memory(ACTIVITY_FREE, 0x1000, 1 << 20);
}

int main(int argc, char **argv) {
    unsigned each = argc > 1 ? (unsigned)atoi(argv[1]) / 10 : 1;
    pthread_t thread;
    copy_ns = argc > 2 ? (uint64_t)atoi(argv[2]) : copy_ns;
    {
        REGISTER_TIMER("main");
        activity_use_words(&cuda_words);
        if (activity_open()) {
            return 1;
        }
        if (getenv("ACTIVITY_MEMORY")) {
            allocate_memory();
        }
        for (int i = 0; i < 9; ++i) {
            step(each, 1, 7);
        }
        pthread_create(&thread, NULL, second, &each);
        pthread_join(thread, NULL);
        activity_settle();
        if (argc > 3) {
            run_late_in_scope(strtoull(argv[3], NULL, 10));
        }
    }
    if (argc > 3 && strcmp(argv[3], "0") != 0) {
        run_late_kernel(2 * strtoull(argv[3], NULL, 10));
    }
    return 0;
}
