# SPDX-License-Identifier: Apache-2.0
#
# The words that bash, zsh and fish complete after `stint`.

stint_test_cases(tool.completion. completion_test.py LABELS tool
    ARGS "$<TARGET_FILE_DIR:stint_tool>/completion"
    CASES bash fish zsh)
