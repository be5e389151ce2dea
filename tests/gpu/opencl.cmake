# SPDX-License-Identifier: Apache-2.0
#
# Command queues: over a double of OpenCL, and over the real one of this machine, which needs no GPU
# (the packages pocl-opencl-icd and ocl-icd-opencl-dev).

find_package(OpenCL QUIET)
set(opencl "${CMAKE_CURRENT_LIST_DIR}/opencl")

add_library(stint_opencl_double SHARED "${opencl}/opencl_double.c")
target_include_directories(stint_opencl_double PUBLIC "${opencl}"
    PRIVATE "${stint_SOURCE_DIR}/runtime")
target_compile_definitions(stint_opencl_double PRIVATE _GNU_SOURCE=1)
target_link_libraries(stint_opencl_double PRIVATE Threads::Threads)
set_target_properties(stint_opencl_double PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON
    C_VISIBILITY_PRESET hidden OUTPUT_NAME OpenCL SOVERSION 1
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/opencl_double")
stint_warnings(stint_opencl_double)

stint_add_test(TARGET stint_opencl_double_test SOURCES "${opencl}/opencl_double_test.c"
    LIBS stint_fake stint_opencl_double stint_cuda_double Threads::Threads ${CMAKE_DL_LIBS}
    LABELS unit
    ENV ASAN_OPTIONS=detect_leaks=0) # a pair of work that failed keeps its events

if(OpenCL_FOUND)
    stint_add_test(TARGET stint_opencl_header SOURCES "${opencl}/opencl_header_test.c"
        LIBS OpenCL::OpenCL LABELS unit)
    target_include_directories(stint_opencl_header PRIVATE "${stint_SOURCE_DIR}/runtime")

    # The device's own code is not built with a sanitizer: what it leaks or orders is not ours.
    stint_add_test(TARGET stint_opencl_test SOURCES "${opencl}/opencl_test.c"
        LIBS stint_fake OpenCL::OpenCL Threads::Threads LABELS unit
        ENV ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS=ignore_noninstrumented_modules=1)

    stint_test_program(stint_opencl_program "${opencl}/opencl_program.c" LIBS stint::runtime
        OpenCL::OpenCL DEFINES WITH_TIMER)
    # Measures a scope; prints a line for docs/performance.md.
    stint_test_program(stint_opencl_bench "${opencl}/opencl_bench.c" LIBS stint::runtime
        OpenCL::OpenCL DEFINES WITH_TIMER)

    if(TARGET stint_tool)
        foreach(case IN ITEMS reports exit trace)
            add_test(NAME opencl_run.${case}
                COMMAND Python3::Interpreter -B "${opencl}/opencl_reports.py"
                    --program $<TARGET_FILE:stint_opencl_program> --tool $<TARGET_FILE:stint_tool>
                    ${case})
            set_tests_properties(opencl_run.${case} PROPERTIES LABELS unit SKIP_RETURN_CODE 77
                TIMEOUT 330 ENVIRONMENT
                "ASAN_OPTIONS=detect_leaks=0;TSAN_OPTIONS=ignore_noninstrumented_modules=1")
        endforeach()
    endif()
else()
    add_test(NAME opencl.missing COMMAND sh -c
        "echo 'skipped: no CL/cl.h and libOpenCL.so; package ocl-icd-opencl-dev'; exit 77")
    set_tests_properties(opencl.missing PROPERTIES SKIP_RETURN_CODE 77 LABELS unit)
endif()
