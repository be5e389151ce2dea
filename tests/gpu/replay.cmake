# SPDX-License-Identifier: Apache-2.0
#
# Recorded profiles of an A100 through a stand-in for CUPTI that is made of the toolkit's headers
# and of the installed libcupti. Without a toolkit the tests skip.

set(replay "${CMAKE_CURRENT_LIST_DIR}/replay")
set(profiles vector_add_N10 vector_add_profile_serial vector_add_profile_streamed
    vector_add_profile_v4)

if(STINT_CUPTI_LIBRARY AND STINT_CUPTI_INCLUDE_DIR)
    add_library(stint_cupti_replay SHARED "${replay}/cupti_replay.c")
    target_include_directories(stint_cupti_replay PUBLIC "${replay}")
    target_include_directories(stint_cupti_replay SYSTEM PRIVATE
        ${CUDAToolkit_INCLUDE_DIRS} "${STINT_CUPTI_INCLUDE_DIR}")
    target_compile_definitions(stint_cupti_replay
        PRIVATE _GNU_SOURCE=1 "CUPTI_REAL=\"${STINT_CUPTI_LIBRARY}\""
        INTERFACE "CUPTI_REPLAY_LIBRARY=\"$<TARGET_FILE:stint_cupti_replay>\"")
    target_link_libraries(stint_cupti_replay PRIVATE ${CMAKE_DL_LIBS})
    set_target_properties(stint_cupti_replay PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON
        C_VISIBILITY_PRESET hidden)
    stint_warnings(stint_cupti_replay)

    add_executable(stint_gpu_replay_program "${replay}/replay_program.c")
    target_link_libraries(stint_gpu_replay_program PRIVATE stint_fake)
    add_executable(stint_gpu_replay_real "${replay}/replay_program.c")
    target_link_libraries(stint_gpu_replay_real PRIVATE stint::runtime)
    target_compile_definitions(stint_gpu_replay_real PRIVATE REPLAY_REAL_CLOCK WITH_TIMER WITH_PROFILER)
    foreach(program stint_gpu_replay_program stint_gpu_replay_real)
        target_link_libraries(${program} PRIVATE stint_cupti_replay Threads::Threads)
        target_include_directories(${program} PRIVATE "${PROJECT_SOURCE_DIR}/runtime")
        target_compile_definitions(${program} PRIVATE _GNU_SOURCE=1)
        set_target_properties(${program} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
        stint_warnings(${program})
    endforeach()

    # The cost of a record; prints a line for docs/performance.md.
    add_executable(stint_gpu_replay_bench "${replay}/replay_bench.c")
    target_link_libraries(stint_gpu_replay_bench PRIVATE stint::runtime stint_cupti_replay)
    target_compile_definitions(stint_gpu_replay_bench PRIVATE WITH_TIMER WITH_PROFILER
        _GNU_SOURCE=1)
    set_target_properties(stint_gpu_replay_bench PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
    stint_warnings(stint_gpu_replay_bench)
endif()

# stint_replay_test(<name> <profile> <fake|all>)
function(stint_replay_test name profile clocks)
    if(TARGET stint_gpu_replay_program)
        add_test(NAME ${name}
            COMMAND Python3::Interpreter -B "${replay}/replay_test.py"
                $<TARGET_FILE:stint_gpu_replay_program> $<TARGET_FILE:stint_gpu_replay_real>
                "${replay}/data" ${profile} ${clocks})
    else()
        add_test(NAME ${name}
            COMMAND sh -c "echo 'no CUDA toolkit with CUPTI'; exit 77")
    endif()
    set_tests_properties(${name} PROPERTIES LABELS unit SKIP_RETURN_CODE 77 TIMEOUT 300)
endfunction()

# On the real clock two of them take three and four seconds.
foreach(profile IN LISTS profiles)
    if(profile MATCHES "serial|streamed")
        stint_replay_test(gpu_replay.${profile} ${profile} fake)
        stint_replay_test(gpu_replay_real_clock.${profile} ${profile} all)
        set_property(TEST gpu_replay_real_clock.${profile} APPEND PROPERTY LABELS long)
    else()
        stint_replay_test(gpu_replay.${profile} ${profile} all)
    endif()
endforeach()
