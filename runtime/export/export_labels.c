/* SPDX-License-Identifier: Apache-2.0 */
#include "export_labels.h"

#include <string.h>

#include "base/hash_map.h"
#include "model/activity_name.h"

/* A name that is exactly the recorded one is not copied: a damaged file may refer to the same text
 * a million times. */
static struct export_name label_of_activity(const struct snapshot_activity *a, char *text) {
    size_t n = activity_name(text, ACTIVITY_NAME_BYTES, a);
    struct export_name name = export_name(text, n);
    if (name.length <= a->name_length && !memcmp(a->name, text, name.length)) {
        name.bytes = a->name;
    }
    return name;
}

static int label_keep(struct export_labels *l, struct snapshot *s, struct export_name name,
                      const char *text) {
    if (name.bytes == text) {
        name.bytes = scratch_text(&s->memory, text, name.length);
        if (!name.bytes) {
            return -1;
        }
    }
    l->name[l->count++ - s->site_count - 1] = name;
    return 0;
}

int export_labels_start(struct export_labels *out, struct snapshot *s) {
    char text[ACTIVITY_NAME_BYTES];
    struct hash_map label_of; /* hashes of names to labels */
    size_t room = (size_t)s->activity_count + 1;
    out->s = s;
    out->site_count = s->site_count;
    out->count = s->site_count + 1;
    out->of_activity = scratch_array(&s->memory, room, sizeof *out->of_activity);
    out->name = scratch_array(&s->memory, room, sizeof *out->name);
    if (!out->of_activity || !out->name ||
        hash_map_start(&label_of, &s->memory, s->activity_count)) {
        return -1;
    }
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        struct export_name name = label_of_activity(&s->activities[i], text);
        uint32_t hash = export_name_hash(name);
        struct hash_map_walk walk;
        uint32_t label = hash_map_first(&label_of, hash, &walk);
        while (label != HASH_MAP_NONE && !export_name_same(export_label_name(out, label), name)) {
            label = hash_map_next(&label_of, &walk);
        }
        if (label == HASH_MAP_NONE) {
            label = out->count;
            if (label_keep(out, s, name, text) || hash_map_add(&label_of, hash, label)) {
                return -1;
            }
        }
        out->of_activity[i] = label;
    }
    return 0;
}

struct export_name export_label_name(const struct export_labels *l, uint32_t label) {
    if (label > l->s->site_count && label < l->count) {
        return l->name[label - l->s->site_count - 1];
    }
    return export_site(l->s, label);
}
