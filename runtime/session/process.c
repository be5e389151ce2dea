/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of the recording process: the registry calls process_prepare before the first scope,
 * which reads the settings and opens the arena; the fork handler makes the child forget what the
 * parent recorded; the library's destructor (exit_report.c) completes the run.
 * - process_prepare and the fork handler run with the registry's lock held. A first scope may be in
 * a signal handler, so nothing here allocates memory by malloc or needs a large stack before the
 * arena is open.
 * - If opening the arena failed once, it is not tried again in this process.
 */
#include "process.h"

#include <string.h>
#include <unistd.h>

#include "about.h"
#include "arena/arena.h"
#include "base/hash.h"
#include "capture/capture_rules.h"
#include "env.h"
#include "gpu_about.h"
#include "place.h"
#include "record/allocations.h"
#include "record/cost.h"
#include "record/line_book.h"
#include "record/node_list.h"
#include "record/probe.h"
#include "record/registry.h"
#include "record/ring.h"
#include "record/set.h"
#include "record/site.h"
#include "record/thread.h"
#include "record/waits.h"
#include "system/clock.h"
#include "system/config.h"
#include "system/lock.h"
#include "system/log.h"

static int configured;
static int refused; /* opening the arena failed: not tried again at each scope */
static uint64_t start_ns;
static int child_of_fork;
static pid_t forked_by; /* 0: this is not the child of a fork that the library saw */

/* The registry's lock is held over a fork so that the child inherits consistent tables. The child
 * has only the forking thread: it forgets everything that was recorded, and its next scope opens a
 * new arena. A fork in a signal handler that interrupted this thread while it held the lock must
 * not wait for that lock. If the handler interrupted any call on the slow path, the child may
 * return into that call, too, and therefore forgets at its end. */
static __thread char fork_inside __attribute__((tls_model("initial-exec")));
static __thread pid_t forking __attribute__((tls_model("initial-exec")));

static int fork_is_interrupting(void) {
    forking = getpid();
    fork_inside = thread_is_busy() || registry_reading();
    return registry_held();
}

static void process_forget_records(int whole) {
    struct thread_block *b = thread_block_here();
    struct stint_impl_frame *frames = b ? b->frames : NULL;
    child_of_fork = 1;
    refused = 0;
    thread_forget_all(whole);
    lines_forget_all();
    memory_forget();
    site_forget_all(whole);
    waits_forget();
    node_list_forget();
    arena_drop(frames, STINT_IMPL_FRAMES * sizeof *frames);
    registry_forget();
}

static void process_forget_in_child(int held) {
    forked_by = forking;
    if (forking == getpid()) { /* without fork handlers: known only by what is inherited */
        forked_by = arena.base ? (pid_t)arena_header()->pid : 0;
    }
    thread_forget_probes();
    if (fork_inside) {
        arena_part();
        registry_inherit();
    } else {
        process_forget_records(held);
    }
}

LOCK_OVER_FORK(LOCK_REGISTRY, fork_is_interrupting, process_forget_in_child)

static void process_forget_parent(void) {
    if (!thread_is_busy()) {
        lock_renew(LOCK_REGISTRY); /* the signal handler that forked interrupted its holder */
        process_forget_records(1);
    }
}

static void process_configure_clock(void) {
    enum clock_source source = clock_init(config.clock);
    if (source == CLOCK_SOURCE_KERNEL) {
        start_ns = clock_ns();
        log_warning("clock_gettime(CLOCK_MONOTONIC_RAW) fails or does not advance: times are "
                    "measured by the kernel's clock, read by system call");
    } else if (source == CLOCK_SOURCE_FROZEN) {
        log_warning("CLOCK_MONOTONIC_RAW fails or does not advance: calls are counted, their times "
                    "are 0");
    }
}

static void process_configure(void) {
    configured = 1;
    hash_seed_program();
    config_read_environment();
    capture_rules_get(); /* before the first site is marked */
    process_configure_clock();
    probe_start();
}

static void process_prepare(void) {
    struct clock_stamp now;
    if (!configured) {
        process_configure();
    }
    if (arena.base || refused) {
        return;
    }
    clock_stamp(&now);
    refused = arena_open(config.memory + config.trace.bytes, config.file, &now) != 0;
    if (!refused) {
        lock_fork_watch();
        arena_give_trace(ring_room(config.trace.bytes));
        if (forked_by) { /* getppid is 1 if the parent has ended since, as for a daemon */
            arena_header()->parent_pid = (uint32_t)forked_by;
        }
        registry_arena_is_new();
        set_publish_all();
        arena_header()->process_start_ns = process_start_ns();
        about_fill();
        place_fill();
        memory_start();
        arena_publish();
    }
}

static const struct registry_hooks process_hooks = {process_prepare, process_forget_parent,
                                                    lines_thread_ends};

void process_set_hooks(void) {
    registry_set_hooks(&process_hooks);
}

void process_started(void) {
    start_ns = clock_ns();
}

/* For readers of the run file: measured here, because no other machine and time would do. */
static void process_record_cost(const struct arena_cost *cost) {
    uint32_t unit = arena_get(sizeof *cost, ARENA_RECORD);
    if (unit) {
        memcpy(arena_at(unit), cost, sizeof *cost);
        STINT_IMPL_PUBLISH(&arena_header()->cost, unit);
    }
}

static int process_has_records(void) {
    return arena.base && !registry_inherited();
}

void process_ends(void) {
    struct clock_stamp now;
    struct arena_cost cost;
    /* Held: the program ends in a signal handler, which must not wait. */
    int waits = lock_any_held() || registry_reading();
    int measured = process_has_records() && config.file && !waits;
    clock_stamp(&now);
    if (measured) {
        cost_read(&cost);
        cost.conditions = about_conditions();
    }
    /* A signal handler may have forked: the child has none. */
    if (process_has_records()) {
        if (!lock_any_held()) {
            gpu_about_record();
        }
        if (measured) {
            process_record_cost(&cost);
        }
        arena_close(&now);
    }
}

uint64_t process_start_ns(void) {
    if (child_of_fork && arena.base) {
        return arena_header()->start.monotonic_ns;
    }
    return start_ns;
}
