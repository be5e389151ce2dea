# SPDX-License-Identifier: Apache-2.0
#
# stint diff on run files.

stint_vectors_test(diff)
stint_test_program(diff_program diff_program.c LIBS stint::stint DEFINES WITH_TIMER)
stint_test_program(diff_program_fake diff_program.c LIBS stint_fake)

stint_test_cases(diff.cli. diff_test.py LABELS tool
    ARGS $<TARGET_FILE:stint_tool> $<TARGET_FILE:diff_program> $<TARGET_FILE:diff_program_fake>
    CASES alike errors order conditions more_pairs same_file slower real single counts metrics lost model
    exit_status options formats hostile_names sampled usage damaged)
