/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include <pthread.h>

#include "arena.h"
#include "clock.h"
#include "config.h"
#include "registry.h"
#include "set.h"
#include "site.h"
#include "thread.h"

/* Nothing calls the exit report, its constructor and destructor do; this is what makes a static
 * link take it along. */
extern const char exit_report_anchor;
__attribute__((used)) static const char *const anchor = &exit_report_anchor;

static int configured;
static int refused; /* no memory for an arena once: do not ask again at every scope */
static uint64_t start_ns;
static int child_of_fork;

/* The registry's lock is held over a fork so that the child inherits whole tables. In the child
 * only this thread lives: it forgets everything recorded, and the next scope starts afresh. A fork
 * from a signal handler that interrupted this thread inside the lock must not wait for itself. */
static __thread int fork_holds __attribute__((tls_model("initial-exec")));

static void before_fork(void) {
    fork_holds = !thread_is_busy();
    if (fork_holds) {
        registry_before_fork();
    }
}

static void after_fork_parent(void) {
    if (fork_holds) {
        registry_after_fork();
    }
}

static void after_fork_child(void) {
    child_of_fork = 1;
    refused = 0;
    thread_forget_all();
    site_forget_all();
    arena_drop();
    registry_forget(fork_holds);
}

static void configure(void) {
    configured = 1;
    config_read_environment();
    clock_init(config.clock);
    thread_init();
}

void registry_prepare(void) {
    struct clock_stamp now;
    if (!configured) {
        configure();
    }
    if (arena.base || refused) {
        return;
    }
    clock_stamp(&now);
    refused = arena_open(config.memory, &now) != 0;
    if (!refused) {
        registry_arena_is_new();
        set_publish_all();
    }
}

void process_started(void) {
    start_ns = clock_ns();
    /* Not at first use: a fork under way on another thread would miss the handlers. */
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

uint64_t process_start_ns(void) {
    return child_of_fork && arena.base ? arena_header()->start.monotonic_ns : start_ns;
}
