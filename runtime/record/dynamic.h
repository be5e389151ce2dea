/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes and samples under names made at run time.
 */
#ifndef STINT_DYNAMIC_H
#define STINT_DYNAMIC_H

#include "site.h"
#include "thread.h"

/* stint_impl_begin_dynamic, stint_scope_begin, stint_scope_end and stint_sample_add. */
void dynamic_begin(void *guard, struct stint_impl_site *site, uint32_t set, const char *name,
                   uint64_t length, uint64_t start_us);
/* As handle_begin (handle.c), under a name made at run time. */
void dynamic_begin_handle(uint64_t *handle, const char *name, uint64_t length);
/* The word of a name: with SITE_OFF if it is switched off, 0 if it has none, counted. */
uint64_t dynamic_word(const char *name, uint64_t length);
/* For a measurement of what such a name costs: enters a name that is switched off into the table of
 * a recorder, and looks a name up there. Its word, 0 = unknown. Owner. */
void dynamic_keep(struct thread_block *b, const char *name, size_t length);
uint64_t dynamic_look_up(const struct thread_block *b, const char *name, size_t length);
/* The same, known by two words: stint_impl_scope_open and stint_impl_scope_close. */
void dynamic_open(uint64_t *scope, const char *name, uint64_t length);
void dynamic_close(uint64_t *scope);
int dynamic_begin_named(const char *name);
int dynamic_end_named(const char *name);
int dynamic_add_sample(const char *name, uint64_t ns);

#endif
