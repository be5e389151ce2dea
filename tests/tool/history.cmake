# SPDX-License-Identifier: Apache-2.0
#
# The export history: what it writes of made series of runs, and what Apache Otava finds in it.

# A run whose scopes take given times.
stint_test_program(history_program history_program.c LIBS stint_fake)

function(stint_history_test case labels)
    stint_test(history.${case} "${labels}" Python3::Interpreter -B
        "${CMAKE_CURRENT_SOURCE_DIR}/history_test.py" $<TARGET_FILE:stint_tool>
        $<TARGET_FILE:history_program> $<TARGET_FILE:tool_program_fake> ${case})
endfunction()

foreach(case IN ITEMS golden names left_out bounds merged gpu machines folder speed)
    stint_history_test(${case} tool)
endforeach()
stint_history_test(otava "tool;engines")
