# SPDX-License-Identifier: Apache-2.0
#
# Metrics as they leave stint, of one file or of running programs, and what delivers them.
if(NOT TARGET stint_tool)
    return()
endif()
foreach(case IN ITEMS buckets otlp options explicit rows gpu reset follow follow_many
        follow_cumulative follow_bad follow_cost every top page)
    add_test(NAME metrics.${case}
        COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/metrics_test.py"
            $<TARGET_FILE:stint_tool> $<TARGET_FILE:tool_program> $<TARGET_FILE:tool_program_fake>
            ${case})
    set_tests_properties(metrics.${case} PROPERTIES LABELS tool TIMEOUT 600 SKIP_RETURN_CODE 77)
endforeach()
foreach(case IN ITEMS lines_rotated lines_full lines_cut lines_gone lines_begin text text_bad sender sender_down
        sender_unit)
    add_test(NAME monitor.${case}
        COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/monitor_test.py"
            $<TARGET_FILE:stint_tool> $<TARGET_FILE:tool_program> $<TARGET_FILE:tool_program_fake>
            ${case})
    set_tests_properties(monitor.${case} PROPERTIES LABELS tool TIMEOUT 600 SKIP_RETURN_CODE 77)
endforeach()
