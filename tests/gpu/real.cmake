# SPDX-License-Identifier: Apache-2.0
#
# Tests on a real GPU, written in CUDA; every case skips without one. They use the library as users
# link it, over the installed driver.
include("${PROJECT_SOURCE_DIR}/cmake/StintCuda.cmake")

if(STINT_CUDA AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    find_package(Threads REQUIRED)

    # stint_real_test(<name> <source> [<option of nvcc>...])
    function(stint_real_test name source)
        set(target stint_test_real_${name})
        stint_add_test(TARGET ${target} SOURCES ${source} LIBS stint::runtime Threads::Threads
            LABELS gpu)
        target_compile_definitions(${target} PRIVATE WITH_TIMER WITH_PROFILER)
        target_compile_options(${target} PRIVATE ${ARGN})
        stint_cuda(${target})
    endfunction()

    stint_real_test(events real_events.cu)
    stint_real_test(legacy_stream real_default_stream.cu)
    stint_real_test(per_thread_stream real_default_stream.cu --default-stream=per-thread)
    stint_real_test(capture real_capture.cu)
    stint_real_test(hard real_hard.cu)
    stint_real_test(cupti real_cupti.cu)

    # The checks of first_contact.sh; built here so that they are known to compile.
    add_executable(stint_first_contact first_contact.cu)
    target_link_libraries(stint_first_contact PRIVATE stint::runtime Threads::Threads)
    target_compile_definitions(stint_first_contact PRIVATE WITH_TIMER WITH_PROFILER)
    stint_cuda(stint_first_contact)

    # The cost of the driver's calls in a GPU scope; prints tables for docs/performance.md.
    add_executable(stint_real_cost real_cost.cu)
    target_link_libraries(stint_real_cost PRIVATE stint::runtime Threads::Threads dl)
    target_compile_definitions(stint_real_cost PRIVATE WITH_TIMER WITH_PROFILER)
    stint_cuda(stint_real_cost)
    add_test(NAME gpu_real.cost COMMAND stint_real_cost)
    set_tests_properties(gpu_real.cost PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 TIMEOUT 600
        RUN_SERIAL ON)
endif()

# Without a GPU the script says why it does nothing; with one it would take minutes.
if(NOT EXISTS /proc/driver/nvidia AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    add_test(NAME gpu_first_contact.without_a_gpu
        COMMAND bash -c "said=$(bash \"$0\" 2>&1); [ $? = 77 ] && echo \"$said\" | grep skipped:"
            "${CMAKE_CURRENT_LIST_DIR}/first_contact.sh")
    set_tests_properties(gpu_first_contact.without_a_gpu PROPERTIES LABELS unit TIMEOUT 60)
endif()

add_test(NAME gpu_first_contact.columns_of_nsys
    COMMAND bash "${CMAKE_CURRENT_LIST_DIR}/nsys_count_test.sh" "${CMAKE_CURRENT_BINARY_DIR}")
set_tests_properties(gpu_first_contact.columns_of_nsys PROPERTIES LABELS unit TIMEOUT 60)

add_test(NAME gpu_first_contact.without_its_program
    COMMAND bash "${CMAKE_CURRENT_LIST_DIR}/first_contact_test.sh" "${CMAKE_CURRENT_BINARY_DIR}")
set_tests_properties(gpu_first_contact.without_its_program PROPERTIES LABELS unit TIMEOUT 120)
