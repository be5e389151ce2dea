# SPDX-License-Identifier: Apache-2.0
import unittest

import support

THREE = """[used]
number = 4
group = memory
add = state
of = own
doc = In use.

[most]
number = 9
group = memory
add = most
of = own
doc = Most ever.

[cycles]
number = 2
group = counters
add = sum
of = calls
doc = Of the clock.
"""


class Measures(support.Case):
    def test_ids(self):
        self.assert_golden("measure_ids.inc", THREE, support.HEAD + """#define MEASURE_COUNT 10
enum measure {
    MEASURE_USED = 4,
    MEASURE_MOST = 9,
    MEASURE_CYCLES = 2,
};
#define MEASURE_GROUP_COUNT 2
enum measure_group {
    MEASURE_GROUP_MEMORY,
    MEASURE_GROUP_COUNTERS,
};
enum measure_group_size {
    MEASURES_OF_MEMORY = 2,
    MEASURES_OF_COUNTERS = 1,
};
""")

    def test_rules(self):
        self.assert_golden("measure_table.inc", THREE, support.HEAD + """\
static const struct measure_rule measure_rules[MEASURE_COUNT] = {
    [4] = {MEASURE_STATE, 0 /* of whole calls */, 0},
    [9] = {MEASURE_MOST, 0 /* of whole calls */, 1},
    [2] = {MEASURE_SUM, 1 /* of whole calls */, 0},
};
static const uint16_t measure_numbers[] = {
    4,
    9,
    2,
};
static const struct measure_list measure_lists[MEASURE_GROUP_COUNT] = {
    {&measure_numbers[0], 2},
    {&measure_numbers[2], 1},
};
""")

    def test_flags(self):
        self.assert_golden("measure_flags.inc", THREE, support.HEAD + """\
#define ROW_MEMORY (1u << (ROW_MEASURES + MEASURE_GROUP_MEMORY))
#define ROW_COUNTERS (1u << (ROW_MEASURES + MEASURE_GROUP_COUNTERS))
""")

    def test_a_group_is_in_one_piece(self):
        first = THREE[:THREE.index("[most]")]
        source = THREE + first.replace("[used]", "[more]").replace("= 4", "= 5")
        self.assert_refused("measure_ids.inc", source,
                            "[more]: group memory began above and has ended")

    def test_refused(self):
        self.assert_refused("measure_ids.inc", THREE.replace("number = 9", "number = 4"),
                            "[most]: number 4 is that of [used]; the next free one is 0")
        self.assert_refused("measure_ids.inc", THREE.replace("number = 9\n", ""),
                            "[most]: no key 'number'")
        self.assert_refused("measure_ids.inc", THREE.replace("= 9", "= -9"),
                            "[most]: number '-9' is not one from 0 to 4095")

    def test_a_reserved_number_is_not_used_again(self):
        reserved = "\n[reserved]\nnumbers = 3 %s\ndoc = Of what went.\n"
        self.assert_refused("measure_ids.inc", THREE + reserved % 9,
                            "[most]: number 9 is that of [reserved]; the next free one is 0")
        self.assert_golden("measure_flags.inc", THREE + reserved % 11, support.HEAD + """\
#define ROW_MEMORY (1u << (ROW_MEASURES + MEASURE_GROUP_MEMORY))
#define ROW_COUNTERS (1u << (ROW_MEASURES + MEASURE_GROUP_COUNTERS))
""")

    def test_unknown_rule(self):
        self.assert_refused("measure_ids.inc", THREE.replace("add = most", "add = mean"),
                            "[most]: unknown add 'mean' (sum|state|most|ticks)")


if __name__ == "__main__":
    unittest.main()
