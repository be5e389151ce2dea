/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process's own snapshot. Apart from the reading itself, which is for run files too.
 */
#include "arena/arena.h"
#include "interval.h"
#include "process.h"

int snapshot_take(struct snapshot *s) {
    struct clock_stamp now;
    if (!arena.base) {
        return -1;
    }
    clock_stamp(&now);
    /* Not just what is in use now: a record made meanwhile stands before its elders in the lists,
     * and out of bounds it would hide them. The rest of the arena is mapped and zero. */
    uint64_t size =
        2 * __atomic_load_n(&arena_header()->used, __ATOMIC_ACQUIRE) + ((uint64_t)8 << 20);
    return snapshot_read_live(s, arena.base, size < arena.size ? size : arena.size,
                              process_start_ns(), &now);
}
