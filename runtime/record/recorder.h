/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening and closing scopes where the inline path (stint/detail/impl_record.h) does not: first
 * use, a changed gate, a guard that may be stale, recursion, a new maximum, another clock.
 */
#ifndef STINT_RECORDER_H
#define STINT_RECORDER_H

#include <stdint.h>

#include "base/api.h"
#include "site.h"
#include "thread.h"

struct tree_place;

/* The work of the entry points of the inline path's slow half; see stint/detail/impl_record.h. */
void recorder_begin_slow(void *guard, struct stint_impl_site *site, uint32_t set);
/* With a start that was read before: in ticks, and in microseconds. */
void recorder_begin_at(void *guard, struct stint_impl_site *site, uint32_t set, uint64_t ticks);
void recorder_begin_since(void *guard, struct stint_impl_site *site, uint32_t set,
                          uint64_t start_us);
void recorder_end_slow(void *guard, uint64_t now, const struct stint_impl_call *call);

/* Opens a scope for a word resolved under the current gate. Enters the slow path itself where it
 * must. start: a time, or none for now; it is written to the guard. */
void recorder_begin(uint64_t guard, uint64_t word, uint32_t set, uint64_t start);
/* The same between thread_enter and thread_leave. */
void recorder_begin_entered(struct thread_block *b, uint64_t guard, uint64_t word, uint32_t set,
                            uint64_t start);
/* Opens a scope of the default set for work of a sender (struct tree_edge), if that needs no new
 * node: 1, also if it was counted as lost. */
int recorder_begin_known_sent(struct thread_block *b, uint64_t guard, uint32_t site,
                              uint32_t sender);
/* The same, made if need be, between thread_enter and thread_leave. */
void recorder_begin_new_sent(struct thread_block *b, uint64_t guard, uint32_t site,
                             uint32_t sender);
/* The topmost frame if it is that guard's, else NULL. */
const struct stint_impl_frame *recorder_opened(const struct thread_block *b, uint64_t guard);

/* Closes the open scope of that guard and opening, of a name the topmost, abandoning what is above
 * but ranges of other interfaces. 0, or -1 if it is not open on this thread; if it is on another,
 * it is taken off there and counted. now 0 = read the clock. */
int recorder_end(uint64_t guard, uint64_t opened, uint64_t now, const struct stint_impl_call *call);
/* The same for a range of another interface, which abandons nothing: ranges of two libraries may
 * cross each other and scopes. What is above stays open, below the scope around it, with the start
 * that it had. */
int recorder_end_crossing(uint64_t guard, uint64_t opened);
/* Opens a scope again, above the topmost frame and with the start that it had. guard: with the tags
 * that its frame had. */
void recorder_reopen(struct thread_block *b, uint64_t guard, struct tree_place to, uint64_t start);

/* The guard of a scope opened by name: no user address has the top bit. */
static inline uint64_t recorder_guard_of_name(uint32_t site) {
    return (uint64_t)1 << 63 | (uint64_t)site << 2;
}

/* The site's word under the current gate; off if the scope is lost, which is counted. */
static inline uint64_t recorder_site_word(struct stint_impl_site *site) {
    uint64_t word = site_get_word(site);
    if (site_gate_of(word) != registry_gate()) {
        struct thread_block *b = thread_enter(1);
        word = STINT_IMPL_SITE_OFF;
        if (b) {
            word = site_resolve(site);
            thread_leave(b);
        }
    }
    return word;
}

/* ---- moved.c: scopes that end on another thread than the one that opened them: a coroutine or
 * fiber may have taken them there. Their time on the two threads cannot be told apart, so they
 * have no sample. */

/* Makes the frame of that guard and opening MOVED, on the thread that has it open, and counts the
 * scope as lost. No other function writes to a frame of another running thread. Its guard is
 * written by compare and exchange: the owner may close or abandon the scope at the same time. Any
 * thread. */
void moved_end(uint64_t guard, uint64_t opened);

/* ---- handle.c: intervals that are not blocks: STINT_TIMER_BEGIN and STINT_TIMER_END. */

/* handle: two words of the caller's. */
void handle_begin(uint64_t *handle, struct stint_impl_site *site);
void handle_end(uint64_t *handle);
/* Into another set than the default one. */
void handle_end_in(uint64_t *handle, uint32_t set);

/* ---- mark.c: moments and values of the trace: STINT_TIMER_MARK and STINT_TIMER_VALUE. */

void mark_add(struct stint_impl_site *from);
/* Under a name made at run time; length UINT64_MAX: up to the NUL. */
void mark_add_named(const char *name, uint64_t length);
void mark_add_named_value(const char *name, uint64_t length, double value);
void mark_add_value(struct stint_impl_site *from, double value);

/* ---- sender.c: work below the scope that sent it: stint_sender_here and STINT_TIMER_UNDER. */

/* The innermost open scope of the calling thread and the time, all 0 if none is open. */
stint_sender sender_here(void);

/* Begins a scope below that sender; the guard as in recorder_begin_slow. */
void sender_begin(void *guard, struct stint_impl_site *site, uint64_t at, uint64_t who);

#endif
