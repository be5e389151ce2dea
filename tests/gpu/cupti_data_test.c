/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records that the back end makes of CUPTI's records and buffers, on the double of CUPTI:
 * fields of every kind and size of record, names, lost and broken records, late buffers. The
 * expected values are those that the test gave to the double.
 */
#include <sys/resource.h>
#include <sys/syscall.h>

#include "cupti/cupti_private.h"
#include "cupti_seen.h"
#include "harness_threads.h"

TEST(cupti_data, kernel) {
    begin();
    uint32_t c = cupti_double_launch(&add_kernel);
    uint64_t launched = activity_clock();
    wait_and_flush(2);
    const struct activity_record *r = first_of(ACTIVITY_KERNEL);
    CHECK_STR_EQ(r->name, "_Z3addPf");
    CHECK(r->correlation == c && r->device == 2 && r->context == 3 && r->stream == 7);
    CHECK_EQ_U64(r->start, launched + 300);
    CHECK_EQ_U64(r->end, launched + 5300);
    CHECK(r->grid[0] == 10 && r->grid[1] == 20 && r->grid[2] == 30);
    CHECK(r->block[0] == 40 && r->block[1] == 5 && r->block[2] == 6);
    CHECK(r->registers == 33 && r->shared_static == 1024 && r->shared_dynamic == 2048);
    CHECK(launch_count >= 1 && launches[0] == c);
}

TEST(cupti_data, kernel_of_every_size) {
    static const size_t strides[] = {160, 168, 176, 200, 208, 216, 256};
    for (unsigned i = 0; i < 7; ++i) {
        IN_CHILD() {
            prepare();
            cupti_double_stride(10, strides[i]);
            CHECK(!tracer_start());
            cupti_double_launch(&add_kernel);
            uint32_t c = cupti_double_launch(&add_kernel);
            wait_and_flush(2);
            CHECK(count_of(ACTIVITY_KERNEL) == 2);
            CHECK(seen_count && seen[seen_count - 1].kind != ACTIVITY_NONE);
            CHECK_STR_EQ(first_of(ACTIVITY_KERNEL)->name, "_Z3addPf");
            CHECK(first_of(ACTIVITY_KERNEL)->correlation == c - 1);
        }
    }
}

TEST(cupti_data, copies_and_fills) {
    begin();
    uint32_t c = cupti_double_copy(&(struct cupti_double_copy){.device = 1,
                                                               .context = 4,
                                                               .stream = 9,
                                                               .ns = 700,
                                                               .bytes = 4096,
                                                               .direction = ACTIVITY_COPY_HTOD,
                                                               .from = ACTIVITY_MEMORY_PAGEABLE,
                                                               .to = ACTIVITY_MEMORY_DEVICE,
                                                               .async = 1});
    uint32_t p = cupti_double_copy(&(struct cupti_double_copy){
        .device = 1, .ns = 900, .bytes = 64, .direction = ACTIVITY_COPY_PTOP, .peer = 1});
    uint32_t f = cupti_double_fill(1, 9, 512, ACTIVITY_MEMORY_MANAGED, 50);
    wait_and_flush(1);
    CHECK(count_of(ACTIVITY_COPY) == 2);
    const struct activity_record *r = first_of(ACTIVITY_COPY);
    CHECK(r->correlation == c && r->device == 1 && r->context == 4 && r->stream == 9);
    CHECK_EQ_U64(r->end - r->start, 700);
    CHECK_EQ_U64(r->bytes, 4096);
    CHECK(r->detail == ACTIVITY_COPY_DETAIL(ACTIVITY_COPY_HTOD, ACTIVITY_MEMORY_PAGEABLE,
                                            ACTIVITY_MEMORY_DEVICE, 1));
    do {
        ++r;
    } while (r->kind != ACTIVITY_COPY);
    CHECK(r->correlation == p && r->bytes == 64 && r->end - r->start == 900);
    CHECK(ACTIVITY_COPY_DIRECTION(r->detail) == ACTIVITY_COPY_PTOP);
    r = first_of(ACTIVITY_FILL);
    CHECK(r->correlation == f && r->bytes == 512 && r->end - r->start == 50);
    CHECK(r->detail == ACTIVITY_MEMORY_MANAGED && r->device == 1 && r->stream == 9);
}

