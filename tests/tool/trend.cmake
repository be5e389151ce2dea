# SPDX-License-Identifier: Apache-2.0
#
# stint trend: the command on made series of runs, and the vectors of its statistics.

if(NOT TARGET stint_tool)
    return()
endif()

stint_vectors_test(trend)

# A run whose scopes take given times, on a given day.
add_executable(trend_program trend_program.c)
target_link_libraries(trend_program PRIVATE stint_fake)
target_compile_features(trend_program PRIVATE c_std_11)
target_compile_definitions(trend_program PRIVATE _GNU_SOURCE=1)
stint_warnings(trend_program)

foreach(case IN ITEMS step moved commit order faults page speed)
    add_test(NAME trend.cli.${case}
        COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/trend_test.py"
            $<TARGET_FILE:stint_tool> $<TARGET_FILE:trend_program> ${case})
    set_tests_properties(trend.cli.${case} PROPERTIES LABELS tool TIMEOUT 600)
endforeach()
