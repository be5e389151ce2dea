/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open ranges of a thread: a stack per domain, each range as a scope of the thread.
 */
#ifndef STINT_RANGE_STACK_H
#define STINT_RANGE_STACK_H

#include <stdint.h>

#include "range_tables.h"

/* Open ranges of a thread that are recorded. Fewer than scopes: ranges that never end leave room for
 * 64 of those. */
#define RANGE_STACK_MOST (STINT_IMPL_DEPTH - 64)

/* Opens one. Returns how many of the domain are open around it. */
int range_push(const struct range_domain *domain, const struct range_name *name,
               const stint_set *set);
/* Ends the innermost one of the domain. Returns how many of it are open now; -1: none was. */
int range_pop(const struct range_domain *domain);

#endif
