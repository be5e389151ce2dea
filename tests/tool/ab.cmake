# SPDX-License-Identifier: Apache-2.0
#
# stint ab: its statistics on simulated pairs, and the command on programs with a clock of their
# own.

stint_vectors_test(pairs)

# pairs_values is for pairs_recorded.py, which records runs anew.
foreach(target IN ITEMS pairs_power pairs_values)
    stint_test_program(${target} ${target}.c LIBS stint_reader)
endforeach()
stint_test(pairs.power "tool;long" Python3::Interpreter -B
    "${CMAKE_CURRENT_SOURCE_DIR}/pairs_power.py" $<TARGET_FILE:pairs_power>)

stint_test_program(layout_program layout_program.c)

stint_test_cases(ab. ab_test.py LABELS tool
    ARGS $<TARGET_FILE:stint_tool> $<TARGET_FILE:diff_program_fake> $<TARGET_FILE:layout_program>
    CASES same slower zero only budget formats layout name_effect faults one_file environment
        interrupt left output)
