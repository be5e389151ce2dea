# SPDX-License-Identifier: Apache-2.0
stint_add_test(TARGET stint_gpu_timer SOURCES "${CMAKE_CURRENT_LIST_DIR}/timer_test.c"
    LIBS stint_fake stint_cuda_double Threads::Threads ${CMAKE_DL_LIBS} LABELS unit)
add_dependencies(stint_gpu_timer stint_cuda_double_old)
target_compile_definitions(stint_gpu_timer PRIVATE
    "DOUBLE_OLD_LIBRARY=\"$<TARGET_FILE:stint_cuda_double_old>\"")

stint_add_test(TARGET stint_gpu_primary SOURCES "${CMAKE_CURRENT_LIST_DIR}/primary_test.c"
    LIBS stint_fake stint_cuda_double Threads::Threads ${CMAKE_DL_LIBS} LABELS unit)
add_dependencies(stint_gpu_primary stint_cudart_shared)
target_compile_definitions(stint_gpu_primary PRIVATE
    "CUDART_SHARED=\"$<TARGET_FILE:stint_cudart_shared>\"")

# The cost of a GPU scope without a GPU; prints a line for docs/performance.md.
stint_test_program(stint_gpu_timer_bench "${CMAKE_CURRENT_LIST_DIR}/timer_bench.c"
    LIBS stint::runtime stint_cuda_double Threads::Threads ${CMAKE_DL_LIBS} DEFINES WITH_TIMER
    WITH_PROFILER)

# Whole programs, on the library as users link it.
if(NOT STINT_GPU_API STREQUAL "cudart")
    stint_test_program(stint_gpu_life_program "${CMAKE_CURRENT_LIST_DIR}/life_program.c"
        LIBS stint::runtime stint_cuda_double Threads::Threads DEFINES WITH_TIMER WITH_PROFILER)
    stint_add_test(TARGET stint_gpu_life SOURCES "${CMAKE_CURRENT_LIST_DIR}/life_test.c"
        LIBS stint_cuda_double LABELS unit)
    add_dependencies(stint_gpu_life stint_gpu_life_program stint_cupti_double)
    target_compile_definitions(stint_gpu_life PRIVATE
        "CUPTI_DOUBLE_LIBRARY=\"$<TARGET_FILE:stint_cupti_double>\""
        "LIFE_PROGRAM=\"$<TARGET_FILE:stint_gpu_life_program>\"")

    # Both are also run under the thread sanitizer.
    foreach(test context_place context_churn)
        stint_add_test(TARGET stint_gpu_${test} SOURCES "${CMAKE_CURRENT_LIST_DIR}/${test}_test.c"
            LIBS stint_fake stint_cuda_double Threads::Threads ${CMAKE_DL_LIBS} LABELS unit)
    endforeach()
endif()
