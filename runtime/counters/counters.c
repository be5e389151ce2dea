/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers that a call is measured by: first the numbers of usage.h, then each group of perf.h.
 * record/probe.c says when; it calls on the thread that is measured, and a signal handler may
 * interrupt each function here and call it, too.
 * - A thread's groups are opened at its first reading and closed when it ends. A handler that
 *   interrupts the opening measures nothing.
 * - A group that the machine or its permissions refuse is refused for the whole process; one line
 *   says why. A thread that gets no descriptor has no counters.
 * - A child of a fork opens its own; descriptors of the parent are closed there.
 */
#include "counters.h"

#include <errno.h>
#include <sys/resource.h>

#include "base/arithmetic.h"
#include "base/error_text.h"
#include "perf.h"
#include "record/measured.h"
#include "system/clock.h"
#include "system/config.h"
#include "system/log.h"
#include "usage.h"

/* The readings: USAGE_VALUES of usage.h, then PERF_VALUES for each group. */
#define GROUP_PLACE(group) (USAGE_VALUES + (group)*PERF_VALUES)
_Static_assert(GROUP_PLACE(COUNTER_GROUPS) <= PROBE_VALUES, "a reading fits");

#define UNKNOWN UINT64_MAX /* in place of a group's time: it was not read */

/* Counters have one of so many descriptors that the process may open. */
#define DESCRIPTOR_SHARE 4

#define COST_TOO_HIGH (UINT64_MAX / 1000) /* nothing is left to be measured */

#define ROUNDS 4 /* readings that are timed; the shortest counts */

enum counter_state { STATE_CLOSED, STATE_OPENING, STATE_OPEN };

struct counter_thread {
    enum counter_state state; /* owner; in the child of a fork, the only thread there is */
    uint32_t reading;         /* calls of perf_read that are under way */
    struct perf_group group[COUNTER_GROUPS];
};

static uint32_t wanted;      /* groups; bits are cleared by any thread, relaxed */
static uint32_t descriptors; /* open ones; any thread, relaxed */
static uint64_t usage_cost;  /* ticks of one reading */
static uint64_t long_cost;   /* likewise, with long_alone; measured at its first use, relaxed */
static uint64_t perf_cost;   /* likewise; the first thread that opened its groups, relaxed */
static int long_alone;       /* long scopes only; written once, before the first scope */
static int limit_was_said;

/* ---- What is said where counters are refused. */

/* The largest value with which the groups could be opened without a capability; see
 * perf_event_open(2). */
static int paranoid_needed(uint32_t groups) {
    if (groups >> COUNTER_GROUP_SOFTWARE & 1) {
        return 1; /* they count in the kernel, too */
    }
    return 2;
}

static void say_not_permitted(const char *names, uint32_t groups) {
    int paranoid = perf_paranoid(), needed = paranoid_needed(groups);
    if (paranoid > needed) {
        log_warning(
            "STINT_COUNTERS: %s: not permitted: kernel.perf_event_paranoid is %d, at most %d "
            "is required, or CAP_PERFMON; not counted",
            names, paranoid, needed);
        return;
    }
    log_warning(
        "STINT_COUNTERS: %s: not permitted, as by the system call filter of a container; not "
        "counted",
        names);
}

static void say_refused(uint32_t groups, int error) {
    char names[PERF_NAMES];
    perf_list_names(names, sizeof names, groups);
    switch (error) {
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
        log_warning("STINT_COUNTERS: %s: this processor does not have them, or the virtual machine "
                    "does not pass them on; not counted",
                    names);
        return;
    case EACCES:
    case EPERM:
        say_not_permitted(names, groups);
        return;
    case ENOSYS:
        log_warning("STINT_COUNTERS: %s: the kernel has no perf_event_open; not counted", names);
        return;
    default:
        log_warning("STINT_COUNTERS: %s: %s; not counted", names, error_text(error));
    }
}

static void say_no_descriptors(void) {
    if (!__atomic_exchange_n(&limit_was_said, 1, __ATOMIC_RELAXED)) {
        log_warning(
            "STINT_COUNTERS: a quarter of the files that the process may open (ulimit -n) is "
            "in use for counters; later threads have none");
    }
}

/* ---- The groups of a thread. */

/* Takes them off what is left, if there are so many. */
static int descriptors_take(uint32_t count) {
    struct rlimit limit;
    uint64_t most = 0;
    if (!getrlimit(RLIMIT_NOFILE, &limit)) {
        most = u64_min(limit.rlim_cur, UINT32_MAX) / DESCRIPTOR_SHARE;
    }
    if (__atomic_add_fetch(&descriptors, count, __ATOMIC_RELAXED) <= most) {
        return 0;
    }
    __atomic_fetch_sub(&descriptors, count, __ATOMIC_RELAXED);
    return -1;
}

