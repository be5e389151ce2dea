/* SPDX-License-Identifier: Apache-2.0 */
#include "order.h"

#include <string.h>

static void merge(uint32_t *to, const uint32_t *from, uint32_t middle, uint32_t end,
                  order_rule before, const void *what) {
    uint32_t a = 0, b = middle;
    for (uint32_t i = 0; i < end; ++i) {
        int left = a < middle && (b == end || !before(what, from[b], from[a]));
        to[i] = left ? from[a++] : from[b++];
    }
}

uint32_t *order_by(struct scratch *memory, uint32_t count, order_rule before, const void *what) {
    uint32_t *order = scratch_array(memory, (size_t)count + 1, sizeof *order);
    uint32_t *spare = scratch_array(memory, (size_t)count + 1, sizeof *spare);
    if (!order || !spare) {
        return NULL;
    }
    for (uint32_t i = 0; i < count; ++i) {
        order[i] = i;
    }
    for (uint64_t width = 1; width < count; width *= 2) {
        for (uint64_t from = 0; from < count; from += 2 * width) {
            uint64_t left = count - from;
            merge(spare + from, order + from, (uint32_t)(width < left ? width : left),
                  (uint32_t)(2 * width < left ? 2 * width : left), before, what);
        }
        memcpy(order, spare, count * sizeof *order);
    }
    return order;
}
