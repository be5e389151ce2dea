/* SPDX-License-Identifier: Apache-2.0 */
/*
 * STINT_COUNTERS and STINT_RUSAGE as a program has them: on a double of the system call
 * (perf_double.h) where the processor counts, else for real.
 */
#include "counters/counters.h"
#include "harness_threads.h"

#include <sys/resource.h>

#include "perf_double.h"
#include "recorded.h"
#include "support.h"

#define HARDWARE double_refuse[PERF_ABI_TYPE_HARDWARE]
#define CACHE double_refuse[PERF_ABI_TYPE_HW_CACHE]
#define SOFTWARE double_refuse[PERF_ABI_TYPE_SOFTWARE]

static void use(const char *counters) {
    setenv("STINT_COUNTERS", counters, 1);
    perf_set_system(&perf_double);
}

static void one_scope(NO_ARG) {
    timed("scope", 1000);
}

static void *run_thread(void *unused) {
    one_scope(unused);
    return unused;
}

static void one_thread(void *unused) {
    thread_run(run_thread, unused);
}

static char *said_by(void (*call)(void *)) {
    return harness_capture(2, call, NULL);
}

static void check_line(const char *expected) {
    CHECK_STR_EQ(said_by(one_scope), expected);
    CHECK_STR_EQ(said_by(one_scope), ""); /* once */
    CHECK_STR_EQ(said_by(one_thread), "");
    CHECK_EQ_U64(calls_of("scope"), 3);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(counters, a_machine_without_counters) {
    use("cycles,llc-misses,page-faults,l1-misses");
    HARDWARE = ENOENT;
    CACHE = ENOENT;
    check_line("stint: STINT_COUNTERS: cycles, instructions, l1-loads, l1-misses, llc-loads, "
               "llc-misses: this processor does not have them, or the virtual machine does not "
               "pass them on; not counted\n");
    CHECK_EQ_U64(double_open_now, perf_events_of(COUNTER_GROUP_SOFTWARE));
}

TEST(counters, refused_by_the_setting_of_the_kernel) {
    use("cycles");
    HARDWARE = EACCES;
    double_paranoid = 3;
    check_line("stint: STINT_COUNTERS: cycles, instructions: not permitted: "
               "kernel.perf_event_paranoid is 3, at most 2 is required, or CAP_PERFMON; not "
               "counted\n");
}

TEST(counters, software_events_need_more_of_the_setting) {
    use("page-faults");
    SOFTWARE = EACCES;
    check_line("stint: STINT_COUNTERS: task-clock, context-switches, page-faults, cpu-migrations: "
               "not permitted: kernel.perf_event_paranoid is 2, at most 1 is required, or "
               "CAP_PERFMON; not counted\n");
}

TEST(counters, refused_by_a_filter) {
    use("cycles");
    HARDWARE = EPERM;
    check_line("stint: STINT_COUNTERS: cycles, instructions: not permitted, as by the system call "
               "filter of a container; not counted\n");
}

TEST(counters, a_kernel_without_the_call) {
    use("cycles");
    HARDWARE = ENOSYS;
    check_line("stint: STINT_COUNTERS: cycles, instructions: the kernel has no perf_event_open; "
               "not counted\n");
}

TEST(counters, any_other_error) {
    use("cycles");
    HARDWARE = EINVAL;
    check_line("stint: STINT_COUNTERS: cycles, instructions: Invalid argument; not counted\n");
}

TEST(counters, each_reason_has_a_line) {
    use("cycles,l1-misses");
    HARDWARE = ENOSYS;
    CACHE = ENOENT;
    char *said = said_by(one_scope);
    CHECK_EQ_U64(lines_of(said), 2);
    CHECK(strstr(said, "instructions: the kernel has no") && strstr(said, "l1-misses: this"));
}

/* No scope may be slower than without the setting if the kernel refuses all counters. */
TEST(counters, where_all_are_refused_scopes_take_the_fast_path) {
    use("cycles");
    HARDWARE = ENOENT;
    for (int i = 0; i < PROBE_TRIES + 1; ++i) {
        said_by(one_scope);
    }
    CHECK(probe_on());
    CHECK(counters_probe.cost_ticks() > UINT64_MAX / 10000);
}

TEST(counters, no_line_without_the_setting) {
    perf_set_system(&perf_double);
    CHECK_STR_EQ(said_by(one_scope), "");
    CHECK(!probe_on());
    CHECK_EQ_U64(double_opened, 0);
}

TEST(counters, a_list_without_a_known_name_is_none) {
    use("cycels");
    char *said = said_by(one_scope);
    CHECK(strstr(said, "unknown counter 'cycels'"));
    CHECK(!probe_on());
    CHECK_EQ_U64(double_opened, 0);
}

static pthread_barrier_t all_are_there;

static void *stay(void *unused) {
    one_scope(unused);
    pthread_barrier_wait(&all_are_there);
    pthread_barrier_wait(&all_are_there);
    return unused;
}

#define THREADS 6u

/* One after the other up to their first scope; then all stay until `meanwhile` was called. */
static void with_threads(void (*meanwhile)(void)) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&all_are_there, NULL, THREADS + 1);
    for (unsigned i = 0; i < THREADS; ++i) {
        uint64_t calls = i ? calls_of("scope") : 0;
        pthread_create(&threads[i], NULL, stay, NULL);
        while (calls_of("scope") == calls) {
            sched_yield();
        }
    }
    pthread_barrier_wait(&all_are_there);
    meanwhile();
    pthread_barrier_wait(&all_are_there);
    threads_join(threads, THREADS);
}

