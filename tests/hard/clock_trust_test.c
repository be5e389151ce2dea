/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock the library ships with, on a machine made up here: what its processor says of the
 * counter, what the kernel takes for its own clock, what both clocks read. Compiled into this
 * program under other names beside the fake clock of the library it is linked to.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define HOUR_NS ((uint64_t)3600 * 1000000000u)
#define YEAR_NS (HOUR_NS * 24 * 365)

static uint64_t now_ticks, now_ns;   /* what the two clocks show */
static uint64_t step_ticks, step_ns; /* and how far a reading moves them: of the counter both */
static uint64_t step_gettime;        /* ticks, by a reading of the other */
static int invariant;
static int still_after =
    -1; /* clock_gettime shows the same time after so many calls more; -1: no */
static int gettime_fails;
static int kernel_stands; /* the system call does not advance either */
static int kernel_calls;
static const char *source; /* the kernel's; NULL: no such file */

static uint64_t machine_ticks(void) {
    now_ns += step_ns;
    return now_ticks += step_ticks;
}

static void fill(struct timespec *t, uint64_t ns) {
    t->tv_sec = (time_t)(ns / 1000000000u);
    t->tv_nsec = (long)(ns % 1000000000u);
}

static int machine_gettime(clockid_t id, struct timespec *t) {
    static uint64_t shown;
    (void)id;
    now_ns += step_ns;
    now_ticks += step_gettime;
    if (gettime_fails) {
        errno = EINVAL;
        return -1;
    }
    if (still_after) {
        shown = now_ns;
        still_after -= still_after > 0;
    }
    fill(t, shown);
    return 0;
}

/* Replaces the system call clock_gettime. */
static long machine_syscall(long number, clockid_t id, struct timespec *t) {
    (void)number;
    (void)id;
    ++kernel_calls;
    if (kernel_stands) {
        fill(t, HOUR_NS);
        return 0;
    }
    now_ns += step_ns;
    now_ticks += step_gettime;
    fill(t, now_ns);
    return 0;
}

static int machine_open(const char *path, int flags) {
    (void)flags;
    if (!source || !strstr(path, "current_clocksource")) {
        errno = ENOENT;
        return -1;
    }
    return dup(0);
}

static ssize_t machine_read(int fd, void *out, size_t size) {
    (void)fd;
    size_t length = strlen(source);
    length = length < size ? length : size;
    memcpy(out, source, length);
    return (ssize_t)length;
}

#define STINT_IMPL_TICKS() machine_ticks()
#define STINT_IMPL_CLOCK_H /* the macro above in its place */
#define clock_gettime machine_gettime
#define syscall machine_syscall
#define open machine_open
#define read machine_read
#if defined(__x86_64__)
#define __get_cpuid(leaf, a, b, c, d)                                                              \
    (*(a) = *(b) = *(c) = 0, *(d) = invariant ? 1u << 8 : 0, (leaf) == 0x80000007u)
#endif
#include "real_clock.h"
#undef syscall
#undef open
#undef read

#include "harness.h"

/* Three ticks a nanosecond, up for an hour. */
static void machine_start(int is_invariant, const char *kernel_clock) {
    now_ns = HOUR_NS;
    now_ticks = 3 * HOUR_NS;
    step_ns = 20;
    step_ticks = step_gettime = 60;
    still_after = -1;
    gettime_fails = kernel_stands = kernel_calls = 0;
    invariant = is_invariant;
    source = kernel_clock;
}

static void pass(uint64_t ns) {
    now_ns += ns;
    now_ticks += 3 * ns;
}

static int is_rate(double ns_per_tick) {
    return ns_per_tick > 0.333 && ns_per_tick < 0.334;
}

#if defined(__x86_64__)
TEST(clock_trust, counter_only_if_processor_and_kernel_trust_it) {
    static const struct {
        int invariant;
        const char *source;
        int trusted;
    } machines[] = {
        {1, "tsc\n", 1},
        {0, "tsc\n", 0},
        {1, "hpet\n", 0}, /* what the kernel falls back to once it found the TSC wrong */
        {1, "acpi_pm\n", 0},
        {1, "kvm-clock\n", 0},
        {1, "hyperv_clocksource_tsc_page\n", 0},
        {1, "ts", 0},
        {1, "", 0},
        {1, NULL, 0}};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; ++i) {
        machine_start(machines[i].invariant, machines[i].source);
        clock_init(0);
        CHECK((clock_kind() == CLOCK_KIND_COUNTER) == machines[i].trusted);
        CHECK_STR_EQ(clock_name(), machines[i].trusted ? "tsc" : "monotonic");
    }
}

