# SPDX-License-Identifier: Apache-2.0
#
# Metrics as they leave stint, of one file or of running programs, and what delivers them.
stint_test_cases(metrics. metrics_test.py LABELS tool
    ARGS $<TARGET_FILE:stint_tool> $<TARGET_FILE:tool_program> $<TARGET_FILE:tool_program_fake>
    CASES buckets otlp options explicit rows gpu reset follow follow_many follow_cumulative
    follow_bad follow_cost every top page)
stint_test_cases(monitor. monitor_test.py LABELS tool
    ARGS $<TARGET_FILE:stint_tool> $<TARGET_FILE:tool_program> $<TARGET_FILE:tool_program_fake>
    CASES lines_rotated lines_full lines_cut lines_gone lines_begin signals text text_bad sender sender_down
    sender_unit)
