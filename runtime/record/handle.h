/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intervals that are not blocks: STINT_TIMER_BEGIN and STINT_TIMER_END.
 */
#ifndef STINT_HANDLE_H
#define STINT_HANDLE_H

#include "base/api.h"

/* handle: two words of the caller's. */
void handle_begin(uint64_t *handle, struct stint_impl_site *site);
void handle_end(uint64_t *handle);
/* Into another set than the default one. */
void handle_end_in(uint64_t *handle, uint32_t set);

#endif
