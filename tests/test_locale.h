/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets the numeric locale that TEST_LOCALE names in the environment, for programs that
 * locale_test.py runs. Exits if that locale's decimal point is a point.
 */
#ifndef STINT_TESTS_TEST_LOCALE_H
#define STINT_TESTS_TEST_LOCALE_H

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void test_locale_take(void) {
    const char *name = getenv("TEST_LOCALE");
    char half[16];
    if (!name) {
        return;
    }
    const char *taken = setlocale(LC_NUMERIC, name);
    snprintf(half, sizeof half, "%.1f", 0.5);
    if (!taken || !strcmp(half, "0.5")) {
        fprintf(stderr, "TEST_LOCALE=%s: not a locale with another decimal point\n", name);
        exit(3);
    }
}

#endif