TEST(cupti_data, calls_waits_memory_overhead) {
    begin();
    cupti_double_launch(&add_kernel);
    uint32_t w = cupti_double_wait(CUPTI_DOUBLE_STREAM, 2, 7);
    uint32_t a = cupti_double_alloc(2, 0xabc000, 1 << 20, ACTIVITY_MEMORY_DEVICE);
    uint32_t f = cupti_double_free(2, 0xabc000, 1 << 20, ACTIVITY_MEMORY_DEVICE);
    cupti_double_overhead(1 << 16, 77);
    tracer_flush(0);
    const struct activity_record *r = first_of(ACTIVITY_SYNC);
    CHECK(r->correlation == w && r->detail == ACTIVITY_SYNC_STREAM && r->stream == 7);
    CHECK(r->device == ACTIVITY_NO_DEVICE && r->end - r->start == 5300);
    r = first_of(ACTIVITY_ALLOC);
    CHECK(r->correlation == a && r->address == 0xabc000 && r->bytes == 1 << 20);
    CHECK(r->device == 2 && r->detail == ACTIVITY_MEMORY_DEVICE && r->start && r->end == r->start);
    CHECK(first_of(ACTIVITY_FREE)->correlation == f);
    r = first_of(ACTIVITY_OVERHEAD);
    CHECK(r->detail == 1 << 16 && r->end - r->start == 77);
    CHECK_STR_EQ(r->name, "overhead buffer flush");
    r = first_of(ACTIVITY_API);
    CHECK_STR_EQ(r->name, "cudaLaunchKernel");
    CHECK(r->device == ACTIVITY_NO_DEVICE && r->thread);
    CHECK_EQ_U64(r->end - r->start, 1000);
    CHECK_STR_EQ(first_of(ACTIVITY_DRIVER)->name, "cuLaunchKernel");
    CHECK(first_of(ACTIVITY_DRIVER)->correlation == r->correlation);
}

TEST(cupti_data, a_graph_has_one_correlation) {
    struct cupti_double_kernel nodes[3] = {add_kernel, add_kernel, add_kernel};
    begin();
    uint32_t c = cupti_double_graph(nodes, 3);
    wait_and_flush(2);
    CHECK(count_of(ACTIVITY_KERNEL) == 3);
    for (unsigned i = 0; i < seen_count; ++i) {
        CHECK(seen[i].kind != ACTIVITY_KERNEL || seen[i].correlation == c);
    }
}

static void noise(void) {
    cupti_double_call("cudaGetDevice");
    cupti_double_call("cudaGetLastError");
    cupti_double_call("cuEventRecord");
    cupti_double_call("cuCtxGetCurrent");
    cupti_double_call("cudaStreamCreate");
    tracer_flush(0);
    CHECK(seen_count == 1);
    CHECK_STR_EQ(seen[0].name, "cudaStreamCreate");
}

TEST(cupti_data, noise_is_left_out) {
    begin();
    CHECK(!cupti_double_records_call("cudaGetDevice"));
    CHECK(!cupti_double_records_call("cuEventQuery"));
    CHECK(cupti_double_records_call("cudaEventQuery"));
    CHECK(cupti_double_records_call("cudaStreamCreate"));
    CHECK(cupti_double_records_call("cuModuleLoad"));
    CHECK(!cupti_double_calls_back("cudaStreamCreate"));
    CHECK(!cupti_double_calls_back("cuEventRecord"));
    CHECK(cupti_double_calls_back("cuMemAlloc_v2"));
    CHECK(cupti_double_calls_back("cudaMemcpyAsync"));
    noise();
}

