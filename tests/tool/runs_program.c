/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the run files of the current format that later versions have to read (runs_test.py), on
 * the fake clock: runs_program plain|groups|added. `plain` has nested scopes, notes, a second set,
 * marks, steps, intervals and declared amounts; in `groups` number n of gen/records.ini is
 * 1000 + n; `added` has added samples, alone and of a timed name, from 0 ns to years.
 */
#include "record/measured.h"

#include <string.h>

#include "base/measure.h"
#include "fake_clock.h"
#include "record/tree.h"
#include "stint/stint.h"

static void plain_step(uint64_t i) {
    STINT_TIMER_INFO("step", i % 7 ? "batch" : "batch with \"quotes\", and more", -1);
    {
        STINT_TIMER("step.load");
        STINT_TIMER_BYTES(1 << 20);
        fake_advance(1000 * (i % 13) + 5);
    }
    {
        STINT_TIMER("step.work", -1, stint_set_get("second"));
        STINT_TIMER_FLOPS(2e9);
        fake_advance(i * i * 100);
    }
    STINT_TIMER_MARK("done");
    STINT_TIMER_VALUE("loss", 1.0 / (double)(i + 1));
}

static void plain(void) {
    for (uint64_t i = 0; i < 40; ++i) {
        stint_timer handle = {0};
        STINT_TIMER_BEGIN(handle, "interval");
        plain_step(i);
        STINT_TIMER_END(handle);
        stint_step();
    }
}

/* Sets all numbers of the innermost open scope. */
static void set_numbers(void) {
    struct thread_block *b = thread_enter(1);
    struct stint_impl_node *n = tree_node(b, thread_innermost(b)->node);
    for (uint32_t group = 0; group < MEASURE_GROUP_COUNT; ++group) {
        struct arena_measures *block = measured_get(b, n, group);
        struct measure_list list = measure_list_of(group);
        for (uint32_t i = 0; block && i < list.count; ++i) {
            block->value[i] = 1000 + list.number[i];
        }
    }
    thread_leave(b);
}

static void groups(void) {
    for (uint64_t i = 0; i < 3; ++i) {
        STINT_TIMER("every group");
        set_numbers();
        fake_advance(2000000);
    }
}

static void added(void) {
    static const uint64_t years = 31536000000000000;
    static const uint64_t given[] = {0, 1, 7, 9, 17, 1000000007, 3600000000000};
    for (uint64_t i = 0; i < 50; ++i) {
        {
            STINT_TIMER("both");
            fake_advance(1000 + i);
        }
        stint_sample_add("both", 7);
        stint_sample_add("added", given[i % 7]);
        stint_sample_add("days", i < 40 ? 9 : 100000000000000 + i);
    }
    stint_sample_add("years", years);
    stint_sample_add("years", 2 * years);
}

int main(int argc, char **argv) {
    if (argc == 2 && !strcmp(argv[1], "plain")) {
        plain();
    } else if (argc == 2 && !strcmp(argv[1], "groups")) {
        groups();
    } else if (argc == 2 && !strcmp(argv[1], "added")) {
        added();
    } else {
        return 2;
    }
    return 0;
}
