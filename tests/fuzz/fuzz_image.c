/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_image.h"

#include <string.h>

#include "arena/arena.h"

static _Alignas(STINT_IMPL_UNIT) char memory[(size_t)FUZZ_LINES * STINT_IMPL_UNIT];

static uint64_t number_at(const uint8_t *p, size_t bytes) {
    uint64_t n = 0;
    memcpy(&n, p, bytes); /* little endian, as the arena itself */
    return n;
}

int fuzz_image_read(struct fuzz_image *out, const uint8_t *data, size_t size) {
    if (size < FUZZ_HEAD) {
        return -1;
    }
    uint64_t lines = number_at(data, 2) % (FUZZ_LINES + 1);
    uint64_t bytes = lines * STINT_IMPL_UNIT, cut = data[2] % STINT_IMPL_UNIT;
    struct arena_header *h = (struct arena_header *)(void *)memory;
    ASAN_UNPOISON_MEMORY_REGION(memory, sizeof memory);
    memset(memory, 0, bytes > sizeof *h ? bytes : sizeof *h);
    for (const uint8_t *p = data + FUZZ_HEAD; p + FUZZ_RECORD <= data + size; p += FUZZ_RECORD) {
        uint64_t line = number_at(p, 2);
        if (line < lines) {
            memcpy(memory + line * STINT_IMPL_UNIT, p + 2, STINT_IMPL_UNIT);
        }
    }
    memcpy(h->magic, ARENA_MAGIC, sizeof h->magic);
    h->abi = ARENA_FORMAT;
    h->header_bytes = sizeof *h;
    out->base = memory;
    out->size = bytes > cut ? bytes - cut : 0;
    memcpy(out->option, data + 3, FUZZ_OPTIONS);
    out->now.ticks = h->start.ticks + number_at(data + 8, 8);
    out->now.monotonic_ns = h->start.monotonic_ns + number_at(data + 16, 8);
    out->now.real_ns = 0;
    ASAN_POISON_MEMORY_REGION(memory + out->size, sizeof memory - out->size);
    return 0;
}

void fuzz_image_write(FILE *out, const struct fuzz_image *image) {
    static const char zero[STINT_IMPL_UNIT];
    const struct arena_header *h = (const struct arena_header *)(const void *)image->base;
    uint64_t lines = (image->size + STINT_IMPL_UNIT - 1) / STINT_IMPL_UNIT;
    uint64_t ticks = image->now.ticks - h->start.ticks;
    uint64_t ns = image->now.monotonic_ns - h->start.monotonic_ns;
    uint8_t cut = 0;
    FUZZ_NEED(lines <= FUZZ_LINES);
    fwrite(&lines, 2, 1, out);
    fwrite(&cut, 1, 1, out);
    fwrite(image->option, 1, FUZZ_OPTIONS, out);
    fwrite(&ticks, 8, 1, out);
    fwrite(&ns, 8, 1, out);
    for (uint64_t line = 0; line < lines; ++line) {
        const char *content = image->base + line * STINT_IMPL_UNIT;
        if (memcmp(content, zero, sizeof zero)) {
            fwrite(&line, 2, 1, out);
            fwrite(content, sizeof zero, 1, out);
        }
    }
}