TEST(cupti_data, all_calls_on_request) {
    setenv("STINT_GPU", "cupti,all", 1);
    begin();
    CHECK(cupti_double_records_call("cudaGetDevice"));
    CHECK(!cupti_double_calls_back("cudaStreamCreate"));
    CHECK(cupti_double_calls_back("cudaGetDevice")); /* stint may call it, too */
    CHECK(cupti_double_calls_back("cudaMemcpyAsync"));
    cupti_double_call("cudaGetDevice");
    cupti_double_call("cuEventRecord");
    tracer_flush(0);
    CHECK(count_of(ACTIVITY_API) == 1 && seen_count == 2);
    CHECK_STR_EQ(first_of(ACTIVITY_API)->name, "cudaGetDevice");
    CHECK_STR_EQ(first_of(ACTIVITY_DRIVER)->name, "cuEventRecord");
}

/* A record with the fields that cupti_activity.h describes at
 * CUpti_ActivityUnifiedMemoryCounter2. */
static struct activity_record unified(uint32_t counter, uint64_t value) {
    struct cupti_unified r = {.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
                              .counterKind = counter,
                              .value = value,
                              .start = cupti_double_now(),
                              .end = cupti_double_now() + 700,
                              .srcId = 4,
                              .dstId = 5};
    fake_advance(1000);
    seen_count = 0;
    cupti_double_record(&r, sizeof r);
    tracer_flush(0);
    return *first_of(ACTIVITY_UNIFIED);
}

TEST(cupti_data, unified_memory) {
    setenv("STINT_GPU", "cupti,all", 1);
    begin();
    CHECK(cupti_double_enabled(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER));
    struct activity_record r = unified(ACTIVITY_UNIFIED_HTOD, 65536);
    CHECK(r.detail == ACTIVITY_UNIFIED_HTOD && r.bytes == 65536 && r.device == 5);
    CHECK_EQ_U64(r.end - r.start, 700);
    r = unified(ACTIVITY_UNIFIED_DTOH, 4096);
    CHECK(r.bytes == 4096 && r.device == 4);
    r = unified(ACTIVITY_UNIFIED_CPU_FAULT, 0x7f0000); /* an address, and no end */
    CHECK(r.bytes == 0 && r.device == ACTIVITY_NO_DEVICE && r.end == r.start);
    r = unified(ACTIVITY_UNIFIED_GPU_FAULT, 3);
    CHECK(r.bytes == 0 && r.device == 4 && r.end - r.start == 700);
    r = unified(ACTIVITY_UNIFIED_REMOTE_MAP, 8192);
    CHECK(r.bytes == 8192 && r.device == ACTIVITY_NO_DEVICE && r.end == r.start);
}

TEST(cupti_data, unified_memory_only_on_request) {
    begin();
    CHECK(!cupti_double_enabled(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER));
    CHECK_EQ_U64(cupti_double_calls("cuptiActivityConfigureUnifiedMemoryCounter"), 0);
    CHECK(!strstr(described(), "without"));
}

TEST(cupti_data, unified_memory_that_cannot_be_configured_is_said) {
    setenv("STINT_GPU", "cupti,all", 1);
    prepare();
    CHECK(!cupti_double_fail("cuptiActivityConfigureUnifiedMemoryCounter:1=29"));
    CHECK(!tracer_start());
    CHECK(strstr(described(), "without unified memory"));
    CHECK(cupti_double_enabled(CUPTI_ACTIVITY_KIND_MEMCPY));
}

TEST(cupti_data, launch_of_cuda_13) {
    begin();
    CHECK(cupti_double_calls_back("__cudaLaunchKernel"));
    CHECK(cupti_double_calls_back("__cudaLaunchKernel_ptsz"));
    CHECK(cupti_double_records_call("__cudaLaunchKernel"));
    uint32_t c = cupti_double_launch_13(&add_kernel);
    CHECK(launch_count >= 1 && launches[0] == c);
    fake_advance(10000);
    tracer_flush(0);
    CHECK(count_of(ACTIVITY_API) == 1);
    CHECK_STR_EQ(first_of(ACTIVITY_API)->name, "cudaLaunchKernel");
    CHECK(first_of(ACTIVITY_API)->correlation == c);
    CHECK(first_of(ACTIVITY_KERNEL)->correlation == c);
}

