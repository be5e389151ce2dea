/* SPDX-License-Identifier: Apache-2.0 */
#include "merge.h"

#include <string.h>

#include "arena/arena.h"
#include "base/arithmetic.h"
#include "base/text.h"
#include "system/log.h"

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
    return saturating_multiply(nodes, sizeof(struct arena_pairs) + HISTOGRAM_BYTES_MOST + cells);
}

/* Removes the inputs of ranks that began before, after one line. */
static void remove_before(struct run_inputs *in, uint64_t began) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < in->count; ++i) {
        if (!in->input[i].rank || in->input[i].start_ns >= began) {
            in->input[kept++] = in->input[i];
        }
    }
    uint32_t left = in->count - kept;
    in->count = kept;
    log_note("merge: %u file%s of earlier starts %s not merged", left, text_plural(left),
             left == 1 ? "is" : "are");
}

int merge_inputs_know(struct run_inputs *in, int last_start) {
    struct merge_starts starts;
    struct merge_process *p = scratch_array(&in->memory, (size_t)in->count + 1, sizeof *p);
    for (uint32_t i = 0; p && i < in->count; ++i) {
        const struct run_input *r = &in->input[i];
        uint64_t place = hash_bytes(r->boot_id, sizeof r->boot_id);
        p[i] = (struct merge_process){r->start_ns, place, r->rank, r->pid, r->parent_pid};
    }
    const uint32_t *of = p ? merge_helpers_find(&in->memory, p, in->count) : NULL;
    for (uint32_t i = 0; of && i < in->count; ++i) {
        in->input[i].is_helper = of[i] != i;
        p[i].rank = of[i] == i ? p[i].rank : 0; /* it is part of its rank's start */
    }
    if (!of || merge_starts_find(&in->memory, &starts, p, in->count)) {
        log_error("merge: not enough memory");
        return -1;
    }
    if (!last_start || starts.count < 2) {
        return 0;
    }
    if (!starts.are_apart) {
        log_error("merge: --start last: the starts of the ranks overlap; nothing was merged");
        return -1;
    }
    remove_before(in, starts.last_ns);
    return 0;
}
