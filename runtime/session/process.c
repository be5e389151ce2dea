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

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "activity/tracer.h"
#include "arena/arena.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/hash.h"
#include "base/launch.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/module.h"
#include "base/print.h"
#include "base/read_beginning.h"
#include "base/scratch.h"
#include "capture/capture_rules.h"
#include "cost/cost.h"
#include "env.h"
#include "gpu/gpu.h"
#include "lines/line_book.h"
#include "record/allocations.h"
#include "record/probe.h"
#include "record/registry.h"
#include "record/ring.h"
#include "record/set.h"
#include "record/site.h"
#include "record/thread.h"
#include "record/waits.h"

#define LABEL_BYTES 200

static int configured;
static int refused; /* opening the arena failed: not tried again at each scope */
static uint64_t start_ns;
static int child_of_fork;
static uint32_t conditions; /* text of the run's conditions and label; 0 = none */
static pid_t forked_by;     /* 0: this is not the child of a fork that the library saw */

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

/* In pages, not on the stack: a first scope may be in a signal handler on a small stack. */
struct description {
    struct machine machine;
    char command[ARENA_NAME_BYTES + 1];
};

/* The command line with spaces between its arguments. */
static uint32_t process_put_command(char text[ARENA_NAME_BYTES + 1]) {
    size_t length = read_beginning("/proc/self/cmdline", text, ARENA_NAME_BYTES + 1);
    while (length && !text[length - 1]) {
        --length;
    }
    for (size_t i = 0; i < length; ++i) {
        if (!text[i]) {
            text[i] = ' ';
        }
    }
    return arena_text_put(text, length);
}

static uint32_t process_put_text(const char *text) {
    return arena_text_put(text, strlen(text));
}

static uint32_t process_put_conditions(void) {
    char text[MACHINE_CONDITIONS + 8 + LABEL_BYTES];
    const char *label = config.label ? config.label : "";
    machine_conditions(text);
    size_t length = strlen(text);
    if (*label) {
        print_text(text + length, sizeof text - length, " label=%.*s", LABEL_BYTES, label);
    }
    return process_put_text(text);
}

static void process_fill_about(void) {
    struct arena_header *h = arena_header();
    struct description *d = pages_get(sizeof *d);
    h->process_start_ns = process_start_ns();
    h->about.clock = process_put_text(clock_name());
    if (config.file) {
        h->about.reference_ps = reference_ps();
        conditions = process_put_conditions();
    }
    if (!d) {
        return;
    }
    machine_read(&d->machine);
    h->about.program = process_put_text(d->machine.program);
    h->about.command = process_put_command(d->command);
    h->about.host = process_put_text(d->machine.host);
    h->about.cpu = process_put_text(d->machine.cpu);
    h->about.compiler = process_put_text(d->machine.compiler);
    h->about.cpus = d->machine.cpus;
    pages_put(d, sizeof *d);
}

/* The record of the place in a job, made if need be; NULL without room. */
static struct arena_job *process_get_job(void) {
    uint32_t unit = arena_header()->job;
    if (!unit) {
        unit = arena_get(sizeof(struct arena_job), ARENA_RECORD);
        STINT_IMPL_PUBLISH(&arena_header()->job, unit);
    }
    return unit ? arena_at(unit) : NULL;
}

/* The place in a parallel job; a process outside one has no record of it. */
static void process_fill_job(void) {
    struct launch launch;
    launch_read(&launch);
    if (*launch.wrong) {
        log_warning("%s", launch.wrong);
    }
    if (launch.rank < 0) {
        return;
    }
    struct arena_job *job = process_get_job();
    if (job) {
        job->size = launch.size;
        job->local = (uint32_t)(launch.local + 1);
        if (*launch.job) {
            job->id = process_put_text(launch.job);
        }
    }
    arena_header()->about.rank = (uint32_t)(launch.rank + 1);
}

struct arena_job *process_job(void) {
    struct arena_job *job = NULL;
    if (registry_held()) {
        return NULL;
    }
    registry_lock();
    if (arena.base) {
        job = process_get_job();
    }
    registry_unlock();
    return job;
}

/* Keeps what a launcher said. */
void process_rank_seen(uint32_t rank, uint32_t size) {
    if (rank >= LAUNCH_RANK_MAX || registry_held()) {
        return;
    }
    registry_lock();
    if (arena.base) {
        uint32_t *known = &arena_header()->about.rank;
        struct arena_job *job = process_get_job();
        if (!*known) {
            __atomic_store_n(known, rank + 1, __ATOMIC_RELAXED);
        }
        if (job && !job->size && *known <= size) {
            __atomic_store_n(&job->size, size, __ATOMIC_RELAXED);
        }
    }
    registry_unlock();
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
        process_fill_about();
        process_fill_job();
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

/* The bytes of `out` used so far, after one more back end. */
static size_t process_put_backend(const struct gpu_ops *ops, char *out, size_t size, size_t used) {
    used += print_text(out + used, size - used, "%s%s", used ? ", " : "", ops->name);
    if (ops->reason) {
        used += print_text(out + used, size - used, " (%s)", ops->reason);
    } else if (ops->uninitialized && ops->uninitialized()) {
        used += print_text(out + used, size - used, " (no device, or %s was not initialised)",
                           gpu_words_platform(ops->words));
    }
    return used;
}

/* Those that are open; if none can be used, why. */
static size_t process_put_backends(char *out, size_t size) {
    const struct gpu_ops *first = gpu_known(), *queues = gpu_known_of_queues(), *ops;
    size_t used = 0;
    if (first) {
        used = process_put_backend(first, out, size, used);
    }
    for (unsigned i = 0; (ops = gpu_known_at(i)); ++i) {
        if (ops != first && ops != queues) {
            used = process_put_backend(ops, out, size, used);
        }
    }
    if (queues) {
        used = process_put_backend(queues, out, size, used);
    }
    int usable = (first && !first->reason) || gpu_known_at(0);
    if (config.gpu == CONFIG_GPU_SYNC && usable) {
        used += print_text(out + used, size - used, ", sync: GPU scopes wait for their stream");
    }
    return used;
}

void process_describe_gpu(char *out, size_t size) {
    char tracer[300];
    if (!size) {
        return;
    }
    out[0] = '\0';
    tracer_describe(tracer, sizeof tracer);
    size_t used = process_put_backends(out, size);
    if (*tracer) { /* cut to fit */
        print_text(out + used, size - used, "%s%s", used ? "; " : "", tracer);
    }
}

/* At the end of the run, because a back end is looked for when it is first needed. */
static void process_record_gpu(void) {
    char gpu[160];
    process_describe_gpu(gpu, sizeof gpu);
    if (*gpu && !registry_held()) { /* held: the program ends in a signal handler that interrupted
                                       the holder */
        registry_lock();
        arena_header()->about.gpu = process_put_text(gpu);
        registry_unlock();
    }
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
        cost.conditions = conditions;
    }
    /* A signal handler may have forked: the child has none. */
    if (process_has_records()) {
        if (!lock_any_held()) {
            process_record_gpu();
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
