/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of libstint.so that libstint-ranges.so and the wrappers of MPI call besides those
 * that compiled-in code calls. They have the version of the layout (STINT_ABI) and are not for
 * programs.
 */
#ifndef STINT_RANGE_CALLS_H
#define STINT_RANGE_CALLS_H

/* WITH_TIMER is on where this is included: in the session by base/api.h, in libstint-ranges.so by
 * its definitions. */
#include "stint/stint.h"

#define stint_impl_end_crossing STINT_IMPL_ABI_NAME(stint_impl_end_crossing)
#define stint_impl_range_ticks STINT_IMPL_ABI_NAME(stint_impl_range_ticks)
#define stint_impl_range_begin_at STINT_IMPL_ABI_NAME(stint_impl_range_begin_at)
#define stint_impl_range_guards STINT_IMPL_ABI_NAME(stint_impl_range_guards)
#define stint_impl_range_counts STINT_IMPL_ABI_NAME(stint_impl_range_counts)
#define stint_impl_range_name STINT_IMPL_ABI_NAME(stint_impl_range_name)
#define stint_impl_handle_end_in STINT_IMPL_ABI_NAME(stint_impl_handle_end_in)
#define stint_impl_mark_named STINT_IMPL_ABI_NAME(stint_impl_mark_named)
#define stint_impl_value_named STINT_IMPL_ABI_NAME(stint_impl_value_named)
#define stint_impl_range_thread STINT_IMPL_ABI_NAME(stint_impl_range_thread)
#define stint_impl_lose_range STINT_IMPL_ABI_NAME(stint_impl_lose_range)
#define stint_impl_lose_end STINT_IMPL_ABI_NAME(stint_impl_lose_end)
#define stint_impl_rank_seen STINT_IMPL_ABI_NAME(stint_impl_rank_seen)

#if defined(STINT_SESSION) && !defined(STINT_STATIC)
#pragma GCC visibility push(default)
#endif
/* Ends the scope of that guard, and leaves those above it open: recorder_end_crossing. */
extern void stint_impl_end_crossing(void *guard);
/* The time, and a scope of the default set that began then. */
extern uint64_t stint_impl_range_ticks(void);
extern void stint_impl_range_begin_at(void *guard, struct stint_impl_site *site, uint64_t ticks);
/* Where the calling thread has the guards of its ranges: crossing_set_range_guards. */
extern void stint_impl_range_guards(const void *from, uint64_t bytes);
/* Where the calling thread counts its ranges: a number for each interface of gen/interfaces.ini, in
 * the order of that table, which are the thread's own; NULL without memory or a recorder. They are
 * in the arena at stint_impl_thread_here->base. 0, or -1 if it cannot be said now, in a signal
 * handler. */
extern int stint_impl_range_counts(uint64_t **out);
/* The word of the scope with that guard, if it is the innermost one of the calling thread; else 0.
 * *text: its name in the arena, where it stays. */
extern uint64_t stint_impl_range_name(const void *guard, const char **text);
/* As stint_impl_handle_end, into a set; NULL: the default one. */
extern void stint_impl_handle_end_in(uint64_t *handle, const stint_set *set);
/* A mark and a value in the trace, under a name made at run time. */
extern void stint_impl_mark_named(const char *name, uint64_t length);
extern void stint_impl_value_named(const char *name, uint64_t length, double value);
/* Names the calling thread in the report; NULL does nothing. */
extern void stint_impl_range_thread(const char *name);
/* Counts a range that found no room in a table, and an end without a begin. */
extern void stint_impl_lose_range(void);
extern void stint_impl_lose_end(void);
/* The rank of the process in its job and the number of ranks (0: not known), for a launcher whose
 * environment does not tell. */
extern void stint_impl_rank_seen(uint32_t rank, uint32_t size);
#if defined(STINT_SESSION) && !defined(STINT_STATIC)
#pragma GCC visibility pop
#endif

#endif