static void check_each_has_its_own(void) {
    CHECK_EQ_U64(double_open_now, 2 * THREADS);
}

TEST(counters, each_thread_has_its_own_and_closes_them) {
    use("cycles");
    with_threads(check_each_has_its_own);
    CHECK_EQ_U64(double_open_now, 0);
    one_scope(NULL);
    CHECK_EQ_U64(double_open_now, 2);
}

static void check_bound(void) {
    CHECK_EQ_U64(double_open_now, 8);
}

static void with_bounded_threads(NO_ARG) {
    with_threads(check_bound);
}

/* A quarter of 35. */
TEST(counters, descriptors_are_bounded) {
    struct rlimit limit = {35, 35};
    use("cycles");
    CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
    CHECK_STR_EQ(said_by(with_bounded_threads),
                 "stint: STINT_COUNTERS: a quarter of the files that the process may open (ulimit "
                 "-n) is in use for counters; later threads have none\n");
    CHECK_EQ_U64(double_open_now, 0);
    one_scope(NULL); /* there is room again */
    CHECK_EQ_U64(double_open_now, 2);
}

TEST(counters, no_descriptor_left_in_the_process) {
    use("cycles");
    double_room = 0;
    char *said = said_by(one_scope);
    CHECK_EQ_U64(lines_of(said), 1);
    CHECK(strstr(said, "ulimit -n"));
    double_room = DOUBLE_EVENTS;
    one_thread(NULL); /* not refused for good */
    CHECK_EQ_U64(double_opened, 2);
    CHECK_EQ_U64(double_open_now, 0);
}

static void *own_thread;
static unsigned refused;

/* Reads as a scope in a signal handler does that interrupts the opening. */
static int open_in_a_handler(struct perf_attr *attr, int group_fd) {
    uint64_t values[PROBE_VALUES];
    if (refused < 10) {
        refused += counters_probe.read(own_thread, values, PROBE_BEGIN) == -1;
    }
    return double_open(attr, group_fd);
}

TEST(counters, a_signal_handler_in_the_opening) {
    static struct perf_system calls;
    uint64_t values[PROBE_VALUES];
    use("cycles");
    one_scope(NULL); /* reads the settings */
    calls = perf_double;
    calls.open = open_in_a_handler;
    perf_set_system(&calls);
    own_thread = calloc(1, counters_probe.thread_bytes);
    CHECK(!counters_probe.read(own_thread, values, PROBE_BEGIN));
    CHECK_EQ_U64(refused, 2);       /* at each of its events */
    CHECK_EQ_U64(double_opened, 4); /* of each thread once */
    counters_probe.end_thread(own_thread);
    CHECK_EQ_U64(double_open_now, 2);
    free(own_thread);
}

