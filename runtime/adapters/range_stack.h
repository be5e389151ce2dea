/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open ranges of a thread: a stack per domain, each range as a scope of the thread.
 */
#ifndef STINT_RANGE_STACK_H
#define STINT_RANGE_STACK_H

#include <stdint.h>

#include "range_tables.h"

/* Open ranges of a thread that are recorded. Fewer than scopes: ranges that never end leave room
 * for 64 of those. */
#define RANGE_STACK_MOST (STINT_IMPL_DEPTH - 64)

/* Opens one. Returns how many of the domain are open around it. */
int range_push(const struct range_domain *domain, const struct range_name *name,
               const stint_set *set);
/* The same without a domain, for a name that ends with a NUL, at any address. */
int range_push_copied_name(enum range_interface interface, const char *name);
/* Opens one at a site of the caller, whose name does not change and which may have a role; in the
 * set of that number. */
void range_push_site_in(const struct range_domain *domain, struct stint_impl_site *site,
                        uint32_t set);
/* The same without a domain; with a sender, where there is one. */
void range_push_site(enum range_interface interface, struct stint_impl_site *site);
void range_push_under(enum range_interface interface, struct stint_impl_site *site,
                      stint_sender sender);
/* The same for one that began at `ticks` (stint_impl_range_ticks), after all that are open. */
void range_push_at(enum range_interface interface, struct stint_impl_site *site, uint64_t ticks);
/* Ends the innermost one of the domain with that number; that of an interface is for ranges without
 * a domain. Returns how many of it are open now; -1: none was. */
int range_pop(uint32_t domain);
/* How many of it are open. */
int range_depth(uint32_t domain);
/* Counts a range that is in no stack. */
void range_count(enum range_interface interface);

#endif
