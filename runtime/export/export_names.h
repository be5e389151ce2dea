/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What exports share: names cut and cleaned, numbers of threads for viewers.
 */
#ifndef STINT_EXPORT_NAMES_H
#define STINT_EXPORT_NAMES_H

#include "read/run.h"

/* No recorder keeps a longer name, so one can only come from a damaged file; uncut, a file that
 * names it a million times would grow into terabytes. */
#define EXPORT_NAME_BYTES 1000u

struct export_name {
    const char *bytes;
    size_t length;
};

struct export_name export_name(const char *bytes, size_t length);
/* "?" for a site that is not there. */
struct export_name export_site(const struct snapshot *s, uint32_t site);
/* Of an array that need not hold a NUL. */
struct export_name export_field(const char *bytes, size_t size);

uint32_t export_name_hash(struct export_name name);
int export_name_same(struct export_name a, struct export_name b);

/* Copies as valid UTF-8; out has room for three times the length. Returns the bytes written. */
size_t export_clean(char *out, struct export_name name);

/* Viewers want small integers: Linux gives no thread or process a number from here on. */
#define EXPORT_TIDS (1u << 22)

/* A number for each lane, none twice: its thread's own on the thread's first lane, from EXPORT_TIDS
 * on for others and for streams. In the snapshot's memory; NULL without. */
uint32_t *export_tids(struct run *r);
uint32_t export_pid(const struct run *r);
/* By thread: its first lane + 1, where it has one. In the snapshot's memory; NULL without. */
uint32_t *export_thread_lanes(struct run *r);

#endif
