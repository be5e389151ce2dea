# SPDX-License-Identifier: Apache-2.0
#
# stint diff on run files.

if(NOT TARGET stint_tool)
    return()
endif()

stint_vectors_test(diff)
add_executable(diff_program diff_program.c)
target_link_libraries(diff_program PRIVATE stint::stint)
target_compile_definitions(diff_program PRIVATE WITH_TIMER)
add_executable(diff_program_fake diff_program.c)
target_link_libraries(diff_program_fake PRIVATE stint_fake)
foreach(target IN ITEMS diff_program diff_program_fake)
    target_compile_features(${target} PRIVATE c_std_11)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE=1)
    stint_warnings(${target})
endforeach()

foreach(case IN ITEMS alike errors order conditions more_pairs same_file slower real single counts metrics exit_status options formats hostile_names sampled usage
        damaged)
    add_test(NAME diff.cli.${case}
        COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/diff_test.py"
            $<TARGET_FILE:stint_tool> $<TARGET_FILE:diff_program>
            $<TARGET_FILE:diff_program_fake> ${case})
    set_tests_properties(diff.cli.${case} PROPERTIES LABELS tool TIMEOUT 600)
endforeach()