TEST(clock_trust, the_user_may_insist) {
    machine_start(0, "hpet\n");
    clock_init(1);
    CHECK(clock_kind() == CLOCK_KIND_COUNTER);
    machine_start(1, "tsc\n");
    clock_init(2);
    CHECK(clock_kind() == CLOCK_KIND_MONOTONIC);
}
#endif

/* Untrusted: ticks are nanoseconds of the kernel's clock, whatever the counter does. */
TEST(clock_trust, a_counter_that_is_not_trusted_is_not_read) {
    machine_start(0, "hpet\n");
    clock_init(2);
    CHECK_EQ_U64(clock_ticks_per_us(), 1000 << 8);
    uint64_t before = clock_ticks();
    now_ticks = 5; /* another processor's counter */
    uint64_t after = clock_ticks();
    CHECK_EQ_U64(after - before, step_ns);
    CHECK_EQ_U64(clock_ticks_of_ns(HOUR_NS), HOUR_NS);
}

TEST(clock_trust, a_counter_that_stands_still) {
    machine_start(1, "tsc\n");
    step_ticks = step_gettime = 0;
    clock_init(1);
    CHECK(clock_ticks_per_us() >= 1); /* no division by zero */
    struct clock_stamp from, to;
    clock_stamp(&from);
    clock_stamp(&to);
    double rate = stamp_ns_per_tick(&from, &to, clock_ticks_per_us());
    CHECK(rate > 0 && rate < 1e9);
}

/* ---- Clocks that stop, or fail. */

TEST(clock_trust, the_kernel_is_not_asked_while_the_library_answers) {
    for (int wanted = 0; wanted <= 2; ++wanted) {
        machine_start(1, "tsc\n");
        CHECK(clock_init(wanted) == CLOCK_SOURCE_LIBC);
        clock_ns();
        CHECK_EQ_U64((uint64_t)kernel_calls, 0);
    }
}

static void check_kernel_time(void) {
    struct clock_stamp from, to;
    clock_stamp(&from);
    pass(HOUR_NS);
    clock_stamp(&to);
    CHECK(to.monotonic_ns - from.monotonic_ns >= HOUR_NS &&
          to.monotonic_ns - from.monotonic_ns < HOUR_NS + 1000000);
}

/* The clock freezes before the calibration, or in the middle of it. */
TEST(clock_trust, a_frozen_clock_is_replaced_by_the_kernels) {
    for (int readings = 0; readings < 100; ++readings) {
        machine_start(1, "tsc\n");
        still_after = readings;
        CHECK(clock_init(1) == CLOCK_SOURCE_KERNEL);
        CHECK(clock_kind() == CLOCK_KIND_COUNTER);
        CHECK(clock_ticks_per_us() > 2900 << 8 && clock_ticks_per_us() < 3100 << 8);
        check_kernel_time();
    }
    machine_start(0, "hpet\n");
    still_after = 0;
    CHECK(clock_init(0) == CLOCK_SOURCE_KERNEL);
    CHECK(clock_kind() == CLOCK_KIND_MONOTONIC);
    check_kernel_time();
}

TEST(clock_trust, a_failing_clock_is_replaced_by_the_kernels) {
    for (int wanted = 1; wanted <= 2; ++wanted) {
        machine_start(1, "tsc\n");
        gettime_fails = 1;
        CHECK(clock_init(wanted) == CLOCK_SOURCE_KERNEL);
        check_kernel_time();
    }
}

