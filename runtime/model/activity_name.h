/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name of an activity, in every report and export: a kernel or API call by its name, a copy by
 * its direction, the rest in words.
 */
#ifndef STINT_ACTIVITY_NAME_H
#define STINT_ACTIVITY_NAME_H

#include <stddef.h>
#include <stdint.h>

#include "snapshot.h"

#define ACTIVITY_NAME_BYTES 1001u /* room for every name that a runtime keeps, and a NUL */

/* "memcpy HtoD", "memset", the name of a kernel or call; cut where there is no room for it, and
 * with a NUL. Bytes without that. A recorded name may be any bytes. */
size_t activity_name(char *out, size_t size, const struct snapshot_activity *a);

/* The words of its device's vendor; without a device, those of the newest. NULL: there is none. */
const struct gpu_words *activity_words(const struct snapshot *s, const struct snapshot_activity *a);
/* The name as the tables of reports have it: "[PLATFORM memcpy HtoD]", as nvprof does, so that
 * scripts written for it work. */
size_t activity_title(char out[ACTIVITY_NAME_BYTES], const struct snapshot *s,
                      const struct snapshot_activity *a);

/* The texts of numbers, which may be any number; they do not change between versions. */
const char *activity_kind_text(uint32_t kind);      /* "kernel", "copy", "api" … */
const char *activity_copy_text(uint32_t direction); /* "HtoD" … */
const char *activity_memory_text(uint32_t memory);  /* "pageable", "pinned", "device" … */
const char *activity_gap_text(uint32_t gap);        /* "host late" … */
/* How the call made the copies of that detail: "async", "sync", "batch". */
const char *activity_copy_mode_text(uint32_t detail);

#endif