TEST(counters, a_child_closes_the_parents_and_opens_its_own) {
    use("cycles");
    one_scope(NULL);
    uint64_t id = double_find(PERF_ABI_TYPE_HARDWARE, 0)->id;
    IN_CHILD() {
        CHECK_EQ_U64(double_open_now, 0);
        one_scope(NULL);
        CHECK_EQ_U64(double_open_now, 2);
        CHECK(double_find(PERF_ABI_TYPE_HARDWARE, 0)->id != id);
        CHECK_EQ_U64(calls_of("scope"), 1);
    }
    one_scope(NULL);
    CHECK_EQ_U64(double_find(PERF_ABI_TYPE_HARDWARE, 0)->id, id);
}

/* ---- What reports make of the numbers. */

static void count(uint32_t type, uint64_t config, uint64_t by) {
    double_find(type, config)->value += by;
}

/* A call with the events of a processor: per 100 cycles 250 instructions, 40 loads and one miss. */
static void work(uint64_t cycles, uint64_t enabled, uint64_t running) {
    REGISTER_TIMER("work");
    fake_advance(1000);
    count(PERF_ABI_TYPE_HARDWARE, 0, cycles);
    count(PERF_ABI_TYPE_HARDWARE, 1, cycles * 5 / 2);
    count(PERF_ABI_TYPE_HARDWARE, 2, cycles / 100 * 40);
    count(PERF_ABI_TYPE_HARDWARE, 3, cycles / 100);
    double_enabled += enabled;
    double_running += running;
}

TEST(counters, ratios_and_counts_of_a_row) {
    use("cycles,llc-misses");
    timed("open", 1); /* opens the counters */
    work(1000, 100, 100);
    work(3000, 100, 100);
    const struct stint_row *r = row_now("work");
    CHECK_EQ_U64(r->has & (ROW_CORE | ROW_LLC | ROW_COUNTED), ROW_CORE | ROW_LLC | ROW_COUNTED);
    CHECK(!(r->has & (ROW_USAGE | ROW_L1 | ROW_SOFTWARE | ROW_MULTIPLEXED)));
    CHECK_EQ_U64(r->extra->measure[MEASURE_CORE_CALLS], 2);
    CHECK_EQ_U64(r->extra->measure[MEASURE_CYCLES], 4000);
    CHECK_EQ_U64(r->extra->measure[MEASURE_INSTRUCTIONS], 10000);
    CHECK_EQ_U64(r->extra->ipc_ppm, 2500000);
    CHECK_EQ_U64(r->extra->llc_miss_ppm, 25000);
    CHECK_EQ_U64(r->extra->counted_calls, 2);
    char *report = report_of("table");
    CHECK(strstr(report, "  IPC  ") && strstr(report, "  2.50  "));
    CHECK(strstr(report, "% LLC miss") && !strstr(report, "% scaled") && !strstr(report, "on CPU"));
}

/* The group was on the processor for a quarter of the first call, and for half of the second. */
TEST(counters, shared_counters_are_scaled_and_marked) {
    use("cycles");
    timed("open", 1);
    double_find(PERF_ABI_TYPE_HARDWARE, 0)->value = 77;
    REGISTER_TIMER("outer");
    for (int i = 0; i < 2; ++i) {
        REGISTER_TIMER("work");
        fake_advance(1000);
        count(PERF_ABI_TYPE_HARDWARE, 0, 1000);
        count(PERF_ABI_TYPE_HARDWARE, 1, 500);
        double_enabled += 400;
        double_running += i ? 200 : 100;
    }
    const struct stint_row *r = row_now("work");
    CHECK_EQ_U64(r->has & ROW_MULTIPLEXED, ROW_MULTIPLEXED);
    CHECK_EQ_U64(r->extra->measure[MEASURE_CYCLES], 2000 * 800 / 300);
    CHECK_EQ_U64(r->extra->multiplexed_ppm, 625000);
    CHECK(r->extra->ipc_ppm >= 499900 && r->extra->ipc_ppm <= 500100);
    CHECK(strstr(report_of("tree"), "% scaled"));
}

