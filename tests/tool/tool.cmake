# SPDX-License-Identifier: Apache-2.0
#
# The tool as its users run it, on a small program's runs: whole, running, killed, spoilt. Its parts
# by themselves.

if(NOT TARGET stint_tool)
    return()
endif()
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

add_executable(tool_program tool_program.c)
target_link_libraries(tool_program PRIVATE stint::stint Threads::Threads)
target_compile_definitions(tool_program PRIVATE WITH_TIMER)
add_executable(tool_program_fake tool_program.c)
target_link_libraries(tool_program_fake PRIVATE stint_fake Threads::Threads)
foreach(target IN ITEMS tool_program tool_program_fake)
    target_compile_features(${target} PRIVATE c_std_11)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE=1)
    stint_warnings(${target})
endforeach()

add_executable(hostile_program hostile_program.c)
target_link_libraries(hostile_program PRIVATE stint_reader)
set_target_properties(hostile_program PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
target_compile_definitions(hostile_program PRIVATE _GNU_SOURCE=1)
stint_warnings(hostile_program)

foreach(case IN ITEMS help help_env help_views did_you_mean usage report corrected a_hostile_cost stdin equal options terminal terminal_bar terminal_program states killed_wall waits
        killed_under_load live race hostile_headers
        hostile_bytes hostile_cuts hostile_files hostile_sizes export info run run_html run_repeat run_signals run_files top top_options top_screen
        top_size
        manual)
    add_test(NAME tool.${case}
        COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/tool_test.py"
            $<TARGET_FILE:stint_tool> $<TARGET_FILE:tool_program> $<TARGET_FILE:tool_program_fake>
            $<TARGET_FILE:hostile_program> ${case})
    set_tests_properties(tool.${case} PROPERTIES LABELS tool TIMEOUT 600 SKIP_RETURN_CODE 77)
endforeach()

foreach(test IN ITEMS diff diff_math merge_hostile merge_inputs pairs progress)
    stint_add_test(TARGET stint_tool_${test} SOURCES ${test}_test.c LIBS stint_reader LABELS tool)
    set_target_properties(stint_tool_${test} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
    stint_warnings(stint_tool_${test})
endforeach()
