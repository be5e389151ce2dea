# SPDX-License-Identifier: Apache-2.0
#
# Attacks by a hostile user: the environment of set-uid programs, hostile names, the symbols of the
# files and their mappings; and instrumented code with a sanitizer on a runtime without one.
stint_add_test(TARGET stint_hard_security_files
    SOURCES "${CMAKE_CURRENT_LIST_DIR}/security_files_test.c"
    LIBS stint_fake Threads::Threads LABELS hard)
target_include_directories(stint_hard_security_files PRIVATE "${stint_SOURCE_DIR}/tests/unit")
set_target_properties(stint_hard_security_files PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
stint_warnings(stint_hard_security_files)

if(NOT TARGET stint_tool)
    return()
endif()

add_executable(stint_hard_security "${CMAKE_CURRENT_LIST_DIR}/security_program.c")
target_link_libraries(stint_hard_security PRIVATE stint::stint Threads::Threads)
target_compile_definitions(stint_hard_security PRIVATE WITH_TIMER WITH_PROFILER)
add_executable(stint_hard_security_fake "${CMAKE_CURRENT_LIST_DIR}/security_program.c")
target_link_libraries(stint_hard_security_fake PRIVATE stint_fake Threads::Threads)
foreach(target IN ITEMS stint_hard_security stint_hard_security_fake)
    target_compile_features(${target} PRIVATE c_std_11)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE=1)
    stint_warnings(${target})
endforeach()

foreach(case IN ITEMS set_uid names format_strings elf abi sanitizers)
    add_test(NAME hard.security_${case}
        COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_LIST_DIR}/security_test.py"
            --fake $<TARGET_FILE:stint_hard_security_fake>
            --program $<TARGET_FILE:stint_hard_security>
            --library $<TARGET_FILE:stint_runtime> --tool $<TARGET_FILE:stint_tool>
            --source "${PROJECT_SOURCE_DIR}" --build "${PROJECT_BINARY_DIR}"
            --cc "${CMAKE_C_COMPILER}" --cflags=${CMAKE_C_FLAGS} --abi ${STINT_ABI}
            ${case})
    set_tests_properties(hard.security_${case} PROPERTIES
        LABELS hard TIMEOUT 600 SKIP_RETURN_CODE 77)
endforeach()
