# SPDX-License-Identifier: Apache-2.0
import unittest

import support

THREE = """[used]
group = memory
add = state
of = own
doc = In use.

[most]
group = memory
add = most
of = own
doc = Most ever.

[cycles]
group = counters
add = sum
of = calls
doc = Of the clock.
"""


class Measures(support.Case):
    def test_ids(self):
        self.assert_golden("measure_ids.inc", THREE, support.HEAD + """#define MEASURE_COUNT 3
enum measure {
    MEASURE_USED,
    MEASURE_MOST,
    MEASURE_CYCLES,
};
#define MEASURE_GROUP_COUNT 2
enum measure_group {
    MEASURE_GROUP_MEMORY,
    MEASURE_GROUP_COUNTERS,
};
""")

    def test_rules(self):
        self.assert_golden("measure_table.inc", THREE, support.HEAD + """\
static const struct measure_rule measure_rules[MEASURE_COUNT] = {
    {MEASURE_STATE, 0 /* of whole calls */},
    {MEASURE_MOST, 0 /* of whole calls */},
    {MEASURE_SUM, 1 /* of whole calls */},
};
static const struct measure_range measure_ranges[MEASURE_GROUP_COUNT] = {
    {0, 2},
    {2, 1},
};
""")

    def test_flags(self):
        self.assert_golden("measure_flags.inc", THREE, support.HEAD + """\
#define ROW_MEMORY (1u << (ROW_MEASURES + MEASURE_GROUP_MEMORY))
#define ROW_COUNTERS (1u << (ROW_MEASURES + MEASURE_GROUP_COUNTERS))
""")

    def test_a_group_is_in_one_piece(self):
        source = THREE + THREE[:THREE.index("[most]")].replace("[used]", "[more]")
        self.assert_refused("measure_ids.inc", source,
                            "[more]: group memory began above and has ended")

    def test_unknown_rule(self):
        self.assert_refused("measure_ids.inc", THREE.replace("add = most", "add = mean"),
                            "[most]: unknown add 'mean' (sum|state|most)")


if __name__ == "__main__":
    unittest.main()
