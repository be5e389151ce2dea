/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that exports share: names that are cut and valid UTF-8, numbers of threads for viewers.
 */
#ifndef STINT_EXPORT_NAMES_H
#define STINT_EXPORT_NAMES_H

#include "base/sink.h"
#include "base/utf8.h"
#include "model/run.h"

/* No recorder stores a longer name, so a longer one is from a damaged file. If it were not cut, a
 * file that refers to it a million times would make an export of terabytes. */
#define EXPORT_NAME_BYTES 1000u

struct export_name {
    const char *bytes;
    size_t length;
};

struct export_name export_name(const char *bytes, size_t length);
/* NULL is "". */
struct export_name export_text(const char *text);
/* "?" if the snapshot does not have the site. */
struct export_name export_site(const struct snapshot *s, uint32_t site);
/* The name in an array that need not contain a NUL. */
struct export_name export_field(const char *bytes, size_t size);
/* `otherwise` if the snapshot does not have the set. */
const char *export_set_name(const struct snapshot *s, uint32_t set, const char *otherwise);
/* "live", "ended" or "killed". */
const char *export_state(const struct run *r);

uint32_t export_name_hash(struct export_name name);
int export_name_same(struct export_name a, struct export_name b);

#define EXPORT_CLEAN_BYTES (UTF8_ESCAPE_BYTES * EXPORT_NAME_BYTES)
/* Copies as valid UTF-8 that no other name becomes, to at most EXPORT_CLEAN_BYTES: what is in no
 * character is written as \xff, and so are the bytes of characters that the format cannot have.
 * Returns the bytes written. */
size_t export_clean(char *out, struct export_name name);
size_t export_clean_without(char *out, struct export_name name, int (*is_refused)(uint32_t));

/* As print_text (base/print.h), up to SINK_PIECE - 1 bytes of it. */
__attribute__((format(printf, 2, 3))) void export_add(struct sink *out, const char *format, ...);
/* A new line for the item of a JSON list, after a comma unless it is item 0. */
void export_start_item(struct sink *out, uint64_t item);

/* Viewers expect small integers. Linux never uses a number from here on for a thread or process. */
#define EXPORT_TIDS (1u << 22)

/* A number for each lane, all different: the thread's own number for the thread's first lane,
 * numbers from EXPORT_TIDS on for its other lanes and for streams. In the snapshot's memory; NULL
 * if there is not enough memory. */
uint32_t *export_tids(struct run *r);
uint32_t export_pid(const struct run *r);
/* By thread: its first lane + 1, or 0. In the snapshot's memory; NULL if there is not enough. */
uint32_t *export_thread_lanes(struct run *r);
/* The first lane + 1 of the thread that launched the activity of the span, or 0; `lanes` from
 * export_thread_lanes. */
uint32_t export_launch_lane(const struct snapshot *s, const uint32_t *lanes,
                            const struct trace_event *e);

#endif
