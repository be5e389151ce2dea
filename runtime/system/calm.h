/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the two calls a write to a pipe without a reader, or beyond the limit of a file's size,
 * fails with EPIPE or EFBIG instead of raising a signal that ends the program. Both keep errno.
 */
#ifndef STINT_CALM_H
#define STINT_CALM_H

#include <signal.h>

struct calm {
    sigset_t before;
    sigset_t waiting;
};

void calm_start(struct calm *c);
void calm_end(const struct calm *c);

/* Whether the calling thread blocks a signal, as one in a signal handler does, but for one that was
 * installed with SA_NODEFER. Other threads may block signals, too. */
int calm_thread_blocks_signal(void);

#endif
