# SPDX-License-Identifier: Apache-2.0
#
# Tapes of CUPTI (tape/tape.h), played through the library and compared with what an independent
# reader of their bytes computes: those that were recorded, and four profiles of an A100. No library
# of NVIDIA's is needed.

set(tape "${CMAKE_CURRENT_LIST_DIR}/tape")

set(double "${CMAKE_CURRENT_LIST_DIR}/double")
add_library(stint_tape_record SHARED "${tape}/tape_record.c")
add_library(stint_tape_play SHARED "${tape}/tape_play.c" "${double}/cupti_double.c"
    "${double}/cupti_double_buffers.c" "${double}/cupti_double_program.c")
target_compile_definitions(stint_tape_play
    INTERFACE "TAPE_PLAYER=\"$<TARGET_FILE:stint_tape_play>\"")
foreach(target IN ITEMS stint_tape_record stint_tape_play)
    add_dependencies(${target} stint_cupti_double) # which generates cupti_types.inc
    target_include_directories(${target} PUBLIC "${tape}"
        PRIVATE "${double}" "${CMAKE_CURRENT_BINARY_DIR}/double/gen")
    target_link_libraries(${target} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
    target_link_options(${target} PRIVATE "LINKER:-Bsymbolic")
endforeach()

# On the fake clock and on the real one.
add_executable(stint_tape_program "${tape}/tape_program.c")
target_link_libraries(stint_tape_program PRIVATE stint_fake)
add_executable(stint_tape_real "${tape}/tape_program.c")
target_link_libraries(stint_tape_real PRIVATE stint::runtime)
target_compile_definitions(stint_tape_real PRIVATE TAPE_REAL_CLOCK WITH_TIMER WITH_PROFILER)
foreach(target IN ITEMS stint_tape_program stint_tape_real)
    target_link_libraries(${target} PRIVATE stint_tape_play Threads::Threads)
endforeach()
foreach(target IN ITEMS stint_tape_record stint_tape_play stint_tape_program stint_tape_real)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE=1)
    set_target_properties(${target} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON
        C_VISIBILITY_PRESET hidden)
    stint_warnings(${target})
endforeach()

function(stint_tape_test name)
    stint_test(${name} unit Python3::Interpreter -B "${tape}/tape_check.py" ${ARGN})
endfunction()

set(program $<TARGET_FILE:stint_tape_program>)
file(GLOB tapes CONFIGURE_DEPENDS "${tape}/data/*.tape.gz")
foreach(path IN LISTS tapes)
    string(REGEX REPLACE ".*/|\\.tape\\.gz$" "" name "${path}")
    stint_tape_test(gpu_tapes.${name} ${program} "${path}")
    if(name MATCHES "^vector_add") # as long as the profile: two take three and four seconds
        stint_tape_test(gpu_tapes_real_clock.${name} --once $<TARGET_FILE:stint_tape_real> "${path}")
        set_property(TEST gpu_tapes_real_clock.${name} APPEND PROPERTY LABELS long)
    endif()
endforeach()
stint_tape_test(gpu_tapes.bad --bad ${program} "${tape}/data/double_graph.tape.gz")
