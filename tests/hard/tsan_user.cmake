# SPDX-License-Identifier: Apache-2.0
#
# Programs under ThreadSanitizer with the ordinary library.

get_target_property(type stint_runtime TYPE)
if(type STREQUAL "SHARED_LIBRARY" AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize=|--coverage")
    add_test(NAME hard.tsan_user
        COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_LIST_DIR}/tsan_user.py"
            --cc "${CMAKE_C_COMPILER}" --source "${stint_SOURCE_DIR}"
            --library "$<TARGET_FILE:stint_runtime>")
    set_tests_properties(hard.tsan_user PROPERTIES
        LABELS "hard;build" SKIP_RETURN_CODE 77 TIMEOUT 330)
endif()
