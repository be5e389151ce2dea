# SPDX-License-Identifier: Apache-2.0
#
# stint ab: its statistics on simulated pairs, and the command on programs with a clock of their
# own.

if(NOT TARGET stint_tool)
    return()
endif()

stint_vectors_test(pairs)

# pairs_values is for pairs_recorded.py, which records runs anew.
foreach(target IN ITEMS pairs_power pairs_values)
    add_executable(${target} ${target}.c)
    target_link_libraries(${target} PRIVATE stint_reader)
    set_target_properties(${target} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
    stint_warnings(${target})
endforeach()
add_test(NAME pairs.power
    COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/pairs_power.py"
        $<TARGET_FILE:pairs_power>)
set_tests_properties(pairs.power PROPERTIES LABELS "tool;long" TIMEOUT 600)

add_executable(layout_program layout_program.c)
set_target_properties(layout_program PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
stint_warnings(layout_program)

foreach(case IN ITEMS same slower only budget formats layout name_effect faults one_file interrupt)
    add_test(NAME ab.${case}
        COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/ab_test.py"
            $<TARGET_FILE:stint_tool> $<TARGET_FILE:diff_program_fake> $<TARGET_FILE:layout_program>
            ${case})
    set_tests_properties(ab.${case} PROPERTIES LABELS tool TIMEOUT 600 SKIP_RETURN_CODE 77)
endforeach()
