# SPDX-License-Identifier: Apache-2.0
import unittest

import support

THREE = """[cycles]
group = core
type = hardware
config = 0x0
doc = Cycles.

[instructions]
group = core
type = hardware
config = 0x1
doc = Instructions.

[l1-misses]
group = l1
type = hw_cache
config = 0x10000
doc = Misses.
"""


class Counters(support.Case):
    def test_ids(self):
        self.assert_golden("counter_ids.inc", THREE, support.HEAD + """\
#define COUNTER_EVENTS 2 /* of the largest group */
enum counter_group {
    COUNTER_GROUP_CORE,
    COUNTER_GROUP_L1,
    COUNTER_GROUPS
};
""")

    def test_table(self):
        self.assert_golden("counter_table.inc", THREE, support.HEAD + """\
static const struct counter_list counter_lists[COUNTER_GROUPS] = {
    [COUNTER_GROUP_CORE] = {2, {
        {"cycles", PERF_ABI_TYPE_HARDWARE, 0x0},
        {"instructions", PERF_ABI_TYPE_HARDWARE, 0x1},
    }},
    [COUNTER_GROUP_L1] = {1, {
        {"l1-misses", PERF_ABI_TYPE_HW_CACHE, 0x10000},
    }},
};
""")

    def refuse(self, old, new, said):
        self.assertIn(old, THREE)
        self.assert_refused("counter_table.inc", THREE.replace(old, new, 1), said)

    def test_refused(self):
        self.refuse("hw_cache", "cache", "[l1-misses]: unknown type 'cache' "
                    "(hardware|hw_cache|software)")
        self.refuse("0x10000", "65536", "[l1-misses]: config '65536' is not of the form 0x10000")
        self.refuse("group = core\n", "", "[cycles]: no key 'group'")
        self.refuse("group = l1", "group = L1", "[l1-misses]: group 'L1' is not a C identifier in "
                    "lower case")
        self.refuse("group = core\ntype = hardware\nconfig = 0x0",
                    "group = l1\ntype = hardware\nconfig = 0x0",
                    "[l1-misses]: group l1 began above and has ended")


if __name__ == "__main__":
    unittest.main()