/* No number rather than 0. */
TEST(counters, a_group_that_never_counted_has_no_numbers) {
    use("cycles");
    timed("open", 1);
    {
        REGISTER_TIMER("work");
        double_enabled += 400;
    }
    const struct stint_row *r = row_now("work");
    CHECK(!(r->has & (ROW_CORE | ROW_COUNTED)));
}

TEST(counters, a_reset_begins_anew) {
    use("cycles,llc-misses");
    timed("open", 1);
    work(1000, 100, 100);
    stint_reset();
    CHECK(!(row_now("work")->has & ROW_CORE));
    work(600, 100, 100);
    CHECK_EQ_U64(row_now("work")->extra->measure[MEASURE_CYCLES], 600);
}

/* The program closed the descriptor, and another event has its number. */
TEST(counters, a_descriptor_that_was_taken_leaves_calls_uncounted) {
    use("cycles,llc-misses");
    timed("open", 1);
    work(1000, 100, 100);
    double_find(PERF_ABI_TYPE_HARDWARE, 0)->id = 1;
    work(1000, 100, 100);
    const struct stint_row *r = row_now("work");
    CHECK_EQ_U64(r->extra->measure[MEASURE_CORE_CALLS], 1);
    CHECK_EQ_U64(r->extra->measure[MEASURE_LLC_CALLS], 2);
}

static void use_cpu(uint64_t ns) {
    struct timespec t;
    uint64_t from, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    from = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    } while (now < from + ns);
}

/* The sleep is a voluntary switch, by which a wait is known as one. */
static void wait_in(const char *name, uint64_t wall_ns) {
    REGISTER_TIMER_DYNAMIC(name);
    usleep(1);
    use_cpu(2000000);
    fake_advance(wall_ns);
}

/* CPU time of the machine, wall time of the test: at least 2 ms of 1 000 s, and of 1 us. */
TEST(usage_of_scopes, rows_that_mostly_wait_are_marked) {
    setenv("STINT_RUSAGE", "1", 1);
    wait_in("waits", 1000000000000u);
    wait_in("works", 1000);
    const struct stint_row *r = row_now("waits");
    CHECK_EQ_U64(r->has & ROW_USAGE, ROW_USAGE);
    CHECK_EQ_U64(r->extra->measure[MEASURE_USAGE_CALLS], 1);
    CHECK_EQ_U64(r->extra->measure[MEASURE_USAGE_WALL_NS], 1000000000000u);
    CHECK(r->extra->measure[MEASURE_USAGE_CPU_NS] >= 2000000);
    CHECK(r->extra->on_cpu_ppm < 500000);
    CHECK_EQ_U64(row_now("works")->extra->on_cpu_ppm, 1000000);
    char *report = report_of("table");
    CHECK(strstr(report, "waits (waits, 0 % CPU)") && !strstr(report, "works ("));
    CHECK(strstr(report, "on CPU") && strstr(report, "preempted") && strstr(report, "min flt"));
}

/* 10 ms of CPU time before 2 ms, whatever the clock on the wall says. */
TEST(usage_of_scopes, rows_are_sorted_by_cpu_time) {
    setenv("STINT_RUSAGE", "1", 1);
    wait_in("waits", 1000000000000u);
    for (int i = 0; i < 5; ++i) {
        wait_in("busy", 3000000);
    }
    char *report = report_of("table,sort=cpu");
    const char *busy = strstr(report, "\nbusy"), *waits = strstr(report, "\nwaits");
    CHECK(strstr(report, ", by cpu") && strstr(report, "CPU time"));
    CHECK(busy && waits && busy < waits);
    report = report_of("table");
    CHECK(strstr(report, "\nwaits") < strstr(report, "\nbusy"));
}