TEST(cupti_data, internal_functions_of_cuda_13_are_left_out) {
    static const char *const names[] = {
        "__cudaRegisterFatBinary",    "__cudaInitModule", "__cudaPushCallConfiguration",
        "__cudaPopCallConfiguration", "__cudaGetKernel",  "__cudaGetProcAddress"};
    begin();
    for (unsigned i = 0; i < sizeof names / sizeof *names; ++i) {
        CHECK(!cupti_double_records_call(names[i]));
        CHECK(!cupti_double_calls_back(names[i]));
        cupti_double_call(names[i]);
    }
    tracer_flush(1);
    CHECK(seen_count == 0);
}

TEST(cupti_data, noise_is_left_out_where_the_library_cannot) {
    prepare();
    cupti_double_fail("cuptiActivityEnableRuntimeApi=1,cuptiActivityEnableDriverApi=1");
    CHECK(!tracer_start());
    CHECK(cupti_double_records_call("cudaGetDevice"));
    noise();
}

TEST(cupti_data, a_query_is_no_wait) {
    begin();
    for (int i = 0; i < 3; ++i) {
        cupti_double_query(0, 0);
    }
    uint32_t c = cupti_double_wait(CUPTI_DOUBLE_EVENT, 0, 0);
    tracer_flush(0);
    CHECK(count_of(ACTIVITY_SYNC) == 1);
    CHECK(first_of(ACTIVITY_SYNC)->correlation == c);
}

TEST(cupti_data, devices_are_described) {
    prepare_initialised();
    double_device_name(2, "Test GPU");
    CHECK(!tracer_start());
    cupti_double_launch(&add_kernel);
    wait_and_flush(2);
    CHECK(device_count == 1);
    CHECK_STR_EQ(device_name, "Test GPU");
    cupti_double_launch(&add_kernel);
    wait_and_flush(2);
    CHECK(device_count == 1);
}

/* ---- Losses. ---- */

TEST(cupti_data, dropped_records_are_counted) {
    begin();
    cupti_double_drop(41);
    cupti_double_launch(&add_kernel);
    wait_and_flush(2);
    cupti_double_drop(1);
    cupti_double_call("cudaStreamCreate");
    tracer_flush(0);
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_DROPPED), 42);
}

TEST(cupti_data, impossible_times_go_on) {
    begin();
    cupti_double_times(9000, 8000);
    cupti_double_launch(&add_kernel);
    cupti_double_times(0, 0);
    cupti_double_launch(&add_kernel);
    wait_and_flush(2);
    CHECK(count_of(ACTIVITY_KERNEL) == 2);
    CHECK(first_of(ACTIVITY_KERNEL)->start > first_of(ACTIVITY_KERNEL)->end);
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_BAD), 2);
}

/* ---- CUPTI's clock. ---- */

/* A kernel of 5000 ns that began 1300 ns after this moment. */
static void check_kernel(unsigned number, uint64_t before) {
    CHECK(count_of(ACTIVITY_KERNEL) == number);
    for (unsigned i = 0; i < seen_count; ++i) {
        if (seen[i].kind == ACTIVITY_KERNEL && !--number) {
            CHECK_EQ_U64(seen[i].start, before + 1300);
            CHECK_EQ_U64(seen[i].end - seen[i].start, 5000);
        }
    }
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_BAD), 0);
}

TEST(cupti_data, three_sessions_keep_every_kernel) {
    prepare();
    for (unsigned session = 0; session < 3; ++session) {
        CHECK(!tracer_start());
        for (unsigned i = 0; i < 10; ++i) {
            fake_advance(1000000);
            uint64_t before = activity_clock();
            cupti_double_launch(&add_kernel);
            wait_and_flush(2);
            check_kernel(session * 10 + i + 1, before);
        }
        tracer_stop();
    }
    CHECK_EQ_U64(cupti_double_calls("cuptiUnsubscribe"), 3);
}

