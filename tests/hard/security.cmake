# SPDX-License-Identifier: Apache-2.0
#
# Attacks by a hostile user: the environment of set-uid programs, hostile names, the symbols of the
# files and their mappings; and instrumented code with a sanitizer on a runtime without one.
stint_add_test(TARGET stint_hard_security_files
    SOURCES "${CMAKE_CURRENT_LIST_DIR}/security_files_test.c"
    LIBS stint_fake Threads::Threads LABELS hard)

if(NOT TARGET stint_tool)
    return()
endif()

stint_test_program(stint_hard_security security_program.c LIBS stint::stint Threads::Threads
    DEFINES WITH_TIMER WITH_PROFILER)
stint_test_program(stint_hard_security_fake security_program.c LIBS stint_fake Threads::Threads)

stint_test_cases(hard.security_ security_test.py LABELS hard
    ARGS --fake $<TARGET_FILE:stint_hard_security_fake> --program $<TARGET_FILE:stint_hard_security>
    --library $<TARGET_FILE:stint_runtime> --tool $<TARGET_FILE:stint_tool>
    --source "${PROJECT_SOURCE_DIR}" --build "${PROJECT_BINARY_DIR}" --cc "${CMAKE_C_COMPILER}"
    --cflags=${CMAKE_C_FLAGS} --abi ${STINT_ABI}
    CASES set_uid names format_strings elf abi races sanitizers)
