/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu_words.h"

#include <string.h>

#include "arena.h"

/* One line per word; returns the bytes. Words without room are left out. */
static size_t gpu_words_join(const struct gpu_words *words, char out[GPU_WORDS_BYTES]) {
    size_t used = 0;
    for (int i = 0; words && i < GPU_WORDS; ++i) {
        const char *word = gpu_words_get(words, (enum gpu_word)i, "");
        size_t length = strlen(word);
        if (used + length + 1 > GPU_WORDS_BYTES) {
            break;
        }
        memcpy(out + used, word, length);
        out[used + length] = '\n';
        used += length + 1;
    }
    return used;
}

uint32_t gpu_words_record(const struct gpu_words *words) {
    char joined[GPU_WORDS_BYTES];
    size_t length = gpu_words_join(words, joined);
    uint32_t unit = 0;
    if (length) {
        unit = arena_get(sizeof(struct arena_text) + length + 1, ARENA_RECORD);
    }
    if (unit) {
        struct arena_text *t = arena_at(unit);
        t->length = (uint32_t)length;
        memcpy(t->bytes, joined, length);
    }
    return unit * (STINT_IMPL_UNIT / 8);
}

int gpu_words_match(uint32_t text, const struct gpu_words *words) {
    char joined[GPU_WORDS_BYTES];
    size_t length = gpu_words_join(words, joined);
    if (!text || !length) {
        return !text && !length;
    }
    const struct arena_text *t = arena_text_at(text);
    return t->length == length && !memcmp(t->bytes, joined, length);
}
