# SPDX-License-Identifier: Apache-2.0
#
# The sources that `stint annotate` shows.

stint_test_program(annotate_program annotate_program.c LIBS stint)

stint_test_cases(annotate.cli. annotate_test.py LABELS tool
    ARGS $<TARGET_FILE:stint_tool> $<TARGET_FILE:annotate_program>
    CASES as_built lengths others_are_not_shown source source_root roots_are_not_left page
    page_over_a_source hottest
    merge)
