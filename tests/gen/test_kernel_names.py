# SPDX-License-Identifier: Apache-2.0
import os
import unittest

import support

TWO = """[cuDNN]
what = lib
match = cudnn
    ^conv_
doc = Convolutions.

[fp16]
what = precision
match = _h884
doc = Half.
"""


class KernelNames(support.Case):
    def test_table(self):
        self.assert_golden("kernel_names_table.inc", TWO, support.HEAD + """\
static const struct kernel_pattern kernel_lib_patterns[] = {
    {"cudnn", "cuDNN"},
    {"^conv_", "cuDNN"},
    {NULL, NULL}};
static const struct kernel_pattern kernel_precision_patterns[] = {
    {"_h884", "fp16"},
    {NULL, NULL}};
""")

    def test_of_one_kind(self):
        result = support.gen("kernel_names_table.inc", self.write("t.ini", TWO[:TWO.index("[fp")]))
        self.assertIn("kernel_precision_patterns[] = {\n    {NULL, NULL}};\n", result.stdout)

    def refuse(self, old, new, said):
        self.assertIn(old, TWO)
        self.assert_refused("kernel_names_table.inc", TWO.replace(old, new), said)

    def test_refused(self):
        self.refuse("what = lib", "what = libs", "[cuDNN]: unknown what 'libs' (lib|precision)")
        self.refuse("[cuDNN]", "[cu DNN]",
                    "[cu DNN]: name 'cu DNN' is not one word of letters and digits")
        self.refuse("^conv_", "conv*",
                    "[cuDNN]: pattern 'conv*': expected letters, digits, _ and :, with or without ^ before them")
        self.refuse("^conv_", "^",
                    "[cuDNN]: pattern '^': expected letters, digits, _ and :, with or without ^ before them")
        self.refuse("^conv_", "cudnn", "[cuDNN]: pattern 'cudnn' is also one of [cuDNN]")
        self.refuse("doc = Half.\n", "", "[fp16]: no key 'doc'")

    def test_the_same_pattern_may_say_both(self):
        result = support.gen("kernel_names_table.inc",
                             self.write("t.ini", TWO.replace("_h884", "cudnn")))
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_a_part_stands_after_the_whole(self):
        """First match counts: bf16 before f16, of which it has all."""
        result = support.gen("kernel_names_table.inc",
                             os.path.join(support.GEN, "kernel_names.ini"))
        self.assertLess(result.stdout.index('{"bf16"'), result.stdout.index('{"f16f16"'))
        self.assertLess(result.stdout.index('{"cutlass_80_"'), result.stdout.index('{"^cutlass"'))


if __name__ == "__main__":
    unittest.main()
