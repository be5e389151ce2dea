/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names are bytes of a length, NUL included; what is given as a C string ends at its NUL. Recording
 * and the functions that look a name up cut it by the same rule, so that they agree.
 */
#ifndef STINT_NAME_H
#define STINT_NAME_H

#include <stddef.h>
#include <string.h>

#include "arithmetic.h"
#include "utf8.h"

#define NAME_BYTES 1000u /* longer names are cut */

/* The length that is kept: at most NAME_BYTES, and no UTF-8 character cut in two. */
static inline size_t name_cut(const char *bytes, size_t length) {
    return utf8_cut(bytes, length, NAME_BYTES);
}

/* Order as of memcmp, a prefix first. */
static inline int name_compare(const char *a, size_t a_length, const char *b, size_t b_length) {
    int order = memcmp(a, b, u64_min(a_length, b_length));
    if (order) {
        return order;
    }
    return (a_length > b_length) - (a_length < b_length);
}

/* Whether a name as recorded is equal to the C string. */
static inline int name_is(const char *bytes, size_t length, const char *text) {
    return !name_compare(bytes, length, text, name_cut(text, strlen(text)));
}

#endif
