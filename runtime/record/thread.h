/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's recorder: its private block, its record and open-scope stack in the arena. Made at the
 * thread's first scope; when the thread ends the recorder goes to a free list and the next thread
 * continues it, so that 10^5 short threads cost what a few do.
 */
#ifndef STINT_THREAD_H
#define STINT_THREAD_H

#include "arena/arena.h"
#include "base/api.h"
#include "emit/emit.h"
#include "registry.h"

#define THREAD_EDGE_BITS 9 /* first table, enough for 160 nodes; it doubles */
#define THREAD_EDGES (1u << THREAD_EDGE_BITS)
#define THREAD_LINKS 128  /* first table of the rarer links */
#define THREAD_NAMES 1024 /* cached run-time names */

/* The first piece of edges; each next one is twice as long. */
#define THREAD_EDGE_BYTES ((size_t)4096)
#define THREAD_EDGE_PIECES 16

/* A link that only the slow path looks up. */
struct thread_link {
    uint64_t key;
    uint32_t node;
    uint32_t reserved;
    const struct stint_impl_edge *edge; /* the same for the inline path; NULL: it has none */
};

struct dynamic_name;
struct probe_thread;
struct stream_stack;
struct thread_pages;

struct thread_block {
    struct stint_impl_thread hot; /* first: the thread-local pointer points here */
    struct arena_thread *record;
    struct stint_impl_frame *frames;
    uint32_t busy; /* inside the slow path; owner only (a signal handler is the owner too) */
    uint32_t edge_count;
    uint32_t link_count;
    uint32_t link_mask;
    struct thread_link *links; /* recursive edges, intervals, histograms: off the hot path */
    struct stint_impl_edge *edge_next; /* the rest of the piece edges are cut from */
    struct stint_impl_edge *edge_end;
    struct stint_impl_edge *edge_piece[THREAD_EDGE_PIECES];
    uint32_t edge_pieces;
    uint32_t node_next; /* the rest of the piece nodes are cut from, units */
    uint32_t node_end;
    struct dynamic_name *names;   /* THREAD_NAMES of them, or NULL before the first */
    struct stream_stack *streams; /* open GPU scopes, or NULL before the first */
    struct probe_thread *probe;   /* record/probe.c's, or NULL: nothing is measured */
    const struct stint_impl_lines_thread *lines; /* record/line_book.c's, or NULL */
    struct thread_pages *pages; /* all of its tables, those that were replaced too */
    struct thread_block *older; /* all blocks of the process */
    struct registry_thread registered;
    struct thread_block *next_free;
    struct thread_link first_links[THREAD_LINKS];
    /* On a cache line, as the groups of edges are. */
    const struct stint_impl_edge *first_edges[THREAD_EDGES]
        __attribute__((aligned(STINT_IMPL_UNIT)));
};

/* Leads nowhere: it is of no site. */
extern const struct stint_impl_edge thread_no_edge;

/* Notes in the calling thread's record, if it has one, that it is alive at that tick: readers of a
 * run file without an end count its wall time up to there. Where a scope ends, its frame says
 * so. */
void thread_seen(uint64_t ticks);
/* The calling thread's block with `busy` set and the fast path shut, made if need be. NULL if the
 * thread has ended, is already inside (a signal handler), or gets no memory: counted as n
 * losses. */
struct thread_block *thread_enter(uint32_t n);
/* The same for changes of the thread's own tables, which take no lock: also in a signal handler
 * that interrupted the holder of a lock. 0, or -1 if the thread is inside. */
int thread_enter_tables(struct thread_block *b);
void thread_leave(struct thread_block *b);
/* Whether every scope takes the slow path: the clock is not the inline one, or NVTX hears of it. */
int thread_slow_only(void);
/* The calling thread's block without entering, NULL if it has none or is inside. */
struct thread_block *thread_here(void);
/* Gives the calling thread another name in the report, cut to 15 bytes. */
void thread_rename(struct thread_block *b, const char *name);
int thread_is_busy(void);
/* The same also inside: closing a scope needs no table and no lock. NULL if the pointer is to one
 * of the placeholders, which have no base. */
static inline struct thread_block *thread_block_here(void) {
    struct stint_impl_thread *t = stint_impl_thread_here;
    if (!t->base) {
        return NULL;
    }
    return (struct thread_block *)(void *)t;
}
/* Counts a loss of the calling thread's own; owner only, and its signal handlers: one instruction
 * is enough, where there is one, and a third of what a locked one takes. */
static inline void thread_lose(struct thread_block *b, enum stint_status what) {
#if defined(__x86_64__)
    __asm__ volatile("addq $1, %0" : "+m"(b->record->lost[what]) : : "cc");
#else
    __atomic_fetch_add(&b->record->lost[what], 1, __ATOMIC_RELAXED);
#endif
}
/* Zeroed memory of the block, whole cache lines; it lives as long as the block. NULL without. Owner
 * only, inside. */
void *thread_pages_get(struct thread_block *b, size_t bytes);
/* Frees all of them. */
void thread_pages_put(struct thread_block *b);
/* The guard that a frame has, without its tags. */
static inline uint64_t thread_untag_guard(uint64_t guard) {
    return guard & ~(uint64_t)STINT_IMPL_TAGS;
}
/* The node that counts the frame's call: of a recursive call the outermost one's. */
static inline uint32_t thread_frame_node(const struct stint_impl_frame *f) {
    uint32_t recursive = STINT_IMPL_LOAD(&f->recursive);
    if (recursive) {
        return recursive;
    }
    return STINT_IMPL_LOAD(&f->node);
}
/* Closes the range that a tool has for that frame. */
void thread_close_range(struct thread_block *b, const struct stint_impl_frame *f);
/* Closes the topmost frame. What its `nested` holds becomes the frame's below: the time of the call
 * itself if it was recorded (the caller has put it there), else the time of the recorded calls in
 * it. */
static inline void thread_pop(struct thread_block *b) {
    struct stint_impl_frame *f = b->hot.top;
    if (emit_on()) {
        thread_close_range(b, f);
    }
    STINT_IMPL_STORE(&f[-1].nested, STINT_IMPL_LOAD(&f[-1].nested) + STINT_IMPL_LOAD(&f->nested));
    stint_impl_frame_close(f);
    b->hot.top = f - 1;
}
/* Takes frames off the stack until `keep` is on top; each is an abandoned scope, unless another
 * thread has ended, and counted, it. */
void thread_unwind(struct thread_block *b, struct stint_impl_frame *keep);
/* Takes off those on top that other threads have ended. */
void thread_drop_moved(struct thread_block *b);
/* The innermost open scope's frame, NULL = none is open. */
const struct stint_impl_frame *thread_innermost(const struct thread_block *b);

/* In the child of a fork, at once, whatever was interrupted: descriptors of the parent are
 * closed. */
void thread_forget_probes(void);
/* In the child of a fork, under the lock. Frees all blocks but the forking thread's: it may have
 * been interrupted in a scope that goes on with it. That one is freed at the next fork. Not whole:
 * another thread was changing the lists, so that nothing is freed. */
void thread_forget_all(int whole);

#endif
