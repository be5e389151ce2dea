/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The snapshot of the process's own arena, which is read by the same functions as run files.
 */
#include "arena/arena.h"
#include "base/arithmetic.h"
#include "interval.h"
#include "session/process.h"

int snapshot_take(struct snapshot *s) {
    struct clock_stamp now;
    if (!arena.base) {
        return -1;
    }
    clock_stamp(&now);
    /* More than what is in use now: a record that is added during the reading is at the head of its
     * list, and if it were out of bounds, the older ones could not be reached. The rest of the
     * arena is mapped and zero. */
    uint64_t size =
        2 * __atomic_load_n(&arena_header()->used, __ATOMIC_ACQUIRE) + ((uint64_t)8 << 20);
    return snapshot_read_live(s, arena.base, u64_min(size, arena.size), process_start_ns(), &now);
}
