# SPDX-License-Identifier: Apache-2.0
#
# The caller's stack. Bound at load, or the loader would be measured, too.
stint_add_test(TARGET stint_hard_stack SOURCES "${CMAKE_CURRENT_LIST_DIR}/stack_test.c"
    LIBS stint::stint Threads::Threads LABELS hard)
set(plain_frames 1)
if(CMAKE_C_FLAGS MATCHES "-fsanitize=|--coverage" OR NOT CMAKE_BUILD_TYPE MATCHES "Rel")
    set(plain_frames 0)
endif()
target_compile_definitions(stint_hard_stack PRIVATE PLAIN_FRAMES=${plain_frames})
target_link_options(stint_hard_stack PRIVATE "LINKER:-z,now")
set_target_properties(stint_hard_stack PROPERTIES WITH_TIMER ON WITH_PROFILER ON
    C_STANDARD 11 C_STANDARD_REQUIRED ON)
