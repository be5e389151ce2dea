# SPDX-License-Identifier: Apache-2.0
#
# The memory that the tool needs for a run file with many names.

stint_test(tool.memory tool Python3::Interpreter -B
    "${CMAKE_CURRENT_SOURCE_DIR}/tool_memory_test.py" $<TARGET_FILE:stint_tool>
    $<TARGET_FILE:tool_program>)
