/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moments and values of the trace: TIMER_MARK and TIMER_VALUE.
 */
#ifndef STINT_MARK_H
#define STINT_MARK_H

#include "base/api.h"

void mark_add(struct stint_impl_site *from);
void mark_add_value(struct stint_impl_site *from, double value);

#endif
