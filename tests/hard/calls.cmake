# SPDX-License-Identifier: Apache-2.0
#
# Calls that the runtime makes with a lock held or in a signal handler, and threads without a key.

foreach(name IN ITEMS calls keys)
    set(target stint_hard_${name})
    stint_add_test(TARGET ${target} SOURCES "${CMAKE_CURRENT_LIST_DIR}/${name}_test.c"
        LIBS stint_fake Threads::Threads ${CMAKE_DL_LIBS} LABELS hard)
endforeach()
