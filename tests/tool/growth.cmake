# SPDX-License-Identifier: Apache-2.0
#
# How the work of the tool grows with the names and spans of a run file.

add_test(NAME tool.growth
    COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/growth_test.py"
        $<TARGET_FILE:stint_tool> $<TARGET_FILE:tool_program>)
set_tests_properties(tool.growth PROPERTIES LABELS "tool;long" TIMEOUT 600 SKIP_RETURN_CODE 77)
