# SPDX-License-Identifier: Apache-2.0
#
# Traces of several hosts in one file, on clocks that differ.

if(NOT TARGET stint_tool)
    return()
endif()
foreach(case IN ITEMS barrier one_late time_of_day other_waits neighbours hostile one_host)
    add_test(NAME align.${case}
        COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/align_test.py"
            $<TARGET_FILE:stint_tool> ${case})
    set_tests_properties(align.${case} PROPERTIES LABELS tool TIMEOUT 600)
endforeach()
