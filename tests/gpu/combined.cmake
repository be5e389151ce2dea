# SPDX-License-Identifier: Apache-2.0
#
# Memory, a trace, NVTX ranges, resource usage, counters, work under its sender and a GPU's doubles
# in one program, on the libraries as users load them.

if(TARGET stint_tool AND BUILD_SHARED_LIBS AND NOT STINT_GPU_API STREQUAL "cudart")
    add_executable(stint_gpu_combined "${CMAKE_CURRENT_LIST_DIR}/combined_program.c")
    target_link_libraries(stint_gpu_combined PRIVATE stint::runtime stint_cuda_double
        stint_cupti_double Threads::Threads)
    target_compile_definitions(stint_gpu_combined PRIVATE WITH_TIMER WITH_PROFILER _GNU_SOURCE=1)
    # The allocations are what is counted.
    target_compile_options(stint_gpu_combined PRIVATE -fno-builtin)
    set_target_properties(stint_gpu_combined PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
    stint_warnings(stint_gpu_combined)
    set(with "")
    if(TARGET stint_ranges AND STINT_NVTX AND STINT_NVTX_INCLUDE_DIR)
        target_link_libraries(stint_gpu_combined PRIVATE ${CMAKE_DL_LIBS})
        target_include_directories(stint_gpu_combined SYSTEM PRIVATE "${STINT_NVTX_INCLUDE_DIR}")
        target_compile_definitions(stint_gpu_combined PRIVATE COMBINED_NVTX)
        list(APPEND with --nvtx)
    endif()
    # A sanitizer's malloc comes before any other.
    if(TARGET stint_mem AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize=(address|thread)")
        list(APPEND with --mem)
    endif()
    stint_test(gpu_combined.exact unit Python3::Interpreter -B
        "${CMAKE_CURRENT_LIST_DIR}/combined_test.py" $<TARGET_FILE:stint_tool>
        $<TARGET_FILE:stint_gpu_combined> $<TARGET_FILE:stint_cuda_double>
        $<TARGET_FILE:stint_cupti_double> ${with})
endif()
