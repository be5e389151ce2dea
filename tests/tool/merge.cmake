# SPDX-License-Identifier: Apache-2.0
#
# stint merge on run files of the tool's own test program (tool.cmake), and on hostile ones.

if(NOT TARGET stint_tool)
    return()
endif()
foreach(case IN ITEMS one sums threads many trace other_clock compared refuses usage no_space
        hostile)
    add_test(NAME merge.${case}
        COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/merge_test.py"
            $<TARGET_FILE:stint_tool> $<TARGET_FILE:tool_program>
            $<TARGET_FILE:tool_program_fake> ${case})
    set_tests_properties(merge.${case} PROPERTIES LABELS tool TIMEOUT 600)
endforeach()

stint_add_test(TARGET stint_tool_merge_hostile SOURCES merge_hostile_test.c LIBS stint_reader
    LABELS tool)
set_target_properties(stint_tool_merge_hostile PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
stint_warnings(stint_tool_merge_hostile)
