/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes that stay open when one below them ends or is abandoned. Ranges of other interfaces may
 * cross each other and scopes: they stay open below the scope around, with the start that they had.
 * The recorder calls these functions on the thread whose block it is; a signal handler may
 * interrupt them and record, too.
 */
#ifndef STINT_CROSSING_H
#define STINT_CROSSING_H

#include "thread.h"

/* Where the calling thread has the guards of such ranges from now on. Those that are open in the
 * place it had before are abandoned. */
void crossing_set_range_guards(const void *from, uint64_t bytes);
/* Whether a scope above the frame is such a range: it is not left with the frame's. */
int crossing_has_range_above(const struct thread_block *b, const struct stint_impl_frame *f);

/* Makes the frame the topmost one. Ranges above it stay, with all_stay every open scope; the others
 * are abandoned. A tool's ranges of all of them are closed, as they nest. Returns the first that
 * stays, NULL: none. Those that stay are not on the stack until crossing_reopen. */
struct stint_impl_frame *crossing_take(struct thread_block *b, struct stint_impl_frame *f,
                                       int all_stay);
/* Opens the frames that stay again, with the start that they had: each below what is open now, at
 * most in the frame before its own. Between thread_enter and thread_leave. */
void crossing_reopen(struct thread_block *b, struct stint_impl_frame *from,
                     const struct stint_impl_frame *last);

#endif
