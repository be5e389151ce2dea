# SPDX-License-Identifier: Apache-2.0
#
# The back end over the driver, on the double; and, where there is a toolkit, its header against the
# table and its stub as a driver.

foreach(name IN ITEMS driver driver_load)
    stint_add_test(TARGET stint_gpu_${name} SOURCES "${CMAKE_CURRENT_LIST_DIR}/${name}_test.c"
        LIBS stint_fake stint_cuda_double Threads::Threads ${CMAKE_DL_LIBS} LABELS unit)
endforeach()
add_dependencies(stint_gpu_driver_load stint_cuda_double_old)
target_compile_definitions(stint_gpu_driver_load PRIVATE
    "DOUBLE_OLD_LIBRARY=\"$<TARGET_FILE:stint_cuda_double_old>\"")

# The sources of what the doubles assume, compared with the toolkit's headers where there are any.
set(headers "")
if(CUDAToolkit_FOUND)
    list(GET CUDAToolkit_INCLUDE_DIRS 0 headers)
    if(NOT EXISTS "${headers}/cupti_activity.h")
        set(headers "")
    endif()
endif()
stint_test(structure.assumptions structure Python3::Interpreter -B
    "${CMAKE_CURRENT_LIST_DIR}/double/assumptions_test.py" ${headers})

if(CUDAToolkit_FOUND)
    if(STINT_CUDA_STUB)
        target_compile_definitions(stint_gpu_driver_load PRIVATE "CUDA_STUB=\"${STINT_CUDA_STUB}\"")
    endif()

    # Compiling it is the test.
    set(checked "")
    stint_generate_one(checked driver.ini driver_check.c)
    set_source_files_properties("${CMAKE_CURRENT_BINARY_DIR}/gen/driver_check.c" PROPERTIES
        GENERATED ON)
    add_library(stint_gpu_driver_check OBJECT
        "${CMAKE_CURRENT_BINARY_DIR}/gen/driver_check.c" ${checked})
    target_include_directories(stint_gpu_driver_check PRIVATE "${stint_SOURCE_DIR}/runtime")
    target_include_directories(stint_gpu_driver_check SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    set_target_properties(stint_gpu_driver_check PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
    stint_warnings(stint_gpu_driver_check)
endif()
