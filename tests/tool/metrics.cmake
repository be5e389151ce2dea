# SPDX-License-Identifier: Apache-2.0
#
# Metrics as they leave stint, and the side-car that follows running programs.
if(NOT TARGET stint_tool)
    return()
endif()
foreach(case IN ITEMS buckets otlp options explicit rows gpu reset follow follow_many
        follow_cumulative follow_bad follow_cost every top page curl post post_cut post_down serve serve_slow)
    add_test(NAME metrics.${case}
        COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/metrics_test.py"
            $<TARGET_FILE:stint_tool> $<TARGET_FILE:tool_program> $<TARGET_FILE:tool_program_fake>
            ${case})
    set_tests_properties(metrics.${case} PROPERTIES LABELS tool TIMEOUT 600 SKIP_RETURN_CODE 77)
endforeach()

# A sanitizer's runtime does not let a preloaded library come first: there the test waits.
if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize=")
    add_library(tool_late_clock MODULE late_clock.c)
    target_compile_definitions(tool_late_clock PRIVATE _GNU_SOURCE)
    target_link_libraries(tool_late_clock PRIVATE ${CMAKE_DL_LIBS})
    stint_warnings(tool_late_clock)
    set_tests_properties(metrics.serve_slow PROPERTIES
        ENVIRONMENT "LATE_CLOCK=$<TARGET_FILE:tool_late_clock>")
endif()
