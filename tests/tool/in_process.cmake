# SPDX-License-Identifier: Apache-2.0
#
# stint_export, on a clock that only the test moves.
stint_add_test(TARGET stint_tool_in_process SOURCES in_process_test.c LIBS stint_fake LABELS tool)
set_target_properties(stint_tool_in_process PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
stint_warnings(stint_tool_in_process)
