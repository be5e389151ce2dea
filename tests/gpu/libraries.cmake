# SPDX-License-Identifier: Apache-2.0
#
# The real libraries of several versions on a machine without a GPU. libraries/fetch.sh fetches them
# into the folder STINT_NVIDIA_LIBRARIES; without them the tests skip.

if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    add_executable(stint_gpu_no_device "${CMAKE_CURRENT_LIST_DIR}/libraries/no_device.c")
    target_link_libraries(stint_gpu_no_device PRIVATE stint::runtime ${CMAKE_DL_LIBS})
    target_compile_definitions(stint_gpu_no_device PRIVATE WITH_TIMER WITH_PROFILER _GNU_SOURCE=1)
    set_target_properties(stint_gpu_no_device PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
    stint_warnings(stint_gpu_no_device)
    foreach(part IN ITEMS driver cupti)
        add_test(NAME gpu_libraries.${part}
            COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_LIST_DIR}/libraries/libraries_test.py"
                $<TARGET_FILE:stint_gpu_no_device> "${STINT_NVIDIA_LIBRARIES}" ${part})
        set_tests_properties(gpu_libraries.${part} PROPERTIES LABELS real SKIP_RETURN_CODE 77
            TIMEOUT 600 RESOURCE_LOCK nvidia)
    endforeach()
endif()
