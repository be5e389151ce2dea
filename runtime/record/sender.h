/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work below the scope that sent it: stint_sender_here and STINT_TIMER_UNDER.
 */
#ifndef STINT_SENDER_H
#define STINT_SENDER_H

#include "base/api.h"
#include "thread.h"

/* The innermost open scope of the calling thread and the time, all 0 if none is open. */
stint_sender sender_here(void);

/* Begins a scope below that sender; the guard as in recorder_begin_slow. */
void sender_begin(void *guard, struct stint_impl_site *site, uint64_t at, uint64_t who);

#endif
