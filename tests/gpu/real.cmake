# SPDX-License-Identifier: Apache-2.0
#
# Tests written in CUDA. Each is compiled once and linked twice: with the CUDA runtime, for a real
# GPU (gpu_real.*, label gpu; every case skips without one), and with the double of a whole GPU
# (gpu_double.*), which needs no GPU. They use the library as users link it.
include("${PROJECT_SOURCE_DIR}/cmake/StintCuda.cmake")
set(checks device launch sessions threads stop reset range default_stream visible fork graph work
    context_ids capture_calls green_context windows)
set(rehearsals whole killed refused)

if(STINT_CUDA AND CMAKE_SYSTEM_NAME STREQUAL "Linux")

    # A target in CUDA.
    function(stint_real_target target)
        target_link_libraries(${target} PRIVATE stint::runtime Threads::Threads ${CMAKE_DL_LIBS})
        target_compile_definitions(${target} PRIVATE WITH_TIMER WITH_PROFILER _GNU_SOURCE=1)
        target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/double"
            "${PROJECT_SOURCE_DIR}/tests")
        stint_cuda(${target})
    endfunction()

    # The double's settings: CUPTI is in the file of the driver.
    set(whole "")
    if(TARGET stint_whole_gpu)
        set(whole "STINT_CUPTI_LIB=$<TARGET_FILE:stint_whole_gpu>")
    endif()

    # stint_real_program(<name> <source>): stint_<name> and stint_<name>_double.
    function(stint_real_program name source)
        add_library(stint_${name}_object OBJECT ${source})
        stint_real_target(stint_${name}_object)
        add_executable(stint_${name} $<TARGET_OBJECTS:stint_${name}_object>)
        set_target_properties(stint_${name} PROPERTIES LINKER_LANGUAGE CUDA)
        target_link_libraries(stint_${name} PRIVATE stint::runtime Threads::Threads ${CMAKE_DL_LIBS})
        if(TARGET stint_whole_gpu)
            add_executable(stint_${name}_double $<TARGET_OBJECTS:stint_${name}_object>)
            set_target_properties(stint_${name}_double PROPERTIES LINKER_LANGUAGE CXX)
            target_link_libraries(stint_${name}_double PRIVATE stint_whole_gpu stint::runtime
                Threads::Threads ${CMAKE_DL_LIBS})
        endif()
    endfunction()

    # stint_real_test(<name> <source> [<option of nvcc>...])
    function(stint_real_test name source)
        add_library(stint_test_real_${name}_object OBJECT ${source})
        stint_real_target(stint_test_real_${name}_object)
        target_compile_options(stint_test_real_${name}_object PRIVATE ${ARGN})
        set(objects $<TARGET_OBJECTS:stint_test_real_${name}_object>)
        stint_add_test(TARGET stint_test_real_${name} PREFIX gpu_real. SOURCES ${objects}
            LIBS stint::runtime Threads::Threads LABELS gpu)
        set_target_properties(stint_test_real_${name} PROPERTIES LINKER_LANGUAGE CUDA)
        if(TARGET stint_whole_gpu)
            stint_add_test(TARGET stint_test_double_${name} PREFIX gpu_double. SOURCES ${objects}
                LIBS stint_whole_gpu stint::runtime Threads::Threads LABELS unit ENV ${whole})
            set_target_properties(stint_test_double_${name} PROPERTIES LINKER_LANGUAGE CXX)
        endif()
    endfunction()

    stint_real_test(events real_events.cu)
    stint_real_test(legacy_stream real_default_stream.cu)
    stint_real_test(per_thread_stream real_default_stream.cu --default-stream=per-thread)
    stint_real_test(capture real_capture.cu)
    stint_real_test(hard real_hard.cu)
    stint_real_test(cupti real_cupti.cu)

    # On the double alone.
    if(TARGET stint_whole_gpu)
        stint_add_test(TARGET stint_test_whole PREFIX gpu_double. SOURCES whole_test.cu
            LIBS stint_whole_gpu LABELS unit ENV ${whole})
        stint_real_target(stint_test_whole)
        set_target_properties(stint_test_whole PROPERTIES CUDA_RUNTIME_LIBRARY None)
        add_executable(stint_gpu_injection_other injection_other.c)
        target_link_libraries(stint_gpu_injection_other PRIVATE stint_whole_gpu)
        target_include_directories(stint_gpu_injection_other SYSTEM PRIVATE
            ${CUDAToolkit_INCLUDE_DIRS})
        stint_warnings(stint_gpu_injection_other)
        if(BUILD_SHARED_LIBS)
            add_dependencies(stint_test_whole stint_gpu_injection_other)
            target_compile_definitions(stint_test_whole PRIVATE STINT_IS_SHARED
                "INJECTION_OTHER=\"$<TARGET_FILE:stint_gpu_injection_other>\"")
        endif()
    endif()

    # The checks and tables of a first day on a GPU (day/first_day.sh), and the cost of the driver's
    # calls in a GPU scope.
    stint_real_program(first_contact first_contact.cu)
    stint_real_program(truths day/truths.cu)
    stint_real_program(real_cost real_cost.cu)
    foreach(check IN LISTS checks ITEMS managed)
        set(with "")
        set(faults "")
        if(check MATCHES "visible|fork|work")
            set(with "STINT_GPU=cupti")
        elseif(check STREQUAL "windows")
            set(with "STINT_GPU=cupti;STINT_CAPTURE=steps 5-6,every=5")
            set(faults "GPU_DOUBLE=register-drops")
        elseif(check STREQUAL "managed")
            set(with "STINT_GPU=cupti,all")
        endif()
        add_test(NAME gpu_real.first_contact.${check} COMMAND stint_first_contact ${check})
        set_tests_properties(gpu_real.first_contact.${check} PROPERTIES LABELS gpu
            SKIP_RETURN_CODE 77 TIMEOUT 120 ENVIRONMENT "${with}")
        if(TARGET stint_whole_gpu AND NOT check STREQUAL "managed") # nothing migrates there
            add_test(NAME gpu_double.first_contact.${check}
                COMMAND stint_first_contact_double ${check})
            set_tests_properties(gpu_double.first_contact.${check} PROPERTIES LABELS unit
                SKIP_RETURN_CODE 77 TIMEOUT 120 ENVIRONMENT "${with};${whole};${faults}")
        endif()
    endforeach()
    if(TARGET stint_whole_gpu)
        foreach(mode IN LISTS rehearsals)
            stint_test(gpu_day.${mode} "gpu_day;unit" bash
                "${CMAKE_CURRENT_LIST_DIR}/day/first_day_test.sh" ${mode} "${PROJECT_BINARY_DIR}"
                "${CMAKE_CUDA_COMPILER}")
        endforeach()
    endif()
    add_test(NAME gpu_real.cost COMMAND stint_real_cost)
    set_tests_properties(gpu_real.cost PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 TIMEOUT 600
        RUN_SERIAL ON)
endif()

if(NOT TARGET stint_test_whole)
    set(why "${stint_cuda_why}")
    if(STINT_CUDA)
        set(why "the CUDA toolkit has no cuda_profiler_api.h")
    endif()
    stint_skip_cases("${why}" gpu_double. real_events.cu real_capture.cu real_hard.cu real_cupti.cu
        whole_test.cu)
    list(TRANSFORM checks PREPEND gpu_double.first_contact.)
    list(TRANSFORM rehearsals PREPEND gpu_day.)
    stint_skip("${why}" ${checks} ${rehearsals}
        gpu_double.legacy_stream.null_is_the_default_stream
        gpu_double.per_thread_stream.null_is_the_default_stream)
endif()
