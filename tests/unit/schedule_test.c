/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/capture.h"

#include "support.h"

/* One letter a step: . off, w warm, R record. */
static void expect(stint_schedule s, const char *phases) {
    char have[64] = "";
    for (size_t i = 0; phases[i]; ++i) {
        uint64_t first;
        have[i] = ".wR"[schedule_phase_of(&s, i, &first)];
    }
    CHECK_STR_EQ(have, phases);
}

TEST(schedule, phases) {
    expect(schedule_make(0, 0, 0, 1, 0), "RRRRRR");
    expect(schedule_make(0, 1, 1, 2, 0), ".wRR.wRR.w");
    expect(schedule_make(3, 0, 1, 2, 0), "...wRRwRRw");
    expect(schedule_make(2, 2, 0, 1, 0), "....R..R..R");
    expect(schedule_make(0, 0, 2, 1, 0), "wwRwwRww");
}

TEST(schedule, rounds_end) {
    expect(schedule_make(0, 1, 0, 1, 2), ".R.R......");
    expect(schedule_make(4, 0, 0, 3, 1), "....RRR.....");
    expect(schedule_make(0, 0, 0, 1, 3), "RRR....");
}

TEST(schedule, no_record_phase_records_nothing) {
    expect(schedule_make(0, 0, 0, 0, 0), "....");
    expect(schedule_make(0, 1, 1, 0, 2), "....");
}

static uint64_t first_of(stint_schedule s, uint64_t step) {
    uint64_t first = 77;
    schedule_phase_of(&s, step, &first);
    return first;
}

TEST(schedule, first_step_of_the_record_phase) {
    stint_schedule s = schedule_make(10, 2, 1, 3, 2);
    CHECK_EQ_U64(first_of(s, 9), 0);
    CHECK_EQ_U64(first_of(s, 10), 13);
    CHECK_EQ_U64(first_of(s, 13), 13);
    CHECK_EQ_U64(first_of(s, 15), 13);
    CHECK_EQ_U64(first_of(s, 16), 19);
    CHECK_EQ_U64(first_of(s, 22), 0);
}

TEST(schedule, large_numbers) {
    stint_schedule s = schedule_make(UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX);
    uint64_t first, round = 3 * (uint64_t)UINT32_MAX, start = UINT32_MAX;
    CHECK(schedule_phase_of(&s, start + round - 1, &first) == SCHEDULE_RECORD);
    CHECK_EQ_U64(first, start + 2 * (uint64_t)UINT32_MAX);
    CHECK(schedule_phase_of(&s, start + round, &first) == SCHEDULE_OFF);
    s = schedule_make(UINT32_MAX, 0, 0, UINT32_MAX, UINT32_MAX);
    round = UINT32_MAX;
    uint64_t end = start + round * UINT32_MAX; /* just fits 64 bits */
    CHECK(schedule_phase_of(&s, end - 1, &first) == SCHEDULE_RECORD);
    CHECK(schedule_phase_of(&s, end, &first) == SCHEDULE_OFF);
    s.repeat = 0;
    CHECK(schedule_phase_of(&s, end + round - 1, &first) == SCHEDULE_RECORD);
    s = schedule_make(0, 0, 0, 1, 0);
    CHECK(schedule_phase_of(&s, UINT64_MAX, &first) == SCHEDULE_RECORD);
    CHECK_EQ_U64(first, UINT64_MAX);
}
