# SPDX-License-Identifier: Apache-2.0
#
# stint ab: its statistics on simulated pairs, and the command on programs with a clock of their own.

if(NOT TARGET stint_tool)
    return()
endif()

# The numbers that the intervals are compared with are those of SciPy still.
add_test(NAME pairs.vectors
    COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/pairs_vectors.py" --check)
set_tests_properties(pairs.vectors PROPERTIES LABELS tool TIMEOUT 600 SKIP_RETURN_CODE 77)

add_executable(pairs_power pairs_power.c)
target_link_libraries(pairs_power PRIVATE stint_reader)
set_target_properties(pairs_power PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
stint_warnings(pairs_power)
add_test(NAME pairs.power
    COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/pairs_power.py"
        $<TARGET_FILE:pairs_power>)
set_tests_properties(pairs.power PROPERTIES LABELS tool TIMEOUT 600)

foreach(case IN ITEMS same slower only budget formats layout faults interrupt)
    add_test(NAME ab.${case}
        COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/ab_test.py"
            $<TARGET_FILE:stint_tool> $<TARGET_FILE:diff_program_fake> ${case})
    set_tests_properties(ab.${case} PROPERTIES LABELS tool TIMEOUT 600)
endforeach()
