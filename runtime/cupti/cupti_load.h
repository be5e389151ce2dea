/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUPTI library: finding it, and its words for things. A library that was opened stays open.
 */
#ifndef STINT_CUPTI_LOAD_H
#define STINT_CUPTI_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include "activity/tracer_ops.h"
#include "cupti_types.inc"

struct cupti_kind {
    int kind;
    uint32_t least;  /* bytes of a record, or it begins otherwise than what is read here */
    uint32_t prefix; /* bytes that are read */
    const char *words;
};
#define CUPTI_KINDS 9
extern const struct cupti_kind *const cupti_kind_table; /* kernels are the first */

#define CUPTI_REASON TRACER_REASON
#define CUPTI_LIBRARIES "libcupti.so.13, .12 or .11"

/* Loads a library (NULL: the first that is there of the known names). 0, or -1 with why not, in
 * words. Not from two threads at once. */
int cupti_load(const char *library, struct cupti *out, uint32_t *version,
               char reason[CUPTI_REASON]);
/* Which CUDA it is of: "13.0". */
void cupti_toolkit(uint32_t version, char *out, size_t size);
/* What a code means, else its name, else its number. */
void cupti_say_code(const struct cupti *c, int code, char *out, size_t size);

#endif
