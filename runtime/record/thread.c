/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes
 * - hot.gate is written by two threads. The owner exchanges it for SHUT when it enters the slow
 * path; when it leaves, it stores the current gate and reads the gate once more. A thread that
 * advances the gate first stores the new one and then swaps it into every thread that is not shut.
 * Either the owner sees the new gate, or the other thread sees this one open: no thread keeps an
 * old one.
 * - With a clock that is not the inline one, or with NVTX ranges, hot.gate stays SHUT: every scope
 *   takes the slow path.
 */
#include "thread.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/scratch.h"
#include "emit/emit.h"
#include "left.h"
#include "probe.h"
#include "ring.h"
#include "system/lock.h"

/* The target of the thread-local pointer before a thread's first scope and after its end. All
 * threads share them, so nothing in them changes but the gate: with the current one a scope that is
 * switched off returns at once, on every thread. Any other scope takes the slow path, as the stack
 * is full. Frame 0 is closed and lies below nothing, so that an inline end returns at once. */
static struct stint_impl_frame nowhere = {.low = UINT64_MAX};
static struct stint_impl_thread thread_none = {
    .gate = STINT_IMPL_SHUT, .top = &nowhere, .last = &nowhere, .trace_min = UINT64_MAX};
/* A thread comes to these after placeholders_register has made them. */
static struct stint_impl_thread thread_ended;
static struct stint_impl_thread thread_refused;
/* Guarded by the registry's lock. */
static struct registry_thread placeholders[] = {
    {.gate = &thread_none.gate}, {.gate = &thread_ended.gate}, {.gate = &thread_refused.gate}};
static int placeholders_registered;

#ifndef STINT_STATIC
__attribute__((visibility("default")))
#endif
__thread struct stint_impl_thread *stint_impl_thread_here = &thread_none;

/* Set while the thread has no block yet but is making one. */
static __thread char joining __attribute__((tls_model("initial-exec")));

static pthread_key_t at_end;
static int have_key;
static struct thread_block *free_blocks; /* guarded by the registry's lock, as those below */
/* Threads whose end the key does not report: see make_key. The same lock guards them. */
static struct thread_block *unwatched_blocks;
static struct thread_block *newest_block;
static struct thread_block *parents_block; /* of the thread that forked */

/* At the start of each piece, so that what follows is on a cache line. */
struct thread_pages {
    struct thread_pages *next;
    size_t bytes;
    char line[STINT_IMPL_UNIT - sizeof(void *) - sizeof(size_t)];
};

void *thread_pages_get(struct thread_block *b, size_t bytes) {
    struct thread_pages *p = pages_get(sizeof *p + bytes);
    if (!p) {
        return NULL;
    }
    p->bytes = sizeof *p + bytes;
    p->next = b->pages;
    b->pages = p;
    return p + 1;
}

void thread_pages_put(struct thread_block *b) {
    while (b->edge_pieces) {
        --b->edge_pieces;
        pages_put(b->edge_piece[b->edge_pieces], THREAD_EDGE_BYTES << b->edge_pieces);
    }
    while (b->pages) {
        struct thread_pages *next = b->pages->next;
        pages_put(b->pages, b->pages->bytes);
        b->pages = next;
    }
}

static void block_free(struct thread_block *b) {
    if (b) {
        thread_pages_put(b);
        pages_put(b, sizeof *b);
    }
}

void thread_seen(uint64_t ticks) {
    struct thread_block *b = thread_block_here();
    if (b) {
        STINT_IMPL_STORE(&b->record->end_ticks, ticks);
    }
}

static void record_end(struct thread_block *b) {
    STINT_IMPL_STORE(&b->record->end_ticks, clock_ticks());
    __atomic_store_n(&b->record->alive, 0, __ATOMIC_RELEASE);
}

