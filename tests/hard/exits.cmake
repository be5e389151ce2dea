# SPDX-License-Identifier: Apache-2.0
#
# Ends of programs. The order after atexit handlers and C++ static destructors is tested in
# tests/unit, exit_report and exit_report_cxx.

stint_add_test(TARGET stint_hard_exits_signal
    SOURCES "${CMAKE_CURRENT_LIST_DIR}/exits_signal_test.c"
    LIBS stint_fake Threads::Threads LABELS hard)

get_target_property(type stint_runtime TYPE)
if(NOT type STREQUAL "SHARED_LIBRARY" OR NOT TARGET stint_tool)
    return()
endif()

add_executable(stint_hard_exits "${CMAKE_CURRENT_LIST_DIR}/exits_program.c")
target_link_libraries(stint_hard_exits PRIVATE stint::stint Threads::Threads)

# The loader ends libraries in the order of the link line, or in its reverse: there is one copy on
# either side of stint's library.
foreach(copy IN ITEMS first second)
    add_library(stint_hard_late_${copy} SHARED "${CMAKE_CURRENT_LIST_DIR}/exits_late.c")
    target_compile_definitions(stint_hard_late_${copy} PRIVATE LATE=late_${copy})
endforeach()
add_executable(stint_hard_late "${CMAKE_CURRENT_LIST_DIR}/exits_late_program.c")
target_link_libraries(stint_hard_late PRIVATE stint_hard_late_first stint::runtime
    stint_hard_late_second Threads::Threads)
add_executable(stint_hard_late_static "${CMAKE_CURRENT_LIST_DIR}/exits_late_program.c")
target_link_libraries(stint_hard_late_static PRIVATE stint_hard_late_first stint_static
    stint_hard_late_second Threads::Threads)

foreach(target IN ITEMS exits late late_static late_first late_second)
    target_compile_features(stint_hard_${target} PRIVATE c_std_11)
    target_compile_definitions(stint_hard_${target} PRIVATE _GNU_SOURCE=1 WITH_TIMER)
    stint_warnings(stint_hard_${target})
endforeach()

stint_test_cases(hard.exits_ exits_test.py LABELS hard
    ARGS $<TARGET_FILE:stint_tool> $<TARGET_FILE:stint_hard_exits> $<TARGET_FILE:stint_hard_late>
    $<TARGET_FILE:stint_hard_late_static>
    CASES open_scopes reports last_thread detached late_destructors late_destructors_static)
