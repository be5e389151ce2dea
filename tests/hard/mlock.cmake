# SPDX-License-Identifier: Apache-2.0
#
# Memory that is locked. A sanitizer's own memory would be locked, too.
if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize=")
    stint_add_test(TARGET stint_hard_mlock SOURCES "${CMAKE_CURRENT_LIST_DIR}/mlock_test.c"
        LIBS stint::stint Threads::Threads LABELS hard)
    set_target_properties(stint_hard_mlock PROPERTIES WITH_TIMER ON)
endif()
