# SPDX-License-Identifier: Apache-2.0
#
# stint_add_test(TARGET <name> SOURCES <file>...
#                [LIBS <library>...] [LABELS <label>...] [ENV <VAR=value>...]
#                [PREFIX <text>] [AS <name>] [TIMEOUT <seconds>])
#
# An executable on tests/harness.h whose cases are CTest entries of their own, named as the program
# lists them ("suite.name"; PREFIX precedes it, for a source that is built into two programs).
# AS: one entry of that name runs them all, for cases that have entries elsewhere.
# A case that skips exits with 77. The list is taken from the program when it is built, so a new
# TEST() needs no new configure.

include_guard(GLOBAL)

# Run as a script: writes the output of <program> --list as the file that CTest includes. A program
# for another processor runs through the emulator that CMAKE_CROSSCOMPILING_EMULATOR names, here and
# in the entries.
if(CMAKE_SCRIPT_MODE_FILE AND DEFINED STINT_TEST_PROGRAM)
    set(command "")
    foreach(word IN LISTS STINT_TEST_EMULATOR STINT_TEST_PROGRAM)
        string(APPEND command " [==[${word}]==]")
    endforeach()
    execute_process(
        COMMAND ${STINT_TEST_EMULATOR} "${STINT_TEST_PROGRAM}" --list
        OUTPUT_VARIABLE cases
        RESULT_VARIABLE failed)
    if(failed)
        message(FATAL_ERROR "${STINT_TEST_PROGRAM} --list: ${failed}\n${cases}")
    endif()
    string(REPLACE "\n" ";" cases "${cases}")
    set(text "")
    foreach(case IN LISTS cases)
        if(case)
            set(name "${STINT_TEST_PREFIX}${case}")
            string(APPEND text
                "add_test([==[${name}]==]${command} [==[${case}]==])\n"
                "set_tests_properties([==[${name}]==] PROPERTIES SKIP_RETURN_CODE 77"
                " TIMEOUT ${STINT_TEST_TIMEOUT} LABELS [==[${STINT_TEST_LABELS}]==]"
                " ENVIRONMENT [==[${STINT_TEST_ENV}]==]"
                " WORKING_DIRECTORY [==[${STINT_TEST_DIRECTORY}]==])\n")
        endif()
    endforeach()
    file(WRITE "${STINT_TEST_OUTPUT}" "${text}")
    return()
endif()

set(STINT_HARNESS_DIR "${CMAKE_CURRENT_LIST_DIR}")

# stint_test_settings(<target>): C11 with the functions of GNU, and our warnings.
function(stint_test_settings target)
    set_target_properties(${target} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE=1)
    stint_warnings(${target})
endfunction()

# stint_test_program(<target> <source>... [LIBS <library>...] [DEFINES <name>...]): a program that
# tests start.
function(stint_test_program target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBS;DEFINES")
    add_executable(${target} ${arg_UNPARSED_ARGUMENTS})
    target_link_libraries(${target} PRIVATE ${arg_LIBS})
    target_compile_definitions(${target} PRIVATE ${arg_DEFINES})
    stint_test_settings(${target})
endfunction()

# stint_test(<name> <labels> <command>...): an entry that skips with 77.
function(stint_test name labels)
    add_test(NAME ${name} COMMAND ${ARGN})
    set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT 600 SKIP_RETURN_CODE 77)
endfunction()

# stint_test_cases(<prefix> <script> LABELS <label>... [ARGS <word>...] CASES <case>...): the script
# in Python with the words and a case, an entry of the name <prefix><case> for each.
function(stint_test_cases prefix script)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LABELS;ARGS;CASES")
    foreach(case IN LISTS arg_CASES)
        stint_test(${prefix}${case} "${arg_LABELS}" Python3::Interpreter -B
            "${CMAKE_CURRENT_SOURCE_DIR}/${script}" ${arg_ARGS} ${case})
    endforeach()
endfunction()

add_library(stint_harness_main STATIC "${STINT_HARNESS_DIR}/harness_main.c")
stint_test_settings(stint_harness_main)

function(stint_add_test)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;PREFIX;AS;TIMEOUT" "SOURCES;LIBS;LABELS;ENV")
    if(arg_UNPARSED_ARGUMENTS OR NOT arg_TARGET OR NOT arg_SOURCES)
        message(FATAL_ERROR "stint_add_test: TARGET and SOURCES; unknown: ${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 330) # above the 300 s after which the harness itself names the case
    endif()
    add_executable(${arg_TARGET} ${arg_SOURCES})
    target_include_directories(${arg_TARGET} PRIVATE "${STINT_HARNESS_DIR}")
    target_link_libraries(${arg_TARGET} PRIVATE stint_harness_main ${arg_LIBS})
    stint_test_settings(${arg_TARGET})

    if(arg_AS)
        add_test(NAME ${arg_AS} COMMAND ${arg_TARGET})
        set_tests_properties(${arg_AS} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900
            LABELS "${arg_LABELS}" ENVIRONMENT "${arg_ENV}")
        return()
    endif()

    set(cases "${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}_cases.cmake")
    set(include "${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}_include.cmake")
    add_custom_command(TARGET ${arg_TARGET} POST_BUILD
        COMMAND ${CMAKE_COMMAND}
            "-DSTINT_TEST_PROGRAM=$<TARGET_FILE:${arg_TARGET}>"
            "-DSTINT_TEST_EMULATOR=${CMAKE_CROSSCOMPILING_EMULATOR}"
            "-DSTINT_TEST_OUTPUT=${cases}"
            "-DSTINT_TEST_PREFIX=${arg_PREFIX}"
            "-DSTINT_TEST_TIMEOUT=${arg_TIMEOUT}"
            "-DSTINT_TEST_LABELS=${arg_LABELS}"
            "-DSTINT_TEST_ENV=${arg_ENV}"
            "-DSTINT_TEST_DIRECTORY=${CMAKE_CURRENT_BINARY_DIR}"
            -P "${STINT_HARNESS_DIR}/harness.cmake"
        BYPRODUCTS "${cases}"
        VERBATIM)
    # A program that was not built is a failing test, not a missing one.
    file(WRITE "${include}"
        "if(EXISTS [==[${cases}]==])\n"
        "    include([==[${cases}]==])\n"
        "else()\n"
        "    add_test([==[${arg_TARGET}.not_built]==] [==[${arg_TARGET}.not_built]==])\n"
        "    set_tests_properties([==[${arg_TARGET}.not_built]==] PROPERTIES"
        " LABELS [==[${arg_LABELS}]==])\n"
        "endif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${include}")
endfunction()
