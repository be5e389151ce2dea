/* SPDX-License-Identifier: Apache-2.0 */
#include "own.h"

int own_step(int n) {
    return own_inner(n) + 1;
}

/* The call of own_step is in the same unit. */
int own_outer(int n) {
    return own_step(n) + own_step(n + 1);
}

int own_unused(int n) {
    return n;
}
