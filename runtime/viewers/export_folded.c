/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes: a line a node of the call tree, `outer;inner nanoseconds`, as flame graphs
 * take them. The number is the time in the scope itself, open ones up to now, so that a killed
 * program's lines add up to what it ran; lines of equal stacks, one a thread, are for the reader to
 * add. Intervals overlap the scopes and would count time twice: they are not in it.
 */
#include "formats.h"

#include <string.h>

#include "base/utf8.h"
#include "export/export_names.h"

/* Deeper than any recorder nests, and longer than stacks of readable names are. Of deeper or longer
 * ones the innermost frames stay: each line repeats the names of all scopes around it, so without a
 * limit a file's lines could be the square of its size. */
#define FOLDED_DEPTH (2u * STINT_IMPL_DEPTH)
#define FOLDED_BYTES 8192u

/* What would end the frame or the line, for readers in JavaScript too. */
static int ends_line(uint32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;
}

static size_t frame_text(char *out, struct export_name name) {
    size_t n = export_clean(out, name), to = 0;
    for (size_t i = 0; i < n;) {
        uint32_t c = ' ';
        size_t length = utf8_next(out + i, n - i, &c);
        if (c == ';' || ends_line(c)) {
            out[to++] = c == ';' ? ':' : ' ';
        } else {
            memmove(out + to, out + i, length);
            to += length;
        }
        i += length;
    }
    return to;
}

static void put_stack(struct sink *out, const struct snapshot *s, uint32_t node) {
    uint32_t stack[FOLDED_DEPTH];
    uint32_t depth = 0, bytes = 0;
    for (; s->nodes[node].parent != SNAPSHOT_NONE && depth < FOLDED_DEPTH && bytes < FOLDED_BYTES;
         node = s->nodes[node].parent) {
        stack[depth++] = s->nodes[node].site;
        bytes += (uint32_t)export_site(s, s->nodes[node].site).length + 1;
    }
    while (depth--) {
        char *at = sink_room(out, SINK_PIECE);
        size_t n = frame_text(at, export_site(s, stack[depth]));
        at[n] = depth ? ';' : ' ';
        out->length += n + 1;
    }
}

int export_folded(struct sink *out, struct run *r) {
    const struct snapshot *s = &r->snapshot;
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        uint64_t recorded = n->total > n->nested ? n->total - n->nested : 0;
        uint64_t self = snapshot_ns(s, recorded + n->open_self);
        if (n->parent != SNAPSHOT_NONE && n->kind == STINT_IMPL_SCOPE_NODE && self) {
            put_stack(out, s, i);
            sink_u64(out, self);
            sink_put(out, "\n", 1);
        }
    }
    return 0;
}
