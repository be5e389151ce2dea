/* SPDX-License-Identifier: Apache-2.0 */
#include "merge.h"

#include <string.h>

#include "arena/arena.h"
#include "base/arithmetic.h"

int merge_inputs_several_clocks(const struct run_inputs *in) {
    for (uint32_t i = 1; i < in->count; ++i) {
        const struct run_input *first = &in->input[0], *other = &in->input[i];
        if (first->clock_kind != other->clock_kind ||
            memcmp(first->boot_id, other->boot_id, sizeof first->boot_id)) {
            return 1;
        }
    }
    return 0;
}

uint64_t merge_inputs_bytes(const struct run_inputs *in) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < in->count; ++i) {
        bytes = saturating_add(bytes, in->input[i].bytes + sizeof(struct arena_header));
    }
    return bytes;
}

uint64_t merge_inputs_growth(const struct run_inputs *in) {
    const uint64_t cells = (uint64_t)in->count * sizeof(struct arena_rank_cell);
    uint64_t nodes = 0;
    for (uint32_t i = 0; i < in->count; ++i) {
        nodes = saturating_add(nodes, in->input[i].bytes / sizeof(struct stint_impl_node));
    }
    return saturating_multiply(nodes, sizeof(struct stint_impl_histogram) + cells);
}
