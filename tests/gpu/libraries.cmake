# SPDX-License-Identifier: Apache-2.0
#
# The real libraries of several versions on a machine without a GPU. libraries/fetch.sh fetches them
# into the folder STINT_NVIDIA_LIBRARIES; without them the tests skip.

if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    stint_test_program(stint_gpu_no_device "${CMAKE_CURRENT_LIST_DIR}/libraries/no_device.c"
        LIBS stint::runtime ${CMAKE_DL_LIBS} DEFINES WITH_TIMER WITH_PROFILER)
    foreach(part IN ITEMS driver cupti)
        add_test(NAME gpu_libraries.${part}
            COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_LIST_DIR}/libraries/libraries_test.py"
                $<TARGET_FILE:stint_gpu_no_device> "${STINT_NVIDIA_LIBRARIES}" ${part})
        set_tests_properties(gpu_libraries.${part} PROPERTIES LABELS real SKIP_RETURN_CODE 77
            TIMEOUT 600 RESOURCE_LOCK nvidia)
    endforeach()
endif()
