# SPDX-License-Identifier: Apache-2.0
#
# NVTX ranges need no GPU: NVTX hands them to any library that it is told to load.

function(stint_nvtx_settings target)
    set_target_properties(${target} PROPERTIES
        C_STANDARD 11
        C_STANDARD_REQUIRED ON
        C_VISIBILITY_PRESET hidden
        ENABLE_EXPORTS ON) # the injection library looks for a function of the program's
    target_include_directories(${target} PRIVATE "${stint_SOURCE_DIR}/tests/unit")
    stint_warnings(${target})
endfunction()

stint_add_test(TARGET stint_gpu_nvtx_none
    SOURCES "${CMAKE_CURRENT_LIST_DIR}/nvtx_none_test.c"
    LIBS stint_fake Threads::Threads LABELS unit)
stint_nvtx_settings(stint_gpu_nvtx_none)

if(STINT_NVTX AND STINT_NVTX_INCLUDE_DIR)
    add_library(stint_nvtx_injection MODULE "${CMAKE_CURRENT_LIST_DIR}/nvtx_injection.c")
    target_include_directories(stint_nvtx_injection SYSTEM PRIVATE "${STINT_NVTX_INCLUDE_DIR}")
    target_compile_definitions(stint_nvtx_injection PRIVATE _GNU_SOURCE=1)
    target_link_libraries(stint_nvtx_injection PRIVATE ${CMAKE_DL_LIBS})
    stint_nvtx_settings(stint_nvtx_injection)

    foreach(name IN ITEMS nvtx nvtx_hard)
        stint_add_test(TARGET stint_gpu_${name}
            SOURCES "${CMAKE_CURRENT_LIST_DIR}/${name}_test.c"
            LIBS stint_fake Threads::Threads ${CMAKE_DL_LIBS} LABELS unit)
        target_compile_definitions(stint_gpu_${name}
            PRIVATE "NVTX_INJECTION=\"$<TARGET_FILE:stint_nvtx_injection>\"")
        add_dependencies(stint_gpu_${name} stint_nvtx_injection)
        stint_nvtx_settings(stint_gpu_${name})
    endforeach()

    stint_add_test(TARGET stint_gpu_nvtx_cupti
        SOURCES "${CMAKE_CURRENT_LIST_DIR}/nvtx_cupti_test.c"
        LIBS stint_fake stint_cupti_double Threads::Threads ${CMAKE_DL_LIBS} LABELS unit)
    target_compile_definitions(stint_gpu_nvtx_cupti
        PRIVATE "NVTX_INJECTION=\"$<TARGET_FILE:stint_nvtx_injection>\"")
    add_dependencies(stint_gpu_nvtx_cupti stint_nvtx_injection)
    stint_nvtx_settings(stint_gpu_nvtx_cupti)
endif()

# The other way: NVTX ranges of a program without stint, by libstint-ranges.so. The tool finds it
# beside itself in the build.
if(TARGET stint_ranges AND TARGET stint_tool AND STINT_NVTX AND STINT_NVTX_INCLUDE_DIR)
    add_executable(stint_gpu_nvtx_in "${CMAKE_CURRENT_LIST_DIR}/nvtx_in_program.c")
    add_library(stint_gpu_nvtx_in_library MODULE "${CMAKE_CURRENT_LIST_DIR}/nvtx_in_program.c")
    target_compile_definitions(stint_gpu_nvtx_in_library PRIVATE NVTX_IN_LIBRARY)
    foreach(target IN ITEMS stint_gpu_nvtx_in stint_gpu_nvtx_in_library)
        target_include_directories(${target} SYSTEM PRIVATE "${STINT_NVTX_INCLUDE_DIR}")
        target_compile_definitions(${target} PRIVATE _GNU_SOURCE=1)
        target_link_libraries(${target} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
        stint_nvtx_settings(${target})
    endforeach()
    add_executable(stint_gpu_nvtx_in_bench "${CMAKE_CURRENT_LIST_DIR}/nvtx_in_bench.c")
    target_link_libraries(stint_gpu_nvtx_in_bench PRIVATE stint::runtime ${CMAKE_DL_LIBS})
    target_include_directories(stint_gpu_nvtx_in_bench SYSTEM PRIVATE "${STINT_NVTX_INCLUDE_DIR}")
    target_compile_definitions(stint_gpu_nvtx_in_bench PRIVATE WITH_TIMER _GNU_SOURCE=1)
    stint_nvtx_settings(stint_gpu_nvtx_in_bench)
    stint_test_cases(nvtx_in. nvtx_in_test.py LABELS unit
        ARGS $<TARGET_FILE:stint_tool> $<TARGET_FILE:stint_gpu_nvtx_in>
        $<TARGET_FILE:stint_gpu_nvtx_in_library> $<TARGET_FILE:tool_program>
        CASES ranges domains garbage full crossing overlapping balance leaves modules again fork
        never_both another_tool report)
endif()
