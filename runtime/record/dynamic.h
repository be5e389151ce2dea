/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes and samples under names made at run time. The entry points are public.
 */
#ifndef STINT_DYNAMIC_H
#define STINT_DYNAMIC_H

#include "site.h"
#include "thread.h"

/* The name's word under the current gate; between thread_enter and thread_leave. */
uint64_t dynamic_word_entered(struct thread_block *b, struct site_text name,
                              const struct stint_impl_site *place);

#endif
