# SPDX-License-Identifier: Apache-2.0
#
# The activities of GPUs, from a program's run file to all outputs of the tool.

stint_test_program(activity_program activity_program.c LIBS stint_fake Threads::Threads)

stint_test_cases(activity.cli. activity_test.py LABELS tool
    ARGS $<TARGET_FILE:stint_tool> $<TARGET_FILE:activity_program>
    CASES views exports arrows tables diff diff_times merge merge_lanes merge_clocks merge_order
    merge_taken memory lines killed hostile)