TEST(clock_trust, without_any_clock_there_are_no_times_and_no_endless_loop) {
    for (int wanted = 0; wanted <= 2; ++wanted) {
        machine_start(1, "tsc\n");
        gettime_fails = kernel_stands = 1;
        CHECK(clock_init(wanted) == CLOCK_SOURCE_FROZEN);
        CHECK(clock_kind() == CLOCK_KIND_MONOTONIC);
        CHECK_EQ_U64(clock_ticks_per_us(), 1000 << 8);
        CHECK_EQ_U64(clock_ticks(), clock_ticks());
    }
}

/* A counter that turns back by one between its two readings: the first is kept, or there would be
 * none. */
TEST(clock_trust, the_first_reading_of_a_stamp) {
    struct clock_stamp s = {7, 7, 7};
    machine_start(1, "tsc\n");
    clock_init(1);
    step_ticks = UINT64_MAX;
    step_gettime = 0;
    clock_stamp(&s);
    CHECK(s.monotonic_ns >= HOUR_NS && s.monotonic_ns < 2 * HOUR_NS);
    CHECK(s.ticks != 7);
}

TEST(clock_trust, a_duration_too_long_for_ticks_is_as_long_as_they_get) {
    machine_start(1, "tsc\n");
    clock_init(1);
    CHECK(clock_ticks_per_us() > 2900 << 8 && clock_ticks_per_us() < 3100 << 8);
    uint64_t ten_years = clock_ticks_of_ns(10 * YEAR_NS);
    CHECK(ten_years > 29 * YEAR_NS && ten_years < 31 * YEAR_NS);
    CHECK_EQ_U64(clock_ticks_of_ns(UINT64_MAX), (uint64_t)INT64_MAX);
    CHECK_EQ_U64(clock_ticks_of_ns((uint64_t)INT64_MAX), (uint64_t)INT64_MAX);
    uint64_t last = 0;
    for (uint64_t ns = 1; ns < UINT64_MAX / 2; ns += ns / 3 + 1) {
        uint64_t ticks = clock_ticks_of_ns(ns);
        CHECK(ticks >= last && ticks <= (uint64_t)INT64_MAX);
        last = ticks;
    }
}

/* ---- The rate over the run. */

TEST(clock_trust, the_rate_over_ten_years) {
    struct clock_stamp from, to;
    machine_start(1, "tsc\n");
    clock_init(1);
    clock_stamp(&from);
    pass(10 * YEAR_NS);
    clock_stamp(&to);
    CHECK(is_rate(stamp_ns_per_tick(&from, &to, clock_ticks_per_us())));
    CHECK(to.ticks - from.ticks > 29 * YEAR_NS);
}

/* The counter went on while the machine slept, the kernel's clock did not. */
TEST(clock_trust, suspend_does_not_bend_the_rate) {
    struct clock_stamp from, to;
    machine_start(1, "tsc\n");
    clock_init(1);
    clock_stamp(&from);
    pass(HOUR_NS);
    now_ticks += 3 * 8 * HOUR_NS;
    clock_stamp(&to);
    CHECK(is_rate(stamp_ns_per_tick(&from, &to, clock_ticks_per_us())));
}

/* A sleep resets the counter: it is less than at its start for a while, then more again. */
TEST(clock_trust, a_counter_that_starts_over) {
    struct clock_stamp from, to;
    machine_start(1, "tsc\n");
    clock_init(1);
    clock_stamp(&from);
    pass(HOUR_NS);
    now_ticks = 0;
    clock_stamp(&to);
    CHECK(is_rate(stamp_ns_per_tick(&from, &to, clock_ticks_per_us())));
    pass(HOUR_NS + HOUR_NS / 60);
    clock_stamp(&to);
    CHECK(to.ticks > from.ticks); /* by a minute, after two hours */
    CHECK(is_rate(stamp_ns_per_tick(&from, &to, clock_ticks_per_us())));
}

/* Set by hand, slewed, stepped: the kernel's raw clock knows nothing of it, so nor do we. */
TEST(clock_trust, a_moment_in_the_future_or_before_the_start) {
    machine_start(1, "tsc\n");
    clock_init(1);
    uint64_t now = clock_ticks();
    CHECK(clock_ticks_at(UINT64_MAX) - now < 1000);
    CHECK(clock_ticks_at(now_ns / 1000 + 5000000) - now < 1000);
    CHECK(clock_ticks_at(0) >= 1 && clock_ticks_at(0) < now);
}
