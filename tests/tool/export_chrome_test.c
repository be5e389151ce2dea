/* SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>

#include "hand_test.h"

static uint32_t node;

static void one_lane(void) {
    hand_start(&hand);
    uint32_t root = hand_thread(&hand, 7, "t");
    node = hand_node(&hand, root, hand_named("n"), 1, 1, 0);
    hand_lane(&hand, root, "t");
}

TEST(export_chrome, a_span_ends_with_the_one_around_it) {
    one_lane();
    hand_span(&hand, node, 1000, 500, 0);
    hand_span(&hand, node, 1200, 301, 1); /* a nanosecond over it */
    hand_span(&hand, node, 1500, 10, 0);  /* not in it any more */
    char *text = exported(export_chrome);
    CHECK_CONTAINS(text, "\"ts\":1.000,\"dur\":0.500,");
    CHECK_CONTAINS(text, "\"ts\":1.200,\"dur\":0.300,");
    CHECK_CONTAINS(text, "\"ts\":1.500,\"dur\":0.010,");
    hand_end(&hand);
}

TEST(export_chrome, an_end_past_the_last_nanosecond) {
    one_lane();
    hand_span(&hand, node, UINT64_MAX - 1, 1000, 0);
    CHECK_CONTAINS(exported(export_chrome), "\"ts\":18446744073709551.614,\"dur\":0.001,");
    hand_end(&hand);
}

/* Spans deeper than any recorder writes: those that do not fit are left out, and the rest is
 * exported. */
TEST(export_chrome, deeper_than_anything) {
    enum { SPANS = 3000 };
    static struct trace_event events[SPANS];
    one_lane();
    for (uint32_t i = 0; i < SPANS; ++i) {
        events[i].start_ns = i;
        events[i].duration_ns = 10000 - i;
        events[i].depth = i;
        events[i].site = events[i].node = node;
    }
    hand.run.trace.rings = (struct trace_rings *)(void *)events;
    hand.lanes[0].count = hand.run.trace.event_count = SPANS;
    char *text = exported(export_chrome);
    CHECK_EQ_U64(times_in(text, "\"ph\":\"X\""), 2 * STINT_IMPL_DEPTH);
    hand_end(&hand);
}

TEST(export_chrome, values_are_exact_and_short) {
    static const double values[] = {0.1, 1e-320, 1.7976931348623157e308, -0.0, 123456789.125};
    one_lane();
    for (size_t i = 0; i < sizeof values / sizeof *values; ++i) {
        hand_value(&hand, 1, i, values[i]);
    }
    char *text = exported(export_chrome);
    const char *at = text;
    CHECK_CONTAINS(text, "{\"value\":0.1}");
    for (size_t i = 0; i < sizeof values / sizeof *values; ++i) {
        at = strstr(at, "{\"value\":");
        if (!CHECK(at != NULL)) {
            break;
        }
        at += 9;
        CHECK(strtod(at, NULL) == values[i]);
    }
    hand_end(&hand);
}

TEST(export_chrome, whatever_the_locale_has_for_a_point) {
    static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ps_AF.UTF-8"};
    size_t i = 0;
    while (i < sizeof commas / sizeof *commas && !setlocale(LC_NUMERIC, commas[i])) {
        ++i;
    }
    if (i == sizeof commas / sizeof *commas) {
        SKIP("no locale with a decimal comma");
    }
    one_lane();
    hand_value(&hand, 1, 0, 0.5);
    CHECK_CONTAINS(exported(export_chrome), "{\"value\":0.5}");
    hand_end(&hand);
}
