# SPDX-License-Identifier: Apache-2.0
import os
import unittest

import support

TWO = """[8.0]
architecture = Ampere
fp32_lanes = 64

[12.1]
architecture = Blackwell
fp32_lanes = 128
"""


class GpuPeak(support.Case):
    def test_table(self):
        self.assert_golden("gpu_peak_table.inc", TWO, support.HEAD + """\
/* compute capability, FP32 lanes a multiprocessor */
static const struct gpu_lanes gpu_lanes[] = {
    {8, 0, 64}, /* Ampere */
    {12, 1, 128}, /* Blackwell */
};
""")

    def refuse(self, old, new, said):
        self.assertIn(old, TWO)
        self.assert_refused("gpu_peak_table.inc", TWO.replace(old, new), said)

    def test_refused(self):
        self.refuse("[8.0]", "[8]", "[8]: name '8' is not a compute capability, MAJOR.MINOR")
        self.refuse("[8.0]", "[sm_80]",
                    "[sm_80]: name 'sm_80' is not a compute capability, MAJOR.MINOR")
        self.refuse("= 64", "= 0", "[8.0]: fp32_lanes '0' is not a number above 0")
        self.refuse("= 64", "= 6.4", "[8.0]: fp32_lanes '6.4' is not a number above 0")
        self.refuse("architecture = Ampere\n", "", "[8.0]: no key 'architecture'")

    def test_the_project_knows_what_cuda_13_builds_for(self):
        """The table has the oldest and the newest architecture of its nvcc, and the data-centre
        ones between."""
        result = support.gen("gpu_peak_table.inc", os.path.join(support.GEN, "gpu_peak.ini"))
        for row in ("{7, 5, 64}", "{8, 0, 64}", "{8, 9, 128}", "{9, 0, 128}", "{10, 0, 128}",
                    "{12, 1, 128}"):
            self.assertIn(row, result.stdout)


if __name__ == "__main__":
    unittest.main()
