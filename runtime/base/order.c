/* SPDX-License-Identifier: Apache-2.0 */
#include "order.h"

#include <string.h>

#include "arithmetic.h"

struct ordering {
    order_rule before;
    const void *what;
};

int order_is_less(const void *numbers, uint32_t a, uint32_t b) {
    const uint64_t *number = numbers;
    return number[a] < number[b];
}

/* from[0 … middle) and from[middle … end) are in order. */
static void merge_halves(const struct ordering *o, uint32_t *to, const uint32_t *from,
                         uint32_t middle, uint32_t end) {
    uint32_t a = 0, b = middle;
    if (middle == end || !o->before(o->what, from[middle], from[middle - 1])) {
        memcpy(to, from, end * sizeof *to);
        return;
    }
    while (a < middle && b < end) {
        *to++ = o->before(o->what, from[b], from[a]) ? from[b++] : from[a++];
    }
    memcpy(to, from + a, (middle - a) * sizeof *to);
    memcpy(to + (middle - a), from + b, (end - b) * sizeof *to);
}

uint32_t *order_in(uint32_t *order, uint32_t *spare, uint32_t count, order_rule before,
                   const void *what) {
    for (uint32_t i = 0; i < count; ++i) {
        order[i] = i;
    }
    return order_these(order, spare, count, before, what);
}

uint32_t *order_these(uint32_t *order, uint32_t *spare, uint32_t count, order_rule before,
                      const void *what) {
    struct ordering o = {before, what};
    for (uint64_t width = 1; width < count; width *= 2) {
        for (uint64_t from = 0; from < count; from += 2 * width) {
            uint32_t left = (uint32_t)(count - from);
            merge_halves(&o, spare + from, order + from, (uint32_t)u64_min(width, left),
                         (uint32_t)u64_min(2 * width, left));
        }
        uint32_t *sorted = spare;
        spare = order;
        order = sorted;
    }
    return order;
}

uint32_t *order_by(struct scratch *memory, uint32_t count, order_rule before, const void *what) {
    uint32_t *order = scratch_array(memory, count, sizeof *order);
    uint32_t *spare = scratch_array(memory, count, sizeof *spare);
    if (!order || !spare) {
        return NULL;
    }
    return order_in(order, spare, count, before, what);
}
