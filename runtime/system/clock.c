/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of a clock at the start, its calibration, and conversions between ticks and
 * nanoseconds. clock_init is called once, before any other function and before a thread of the
 * library exists; what it decided is only read after it. The inline path of the public header reads
 * the counter itself (stint/detail/impl_clock.h).
 */
#include "clock.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/arithmetic.h"
#include "read_beginning.h"
#include "stint/detail/impl_clock.h"

/* Long enough that the two clock readings (some 30 ns each) are 0.1 % of it, short enough to vanish
 * in a program's start. Reports calibrate again over the whole run. */
#define CALIBRATION_NS 50000

/* Bounds for a clock that does not advance: under a tool that freezes time, in a program with a
 * clock_gettime of its own, where the call fails. 50 us are some 500 stamps, of four readings each.
 * The kernel is asked for longer: its clock may advance with the timer interrupt only (10 ms). */
#define LIBC_STAMPS 5000
#define KERNEL_STAMPS 100000

static enum clock_kind kind = CLOCK_KIND_MONOTONIC;
static uint64_t ticks_per_us = 1000 << 8;

static uint64_t timespec_ns(const struct timespec *t) {
    return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

/* 0 where the call fails. */
static uint64_t read_ns(clockid_t id) {
    struct timespec t;
    if (clock_gettime(id, &t)) {
        return 0;
    }
    return timespec_ns(&t);
}

#if !defined(STINT_IMPL_FAKE_CLOCK)
/* CLOCK_MONOTONIC_RAW is read by system call, as what clock_gettime returns is of no use. */
static int from_kernel;

static uint64_t read_monotonic_ns(void) {
    struct timespec t;
    if (!from_kernel) {
        return read_ns(CLOCK_MONOTONIC_RAW);
    }
    if (syscall(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, &t)) {
        return 0;
    }
    return timespec_ns(&t);
}

#if defined(__x86_64__)
static int is_counter_trusted(void) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(0x80000007u, &a, &b, &c, &d) || !(d & 1u << 8)) {
        return 0; /* the rate follows the frequency */
    }
    char name[8];
    read_beginning("/sys/devices/system/clocksource/clocksource0/current_clocksource", name,
                   sizeof name);
    return !strncmp(name, "tsc", 3);
}
#else
static int is_counter_trusted(void) {
    return 1; /* the architecture promises a constant rate */
}
#endif
#endif

uint64_t clock_ns(void) {
#if defined(STINT_IMPL_FAKE_CLOCK)
    return STINT_IMPL_TICKS();
#else
    return read_monotonic_ns();
#endif
}

uint64_t clock_ticks(void) {
    if (kind == CLOCK_KIND_COUNTER) {
        return STINT_IMPL_TICKS();
    }
    return clock_ns();
}

void clock_stamp(struct clock_stamp *out) {
    /* The best of three tries is the one with the least time between the two readings: a preemption
     * between them would falsify the whole calibration. */
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 3; ++i) {
        uint64_t before = clock_ticks();
        uint64_t ns = clock_ns();
        uint64_t after = clock_ticks();
        if (i == 0 || after - before < best) {
            best = after - before;
            out->ticks = before + (after - before) / 2;
            out->monotonic_ns = ns;
        }
    }
    out->real_ns = read_ns(CLOCK_REALTIME);
}

#if !defined(STINT_IMPL_FAKE_CLOCK)
/* 0 unless the clock advances as far as the calibration needs; it may stop in its middle. */
static int calibrate_counter(int stamps) {
    struct clock_stamp from, to;
    clock_stamp(&from);
    do {
        if (stamps-- == 0) {
            return 0;
        }
        clock_stamp(&to);
    } while (to.monotonic_ns < from.monotonic_ns + CALIBRATION_NS);
    uint64_t ns = to.monotonic_ns - from.monotonic_ns;
    ticks_per_us = u64_max(((to.ticks - from.ticks) * 1000 << 8) / ns, 1);
    return 1;
}

static int clock_advances(int stamps) {
    uint64_t first = clock_ns();
    while (clock_ns() == first) {
        if (--stamps == 0) {
            return 0;
        }
    }
    return 1;
}

static int source_is_usable(int stamps) {
    if (kind == CLOCK_KIND_COUNTER) {
        return calibrate_counter(stamps);
    }
    return clock_advances(stamps);
}

static enum clock_source choose_source(void) {
    from_kernel = 0;
    if (source_is_usable(LIBC_STAMPS)) {
        return CLOCK_SOURCE_LIBC;
    }
    from_kernel = 1;
    if (source_is_usable(KERNEL_STAMPS)) {
        return CLOCK_SOURCE_KERNEL;
    }
    /* The counter is of no use without its rate. */
    from_kernel = 0;
    kind = CLOCK_KIND_MONOTONIC;
    ticks_per_us = 1000 << 8;
    return CLOCK_SOURCE_FROZEN;
}
#endif

enum clock_source clock_init(int wanted) {
    ticks_per_us = 1000 << 8;
#if defined(STINT_IMPL_FAKE_CLOCK)
    kind = CLOCK_KIND_COUNTER;
    if (wanted == 2) {
        kind = CLOCK_KIND_MONOTONIC;
    }
    return CLOCK_SOURCE_LIBC;
#else
    kind = CLOCK_KIND_MONOTONIC;
    if (wanted == 1 || (wanted == 0 && is_counter_trusted())) {
        kind = CLOCK_KIND_COUNTER;
    }
    return choose_source();
#endif
}

enum clock_kind clock_kind(void) {
    return kind;
}

const char *clock_name(void) {
    if (kind != CLOCK_KIND_COUNTER) {
        return "monotonic";
    }
#if defined(__x86_64__)
    return "tsc";
#else
    return "cntvct";
#endif
}

uint64_t clock_ticks_per_us(void) {
    return ticks_per_us;
}

uint64_t clock_ticks_of_ns(uint64_t ns) {
    double ticks = (double)ns * (double)ticks_per_us / 256000.0 + 0.5;
    if (ticks >= (double)INT64_MAX) {
        return (uint64_t)INT64_MAX;
    }
    return (uint64_t)ticks;
}

uint64_t clock_ns_of_ticks(uint64_t ticks) {
    double ns = (double)ticks * 256000.0 / (double)ticks_per_us + 0.5;
    if (ns >= (double)INT64_MAX) {
        return (uint64_t)INT64_MAX;
    }
    return (uint64_t)ns;
}

uint64_t clock_ticks_at(uint64_t us) {
    uint64_t ticks = clock_ticks();
    uint64_t ns = clock_ns();
    if (us >= ns / 1000) {
        return ticks;
    }
    uint64_t ago = clock_ticks_of_ns(ns - us * 1000);
    if (ago >= ticks) {
        return 1;
    }
    return ticks - ago;
}
