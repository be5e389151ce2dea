# SPDX-License-Identifier: Apache-2.0
#
# The tool as its users run it, on a small program's runs: whole, running, killed, spoilt. Its parts
# by themselves.

stint_test_program(tool_program tool_program.c LIBS stint::stint Threads::Threads DEFINES WITH_TIMER)
stint_test_program(tool_program_fake tool_program.c LIBS stint_fake Threads::Threads)

stint_test_program(hostile_program hostile_program.c LIBS stint_reader)

stint_test_cases(tool. tool_test.py LABELS tool
    ARGS $<TARGET_FILE:stint_tool> $<TARGET_FILE:tool_program> $<TARGET_FILE:tool_program_fake>
    $<TARGET_FILE:hostile_program>
    CASES help help_env help_views did_you_mean usage report corrected a_hostile_cost stdin equal
    options terminal terminal_bar terminal_program states killed_wall killed_space waits killed_under_load live
    race hostile_headers hostile_bytes hostile_cuts hostile_files hostile_sizes hostile_rings export export_part export_live info run
    run_html run_repeat run_signals run_files run_environment run_of_a_child top top_options top_screen top_size manual)

foreach(test IN ITEMS diff diff_math diff_order merge_hostile merge_inputs pairs process_wait progress)
    stint_add_test(TARGET stint_tool_${test} SOURCES ${test}_test.c LIBS stint_reader LABELS tool)
endforeach()
