# SPDX-License-Identifier: Apache-2.0
#
# Traces of several hosts in one file, on clocks that differ.

stint_test_cases(align. align_test.py LABELS tool
    ARGS $<TARGET_FILE:stint_tool>
    CASES barrier one_late helper time_of_day other_waits neighbours hostile one_host)
