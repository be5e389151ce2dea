/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the real machine.c, which is a part of this program and replaces the library's fake one. */
#include "system/machine.c"

#include "gpu/gpu.h"
#include "support.h"

TEST(machine, says_where_it_is) {
    struct machine m;
    char host[256] = "";
    memset(&m, 0x5a, sizeof m);
    errno = 33;
    machine_read(&m);
    CHECK_EQ_U64((uint64_t)errno, 33);
    gethostname(host, sizeof host - 1);
    CHECK(!strncmp(m.host, host, sizeof m.host - 1));
    CHECK_CONTAINS(m.program, "machine_test");
    CHECK(m.cpu[0] && !strchr(m.cpu, '\n'));
    CHECK(!strncmp(m.compiler, "gcc ", 4) || !strncmp(m.compiler, "clang ", 6));
    CHECK(m.cpus >= 1 && m.cpus <= 1024);
}

TEST(machine, conditions_are_words) {
    char text[MACHINE_CONDITIONS], load[32];
    errno = 33;
    machine_conditions(text);
    CHECK_EQ_U64((uint64_t)errno, 33);
    CHECK(!strncmp(text, "aslr=", 5));
    CHECK_CONTAINS(text, " governor=");
    CHECK_CONTAINS(text, " load=");
    CHECK(!strchr(text, '\n'));
    const char *bytes = strstr(text, " env=");
    CHECK(bytes && strtoul(bytes + 5, NULL, 10) > 0);
    read_word(load, sizeof load, "/nothing/here");
    CHECK(!strcmp(load, "?"));
}

static void touch_memory(int calls_allowed) {
    struct machine_usage before, after;
    size_t bytes = (size_t)32 << 20;
    errno = 33;
    CHECK(!machine_usage(&before, calls_allowed));
    CHECK_EQ_U64((uint64_t)errno, 33);
    volatile char *block = malloc(bytes);
    for (size_t i = 0; i < bytes; i += 4096) {
        block[i] = 1;
    }
    CHECK(!machine_usage(&after, calls_allowed));
    free((void *)(uintptr_t)block);
    CHECK(before.peak_rss > (size_t)1 << 18);
    CHECK(after.peak_rss >= before.peak_rss);
    CHECK(after.peak_rss >= bytes / 2);
    CHECK(after.minor_faults + after.major_faults > before.minor_faults + before.major_faults);
}

TEST(machine, usage_counts_memory_touched) {
    touch_memory(1);
}

TEST(machine, usage_of_proc_counts_memory_touched) {
    touch_memory(0);
}

/* Page faults between the two readings are the only difference. The kernel brings its count of
 * resident pages up to date in steps of up to 64 pages per thread, so the peaks are close only. */
TEST(machine, usage_of_proc_is_that_of_getrusage) {
    struct machine_usage first, proc, last;
    CHECK(!machine_usage(&first, 1) && !machine_usage(&proc, 0) && !machine_usage(&last, 1));
    CHECK(first.minor_faults <= proc.minor_faults && proc.minor_faults <= last.minor_faults);
    CHECK(first.major_faults <= proc.major_faults && proc.major_faults <= last.major_faults);
    CHECK(proc.peak_rss <= last.peak_rss + ((size_t)1 << 20));
}

/* As many groups as fill the lines before it, to any number of bytes. */
TEST(machine, the_peak_is_found_at_every_place_of_the_file) {
    char path[] = "/tmp/stint-status-XXXXXX", groups[4 * USAGE_LINE];
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    for (int length = 0; length < (int)sizeof groups; ++length) {
        uint64_t bytes = 0;
        memset(groups, '7', sizeof groups);
        CHECK(!ftruncate(fd, 0) && !lseek(fd, 0, SEEK_SET));
        dprintf(fd, "Groups:\t%.*s\nVmPeak:\t 90 kB\nVmHWM:\t 1234567 kB\nVmRSS:\t 5 kB\n", length,
                groups);
        CHECK(!read_proc_peak(path, &bytes));
        CHECK_EQ_U64(bytes, 1234567ull * 1024);
    }
    uint64_t none = 0;
    CHECK(!ftruncate(fd, 0) && read_proc_peak(path, &none) == -1);
    close(fd);
    unlink(path);
    CHECK(read_proc_peak(path, &none) == -1);
}

TEST(gpu, there_is_always_a_back_end) {
    const struct gpu_ops *gpu = gpu_ops();
    CHECK(gpu && gpu == gpu_ops());
    CHECK(gpu->name && gpu->context && gpu->event_new && gpu->event_query);
    CHECK(gpu->reason && *gpu->reason); /* without a GPU: why */
    CHECK(gpu->event_query(NULL) != 0);
}

static void capture(NO_ARG) {
    REGISTER_GPU_PROFILER("outer", "batch=32");
    {
        REGISTER_GPU_PROFILER("inner");
        GPU_PROFILER_START("deeper");
        GPU_PROFILER_STOP();
    }
}

TEST(gpu, without_one_a_capture_is_one_line_and_the_reason) {
    setenv("STINT_CUDA_LIB", "/nowhere/libcuda.so.1", 1);
    for (int i = 0; i < 2; ++i) {
        char *said = harness_capture(2, capture, NULL);
        CHECK(!strncmp(said, "Enable GPU Profiler Stat: [outer] \"batch=32\"\n", 45));
        CHECK_CONTAINS(said,
                       "\nstint: nothing is captured: no CUDA driver: no /nowhere/libcuda.so.1");
    }
}
