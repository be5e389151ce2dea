/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a GPU's vendor that reports use: its platform, and the functions that hints name. A
 * back end has them in its ops. The arena keeps them with each device, as one text with a line per
 * word, so that the tool, which reads files, needs no list of vendors.
 */
#ifndef STINT_GPU_WORDS_H
#define STINT_GPU_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arithmetic.h"

/* The order of the lines: part of the run file's format. */
enum gpu_word {
    GPU_WORD_PLATFORM,   /* in "[PLATFORM memcpy HtoD]" */
    GPU_WORD_PINNED,     /* the function that allocates pinned memory */
    GPU_WORD_PREFETCH,   /* moves pages of unified memory before they are needed */
    GPU_WORD_ADVISE,     /* says how unified memory will be used */
    GPU_WORD_COPY_ASYNC, /* copies beside other work */
    GPU_WORDS
};
#define GPU_WORDS_BYTES 200u /* all, with a NUL for each */

struct gpu_words {
    const char *word[GPU_WORDS]; /* NULL: unknown */
};

/* The word; if it is unknown, `other`. words may be NULL. */
static inline const char *gpu_words_get(const struct gpu_words *words, enum gpu_word which,
                                        const char *other) {
    if (words && words->word[which]) {
        return words->word[which];
    }
    return other;
}

/* The platform, or "GPU". */
static inline const char *gpu_words_platform(const struct gpu_words *words) {
    return gpu_words_get(words, GPU_WORD_PLATFORM, "GPU");
}

/* Records them: a text of the arena, 0 without memory or words. */
uint32_t gpu_words_record(const struct gpu_words *words);
/* Whether that text of the arena has these words; NULL: none. */
int gpu_words_match(uint32_t text, const struct gpu_words *words);
/* Splits such a text, which may be any bytes: `bytes` then holds the words, printable ASCII, to
 * which `out` points. */
static inline void gpu_words_read(const char *text, size_t length, char bytes[GPU_WORDS_BYTES],
                                  struct gpu_words *out) {
    size_t used = 0;
    *out = (struct gpu_words){0};
    length = u64_min(length, GPU_WORDS_BYTES - 1);
    for (int i = 0; i < GPU_WORDS && used < length; ++i) {
        char *word = bytes + used;
        for (; used < length && text[used] != '\n'; ++used) {
            int is_printable = text[used] > ' ' && text[used] <= '~';
            bytes[used] = is_printable ? text[used] : '?';
        }
        bytes[used++] = '\0';
        if (*word) {
            out->word[i] = word;
        }
    }
}

#endif
