/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open ranges of a thread, of all domains in one stack, each as a scope of the thread.
 */
#ifndef STINT_RANGE_STACK_H
#define STINT_RANGE_STACK_H

#include <stdint.h>

#include "range_tables.h"

#define RANGE_STACK_MOST 256 /* as many as scopes */

/* Opens one. Returns how many of the domain are open around it. */
int range_push(const struct range_domain *domain, const struct range_name *name,
               const stint_set *set);
/* Ends the innermost one of the domain. Returns how many of it are open now; -1: none was. */
int range_pop(const struct range_domain *domain);

#endif
