/* SPDX-License-Identifier: Apache-2.0 */
#include "merge.h"

#include <string.h>

#include "arena/arena.h"
#include "base/arithmetic.h"
#include "base/log.h"
#include "base/text.h"

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

int merge_inputs_find_helpers(struct run_inputs *in) {
    struct merge_process *p = scratch_array(&in->memory, (size_t)in->count + 1, sizeof *p);
    for (uint32_t i = 0; p && i < in->count; ++i) {
        const struct run_input *r = &in->input[i];
        uint64_t place = hash_bytes(r->boot_id, sizeof r->boot_id);
        p[i] = (struct merge_process){r->start_ns, place, r->rank, r->pid, r->parent_pid};
    }
    const uint32_t *of = p ? merge_helpers_find(&in->memory, p, in->count) : NULL;
    for (uint32_t i = 0; of && i < in->count; ++i) {
        in->input[i].is_helper = of[i] != i;
    }
    return of ? 0 : -1;
}

/* When the last start of the ranks began; a start ends where one of its ranks is there again. 0:
 * there is one start; UINT64_MAX: they overlap, or no memory. */
static uint64_t find_last_start(struct run_inputs *in) {
    struct hash_map first; /* by rank, its first input */
    const uint32_t *order = run_inputs_by_start(in);
    uint32_t *seen = scratch_array(&in->memory, (size_t)in->count + 1, sizeof *seen);
    uint64_t began = 0, before = 0, widest = 0, pause = UINT64_MAX;
    uint32_t starts = 0;
    if (!order || !seen || hash_map_start(&first, &in->memory, in->count)) {
        return UINT64_MAX;
    }
    for (uint32_t i = 0; i < in->count; ++i) {
        const struct run_input *input = &in->input[order[i]];
        if (!input->rank || input->is_helper) {
            continue;
        }
        hash_map_set(&first, input->rank, order[i]);
        uint32_t *last = &seen[hash_map_get(&first, input->rank)];
        if (!starts || *last == starts) {
            pause = starts ? u64_min(pause, input->start_ns - before) : pause;
            began = input->start_ns;
            ++starts;
        }
        *last = starts;
        before = input->start_ns;
        widest = u64_max(widest, before - began);
    }
    if (starts < 2) {
        return 0;
    }
    return pause > widest ? began : UINT64_MAX;
}

int merge_inputs_keep_last(struct run_inputs *in) {
    uint64_t began = find_last_start(in);
    uint32_t kept = 0;
    if (began == UINT64_MAX) {
        log_error("merge: --start last: the starts of the ranks overlap, or not enough memory; "
                  "nothing was merged");
        return -1;
    }
    for (uint32_t i = 0; i < in->count; ++i) {
        if (!in->input[i].rank || in->input[i].start_ns >= began) {
            in->input[kept++] = in->input[i];
        }
    }
    if (kept < in->count) {
        log_note("merge: %u file%s of earlier starts %s not merged", in->count - kept,
                 text_plural(in->count - kept), in->count - kept == 1 ? "is" : "are");
    }
    in->count = kept;
    return 0;
}
