# SPDX-License-Identifier: Apache-2.0
#
# How the work of the tool grows with the names and spans of a run file.

stint_test(tool.growth "tool;long" Python3::Interpreter -B
    "${CMAKE_CURRENT_SOURCE_DIR}/growth_test.py" $<TARGET_FILE:stint_tool>
    $<TARGET_FILE:tool_program>)