static void thread_end(void *block) {
    struct thread_block *b = block;
    if (stint_impl_thread_here != &b->hot) {
        return; /* inherited over a fork */
    }
    __atomic_store_n(&b->hot.gate, STINT_IMPL_SHUT, __ATOMIC_SEQ_CST);
    stint_impl_thread_here = &thread_ended;
    thread_unwind(b, b->frames);
    probe_end_thread(b);
    registry_lock();
    registry_thread_ends(b->record);
    b->lines = NULL;
    record_end(b);
    b->next_free = free_blocks;
    free_blocks = b;
    registry_unlock();
}

/* The C library keeps the values of its first keys in the thread itself, and allocates memory for
 * the others when one of them is set: not in a slow path that may be in a signal handler. At load
 * most programs have few. */
#if defined(__GLIBC__)
#define KEYS_IN_PLACE 32
#else
#define KEYS_IN_PLACE UINT32_MAX
#endif

__attribute__((constructor(101))) static void make_key(void) {
    have_key = !pthread_key_create(&at_end, thread_end);
    if (have_key && at_end >= KEYS_IN_PLACE) {
        pthread_key_delete(at_end);
        have_key = 0;
    }
}

static int record_new(struct thread_block *b) {
    struct arena_header *h = arena_header();
    uint32_t record = arena_get(sizeof(struct arena_thread), ARENA_RECORD);
    uint32_t frames = arena_get(STINT_IMPL_FRAMES * sizeof(struct stint_impl_frame), ARENA_RECORD);
    uint32_t root = arena_get(sizeof(struct stint_impl_node), ARENA_RECORD);
    if (!record || !frames || !root) {
        return -1;
    }
    b->record = arena_at(record);
    b->frames = arena_at(frames);
    b->record->root = root;
    b->record->ring = ring_new();
    b->record->frames = frames;
    b->record->ordinal = h->thread_count++;
    b->record->next = h->first_thread;
    b->frames[0].low = UINT64_MAX;
    for (uint32_t i = 0; i < STINT_IMPL_FRAMES; ++i) {
        b->frames[i].node = root; /* a signal may come between claiming a frame and filling it */
    }
    __atomic_store_n(&h->first_thread, record, __ATOMIC_RELEASE);
    return 0;
}

const struct stint_impl_edge thread_no_edge;

static struct thread_block *block_new(void) {
    struct thread_block *b = pages_get(sizeof *b);
    if (!b) {
        return NULL;
    }
    if (record_new(b)) {
        pages_put(b, sizeof *b);
        return NULL;
    }
    b->hot.gate = STINT_IMPL_SHUT;
    b->hot.edges = b->first_edges;
    b->hot.edge_shift = 64 - THREAD_EDGE_BITS;
    b->links = b->first_links;
    b->link_mask = THREAD_LINKS - 1;
    b->hot.base = arena.base;
    for (uint32_t i = 0; i < STINT_IMPL_NEAR; ++i) {
        b->hot.nearby[i] = &thread_no_edge;
        b->hot.again[i] = &thread_no_edge;
    }
    b->hot.top = b->frames;
    b->hot.last = b->frames + STINT_IMPL_DEPTH;
    b->hot.ticks_per_us = clock_ticks_per_us();
    b->hot.ring = ring_at(b->record->ring);
    b->hot.trace_min = b->hot.ring ? ring_min() : UINT64_MAX;
    b->registered.gate = &b->hot.gate;
    registry_join(&b->registered);
    b->older = newest_block;
    newest_block = b;
    return b;
}

static void name_store(struct arena_thread *r, const char name[sizeof r->name]) {
    for (size_t i = 0; i < sizeof r->name; ++i) {
        STINT_IMPL_STORE(&r->name[i], name[i]);
    }
}

void thread_rename(struct thread_block *b, const char *name) {
    char kept[sizeof b->record->name] = "";
    memcpy(kept, name, strnlen(name, sizeof kept - 1));
    name_store(b->record, kept);
}

/* The recorder of a thread that ended unnoticed, or NULL. Its number may have gone to another
 * thread since: then it is found when that one has ended, too. */
