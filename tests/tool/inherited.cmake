# SPDX-License-Identifier: Apache-2.0
#
# The states that a parent may leave, with all commands of the tool.

stint_test_program(inherited inherited.c)
stint_test_cases(tool.inherited_ inherited_test.py LABELS tool
    ARGS $<TARGET_FILE:stint_tool> $<TARGET_FILE:tool_program_fake> $<TARGET_FILE:inherited>
    CASES own_user another_user signals)
