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

#endif