static struct thread_block *take_from_ended(void) {
    pid_t process = getpid();
    for (struct thread_block **at = &unwatched_blocks; *at; at = &(*at)->next_free) {
        struct thread_block *b = *at;
        if (syscall(SYS_tgkill, process, (pid_t)b->record->tid, 0) && errno == ESRCH) {
            *at = b->next_free;
            while (b->hot.top != b->frames) { /* its NVTX ranges ended with it */
                uint64_t guard;
                left_take(b, b->hot.top, &guard);
                STINT_IMPL_STORE(&b->hot.top->guard, 0);
                thread_pop(b);
            }
            b->busy = 0;
            probe_end_thread(b);
            record_end(b);
            return b;
        }
    }
    return NULL;
}

/* From here on the registry gives them each new gate. Under the lock. */
static void placeholders_register(void) {
    if (placeholders_registered) {
        return;
    }
    placeholders_registered = 1;
    if (!thread_ended.top) {
        thread_ended = thread_none;
        thread_refused = thread_none;
    }
    for (size_t i = 0; i < sizeof placeholders / sizeof placeholders[0]; ++i) {
        __atomic_store_n(placeholders[i].gate, registry_gate(), __ATOMIC_SEQ_CST);
        registry_join(&placeholders[i]);
    }
}

static struct thread_block *thread_join(void) {
    joining = 1;
    registry_lock();
    placeholders_register();
    struct thread_block *b = NULL;
    if (arena.base) {
        b = free_blocks;
        if (b) {
            free_blocks = b->next_free;
        } else {
            b = take_from_ended();
        }
        if (!b) {
            b = block_new();
        }
    }
    if (b) {
        struct arena_thread *r = b->record;
        char name[sizeof r->name] = "";
        STINT_IMPL_STORE(&r->tid, (uint32_t)syscall(SYS_gettid));
        STINT_IMPL_STORE(&r->start_ticks, clock_ticks());
        STINT_IMPL_STORE(&r->end_ticks, 0);
        STINT_IMPL_STORE(&r->uses, r->uses + 1);
        prctl(PR_GET_NAME, name);
        name_store(r, name);
        __atomic_store_n(&r->alive, 1, __ATOMIC_RELEASE);
        stint_impl_thread_here = &b->hot;
        if (!have_key || pthread_setspecific(at_end, b)) { /* its destructor calls thread_end */
            b->next_free = unwatched_blocks;
            unwatched_blocks = b;
        }
    }
    registry_unlock();
    joining = 0;
    return b;
}

struct thread_block *thread_here(void) {
    lock_look();
    struct thread_block *b = thread_block_here();
    if (b && b->busy) {
        return NULL;
    }
    return b;
}

int thread_is_busy(void) {
    struct thread_block *b = thread_block_here();
    return joining || registry_held() || (b && b->busy);
}

int thread_enter_tables(struct thread_block *b) {
    if (b->busy) {
        return -1;
    }
    b->busy = 1;
    __atomic_exchange_n(&b->hot.gate, STINT_IMPL_SHUT, __ATOMIC_SEQ_CST);
    return 0;
}

struct thread_block *thread_enter(uint32_t n) {
    lock_look();
    if (stint_impl_thread_here == &thread_ended) {
        arena_lose(STINT_STATUS_AFTER_END, n);
        return NULL;
    }
    if (thread_is_busy()) {
        arena_lose(STINT_STATUS_IN_SLOW_PATH, n);
        return NULL;
    }
    struct thread_block *b = thread_here();
    if (!b && stint_impl_thread_here == &thread_none) {
        b = thread_join();
    }
    if (!b) {
        stint_impl_thread_here = &thread_refused; /* do not ask again at every scope */
        arena_lose(STINT_STATUS_NO_THREAD, n);
        return NULL;
    }
    thread_enter_tables(b);
    emit_start(); /* so that a thread's first thread_leave knows which path is its */
    return b;
}

int thread_slow_only(void) {
    return clock_kind() != CLOCK_KIND_COUNTER || emit_on();
}

