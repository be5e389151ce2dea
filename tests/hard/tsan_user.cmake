# SPDX-License-Identifier: Apache-2.0
#
# Programs under ThreadSanitizer with the ordinary library.

get_target_property(type stint_runtime TYPE)
if(type STREQUAL "SHARED_LIBRARY" AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize=|--coverage")
    stint_test(hard.tsan_user "hard;build" Python3::Interpreter -B
        "${CMAKE_CURRENT_LIST_DIR}/tsan_user.py" --cc "${CMAKE_C_COMPILER}"
        --source "${stint_SOURCE_DIR}" --library "$<TARGET_FILE:stint_runtime>")
endif()
