# SPDX-License-Identifier: Apache-2.0
#
# Filters of system calls that end the process. Those that refuse a call are in fork_exec_test.c.
# Runtimes of sanitizers make calls of their own.
if(NOT TARGET stint_tool OR CMAKE_C_FLAGS MATCHES "-fsanitize=(address|thread)|--coverage")
    return()
endif()

stint_test_program(stint_hard_sandbox "${CMAKE_CURRENT_LIST_DIR}/sandbox_program.c"
    LIBS stint::runtime Threads::Threads DEFINES WITH_TIMER)
stint_test_cases(hard.sandbox_ sandbox_test.py LABELS hard
    ARGS $<TARGET_FILE:stint_tool> $<TARGET_FILE:stint_hard_sandbox>
    CASES waits_off waits_on calls)
