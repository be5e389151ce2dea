# SPDX-License-Identifier: Apache-2.0
#
# Filters of system calls that end the process. Those that refuse a call are in fork_exec_test.c.
# Runtimes of sanitizers make calls of their own.
if(NOT TARGET stint_tool OR CMAKE_C_FLAGS MATCHES "-fsanitize=(address|thread)")
    return()
endif()

add_executable(stint_hard_sandbox "${CMAKE_CURRENT_LIST_DIR}/sandbox_program.c")
target_link_libraries(stint_hard_sandbox PRIVATE stint::runtime)
target_compile_features(stint_hard_sandbox PRIVATE c_std_11)
target_compile_definitions(stint_hard_sandbox PRIVATE _GNU_SOURCE=1 WITH_TIMER)
stint_warnings(stint_hard_sandbox)
foreach(case IN ITEMS waits_off waits_on)
    add_test(NAME hard.sandbox_${case}
        COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_LIST_DIR}/sandbox_test.py"
            $<TARGET_FILE:stint_tool> $<TARGET_FILE:stint_hard_sandbox> ${case})
    set_tests_properties(hard.sandbox_${case} PROPERTIES LABELS hard TIMEOUT 330
        SKIP_RETURN_CODE 77)
endforeach()
