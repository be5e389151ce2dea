# SPDX-License-Identifier: Apache-2.0
#
# The sources that `stint annotate` shows.

if(NOT TARGET stint_tool)
    return()
endif()

add_executable(annotate_program annotate_program.c)
target_link_libraries(annotate_program PRIVATE stint)
target_compile_features(annotate_program PRIVATE c_std_11)
stint_warnings(annotate_program)

foreach(case IN ITEMS as_built lengths others_are_not_shown source source_root roots_are_not_left page
        hottest merge)
    add_test(NAME annotate.cli.${case}
        COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/annotate_test.py"
            $<TARGET_FILE:stint_tool> $<TARGET_FILE:annotate_program> ${case})
    set_tests_properties(annotate.cli.${case} PROPERTIES LABELS tool TIMEOUT 120)
endforeach()