TEST(cupti_data, its_clock_is_set_while_kernels_run) {
    static const int64_t steps[] = {3600000000000, -7200000000000, -5000000000, 1000000000000};
    begin();
    for (unsigned i = 0; i < 4; ++i) {
        fake_advance(1000000000);
        uint64_t before = activity_clock();
        cupti_double_launch(&add_kernel);
        cupti_double_wait(CUPTI_DOUBLE_ALL, 2, 0);
        fake_advance(1000000);
        cupti_double_clock_step(steps[i]);
        fake_advance(1000000);
        tracer_flush(0); /* the kernel's times are those of the clock before */
        check_kernel(2 * i + 1, before);
        before = activity_clock();
        cupti_double_launch(&add_kernel);
        wait_and_flush(2);
        check_kernel(2 * i + 2, before);
    }
    CHECK_CONTAINS(described(), "% of the run, its clock was set 4 times");
}

TEST(cupti_data, its_clock_drifts) {
    begin();
    cupti_double_clock_drift(600);
    for (unsigned i = 0; i < 20; ++i) {
        uint64_t before = activity_clock();
        cupti_double_launch(&add_kernel);
        fake_advance(500000000);
        wait_and_flush(2);
        fake_advance(500000000);
        CHECK(count_of(ACTIVITY_KERNEL) == i + 1);
        uint64_t start = 0, took = 0;
        for (unsigned j = 0; j < seen_count; ++j) {
            if (seen[j].kind == ACTIVITY_KERNEL) {
                start = seen[j].start + (uint64_t)seen[j].shift;
                took = seen[j].end - seen[j].start;
            }
        }
        CHECK_EQ_U64(took, 5003);                                /* 5000 ns, by its own clock */
        CHECK(start >= before + 1290 && start <= before + 1310); /* of half a second */
    }
    CHECK_CONTAINS(described(), "% of the run, its clock drifts by up to ");
}

TEST(cupti_data, its_clock_fails_later) {
    begin();
    cupti_double_fail("cuptiGetTimestamp=999");
    uint64_t before = activity_clock();
    cupti_double_launch(&add_kernel);
    wait_and_flush(2);
    check_kernel(1, before);
    CHECK_CONTAINS(described(), ", reading its clock fails: CUPTI_ERROR_UNKNOWN");
    cupti_double_fail(NULL);
    cupti_double_launch(&add_kernel);
    wait_and_flush(2);
    CHECK(!strstr(described(), "fails"));
}

/* A kind that was not enabled is skipped; one that is unknown to the library ends the buffer. */
TEST(cupti_data, foreign_records) {
    uint32_t other[6] = {39};
    begin();
    cupti_double_record(other, sizeof other);
    cupti_double_call("cudaStreamCreate");
    tracer_flush(0);
    CHECK(seen_count == 1);
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_BAD), 0);
    cupti_double_call("cudaStreamCreate");
    cupti_double_fail("cuptiActivityGetNextRecord:2=21");
    tracer_flush(0);
    CHECK(seen_count == 2);
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_BAD), 1);
}

TEST(cupti_data, a_kind_that_fails_is_left_off_and_said) {
    prepare();
    cupti_double_stride(49, 48);
    cupti_double_fail("cuptiActivityEnable:2=35");
    CHECK(!tracer_start());
    CHECK_STR_EQ(described(), "cupti 13.1: 0 records, 0.0 % of the run, without copies, "
                              "allocations");
    CHECK(!cupti_double_enabled(1) && !cupti_double_enabled(49) && cupti_double_enabled(10));
}

TEST(cupti_data, toolkits_by_version) {
    static const struct {
        uint32_t version;
        const char *text;
    } rows[] = {{16, "cupti 11.5/11.6: "}, {17, "cupti 11.7: "},     {24, "cupti 12.6: "},
                {28, "cupti 12.9: "},      {25, "cupti version 25"}, {130100, "cupti 13.1: "}};
    for (unsigned i = 0; i < 6; ++i) {
        IN_CHILD() {
            prepare();
            cupti_double_version(rows[i].version);
            CHECK(!tracer_start());
            CHECK_CONTAINS(described(), rows[i].text);
        }
    }
}

/* ---- Buffers. ---- */

static void many(unsigned buffers) {
    cupti_double_hold(1);
    for (unsigned i = 0; i < buffers; ++i) {
        cupti_double_call("cudaStreamCreate");
        cupti_double_deliver();
    }
}

