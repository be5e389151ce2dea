# SPDX-License-Identifier: Apache-2.0
stint_add_test(TARGET stint_gpu_timer SOURCES "${CMAKE_CURRENT_LIST_DIR}/timer_test.c"
    LIBS stint_fake stint_cuda_double Threads::Threads ${CMAKE_DL_LIBS} LABELS unit)
add_dependencies(stint_gpu_timer stint_cuda_double_old)
target_compile_definitions(stint_gpu_timer PRIVATE
    "DOUBLE_OLD_LIBRARY=\"$<TARGET_FILE:stint_cuda_double_old>\"")
set_target_properties(stint_gpu_timer PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
stint_warnings(stint_gpu_timer)

stint_add_test(TARGET stint_gpu_primary SOURCES "${CMAKE_CURRENT_LIST_DIR}/primary_test.c"
    LIBS stint_fake stint_cuda_double Threads::Threads ${CMAKE_DL_LIBS} LABELS unit)
add_dependencies(stint_gpu_primary stint_cudart_shared)
target_compile_definitions(stint_gpu_primary PRIVATE
    "CUDART_SHARED=\"$<TARGET_FILE:stint_cudart_shared>\"")
set_target_properties(stint_gpu_primary PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
stint_warnings(stint_gpu_primary)

# The cost of a GPU scope without a GPU; prints a line for docs/performance.md.
add_executable(stint_gpu_timer_bench "${CMAKE_CURRENT_LIST_DIR}/timer_bench.c")
target_link_libraries(stint_gpu_timer_bench PRIVATE stint::runtime stint_cuda_double Threads::Threads
    ${CMAKE_DL_LIBS})
target_compile_definitions(stint_gpu_timer_bench PRIVATE WITH_TIMER WITH_PROFILER _GNU_SOURCE=1)
set_target_properties(stint_gpu_timer_bench PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
stint_warnings(stint_gpu_timer_bench)

# Whole programs, on the library as users link it.
if(NOT STINT_GPU_API STREQUAL "cudart")
    add_executable(stint_gpu_life_program "${CMAKE_CURRENT_LIST_DIR}/life_program.c")
    target_link_libraries(stint_gpu_life_program PRIVATE stint::runtime stint_cuda_double
        Threads::Threads)
    target_compile_definitions(stint_gpu_life_program PRIVATE WITH_TIMER WITH_PROFILER
        _GNU_SOURCE=1)
    set_target_properties(stint_gpu_life_program PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
    stint_warnings(stint_gpu_life_program)
    stint_add_test(TARGET stint_gpu_life SOURCES "${CMAKE_CURRENT_LIST_DIR}/life_test.c"
        LIBS stint_cuda_double LABELS unit)
    set_target_properties(stint_gpu_life PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
    stint_warnings(stint_gpu_life)
    add_dependencies(stint_gpu_life stint_gpu_life_program stint_cupti_double)
    target_compile_definitions(stint_gpu_life PRIVATE
        "CUPTI_DOUBLE_LIBRARY=\"$<TARGET_FILE:stint_cupti_double>\""
        "LIFE_PROGRAM=\"$<TARGET_FILE:stint_gpu_life_program>\"")

    # Both are also run under the thread sanitizer.
    foreach(test context_place context_churn)
        stint_add_test(TARGET stint_gpu_${test} SOURCES "${CMAKE_CURRENT_LIST_DIR}/${test}_test.c"
            LIBS stint_fake stint_cuda_double Threads::Threads ${CMAKE_DL_LIBS} LABELS unit)
        set_target_properties(stint_gpu_${test} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
        stint_warnings(stint_gpu_${test})
    endforeach()
endif()
