/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "did you mean": the known word that a mistyped one is nearest to.
 */
#ifndef STINT_TOOL_SUGGEST_H
#define STINT_TOOL_SUGGEST_H

#include <stddef.h>
#include <stdint.h>

struct suggestion {
    const char *typed;
    size_t length;    /* of what was typed */
    const char *word; /* the nearest so far, or NULL; not terminated by a NUL */
    size_t word_length;
    uint32_t mistakes; /* of that word */
    int several;       /* other words have as few */
};

/* Starts with the text that was typed, or the beginning of it. */
void suggestion_start(struct suggestion *s, const char *typed, size_t length);
/* A word that would be right, or each of the words of a list: "a|b|c". */
void suggestion_try(struct suggestion *s, const char *word);
void suggestion_try_list(struct suggestion *s, const char *list);
/* "; instead use …" if an earlier version knew the typed word. Else ", did you mean WORD?" with
 * that prefix before the word, or "": no word is near, or several. */
void suggestion_text(const struct suggestion *s, const char *prefix, char *out, size_t size);

#endif