TEST(cupti_data, buffers_come_out_of_order) {
    begin();
    many(20); /* 8, then small ones */
    CHECK(seen_count == 0);
    cupti_double_hold(0);
    CHECK(seen_count == 20);
    CHECK(seen[0].correlation == 20 && seen[19].correlation == 1);
    CHECK_EQ_U64(cupti_double_refused(), 0);
    many(8 + 4096); /* all came back */
    CHECK_EQ_U64(cupti_double_refused(), 0);
    many(1);
    CHECK_EQ_U64(cupti_double_refused(), 1);
    cupti_double_hold(0);
    cupti_double_call("cudaStreamCreate");
    tracer_flush(0);
    CHECK(seen_count == 20 + 8 + 4096 + 1);
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_DROPPED), 1);
}

TEST(cupti_data, never_refuses_who_cannot_bear_it) {
    prepare();
    cupti_double_version(26);
    CHECK(!tracer_start());
    many(200);
    CHECK_EQ_U64(cupti_double_refused(), 0);
    cupti_double_hold(0);
    CHECK(seen_count == 200);
}

TEST(cupti_data, records_fill_many_buffers) {
    begin();
    for (int i = 0; i < 30000; ++i) { /* 1.2 MB */
        cupti_double_call("cudaStreamCreate");
    }
    tracer_flush(0);
    CHECK(seen_count == 30000);
    CHECK_EQ_U64(cupti_double_buffers(), 2);
    CHECK_STR_EQ(described(), "cupti 13.1: 30000 records, 0.0 % of the run");
}

TEST(cupti_data, late_buffers_are_read) {
    begin();
    cupti_double_launch(&add_kernel);
    tracer_stop(); /* the kernel still runs */
    CHECK(count_of(ACTIVITY_KERNEL) == 0);
    fake_advance(10000);
    cupti_double_deliver();
    CHECK(count_of(ACTIVITY_KERNEL) == 1);
    CHECK(first_of(ACTIVITY_KERNEL)->end != 0);
}

TEST(cupti_data, what_is_left_comes_with_a_flush) {
    begin();
    cupti_double_launch(&add_kernel);
    tracer_flush(TRACER_COMPLETE);
    CHECK(count_of(ACTIVITY_KERNEL) == 0);
    fake_advance(10000);
    tracer_flush(TRACER_COMPLETE);
    CHECK(count_of(ACTIVITY_KERNEL) == 1);
    cupti_double_launch(&add_kernel);
    tracer_stop();
    fake_advance(10000);
    tracer_flush(0);
    CHECK(count_of(ACTIVITY_KERNEL) == 2);
}

/* Work in a context that ended is counted once; work in the next context is traced, too. */
TEST(cupti_data, contexts_end_and_the_device_is_reset) {
    static const char *const ends[] = {"cuCtxDestroy_v2", "cuDevicePrimaryCtxReset_v2"};
    begin();
    for (unsigned i = 0; i < 4; ++i) {
        cupti_double_launch(&add_kernel);
        fake_advance(10000);
        cupti_double_call(ends[i % 2]);
        tracer_flush(i < 2 ? TRACER_COMPLETE : TRACER_WAIT);
        CHECK_EQ_U64(count_of(ACTIVITY_KERNEL), i + 1);
    }
    CHECK(tracer_is_on());
    cupti_double_launch(&add_kernel);
    cupti_double_call(ends[1]); /* with work that runs */
    fake_advance(10000);
    tracer_flush(TRACER_FORCED);
    CHECK_EQ_U64(count_of(ACTIVITY_KERNEL), 5);
    CHECK_EQ_U64(lost_in_all(), 0);
}

/* ---- Buffers per thread. ---- */

static void *launch_one(NO_ARG) {
    cupti_double_launch(&add_kernel);
    return NULL;
}

static void launch_by_another_thread(void) {
    thread_run(launch_one, NULL);
    fake_advance(10000);
}