static void descriptors_give(uint32_t count) {
    __atomic_fetch_sub(&descriptors, count, __ATOMIC_RELAXED);
}

static int is_lack_of_descriptors(int error) {
    return error == EMFILE || error == ENFILE;
}

/* 0, or the errno. */
static int group_open(struct counter_thread *t, enum counter_group group) {
    uint32_t count = perf_events_of(group);
    if (descriptors_take(count)) {
        return EMFILE;
    }
    int error = perf_open(&t->group[group], group);
    if (error) {
        descriptors_give(count);
    }
    return error;
}

static void groups_open(struct counter_thread *t) {
    int errors[COUNTER_GROUPS] = {0};
    uint32_t groups = __atomic_load_n(&wanted, __ATOMIC_RELAXED);
    for (uint32_t group = 0; group < COUNTER_GROUPS; ++group) {
        if (groups >> group & 1) {
            errors[group] = group_open(t, group);
        }
    }
    for (uint32_t group = 0; group < COUNTER_GROUPS; ++group) {
        int error = errors[group];
        uint32_t refused = 0;
        if (is_lack_of_descriptors(error)) {
            say_no_descriptors();
            continue;
        }
        for (uint32_t other = group; error && other < COUNTER_GROUPS; ++other) {
            if (errors[other] == error) { /* one line for all of a reason */
                refused |= 1u << other;
                errors[other] = 0;
            }
        }
        if (__atomic_fetch_and(&wanted, ~refused, __ATOMIC_RELAXED) & refused) {
            say_refused(refused, error);
        }
    }
}

static void groups_close(void *thread) {
    struct counter_thread *t = thread;
    for (uint32_t group = 0; group < COUNTER_GROUPS; ++group) {
        descriptors_give(t->group[group].count);
        perf_close(&t->group[group]);
    }
    t->state = STATE_CLOSED;
}

/* A group that cannot be read is marked as unknown in this reading. */
static void groups_read(struct counter_thread *t, uint64_t *values) {
    ++t->reading;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    for (uint32_t group = 0; group < COUNTER_GROUPS; ++group) {
        uint64_t *place = &values[GROUP_PLACE(group)];
        if (perf_read(&t->group[group], place)) {
            place[perf_events_of(group)] = UNKNOWN;
        }
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    --t->reading;
}

static int usage_read(uint64_t *values, enum probe_side side) {
    if (side == PROBE_BEGIN) {
        return usage_read_counts(values) || usage_read_times(values, 0);
    }
    return usage_read_times(values, 1) || usage_read_counts(values);
}

/* Returns the ticks of a reading of the thread's groups, or with NULL of its resource usage:
 * UINT64_MAX if the kernel refuses that. */
static uint64_t cost_measure(struct counter_thread *t) {
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < ROUNDS; ++i) {
        uint64_t values[PROBE_VALUES];
        uint64_t from = clock_ticks();
        if (t) {
            groups_read(t, values);
        } else if (usage_read(values, PROBE_BEGIN)) {
            return UINT64_MAX;
        }
        best = u64_min(best, clock_ticks() - from);
    }
    return best;
}

