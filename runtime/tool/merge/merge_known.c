/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the merged file, found by a hash of their contents. A part of a run is added to the one
 * that is found, and a new one is made if there is none that has room for the sums. Where threads
 * are kept none is looked for: what is added to a new one is a copy. So copies and sums are one
 * path.
 */
#include "merge.h"

int merge_known_start(struct merge *m) {
    for (int i = 0; i < MERGE_KNOWN; ++i) {
        hash_map_start(&m->known[i], &m->lasting, 0);
    }
    return m->lasting.failed ? -1 : 0;
}

uint32_t merge_find_or_make(struct merge *m, enum merge_known which, uint64_t hash,
                            merge_is_wanted *is_wanted, merge_make *make, const void *wanted) {
    struct hash_map *known = &m->known[which];
    struct hash_map_walk walk;
    if (which >= MERGE_ROWS && m->keep == MERGE_KEEP_THREADS) {
        return make(m, wanted);
    }
    uint32_t number = hash_map_first(known, (uint32_t)hash, &walk);
    while (number != HASH_MAP_NONE && !is_wanted(m, number, wanted)) {
        number = hash_map_next(known, &walk);
    }
    if (number != HASH_MAP_NONE) {
        return number;
    }
    number = make(m, wanted);
    return number && !hash_map_add(known, (uint32_t)hash, number) ? number : 0;
}
