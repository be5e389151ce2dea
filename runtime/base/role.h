/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The roles of scopes that have something in common.
 */
#ifndef STINT_ROLE_H
#define STINT_ROLE_H

#include "stint/stint.h"

/* Whether scopes of the role wait for other threads or processes. */
static inline int role_waits(uint32_t role) {
    return role >= STINT_ROLE_WAITING && role <= STINT_ROLE_ROOT_WAITING;
}

#endif
