/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export_names.h"
#include "hand_test.h"

/* Packets of the trace; 0 if one is not Trace.packet or is cut off. */
static uint64_t packets(const char *data, size_t length, size_t *longest) {
    uint64_t count = 0;
    for (size_t at = 0; at < length; ++count) {
        uint64_t size = 0;
        unsigned shift = 0;
        if (data[at++] != 0x0a) {
            return 0;
        }
        do {
            size |= (uint64_t)(data[at] & 0x7f) << shift;
            shift += 7;
        } while (data[at++] & 0x80 && at < length);
        *longest = size > *longest ? (size_t)size : *longest;
        at += size;
        if (at > length) {
            return 0;
        }
    }
    return count;
}

/* The largest of everything a packet can hold: each length still has to fit its byte or two. */
TEST(export_perfetto, the_longest_packets) {
    static char name[EXPORT_NAME_BYTES + 100];
    size_t longest = 0;
    memset(name, '\xff', sizeof name); /* each byte becomes four */
    hand_start(&hand);
    uint32_t site = hand_site(&hand, name, sizeof name);
    uint32_t root = hand_thread(&hand, 7, "t");
    uint32_t node = hand_node(&hand, root, site, 1, 1, 0);
    hand_lane(&hand, root, "t");
    hand_span(&hand, node, UINT64_MAX - 1, UINT64_MAX, 0);
    hand_value(&hand, site, UINT64_MAX, -1e308);
    char *data = exported(export_perfetto);
    /* start, process, a set, two names, thread, begin, counter track, value, end */
    CHECK_EQ_U64(packets(data, exported_bytes, &longest), 10);
    CHECK(longest > EXPORT_CLEAN_BYTES && longest < SINK_PIECE);
    hand_end(&hand);
}

TEST(export_perfetto, ends_stand_where_they_end) {
    size_t longest = 0;
    hand_start(&hand);
    uint32_t root = hand_thread(&hand, 7, "t");
    uint32_t node = hand_node(&hand, root, hand_named("n"), 1, 1, 0);
    hand_lane(&hand, root, "t");
    hand_span(&hand, node, 1, 5, 0);
    hand_span(&hand, node, 1, 5, 1); /* equal to the nanosecond: one in the other */
    hand_span(&hand, node, 6, 1, 0);
    char *data = exported(export_perfetto);
    CHECK_EQ_U64(packets(data, exported_bytes, &longest), 12);
    static const char order[] = {1, 1, 2, 2, 1, 2};
    const char *at = data;
    for (size_t i = 0; i < sizeof order; ++i) {
        at = memmem(at, exported_bytes - (size_t)(at - data), "\x50\x01\x68\x02\x5a", 5);
        if (!CHECK(at != NULL)) {
            break;
        }
        CHECK(at[7] == order[i]);
        ++at;
    }
    hand_end(&hand);
}
