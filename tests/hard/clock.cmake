# SPDX-License-Identifier: Apache-2.0
#
# Clocks that are not what they promise.

foreach(name IN ITEMS trust jump)
    set(target stint_hard_clock_${name})
    stint_add_test(TARGET ${target} SOURCES "${CMAKE_CURRENT_LIST_DIR}/clock_${name}_test.c"
        LIBS stint_fake Threads::Threads LABELS hard)
    target_include_directories(${target} PRIVATE "${stint_SOURCE_DIR}/tests/unit")
    stint_warnings(${target})
endforeach()

stint_add_test(TARGET stint_hard_clock_migrate
    SOURCES "${CMAKE_CURRENT_LIST_DIR}/clock_migrate_test.c"
    LIBS stint::stint Threads::Threads LABELS hard)
set_target_properties(stint_hard_clock_migrate PROPERTIES WITH_TIMER ON)
stint_warnings(stint_hard_clock_migrate)
