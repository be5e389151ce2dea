# SPDX-License-Identifier: Apache-2.0
#
# The names of outputs, and the things that they may lead to.
stint_test_cases(outputs. outputs_test.py LABELS tool
    ARGS $<TARGET_FILE:stint_tool> $<TARGET_FILE:tool_program_fake> $<TARGET_FILE:annotate_program>
    CASES table races)
