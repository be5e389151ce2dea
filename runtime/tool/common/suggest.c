/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/removed.h"

#define WORD_MAX 32u /* longer ones are not compared */

/* One mistake in three letters, at least one. */
static uint32_t mistakes_max(size_t length) {
    return (uint32_t)u64_clamp(length / 3, 1, 3);
}

/* Letters that are missing, extra, wrong, or swapped with the next one (optimal string
 * alignment). */
static uint32_t count_mistakes(const char *a, size_t a_length, const char *b, size_t b_length) {
    uint32_t row[3][WORD_MAX + 1]; /* of the last two letters of `a`, and this one */
    uint32_t *before = row[0], *above = row[1], *now = row[2];
    for (uint32_t k = 0; k <= b_length; ++k) {
        above[k] = k;
    }
    for (uint32_t i = 1; i <= a_length; ++i) {
        now[0] = i;
        for (uint32_t k = 1; k <= b_length; ++k) {
            uint64_t least = above[k - 1] + (a[i - 1] != b[k - 1]);
            least = u64_min(least, u64_min(above[k], now[k - 1]) + 1);
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1]) {
                least = u64_min(least, (uint64_t)before[k - 2] + 1);
            }
            now[k] = (uint32_t)least;
        }
        uint32_t *oldest = before;
        before = above;
        above = now;
        now = oldest;
    }
    return above[b_length];
}

void suggestion_start(struct suggestion *s, const char *typed, size_t length) {
    memset(s, 0, sizeof *s);
    s->typed = typed;
    s->length = length;
    s->mistakes = mistakes_max(length) + 1;
}

static void try_word(struct suggestion *s, const char *word, size_t length) {
    if (s->length < 2 || s->length > WORD_MAX || length > WORD_MAX) {
        return;
    }
    uint32_t mistakes = count_mistakes(s->typed, s->length, word, length);
    if (length >= s->length &&
        !memcmp(word, s->typed, s->length)) { /* the rest was not typed: no mistake */
        mistakes = 0;
    }
    if (mistakes > s->mistakes) {
        return;
    }
    s->several = s->word && mistakes == s->mistakes;
    if (mistakes <= mistakes_max(s->length)) {
        s->word = word;
        s->word_length = length;
        s->mistakes = mistakes;
    }
}

void suggestion_try(struct suggestion *s, const char *word) {
    try_word(s, word, strlen(word));
}

void suggestion_try_list(struct suggestion *s, const char *list) {
    while (*list) {
        size_t length = strcspn(list, "|");
        try_word(s, list, length);
        list += length + (list[length] != '\0');
    }
}

void suggestion_text(const struct suggestion *s, const char *prefix, char *out, size_t size) {
    const char *use = removed_use(s->typed, s->length);
    *out = '\0';
    if (use) {
        snprintf(out, size, "; instead use %s", use);
    } else if (s->word && !s->several) {
        snprintf(out, size, ", did you mean %s%.*s?", prefix, (int)s->word_length, s->word);
    }
}
