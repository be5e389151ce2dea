/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutations for run files. libFuzzer's own mutations insert and erase bytes, which moves all later
 * lines out of place. Most of these change one word of one line: to the number of another line,
 * which is a reference, or to a number at some edge. The file is linked only if there is libFuzzer.
 */
#include <string.h>

#include "fuzz_image.h"
#include "stint/detail/impl_layout.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static uint64_t dice;

static uint64_t throw_dice(uint64_t sides) { /* xorshift64* */
    dice ^= dice >> 12;
    dice ^= dice << 25;
    dice ^= dice >> 27;
    return (dice * 0x2545f4914f6cdd1du >> 32) % sides;
}

static uint64_t edge(uint64_t now) {
    switch (throw_dice(9)) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX >> throw_dice(64);
    case 2:
        return (uint64_t)1 << throw_dice(64);
    case 3:
        return now + 1;
    case 4:
        return now - 1;
    case 5:
        return now ^ (uint64_t)1 << throw_dice(64);
    case 6:
        return now << 1;
    case 7:
        return throw_dice(16);
    default:
        return throw_dice(FUZZ_LINES * 8); /* a text: it counts 8 bytes */
    }
}

static void change_word(uint8_t *records, size_t count) {
    uint8_t *line = records + throw_dice(count) * FUZZ_RECORD;
    size_t bytes = throw_dice(2) ? 4 : 8;
    uint8_t *word = line + 2 + throw_dice(STINT_IMPL_UNIT / bytes) * bytes;
    uint64_t value = 0;
    memcpy(&value, word, bytes);
    if (throw_dice(2)) {
        value = edge(value);
    } else {
        value = 0;
        memcpy(&value, records + throw_dice(count) * FUZZ_RECORD, 2);
    }
    memcpy(word, &value, bytes);
}

static size_t add_line(uint8_t *data, size_t size, size_t max_size, size_t count) {
    if (size + FUZZ_RECORD > max_size || !count) {
        return size;
    }
    uint8_t *to = data + FUZZ_HEAD + count * FUZZ_RECORD;
    memcpy(to, data + FUZZ_HEAD + throw_dice(count) * FUZZ_RECORD, FUZZ_RECORD);
    uint64_t line = throw_dice(FUZZ_LINES);
    memcpy(to, &line, 2);
    return FUZZ_HEAD + (count + 1) * FUZZ_RECORD;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    size_t count = size < FUZZ_HEAD ? 0 : (size - FUZZ_HEAD) / FUZZ_RECORD;
    dice = (uint64_t)seed << 1 | 1;
    throw_dice(1);
    uint64_t how = throw_dice(16);
    if (!count || how == 0) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    if (how == 1) {
        LLVMFuzzerMutate(data, FUZZ_HEAD, FUZZ_HEAD);
        return size;
    }
    if (how == 2) {
        return add_line(data, size, max_size, count);
    }
    if (how == 3) {
        uint8_t *line = data + FUZZ_HEAD + throw_dice(count) * FUZZ_RECORD;
        LLVMFuzzerMutate(line + 2, STINT_IMPL_UNIT, STINT_IMPL_UNIT);
        return size;
    }
    for (uint64_t times = 1 + throw_dice(4); times; --times) {
        change_word(data + FUZZ_HEAD, count);
    }
    return size;
}
