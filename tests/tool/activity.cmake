# SPDX-License-Identifier: Apache-2.0
#
# The activities of GPUs, from a program's run file to all outputs of the tool.

if(NOT TARGET stint_tool)
    return()
endif()
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

add_executable(activity_program activity_program.c)
target_link_libraries(activity_program PRIVATE stint_fake Threads::Threads)
target_compile_features(activity_program PRIVATE c_std_11)
target_compile_definitions(activity_program PRIVATE _GNU_SOURCE=1)
stint_warnings(activity_program)

foreach(case IN ITEMS views exports arrows tables diff diff_times merge merge_lanes merge_clocks
        merge_order merge_taken memory lines killed hostile)
    add_test(NAME activity.cli.${case}
        COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/activity_test.py"
            $<TARGET_FILE:stint_tool> $<TARGET_FILE:activity_program> ${case})
    set_tests_properties(activity.cli.${case} PROPERTIES LABELS tool TIMEOUT 600)
endforeach()
