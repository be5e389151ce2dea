/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The snapshot of the process's own arena, which is read by the same functions as run files.
 */
#include "arena/arena.h"
#include "base/arithmetic.h"
#include "interval.h"
#include "session/process.h"

/* More than what is in use now: a record that is added during the reading is at the head of its
 * list, and if it were out of bounds, the older ones could not be reached. The rest of the arena is
 * mapped and zero. */
static uint64_t size_to_read(void) {
    uint64_t used = __atomic_load_n(&arena_header()->used, __ATOMIC_ACQUIRE);
    return u64_min(2 * used + ((uint64_t)8 << 20), arena.size);
}

int snapshot_take(struct snapshot *s) {
    struct clock_stamp now;
    if (!arena.base) {
        return -1;
    }
    clock_stamp(&now);
    return snapshot_read_live(s, arena.base, size_to_read(), process_start_ns(), &now);
}

int snapshot_take_chosen(struct snapshot *s, const struct snapshot_choice *choice) {
    struct clock_stamp now;
    clock_stamp(&now);
    return snapshot_read_chosen(s, arena.base, size_to_read(), process_start_ns(), &now, choice);
}