/* 0, or -1: this is a signal handler that interrupted it. */
static int thread_open(struct counter_thread *t) {
    if (t->state == STATE_OPENING) {
        return -1;
    }
    if (t->state == STATE_OPEN || !__atomic_load_n(&wanted, __ATOMIC_RELAXED)) {
        return 0;
    }
    t->state = STATE_OPENING;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    groups_open(t);
    if (!__atomic_load_n(&perf_cost, __ATOMIC_RELAXED)) {
        __atomic_store_n(&perf_cost, cost_measure(t), __ATOMIC_RELAXED);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->state = STATE_OPEN;
    return 0;
}

/* ---- The probe. */

/* The same for long scopes, measured when the first of them may be one. */
static uint64_t long_cost_ticks(void) {
    uint64_t cost = __atomic_load_n(&long_cost, __ATOMIC_RELAXED);
    if (!cost) {
        cost = u64_clamp(cost_measure(NULL), 1, COST_TOO_HIGH / 2);
        __atomic_store_n(&long_cost, cost, __ATOMIC_RELAXED);
    }
    return 2 * cost;
}

static enum probe_mode counters_open(void) {
    wanted = perf_parse_names(config.counters);
    long_alone = config.waits && !config.rusage && !wanted;
    if (config.rusage) {
        usage_cost = cost_measure(NULL);
        if (usage_cost == UINT64_MAX) {
            usage_cost = 0;
        }
    }
    if (long_alone) {
        return PROBE_LONG;
    }
    return config.rusage || wanted ? PROBE_ALL : PROBE_OFF;
}

static uint64_t counters_cost_ticks(void) {
    if (long_alone) {
        return long_cost_ticks();
    }
    if (!config.rusage && !__atomic_load_n(&wanted, __ATOMIC_RELAXED)) {
        return COST_TOO_HIGH;
    }
    return 2 * (usage_cost + __atomic_load_n(&perf_cost, __ATOMIC_RELAXED));
}

/* The CPU time is the innermost, so that it has nothing of the other readings. */
static int counters_read(void *thread, uint64_t *values, enum probe_side side) {
    struct counter_thread *t = thread;
    if (long_alone) {
        return usage_read(values, side);
    }
    if (thread_open(t)) {
        return -1;
    }
    if (side == PROBE_END && config.rusage && usage_read(values, side)) {
        return -1;
    }
    groups_read(t, values);
    if (side == PROBE_BEGIN && config.rusage && usage_read(values, side)) {
        return -1;
    }
    return 0;
}

/* The node's block of a group, made at its first measured call. */
static struct arena_measures *block_get(struct thread_block *b, struct stint_impl_node *n,
                                        enum measure_group group) {
    struct arena_measures *block = measured_find(b->hot.base, n, group);
    if (block) {
        return block;
    }
    struct thread_block *entered = thread_enter(0);
    if (entered) {
        if (entered == b) {
            block = measured_get(b, n, group);
        }
        thread_leave(entered);
    }
    return block;
}

/* In gen/records.ini the group has its calls, then the first of the numbers of usage.h, in their
 * order. */
static void usage_add(struct thread_block *b, struct stint_impl_node *n, enum measure_group group,
                      const uint64_t *begin, const uint64_t *end) {
    struct arena_measures *block = block_get(b, n, group);
    struct measure_list list = measure_list_of(group);
    if (!block) {
        return;
    }
    measure_add(block, list.number[0], 1);
    for (uint32_t i = 0; i + 1 < list.count; ++i) {
        measure_add(block, list.number[i + 1], saturating_subtract(end[i], begin[i]));
    }
}

/* In gen/records.ini a group has its calls, the two times, then its counters. */
static void group_add(struct thread_block *b, struct stint_impl_node *n, enum counter_group group,
                      const uint64_t *begin, const uint64_t *end) {
    static const enum measure_group of_group[COUNTER_GROUPS] = {
        [COUNTER_GROUP_CORE] = MEASURE_GROUP_CORE,
        [COUNTER_GROUP_BRANCH] = MEASURE_GROUP_BRANCH,
        [COUNTER_GROUP_L1] = MEASURE_GROUP_L1,
        [COUNTER_GROUP_LLC] = MEASURE_GROUP_LLC,
        [COUNTER_GROUP_DTLB] = MEASURE_GROUP_DTLB,
        [COUNTER_GROUP_SOFTWARE] = MEASURE_GROUP_SOFTWARE};
    uint32_t count = perf_events_of(group);
    if (begin[count] == UNKNOWN || end[count] == UNKNOWN) {
        return;
    }
    struct arena_measures *block = block_get(b, n, of_group[group]);
    if (!block) {
        return;
    }
    const uint16_t *number = measure_list_of(of_group[group]).number;
    measure_add(block, number[0], 1);
    for (uint32_t i = 0; i < 2; ++i) {
        measure_add(block, number[1 + i], saturating_subtract(end[count + i], begin[count + i]));
    }
    for (uint32_t i = 0; i < count; ++i) {
        measure_add(block, number[3 + i], saturating_subtract(end[i], begin[i]));
    }
}

static void counters_add(struct thread_block *b, struct stint_impl_node *n, const uint64_t *begin,
                         const uint64_t *end) {
    if (long_alone) {
        usage_add(b, n, MEASURE_GROUP_CPU, begin, end);
        return;
    }
    if (config.rusage) {
        usage_add(b, n, MEASURE_GROUP_USAGE, begin, end);
    }
    for (uint32_t group = 0; group < COUNTER_GROUPS; ++group) {
        group_add(b, n, group, &begin[GROUP_PLACE(group)], &end[GROUP_PLACE(group)]);
    }
}

static void counters_forget_thread(void *thread) {
    struct counter_thread *t = thread;
    for (uint32_t group = 0; group < COUNTER_GROUPS; ++group) {
        descriptors_give(t->group[group].count);
        perf_forget(&t->group[group], t->reading != 0);
    }
    t->state = STATE_CLOSED;
}

const struct probe_ops counters_probe = {
    counters_open, counters_cost_ticks, sizeof(struct counter_thread), counters_read,
    counters_add,  groups_close,        counters_forget_thread};
