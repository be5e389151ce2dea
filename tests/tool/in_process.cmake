# SPDX-License-Identifier: Apache-2.0
#
# stint_export, on a clock that only the test moves.
stint_add_test(TARGET stint_tool_in_process SOURCES in_process_test.c LIBS stint_fake LABELS tool)
