/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes one line per node of the call tree, `outer;inner nanoseconds`, the input of flame graphs.
 * The number is the time in the scope itself, of open scopes up to now, so that the lines of a
 * killed program add up to its whole time. Each thread has its own line for a stack; readers add
 * them up. Work that another thread sent is in the stack of the thread that ran it: in its sender's
 * stack it would be added to the sender's time, and the two ran at the same time. Intervals overlap
 * the scopes and would count time twice: they are left out.
 */
#include "formats.h"

#include "export/export_names.h"

/* Deeper than recorders nest, and longer than stacks of readable names. Of deeper or longer stacks
 * the innermost frames are written. Each line repeats the names of all enclosing scopes, so without
 * a limit the size of the lines could be the square of the size of the run file. */
#define FOLDED_DEPTH (2u * STINT_IMPL_DEPTH)
#define FOLDED_BYTES 8192u

/* Whether the character ends a frame, or a line for any reader, also for those in JavaScript. */
static int is_frame_end(uint32_t c) {
    return c == ';' || c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;
}

static void folded_put_stack(struct sink *out, const struct snapshot *s, uint32_t node) {
    uint32_t stack[FOLDED_DEPTH];
    uint32_t depth = 0, bytes = 0;
    for (; s->nodes[node].parent != SNAPSHOT_NONE && depth < FOLDED_DEPTH && bytes < FOLDED_BYTES;
         node = s->nodes[node].parent) {
        stack[depth++] = s->nodes[node].site;
        bytes += (uint32_t)export_site(s, s->nodes[node].site).length + 1;
    }
    while (depth--) {
        char *at = sink_room(out, SINK_PIECE);
        size_t n = export_clean_without(at, export_site(s, stack[depth]), is_frame_end);
        at[n] = depth ? ';' : ' ';
        out->length += n + 1;
    }
}

int export_folded(struct sink *out, struct run *r) {
    const struct snapshot *s = &r->snapshot;
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        u128 self = snapshot_sum_ns(s, (u128)snapshot_own(n) + n->extra->open_self);
        if (n->parent != SNAPSHOT_NONE && n->kind == STINT_IMPL_SCOPE_NODE && self) {
            folded_put_stack(out, s, i);
            sink_u128(out, self);
            sink_put(out, "\n", 1);
        }
    }
    return 0;
}
