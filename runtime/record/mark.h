/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moments and values of the trace: STINT_TIMER_MARK and STINT_TIMER_VALUE.
 */
#ifndef STINT_MARK_H
#define STINT_MARK_H

#include "base/api.h"

void mark_add(struct stint_impl_site *from);
/* Under a name made at run time; length UINT64_MAX: up to the NUL. */
void mark_add_named(const char *name, uint64_t length);
void mark_add_named_value(const char *name, uint64_t length, double value);
void mark_add_value(struct stint_impl_site *from, double value);

#endif
