/* SPDX-License-Identifier: Apache-2.0 */
#include "windows.h"

#include "base/arithmetic.h"

void windows_start(struct arena_windows *w, uint32_t room) {
    w->room = room;
    w->width = 1;
}

/* Both places of seq: a reader that copies the record from its start to its end finds them
 * different, or odd, if windows moved during the copy. */
static void windows_mark(struct arena_windows *w, uint32_t seq) {
    struct arena_window *end = &w->window[w->room];
    __atomic_store_n(&end->ticks, seq, __ATOMIC_SEQ_CST);
    __atomic_store_n(&w->seq, seq, __ATOMIC_SEQ_CST);
}

static void windows_set(struct arena_window *to, uint64_t ticks, uint64_t calls) {
    STINT_IMPL_PUBLISH(&to->ticks, ticks);
    STINT_IMPL_PUBLISH(&to->calls, calls);
}

/* Adds neighbours; the second half becomes empty. */
static void windows_double(struct arena_windows *w) {
    windows_mark(w, w->seq + 1);
    for (uint32_t i = 0; i < w->room / 2; ++i) {
        const struct arena_window *one = &w->window[2 * i], *other = one + 1;
        windows_set(&w->window[i], saturating_add(one->ticks, other->ticks),
                    saturating_add(one->calls, other->calls));
    }
    for (uint32_t i = w->room / 2; i < w->room; ++i) {
        windows_set(&w->window[i], 0, 0);
    }
    STINT_IMPL_PUBLISH(&w->width, 2 * w->width);
    windows_mark(w, w->seq + 1);
}

void windows_add(struct arena_windows *w, uint64_t step, uint64_t ticks, uint64_t calls) {
    while (step / w->width >= w->room) {
        windows_double(w);
    }
    struct arena_window *to = &w->window[step / w->width];
    windows_set(to, saturating_add(to->ticks, ticks), saturating_add(to->calls, calls));
    if (step >= w->steps) {
        STINT_IMPL_PUBLISH(&w->steps, step + 1);
    }
}
