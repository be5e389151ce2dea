# SPDX-License-Identifier: Apache-2.0
#
# Clocks that are not what they promise.

foreach(name IN ITEMS trust jump)
    set(target stint_hard_clock_${name})
    stint_add_test(TARGET ${target} SOURCES "${CMAKE_CURRENT_LIST_DIR}/clock_${name}_test.c"
        LIBS stint_fake Threads::Threads LABELS hard)
endforeach()

stint_add_test(TARGET stint_hard_clock_migrate
    SOURCES "${CMAKE_CURRENT_LIST_DIR}/clock_migrate_test.c"
    LIBS stint::stint Threads::Threads LABELS hard)
set_target_properties(stint_hard_clock_migrate PROPERTIES WITH_TIMER ON)

# Time that is frozen, by the program itself and by libfaketime, which a sanitizer's runtime does
# not let come first.
find_library(STINT_LIBFAKETIME NAMES libfaketime.so.1 PATH_SUFFIXES faketime
    DOC "libfaketime.so.1, for a test")
mark_as_advanced(STINT_LIBFAKETIME)
set(faketime "")
if(STINT_LIBFAKETIME AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize=")
    set(faketime "LD_PRELOAD=${STINT_LIBFAKETIME}" "FAKETIME=2020-01-01 00:00:00" "TZ=UTC")
endif()
stint_add_test(TARGET stint_hard_clock_frozen
    SOURCES "${CMAKE_CURRENT_LIST_DIR}/clock_frozen_test.c"
    LIBS stint::stint Threads::Threads LABELS hard)
stint_add_test(TARGET stint_hard_clock_faketime
    SOURCES "${CMAKE_CURRENT_LIST_DIR}/clock_frozen_test.c"
    LIBS stint::stint Threads::Threads LABELS hard ENV ${faketime})
target_compile_definitions(stint_hard_clock_faketime PRIVATE CLOCK_OF_LIBFAKETIME)
foreach(target IN ITEMS stint_hard_clock_frozen stint_hard_clock_faketime)
    set_target_properties(${target} PROPERTIES WITH_TIMER ON)
endforeach()