void thread_leave(struct thread_block *b) {
    uint32_t gate;
    b->busy = 0;
    registry_settle();
    if (thread_slow_only()) {
        return;
    }
    do {
        gate = registry_gate();
        __atomic_store_n(&b->hot.gate, gate, __ATOMIC_SEQ_CST);
    } while (gate != registry_gate());
}

static void range_close(struct thread_block *b) {
    if (emit_on()) {
        uint32_t busy = b->busy;
        b->busy = 1;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        emit_pop();
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        b->busy = busy;
    }
}

void thread_close_range(struct thread_block *b, const struct stint_impl_frame *f) {
    if (STINT_IMPL_LOAD(&f->guard)) { /* 0: cancelled inside emit_push */
        range_close(b);
    }
}

/* Removes the topmost frame, unless a signal handler that interrupted this function has already
 * removed it. The compare and exchange of `top` succeeds for one of the two, which adds the time to
 * the frame below. */
static void frame_drop(struct thread_block *b, struct stint_impl_frame *f, int has_range) {
    uint64_t nested = STINT_IMPL_LOAD(&f->nested);
    struct stint_impl_frame *top = f;
    if (!__atomic_compare_exchange_n(&b->hot.top, &top, f - 1, 0, __ATOMIC_SEQ_CST,
                                     __ATOMIC_RELAXED)) {
        return;
    }
    __atomic_fetch_add(&f[-1].nested, nested, __ATOMIC_RELAXED);
    STINT_IMPL_STORE(&f->recursive, 0);
    STINT_IMPL_STORE(&f->counted, 0);
    STINT_IMPL_STORE(&f->guard, 0);
    if (has_range) {
        range_close(b);
    }
}

/* A frame is counted by the code that exchanges its guard for MOVED: this function, a signal
 * handler that interrupted it, or another thread that ends the scope at the same time. */
void thread_unwind(struct thread_block *b, struct stint_impl_frame *keep) {
    while (b->hot.top > keep) {
        struct stint_impl_frame *f = b->hot.top;
        uint64_t guard;
        if (!left_take(b, f, &guard)) {
            frame_drop(b, f, guard != 0); /* 0: cancelled inside emit_push */
        }
    }
}

void thread_drop_moved(struct thread_block *b) {
    struct stint_impl_frame *f = b->hot.top;
    while (STINT_IMPL_LOAD(&f->guard) == STINT_IMPL_MOVED) {
        frame_drop(b, f, 1);
        f = b->hot.top;
    }
}

const struct stint_impl_frame *thread_innermost(const struct thread_block *b) {
    const struct stint_impl_frame *f = b->hot.top;
    while (f != b->frames && STINT_IMPL_LOAD(&f->guard) == STINT_IMPL_MOVED) {
        --f;
    }
    if (f == b->frames) {
        return NULL;
    }
    return f;
}

void thread_forget_probes(void) {
    for (struct thread_block *b = newest_block; b; b = b->older) {
        probe_forget_thread(b);
    }
}

void thread_forget_all(int whole) {
    struct thread_block *here = thread_block_here();
    stint_impl_thread_here = &thread_none;
    placeholders_registered = 0; /* the registry has forgotten them, too */
    for (size_t i = 0; i < sizeof placeholders / sizeof placeholders[0]; ++i) {
        __atomic_store_n(placeholders[i].gate, STINT_IMPL_SHUT, __ATOMIC_SEQ_CST);
    }
    joining = 0;
    unwatched_blocks = NULL;
    free_blocks = NULL;
    if (whole) {
        block_free(parents_block);
    } else {
        newest_block = NULL;
    }
    parents_block = NULL;
    while (newest_block) {
        struct thread_block *b = newest_block;
        newest_block = b->older;
        if (b == here) {
            parents_block = b;
        } else {
            block_free(b);
        }
    }
    emit_forget_all();
    if (have_key) {
        pthread_setspecific(at_end, NULL);
    }
}