TEST(cupti_data, a_rare_thread_keeps_no_buffer) {
    static const uint32_t versions[] = {16, 20, 21, 28, 130001};
    for (unsigned i = 0; i < 5; ++i) {
        IN_CHILD() {
            prepare();
            cupti_double_version(versions[i]);
            for (unsigned session = 0; session < 2; ++session) {
                CHECK(!tracer_start());
                CHECK(!cupti_double_per_thread());
                launch_by_another_thread();
                cupti_double_deliver();
                CHECK(count_of(ACTIVITY_KERNEL) == session + 1);
                tracer_stop();
            }
            CHECK(!cupti_double_misused());
        }
    }
}

TEST(cupti_data, threads_have_whole_numbers) {
    begin();
    cupti_double_call("cudaStreamCreate");
    fake_advance(10000);
    tracer_flush(TRACER_COMPLETE);
    CHECK_EQ_U64(first_of(ACTIVITY_API)->thread, (uint64_t)syscall(SYS_gettid));
    CHECK(!cupti_double_misused());
}

TEST(cupti_data, steps_flush_where_threads_keep_buffers) {
    prepare();
    cupti_double_fail("cuptiActivitySetAttribute=1");
    CHECK(!tracer_start());
    CHECK(cupti_double_per_thread());
    fake_advance(1000000000);
    launch_by_another_thread();
    cupti_double_deliver();
    CHECK(count_of(ACTIVITY_KERNEL) == 0);
    stint_step();
    CHECK(count_of(ACTIVITY_KERNEL) == 1);
    CHECK_EQ_U64(cupti_double_calls("cuptiActivityFlushAll"), 1);
    launch_by_another_thread();
    stint_step(); /* not so often */
    CHECK(count_of(ACTIVITY_KERNEL) == 1);
    fake_advance(100000000);
    stint_step();
    CHECK(count_of(ACTIVITY_KERNEL) == 2);
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_LATE), 0);
}

/* The time in which one of the seen kernels ran, computed from all pairs of them. */
static uint64_t get_busy_time(uint64_t *first, uint64_t *last) {
    uint64_t busy = 0;
    *first = UINT64_MAX;
    *last = 0;
    for (unsigned i = 0; i < seen_count; ++i) {
        const struct activity_record *r = &seen[i];
        if (r->kind != ACTIVITY_KERNEL) {
            continue;
        }
        uint64_t from = r->start, to = r->end;
        *first = from < *first ? from : *first;
        *last = to > *last ? to : *last;
        for (unsigned k = 0; k < seen_count;
             ++k) { /* each part counts for the one that ends last */
            const struct activity_record *other = &seen[k];
            int goes_on = other->kind == ACTIVITY_KERNEL && other->start < r->end &&
                          (other->end > r->end || (other->end == r->end && k > i));
            to = goes_on && other->start < to ? other->start : to;
        }
        busy += to > from ? to - from : 0;
    }
    return busy;
}

static uint64_t get_total(uint32_t kind) {
    uint64_t total = 0;
    uint32_t unit = __atomic_load_n(&arena_header()->first_activity, __ATOMIC_ACQUIRE);
    while (unit) {
        const struct arena_activity *a = arena_at(unit);
        if (a->kind == kind && (kind != ACTIVITY_BUSY || a->detail == ACTIVITY_BUSY_KERNEL)) {
            total += a->total;
        }
        unit = a->next;
    }
    return total;
}

/* The number of kernels whose launch is known. */
static uint64_t get_launches(void) {
    uint64_t known = 0;
    uint32_t unit = __atomic_load_n(&arena_header()->first_activity, __ATOMIC_ACQUIRE);
    while (unit) {
        const struct arena_activity *a = arena_at(unit);
        if (a->kind == ACTIVITY_KERNEL) {
            known += a->launches;
        }
        unit = a->next;
    }
    return known;
}

