/* SPDX-License-Identifier: Apache-2.0 */
/*
 * STINT_TIMER_BEGIN and STINT_TIMER_END: the interval is in the handle (start in word 0, the site's
 * word in word 1), so that it may end on another thread; the thread that ends it records it.
 */
#include "recorder.h"

#include "base/errno_keep.h"
#include "interval_sample.h"
#include "system/clock.h"
#include "thread.h"

void handle_begin(uint64_t *handle, struct stint_impl_site *site) {
    ERRNO_KEEP;
    uint64_t word = recorder_site_word(site);
    interval_count_open(word, 1);
    handle[1] = word;
    handle[0] = clock_ticks();
}

void handle_end(uint64_t *handle) {
    handle_end_in(handle, 0);
}

void handle_end_in(uint64_t *handle, uint32_t set) {
    ERRNO_KEEP;
    uint64_t now = clock_ticks();
    uint64_t start = handle[0], word = handle[1];
    handle[0] = 0;
    if (!start) {
        arena_lose(STINT_STATUS_STRAY_END, 1);
        return;
    }
    interval_count_open(word, -1);
    if (site_is_off(word)) {
        /* switched off when it began */
    } else if (now < start) {
        arena_lose(STINT_STATUS_CLOCK_BACK, 1);
    } else {
        interval_sample_add(word, set, start, now - start);
        thread_seen(now);
    }
}
