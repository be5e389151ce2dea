/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scope by its way from the outermost one.
 */
#include "report_grid.h"

#include <string.h>

#define PATH_COLUMNS 60

static const char between[] = " > ";
static const char cut[] = "... > ";

/* Writes it before the existing text; -1 without room. */
static int path_prepend(char out[REPORT_PATH], size_t *at, const char *text, size_t length) {
    if (length > *at) {
        return -1;
    }
    *at -= length;
    memcpy(out + *at, text, length);
    return 0;
}

size_t report_path_text(char out[REPORT_PATH], const struct snapshot *s, uint32_t node) {
    size_t at = REPORT_PATH - 1;
    out[at] = '\0';
    for (uint32_t i = node; i < s->node_count && s->nodes[i].parent != SNAPSHOT_NONE;
         i = s->nodes[i].parent) {
        const struct snapshot_site *site = &s->sites[s->nodes[i].site];
        const char *name = site->name ? site->name : "?";
        size_t length = 1;
        if (site->name) {
            length = site->length;
        }
        size_t room = at - (sizeof cut - 1), need = length + (i != node ? sizeof between - 1 : 0);
        if (at < sizeof cut || need > room) {
            path_prepend(out, &at, cut, sizeof cut - 1);
            break;
        }
        if (i != node) {
            path_prepend(out, &at, between, sizeof between - 1);
        }
        path_prepend(out, &at, name, length);
    }
    memmove(out, out + at, REPORT_PATH - at);
    return REPORT_PATH - 1 - at;
}

void report_path(struct report_grid *g, const struct snapshot *s, uint32_t node) {
    char path[REPORT_PATH];
    size_t length = 0;
    if (node < s->node_count) {
        length = report_path_text(path, s, node);
    }
    if (length) {
        grid_name(g, path, length, PATH_COLUMNS);
    } else {
        grid_add(g, "-");
    }
}
