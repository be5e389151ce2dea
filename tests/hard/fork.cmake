# SPDX-License-Identifier: Apache-2.0
#
# fork where it hurts most. What else processes do to each other is in tests/unit/fork_test.c and
# tests/run/children_test.c.

foreach(name IN ITEMS exec signal file)
    set(target stint_hard_fork_${name})
    stint_add_test(TARGET ${target} SOURCES "${CMAKE_CURRENT_LIST_DIR}/fork_${name}_test.c"
        LIBS stint_fake Threads::Threads LABELS hard)
endforeach()
