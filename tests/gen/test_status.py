# SPDX-License-Identifier: Apache-2.0
import unittest

import support

TWO = """[too_deep]
text = scopes too deep
label = depth
missing = calls

[no_node]
text = scopes without a node
label = nodes
"""


class Status(support.Case):
    def test_ids(self):
        self.assert_golden("status_ids.inc", TWO, support.HEAD + """#define STINT_STATUS_COUNT 2
enum stint_status {
    STINT_STATUS_TOO_DEEP,
    STINT_STATUS_NO_NODE,
};
""")

    def test_texts(self):
        self.assert_golden("status_table.inc", TWO, support.HEAD + """\
static const struct status_text status_table[STINT_STATUS_COUNT] = {
    {"too_deep", "scopes too deep", "depth", STATUS_MISSING_CALLS},
    {"no_node", "scopes without a node", "nodes", STATUS_MISSING_NONE},
};
""")

    def refuse(self, source, said):
        self.assert_refused("status_ids.inc", source, said)
        self.assert_refused("status_table.inc", source, said)

    def test_refused(self):
        self.refuse(TWO.replace("[no_node]", "[no-node]"),
                    "[no-node]: name 'no-node' is not a C identifier in lower case")
        self.refuse(TWO.replace("without a node", "too deep"),
                    "[no_node]: text 'scopes too deep' is also that of [too_deep]")
        self.refuse(TWO.replace("calls", "no"), "[too_deep]: unknown missing 'no' (calls|any)")
        self.refuse(TWO.replace("nodes", "depth"),
                    "[no_node]: label 'depth' is also that of [too_deep]")


if __name__ == "__main__":
    unittest.main()
