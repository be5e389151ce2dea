/* SPDX-License-Identifier: Apache-2.0 */
#include "registry.h"

#include <pthread.h>

#include "arena.h"
#include "clock.h"
#include "config.h"
#include "set.h"
#include "site.h"
#include "thread.h"

/* Nothing calls the exit report, its constructor and destructor do; this is what makes a static
 * link take it along. */
extern const char exit_report_anchor;
__attribute__((used)) static const char *const anchor = &exit_report_anchor;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int configured;
static uint32_t gate = 1; /* 0 is what an untouched site carries */
static uint32_t arena_gate = 1;
static uint64_t start_ns;
static int child_of_fork;

/* fork: the parent's lock is held over it so that the child inherits whole tables. In the child
 * only this thread lives: it forgets everything recorded, and the next scope starts afresh. A fork
 * from a signal handler that interrupted this thread inside the lock must not wait for itself. */
static __thread int fork_holds __attribute__((tls_model("initial-exec")));

static void before_fork(void) {
    fork_holds = !thread_is_busy();
    if (fork_holds) {
        pthread_mutex_lock(&lock);
    }
}

static void after_fork_parent(void) {
    if (fork_holds) {
        pthread_mutex_unlock(&lock);
    }
}

static void after_fork_child(void) {
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    lock = fresh;
    child_of_fork = 1;
    thread_forget_all();
    site_forget_all();
    arena_drop();
    registry_advance();
}

static void first_use(void) {
    configured = 1;
    config_read_environment();
    clock_init(config.clock);
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
    thread_init();
}

static void open_arena(void) {
    static int refused; /* no memory once: do not ask again at every scope */
    struct clock_stamp now;
    if (refused) {
        return;
    }
    clock_stamp(&now);
    if (arena_open(config.memory, &now)) {
        refused = 1;
        return;
    }
    registry_advance();
    arena_gate = gate;
    set_publish_all();
}

void registry_lock(void) {
    pthread_mutex_lock(&lock);
    if (!configured) {
        first_use();
    }
    if (!arena.base) {
        open_arena();
    }
}

void registry_unlock(void) {
    pthread_mutex_unlock(&lock);
}

uint32_t registry_gate(void) {
    return __atomic_load_n(&gate, __ATOMIC_SEQ_CST);
}

uint32_t registry_arena_gate(void) {
    return arena_gate;
}

void registry_advance(void) {
    uint32_t next = gate + 1 == STINT_IMPL_SHUT ? 1 : gate + 1;
    __atomic_store_n(&gate, next, __ATOMIC_SEQ_CST);
    thread_regate_all();
}

int registry_recording(void) {
    return config.enable && arena.base != NULL;
}

void registry_started(void) {
    start_ns = clock_ns();
}

uint64_t registry_start_ns(void) {
    return child_of_fork && arena.base ? arena_header()->start.monotonic_ns : start_ns;
}
