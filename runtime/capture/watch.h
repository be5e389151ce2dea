/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes that a capture waits for: "when NAME took longer than X". Their nodes send every call that
 * long through the slow path; all other calls cost nothing more.
 */
#ifndef STINT_WATCH_H
#define STINT_WATCH_H

#include <stddef.h>
#include <stdint.h>

/* The mark of a site of that name, 0 = nobody waits for it. Under the registry's lock. */
uint8_t watch_mark(const char *name, size_t length);
/* Ticks from which a call of a marked site matters. */
uint64_t watch_limit(uint8_t mark);
/* A call of a marked site. Any thread. */
void watch_sample(uint8_t mark, uint64_t ticks);
/* Whether the scope that rule number i waits for was slow since the last call. */
int watch_take(unsigned i);
/* In the child of a fork. */
void watch_forget(void);

#endif
