/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <string.h>

/* The default set always, every other one if there is something in it; `line` after the last. */
static int render_legacy_sets(const struct report *r, int line) {
    struct snapshot *s = r->snapshot;
    struct report_options each = *r->options;
    struct report part = *r;
    unsigned char *has_calls = scratch_array(&s->memory, s->set_count, 1);
    uint32_t last = 0;
    if (!has_calls) {
        return -1;
    }
    part.options = &each;
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        if (n->count + n->recursions) {
            has_calls[n->set] = 1;
            last = n->set > last ? n->set : last;
        }
    }
    for (each.set = 0; each.set <= last; ++each.set) {
        if ((!each.set || has_calls[each.set]) && report_legacy(&part, line && each.set == last)) {
            return -1;
        }
    }
    return 0;
}

/* Parts of a view end with a blank line, and the footer begins with one. */
static int one_blank_line(const struct report *r) {
    struct text *t = r->out;
    if (t->length > 1 && !memcmp(t->data + t->length - 2, "\n\n", 2)) {
        --t->length;
    }
    return 0;
}

int report_render(const struct report *r, int line) {
    switch (r->options->view) {
    case REPORT_TABLE:
        return report_header(r) || report_table(r) || report_footer(r) ? -1 : 0;
    case REPORT_TREE:
        return report_header(r) || report_tree(r) || report_footer(r) ? -1 : 0;
    case REPORT_GPU:
        return report_header(r) || report_activity(r) || report_devices(r) || report_memory(r) ||
                       report_hints(r) || one_blank_line(r) || report_footer(r)
                   ? -1
                   : 0;
    case REPORT_FLUID:
        return report_fluid(r) || report_memory(r) || report_footer(r) ? -1 : 0;
    default:
        return r->options->set == REPORT_ALL_SETS ? render_legacy_sets(r, line)
                                                  : report_legacy(r, 1);
    }
}