/* 2 ms of CPU time in 5 ms, in 2.5 ms and, where nothing is read, in 1 us. */
TEST(usage_of_scopes, long_ones_that_wait_are_marked) {
    setenv("STINT_WAITS", "1", 1);
    for (int i = 0; i < 3; ++i) {
        wait_in("sleeps", 5000000);
        wait_in("spins", 2500000);
        wait_in("short", 1000);
    }
    const struct stint_row *r = row_now("sleeps");
    CHECK_EQ_U64(r->has & (ROW_CPU | ROW_USAGE), ROW_CPU);
    CHECK_EQ_U64(r->extra->cpu_calls, 2); /* the first call has none, */
    CHECK_EQ_U64(r->extra->measure[MEASURE_CPU_WALL_NS], 2 * 5000000); /* and is in neither time */
    CHECK(r->extra->measure[MEASURE_CPU_WAITS] >= 2);
    CHECK(r->extra->cpu_ns >= 2 * 2000000);
    CHECK(row_now("spins")->extra->on_cpu_ppm >= 800000);
    CHECK(!(row_now("short")->has & ROW_CPU));
    char *report = report_of("table");
    CHECK(strstr(report, "sleeps (waits, "));
    CHECK(!strstr(report, "spins (") && !strstr(report, "short ("));
    CHECK(!strstr(report, "CPU time") && !strstr(report, "on CPU"));
    report = report_of("table,sort=cpu");
    CHECK(strstr(report, "CPU time") && strstr(report, "on CPU") && !strstr(report, "preempted"));
    CHECK(!strstr(report, "(no CPU time"));
}

TEST(usage_of_scopes, long_ones_that_wait_are_marked_by_default) {
    unsetenv("STINT_WAITS");
    for (int i = 0; i < 3; ++i) {
        wait_in("waits", 1000000000000u);
    }
    char *report = report_of("table");
    CHECK(strstr(report, "waits (waits, 0 % CPU)"));
}

TEST(usage_of_scopes, none_is_marked_if_it_is_off) {
    setenv("STINT_WAITS", "0", 1);
    for (int i = 0; i < 3; ++i) {
        wait_in("waits", 1000000000000u);
    }
    char *report = report_of("table,sort=cpu");
    CHECK(strstr(report, "\nwaits ") && !strstr(report, "(waits"));
    CHECK(strstr(report, "(no CPU time: "));
}

static void fault(const char *name, size_t pages) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *fresh =
        mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(fresh != MAP_FAILED);
    madvise(fresh, pages * page, MADV_NOHUGEPAGE);
    REGISTER_TIMER_DYNAMIC(name);
    for (size_t i = 0; i < pages; ++i) {
        ((volatile char *)fresh)[i * page] = 1;
    }
}

TEST(usage_of_scopes, faults_are_the_scopes_own) {
    setenv("STINT_RUSAGE", "1", 1);
    fault("first", 1); /* pages of the library's own */
    fault("many", 300);
    fault("few", 3);
    CHECK(row_now("many")->extra->measure[MEASURE_MINOR_FAULTS] >= 300);
    u128 few = row_now("few")->extra->measure[MEASURE_MINOR_FAULTS];
    CHECK(few >= 3 && few < 300);
}

/* On the kernel's real counters, if it permits them: both sources count the same faults. */
TEST(usage_of_scopes, software_counters_agree) {
    struct perf_group g;
    int error = perf_open(&g, COUNTER_GROUP_SOFTWARE);
    if (error) {
        SKIP(strerror(error));
    }
    perf_close(&g);
    setenv("STINT_RUSAGE", "1", 1);
    setenv("STINT_COUNTERS", "page-faults", 1);
    fault("first", 1);
    fault("many", 300);
    const struct stint_row *r = row_now("many");
    u128 counted = r->extra->measure[MEASURE_PAGE_FAULTS];
    u128 faults = r->extra->measure[MEASURE_MINOR_FAULTS] + r->extra->measure[MEASURE_MAJOR_FAULTS];
    CHECK(counted >= 300 && faults >= 300);
    CHECK(counted >= faults); /* it is read before and after the other */
    CHECK(r->extra->measure[MEASURE_TASK_CLOCK_NS] > 0);
}
