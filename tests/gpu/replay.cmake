# SPDX-License-Identifier: Apache-2.0
#
# Tapes of CUPTI (replay/tape.h): those that were recorded, and four profiles of an A100 made into
# tapes, played through the library. No library of NVIDIA's is needed.

set(replay "${CMAKE_CURRENT_LIST_DIR}/replay")
set(profiles vector_add_N10 vector_add_profile_serial vector_add_profile_streamed
    vector_add_profile_v4)

foreach(target IN ITEMS stint_tape_record stint_tape_play)
    string(REPLACE stint_ "" source ${target})
    add_library(${target} SHARED "${replay}/${source}.c")
    add_dependencies(${target} stint_cupti_double) # which generates cupti_types.inc
    target_include_directories(${target} PUBLIC "${replay}"
        PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/double/gen")
    target_link_libraries(${target} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
endforeach()
target_compile_definitions(stint_tape_play
    INTERFACE "TAPE_PLAYER=\"$<TARGET_FILE:stint_tape_play>\"")

add_executable(stint_gpu_replay_program "${replay}/replay_program.c")
target_link_libraries(stint_gpu_replay_program PRIVATE stint_fake)
add_executable(stint_gpu_replay_real "${replay}/replay_program.c")
target_compile_definitions(stint_gpu_replay_real PRIVATE REPLAY_REAL_CLOCK)
# The cost of a record; prints a line for docs/performance.md.
add_executable(stint_gpu_replay_bench "${replay}/replay_bench.c")
foreach(program IN ITEMS stint_gpu_replay_real stint_gpu_replay_bench)
    target_link_libraries(${program} PRIVATE stint::runtime)
    target_compile_definitions(${program} PRIVATE WITH_TIMER WITH_PROFILER)
endforeach()
foreach(program IN ITEMS stint_gpu_replay_program stint_gpu_replay_real stint_gpu_replay_bench)
    target_link_libraries(${program} PRIVATE stint_tape_play Threads::Threads)
endforeach()
foreach(target IN ITEMS stint_tape_record stint_tape_play stint_gpu_replay_program
        stint_gpu_replay_real stint_gpu_replay_bench)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE=1)
    set_target_properties(${target} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON
        C_VISIBILITY_PRESET hidden)
    stint_warnings(${target})
endforeach()

# stint_replay_test(<name> <profile> <fake|all>)
function(stint_replay_test name profile clocks)
    add_test(NAME ${name}
        COMMAND Python3::Interpreter -B "${replay}/replay_test.py"
            $<TARGET_FILE:stint_gpu_replay_program> $<TARGET_FILE:stint_gpu_replay_real>
            "${replay}/data" ${profile} ${clocks})
    set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 300)
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

# Each recorded tape beside what an independent reader of its bytes computes, and tapes that are bad.
function(stint_tape_test name)
    add_test(NAME gpu_tapes.${name}
        COMMAND Python3::Interpreter -B "${replay}/tape_check.py" ${ARGN})
    set_tests_properties(gpu_tapes.${name} PROPERTIES LABELS unit TIMEOUT 120)
endfunction()
file(GLOB tapes CONFIGURE_DEPENDS "${replay}/data/*.tape.gz")
foreach(tape IN LISTS tapes)
    string(REGEX REPLACE ".*/|\\.tape\\.gz$" "" name "${tape}")
    stint_tape_test(${name} $<TARGET_FILE:stint_gpu_replay_program> "${tape}")
endforeach()
stint_tape_test(bad --bad $<TARGET_FILE:stint_gpu_replay_program> "${replay}/data/double_graph.tape.gz")
