/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows of steps against a model that keeps every step.
 */
#include "arena/windows.h"

#include "harness.h"
#include "support.h"

#define STEPS_MOST 5000u

struct kept {
    uint64_t ticks[STEPS_MOST];
    uint64_t calls[STEPS_MOST];
    uint64_t steps;
};

static struct arena_windows *new_windows(uint32_t room) {
    struct arena_windows *w = calloc(1, windows_bytes(room));
    CHECK(w != NULL);
    windows_start(w, room);
    return w;
}

static void add_both(struct arena_windows *w, struct kept *k, uint64_t step, uint64_t ticks,
                     uint64_t calls) {
    windows_add(w, step, ticks, calls);
    k->ticks[step] += ticks;
    k->calls[step] += calls;
    k->steps = u64_max(k->steps, step + 1);
}

/* The smallest power of two with which all steps fit. */
static uint64_t width_for(uint64_t steps, uint32_t room) {
    uint64_t width = 1;
    while (width * room < steps) {
        width *= 2;
    }
    return width;
}

static void compare_windows(const struct arena_windows *w, const struct kept *k) {
    CHECK_EQ_U64(w->steps, k->steps);
    CHECK_EQ_U64(w->width, width_for(k->steps, w->room));
    CHECK_EQ_U64(w->seq % 2, 0);
    CHECK_EQ_U64(w->window[w->room].ticks, w->seq);
    for (uint64_t i = 0; i < w->room; ++i) {
        uint64_t ticks = 0, calls = 0;
        for (uint64_t step = i * w->width; step < (i + 1) * w->width && step < k->steps; ++step) {
            ticks += k->ticks[step];
            calls += k->calls[step];
        }
        CHECK_EQ_U64(w->window[i].ticks, ticks);
        CHECK_EQ_U64(w->window[i].calls, calls);
    }
}

TEST(windows, random_steps_are_as_in_the_model) {
    static const uint32_t rooms[] = {2, 4, 32, 256};
    uint64_t state = 7;
    for (size_t round = 0; round < 200; ++round) {
        struct kept k = {.steps = 0};
        struct arena_windows *w = new_windows(rooms[round % 4]);
        uint64_t steps = 1 + random_next(&state) % (round < 190 ? 700 : STEPS_MOST);
        for (uint64_t step = 0; step < steps; step += 1 + random_next(&state) % 3) {
            add_both(w, &k, step, random_next(&state) % 1000, random_next(&state) % 4);
        }
        compare_windows(w, &k);
        free(w);
    }
}

TEST(windows, a_step_that_comes_late_and_one_far_away) {
    struct kept k = {.steps = 0};
    struct arena_windows *w = new_windows(8);
    add_both(w, &k, 0, 5, 1);
    add_both(w, &k, 4000, 7, 1);
    add_both(w, &k, 3, 11, 1);
    compare_windows(w, &k);
    free(w);
}

TEST(windows, the_largest_numbers) {
    struct arena_windows *w = new_windows(256);
    windows_add(w, 0, UINT64_MAX - 1, 1);
    windows_add(w, 0, 5, 1);
    CHECK_EQ_U64(w->window[0].ticks, UINT64_MAX);
    windows_add(w, UINT64_MAX - 1, 3, 1);
    CHECK_EQ_U64(w->width, (uint64_t)1 << 56);
    CHECK_EQ_U64(w->window[255].ticks, 3);
    CHECK_EQ_U64(w->window[0].calls, 2);
    free(w);
}

/* The limit of docs/scale.md. */
TEST(windows, all_of_a_run_are_less_than_64_kB) {
    uint64_t each = (windows_bytes(ARENA_WINDOWS) + STINT_IMPL_UNIT - 1) / STINT_IMPL_UNIT;
    CHECK(ARENA_WINDOW_NAMES * each * STINT_IMPL_UNIT <= 65536);
    CHECK_EQ_U64(windows_bytes(ARENA_WINDOWS), 4176);
}
