/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder.h"

#include "thread.h"

/* Whether that frame of another thread is of this opening; then it is no longer. */
static int moved_take(struct stint_impl_frame *f, uint64_t guard, uint64_t opened) {
    uint64_t is = STINT_IMPL_LOAD(&f->guard);
    if (thread_untag_guard(is) != guard || STINT_IMPL_LOAD(&f->start) != opened ||
        !__atomic_compare_exchange_n(&f->guard, &is, STINT_IMPL_MOVED, 0, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED)) {
        return 0;
    }
    /* If the owner has reused the frame, a low of 0 only costs a search. */
    STINT_IMPL_STORE(&f->low, 0);
    return 1;
}

/* A guard that was jumped over is in no frame. */
void moved_end(uint64_t guard, uint64_t opened) {
    uint32_t unit = 0;
    if (arena.base) {
        unit = __atomic_load_n(&arena_header()->first_thread, __ATOMIC_ACQUIRE);
    }
    while (unit) {
        const struct arena_thread *t = arena_at(unit);
        struct stint_impl_frame *frames = arena_at(t->frames);
        for (uint32_t i = 1; i < STINT_IMPL_FRAMES && STINT_IMPL_LOAD(&frames[i].guard); ++i) {
            if (moved_take(&frames[i], guard, opened)) {
                arena_lose(STINT_STATUS_OTHER_THREAD, 1);
                return;
            }
        }
        unit = t->next;
    }
}
