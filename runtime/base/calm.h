/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the two calls a write into a pipe without a reader, or over the limit of a file's size,
 * is an error (EPIPE, EFBIG) and no signal that ends the program. Both keep errno.
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
