/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes whose slow calls are waited for: "when NAME took longer than X" of a capture. Their nodes
 * send every call that long through the slow path; all other calls cost nothing more.
 */
#ifndef STINT_WATCH_H
#define STINT_WATCH_H

#include <stddef.h>
#include <stdint.h>

/* A scope that is waited for; the name is constant. */
struct watch_scope {
    const char *name;
    uint64_t over_ns; /* slow is longer than this */
};
#define WATCH_SCOPES 16

/* The scopes to watch, up to WATCH_SCOPES, a NULL name for an unused place; under the registry's
 * lock, before the first site is marked. The array must stay valid. */
void watch_set_scopes(const struct watch_scope *scopes, unsigned count);
/* The mark of a site of that name, 0 = it is not waited for. Under the registry's lock. */
uint8_t watch_mark(const char *name, size_t length);
/* Ticks from which a call of a marked site matters. */
uint64_t watch_limit(uint8_t mark);
/* A call of a marked site. Any thread. */
void watch_sample(uint8_t mark, uint64_t ticks);
/* Whether the scope that number i is was slow since the last call. */
int watch_take(unsigned i);
/* In the child of a fork. */
void watch_forget(void);

#endif
