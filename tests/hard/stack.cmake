# SPDX-License-Identifier: Apache-2.0
#
# The caller's stack, with the shared library and with libstint.a. Bound at load, or the loader
# would be measured, too.
set(plain_frames 1)
if(CMAKE_C_FLAGS MATCHES "-fsanitize=|--coverage" OR NOT CMAKE_BUILD_TYPE MATCHES "Rel")
    set(plain_frames 0)
endif()
set(stack_test SOURCES "${CMAKE_CURRENT_LIST_DIR}/stack_test.c" LABELS hard LIBS Threads::Threads)
stint_add_test(TARGET stint_hard_stack ${stack_test} stint_runtime)
set(targets stint_hard_stack)
if(TARGET stint_static)
    stint_add_test(TARGET stint_hard_stack_static AS hard.stack_static ${stack_test} stint_static)
    list(APPEND targets stint_hard_stack_static)
endif()
foreach(target IN LISTS targets)
    target_compile_definitions(${target} PRIVATE WITH_TIMER WITH_PROFILER
        PLAIN_FRAMES=${plain_frames})
    target_link_options(${target} PRIVATE "LINKER:-z,now")
endforeach()
