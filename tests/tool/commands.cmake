# SPDX-License-Identifier: Apache-2.0
#
# All commands of the tool (commands.py) in states that a parent may leave, under each limit, and
# with all that the name of an output may lead to.
stint_test_program(inherited inherited.c)
set(programs $<TARGET_FILE:stint_tool> $<TARGET_FILE:tool_program_fake>
    $<TARGET_FILE:annotate_program> $<TARGET_FILE:inherited>)
stint_test_cases(tool.inherited_ inherited_test.py LABELS tool ARGS ${programs}
    CASES own_user another_user signals)
stint_test_cases(tool. limits_test.py LABELS tool ARGS ${programs} CASES limits)
stint_test_cases(outputs. outputs_test.py LABELS tool ARGS ${programs} CASES table races)
