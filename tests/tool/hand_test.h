/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the tests of exporters share. */
#ifndef STINT_TESTS_HAND_TEST_H
#define STINT_TESTS_HAND_TEST_H

#include "export/tool/formats.h"
#include "hand_run.h"
#include "harness.h"

static struct hand_run hand;
static size_t exported_bytes;

/* The export of `hand` so far, kept. */
static inline char *exported(int (*exporter)(struct sink *, struct run *)) {
    char *text = hand_export(exporter, hand_run(&hand), &exported_bytes);
    CHECK(text != NULL);
    return harness_keep(text ? text : calloc(1, 1));
}

static inline uint32_t hand_named(const char *name) {
    return hand_site(&hand, name, strlen(name));
}

/* Counts `needle` in the text. It does not use strstr, because the address sanitizer's version
 * measures the text each time. */
static inline uint64_t times_in(const char *text, const char *needle) {
    uint64_t n = 0;
    for (; *text; ++text) {
        n += *text == *needle && !strncmp(text, needle, strlen(needle));
    }
    return n;
}

#endif
