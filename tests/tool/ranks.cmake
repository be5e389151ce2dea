# SPDX-License-Identifier: Apache-2.0
#
# Processes of a parallel job, with the environment that launchers make: what they print, and
# their run files merged.

stint_layer_sources(ranks ranks)
stint_add_test(TARGET stint_tool_rank_judge SOURCES rank_judge_test.c ${ranks} LIBS stint_fake
    LABELS tool)

stint_test_cases(ranks. ranks_test.py LABELS tool
    ARGS $<TARGET_FILE:stint_tool> $<TARGET_FILE:tool_program> $<TARGET_FILE:tool_program_fake>
    CASES headers exit_report bad_rank late late_several late_nobody late_threads spread some_ranks
    process_label windows windows_random windows_widths windows_not_compared windows_joined
    windows_bytes windows_recorded json json_windows heat heat_thinned)
