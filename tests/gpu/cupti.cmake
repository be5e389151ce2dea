# SPDX-License-Identifier: Apache-2.0
#
# CUPTI: on the double; where there is a toolkit, on the real library, which reads records without a
# GPU too, and its headers against the table.

foreach(name IN ITEMS cupti cupti_clients cupti_clock cupti_data cupti_fault cupti_life cupti_lines cupti_memory
        cupti_own cupti_profiler
        cupti_records fault_order)
    stint_add_test(TARGET stint_gpu_${name} SOURCES "${CMAKE_CURRENT_LIST_DIR}/${name}_test.c"
        LIBS stint_fake stint_cupti_double stint_cuda_double Threads::Threads ${CMAKE_DL_LIBS}
        LABELS unit)
endforeach()
# The wrappers (cupti_seen.h) see the records that CUPTI's back end hands on.
foreach(name IN ITEMS cupti cupti_clients cupti_data cupti_lines cupti_own cupti_profiler)
    target_link_options(stint_gpu_${name} PRIVATE
        "LINKER:--wrap=activity_add,--wrap=activity_launch,--wrap=activity_device")
endforeach()
add_dependencies(stint_gpu_cupti_profiler stint_cuda_double_old)
target_compile_definitions(stint_gpu_cupti_profiler PRIVATE
    "DOUBLE_OLD_LIBRARY=\"$<TARGET_FILE:stint_cuda_double_old>\"")
add_dependencies(stint_gpu_cupti stint_cupti_double_old)
target_compile_definitions(stint_gpu_cupti PRIVATE
    "CUPTI_DOUBLE_OLD_LIBRARY=\"$<TARGET_FILE:stint_cupti_double_old>\"")
add_dependencies(stint_gpu_cupti_life stint_cupti_double_old)
target_compile_definitions(stint_gpu_cupti_life PRIVATE
    "CUPTI_DOUBLE_OLD_LIBRARY=\"$<TARGET_FILE:stint_cupti_double_old>\"")

add_executable(stint_gpu_cupti_program "${CMAKE_CURRENT_LIST_DIR}/cupti_program.c")
target_link_libraries(stint_gpu_cupti_program PRIVATE stint_fake stint_cupti_double
    Threads::Threads ${CMAKE_DL_LIBS})
add_dependencies(stint_gpu_cupti_life stint_cudart_shared)
target_compile_definitions(stint_gpu_cupti_program PRIVATE _GNU_SOURCE=1)
set_target_properties(stint_gpu_cupti_program PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
stint_warnings(stint_gpu_cupti_program)
add_dependencies(stint_gpu_cupti_life stint_gpu_cupti_program)
target_compile_definitions(stint_gpu_cupti_life PRIVATE
    "CUDART_SHARED=\"$<TARGET_FILE:stint_cudart_shared>\""
    "CUPTI_PROGRAM=\"$<TARGET_FILE:stint_gpu_cupti_program>\"")

# The driver can load the shared library alone.
if(BUILD_SHARED_LIBS)
    stint_test_program(stint_gpu_injection_real "${CMAKE_CURRENT_LIST_DIR}/injection_real.c"
        LIBS stint::timer ${CMAKE_DL_LIBS})
    add_test(NAME injection.real_driver
        COMMAND "${CMAKE_CURRENT_LIST_DIR}/injection_real.sh"
            $<TARGET_FILE:stint_gpu_injection_real> "${STINT_NVIDIA_LIBRARIES}")
    set_tests_properties(injection.real_driver PROPERTIES
        LABELS real SKIP_RETURN_CODE 77 TIMEOUT 60 RESOURCE_LOCK nvidia)
endif()

if(CUDAToolkit_FOUND)
    find_library(STINT_CUPTI_LIBRARY cupti NO_DEFAULT_PATH
        PATHS "${CUDAToolkit_LIBRARY_DIR}" "${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI"
        PATH_SUFFIXES lib64 lib
        DOC "CUPTI, for tests that need no GPU")
    if(STINT_CUPTI_LIBRARY)
        foreach(name IN ITEMS cupti_records cupti_life)
            target_compile_definitions(stint_gpu_${name} PRIVATE
                "CUPTI_REAL=\"${STINT_CUPTI_LIBRARY}\""
                "NVIDIA_LIBRARIES=\"${STINT_NVIDIA_LIBRARIES}\"")
        endforeach()
    endif()

    # Compiling it is the test.
    find_path(STINT_CUPTI_INCLUDE_DIR cupti_activity.h NO_DEFAULT_PATH
        PATHS ${CUDAToolkit_INCLUDE_DIRS} "${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI/include"
        DOC "Folder of cupti_activity.h, for tests")
    if(STINT_CUPTI_INCLUDE_DIR)
        set(checked "")
        stint_generate_one(checked cupti.ini cupti_check.c)
        set_source_files_properties("${CMAKE_CURRENT_BINARY_DIR}/gen/cupti_check.c" PROPERTIES
            GENERATED ON COMPILE_OPTIONS "-iquote;${stint_SOURCE_DIR}/runtime") # has a cupti.h, too
        if(STINT_CUPTI_LIBRARY)
            stint_add_test(TARGET stint_gpu_cupti_params
                SOURCES "${CMAKE_CURRENT_LIST_DIR}/cupti_params_test.c"
                    "${CMAKE_CURRENT_LIST_DIR}/cupti_places.c"
                LIBS stint_fake ${CMAKE_DL_LIBS} LABELS unit)
            target_include_directories(stint_gpu_cupti_params SYSTEM PRIVATE
                ${CUDAToolkit_INCLUDE_DIRS} "${STINT_CUPTI_INCLUDE_DIR}")
            # The headers name types of old versions, too.
            target_compile_definitions(stint_gpu_cupti_params PRIVATE __CUDA_API_VERSION_INTERNAL
                "CUPTI_REAL=\"${STINT_CUPTI_LIBRARY}\""
                "NVIDIA_LIBRARIES=\"${STINT_NVIDIA_LIBRARIES}\"")
        endif()
        add_library(stint_gpu_cupti_check OBJECT
            "${CMAKE_CURRENT_BINARY_DIR}/gen/cupti_check.c" ${checked})
        target_include_directories(stint_gpu_cupti_check SYSTEM PRIVATE
            ${CUDAToolkit_INCLUDE_DIRS} "${STINT_CUPTI_INCLUDE_DIR}")
        set_target_properties(stint_gpu_cupti_check PROPERTIES
            C_STANDARD 11 C_STANDARD_REQUIRED ON)
        stint_warnings(stint_gpu_cupti_check)
    endif()
endif()

if(NOT TARGET stint_gpu_cupti_params)
    stint_skip_cases("no CUDA toolkit with CUPTI" "" cupti_params_test.c)
endif()

# The tables against the headers of other versions, which tests/pypi.sh fetches. Those of the
# toolkit, 13.5 from there, are compared above.
foreach(version IN ITEMS 11.8 12.4 13.0 13.1 13.3)
    stint_test(cupti_headers.${version} real Python3::Interpreter -B
        "${CMAKE_CURRENT_LIST_DIR}/headers_test.py" "${CMAKE_C_COMPILER}" ${version})
endforeach()