/* As with buffers per thread (NVIDIA/Fuser#5402): the last one comes back first, three times. */
TEST(cupti_data, two_hundred_buffers_are_out_at_once) {
    begin();
    for (int round = 0; round < 3; ++round) {
        cupti_double_hold(1);
        for (int buffer = 0; buffer < 200; ++buffer) {
            for (int i = 0; i < 100; ++i) {
                cupti_double_launch(&add_kernel);
            }
            fake_advance(100 * add_kernel.ns);
            cupti_double_deliver();
        }
        cupti_double_hold(0);
    }
    CHECK_EQ_U64(get_total(ACTIVITY_KERNEL), 60000 * add_kernel.ns);
    CHECK_EQ_U64(get_launches(), 60000);
    CHECK_EQ_U64(lost_in_all(), 0);
}

static void *launch_on_its_own_stream(void *ns) {
    struct cupti_double_kernel k = add_kernel;
    k.stream = 8;
    k.ns = *(const uint64_t *)ns;
    cupti_double_launch(&k);
    return NULL;
}

static uint64_t draw_below(uint64_t *seed, uint64_t below) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % below;
}

/* Threads keep their buffers over many reports: what they ran is sorted in, and what had been idle
 * time until then is taken back. */
TEST(cupti_data, buffers_of_threads_that_come_late) {
    uint64_t seed = 12, first, last;
    prepare();
    cupti_double_fail("cuptiActivitySetAttribute=1");
    CHECK(!tracer_start());
    fake_advance(1000);
    for (unsigned i = 0; i < 200; ++i) {
        uint64_t ns = draw_below(&seed, 20000);
        if (i % 3 == 0) {
            thread_run(launch_on_its_own_stream, &ns);
        }
        cupti_double_launch(&add_kernel);
        fake_advance(6000 + draw_below(&seed, 20000));
        cupti_double_deliver(); /* this thread's */
        if (i % 7 == 0) {
            activity_settle();
        }
    }
    activity_settle();
    CHECK_EQ_U64(count_of(ACTIVITY_KERNEL), 200);
    uint64_t shown = get_total(ACTIVITY_GAP);
    fake_advance(1000000);
    tracer_flush(TRACER_COMPLETE);
    CHECK_EQ_U64(count_of(ACTIVITY_KERNEL), 267);
    uint64_t busy = get_busy_time(&first, &last);
    CHECK(get_total(ACTIVITY_GAP) - get_total(ACTIVITY_TAKEN_BACK) < shown);
    CHECK_EQ_U64(get_total(ACTIVITY_BUSY), busy);
    CHECK_EQ_U64(get_total(ACTIVITY_GAP) - get_total(ACTIVITY_TAKEN_BACK), last - first - busy);
    CHECK_EQ_U64(lost_in_all(), 0);
    CHECK_EQ_U64(get_launches(), 267);
}

TEST(cupti_data, steps_do_not_flush_elsewhere) {
    begin();
    fake_advance(1000000000);
    cupti_double_launch(&add_kernel);
    stint_step();
    CHECK_EQ_U64(cupti_double_calls("cuptiActivityFlushAll"), 0);
}

TEST(cupti_data, what_is_forced_out_has_no_times) {
    begin();
    cupti_double_launch(&add_kernel);
    tracer_flush(TRACER_FORCED);
    CHECK(count_of(ACTIVITY_KERNEL) == 1);
    CHECK(!first_of(ACTIVITY_KERNEL)->start && !first_of(ACTIVITY_KERNEL)->end);
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_BAD), 1);
    fake_advance(10000);
    tracer_flush(TRACER_COMPLETE);
    CHECK(count_of(ACTIVITY_KERNEL) == 1);
}

TEST(cupti_data, no_memory_for_a_buffer) {
    struct rlimit limit;
    if (SANITIZED) {
        SKIP("a sanitizer needs address space");
    }
    prepare();
    cupti_double_version(26);
    CHECK(!tracer_start());
    cupti_double_launch(&add_kernel);
    many(20);
    CHECK(!getrlimit(RLIMIT_AS, &limit));
    limit.rlim_cur = 1 << 20;
    CHECK(!setrlimit(RLIMIT_AS, &limit));
    errno = 77;
    cupti_double_call("cudaStreamCreate");
    cupti_double_deliver();
    CHECK(errno == 77);
    CHECK_EQ_U64(cupti_double_refused(), 1);
}
