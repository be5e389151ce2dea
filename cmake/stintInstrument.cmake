# SPDX-License-Identifier: Apache-2.0
#
# stint_instrument(<target> [SOURCES <file>...] FUNCTIONS <glob>... [LINES])
#
# Every function of the target's C, C++ and CUDA sources (or of SOURCES) whose name matches becomes
# a timed scope, without a change of the sources: instrumented copies of them are compiled. The last
# glob that matches decides; one that begins with a minus excludes. With LINES the lines of these
# functions are measured instead. docs/codegen.md has the details.
#
# Nothing is changed where timers are off at the time of this call: WITH_TIMER of the target, else
# the variable, else its link to stint::timer. Needs clang, to read the sources, and Python 3.8;
# without them, one line says so.

# The policies of the project may be older.
cmake_policy(PUSH)
cmake_policy(VERSION 3.18...3.31)

# Sets the result to ON if the sources of the target are compiled with WITH_TIMER, as far as is
# known now.
function(stint_codegen_timers result target)
    get_target_property(own ${target} WITH_TIMER)
    get_target_property(links ${target} LINK_LIBRARIES)
    stint_find_definition(defined ${target} WITH_TIMER)
    set(timers OFF)
    if(NOT own MATCHES "-NOTFOUND$")
        set(timers "${own}")
    elseif(WITH_TIMER OR "${links}" MATCHES "(^|;)stint::timer(;|$)")
        set(timers ON)
    elseif(defined STREQUAL "ON")
        set(timers ON)
    endif()
    set(${result} "${timers}" PARENT_SCOPE)
endfunction()

function(stint_instrument target)
    if(NOT TARGET ${target})
        message(FATAL_ERROR "stint_instrument(${target}): there is no such target")
    endif()
    cmake_parse_arguments(PARSE_ARGV 1 arg "LINES" "" "SOURCES;FUNCTIONS")
    if(arg_UNPARSED_ARGUMENTS OR NOT arg_FUNCTIONS)
        message(FATAL_ERROR
            "stint_instrument(<target> [SOURCES <file>...] FUNCTIONS <glob>... [LINES]): got '${ARGN}'")
    endif()
    # Not target_link_libraries: it refuses to be called with and without PRIVATE for one target.
    set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES stint::stint)
    get_target_property(type ${target} TYPE)
    if(type MATCHES "^(STATIC|OBJECT)_LIBRARY$")
        set_property(TARGET ${target} APPEND PROPERTY
            INTERFACE_LINK_LIBRARIES "$<LINK_ONLY:stint::stint>")
    endif()
    stint_codegen_timers(timers ${target})
    if(NOT timers)
        return()
    endif()
    # The variable may have been set after find_package, which defines WITH_TIMER by it. A generator
    # expression stays: --only-if-on asks the compiler's flags.
    if(NOT timers MATCHES "\\$<")
        set_target_properties(${target} PROPERTIES WITH_TIMER ON)
    endif()
    if(NOT CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
        message(WARNING "stint_instrument: '${target}' is not instrumented: needs a generator of "
            "Makefiles or Ninja, not ${CMAKE_GENERATOR}")
        return()
    endif()
    find_package(Python3 3.8 QUIET COMPONENTS Interpreter)
    set(names clang)
    foreach(version RANGE 22 14 -1)
        list(APPEND names clang-${version})
    endforeach()
    find_program(STINT_CLANG NAMES ${names} DOC "clang, which reads headers and sources for stint")
    mark_as_advanced(STINT_CLANG)
    foreach(needed IN ITEMS Python3_EXECUTABLE STINT_CLANG)
        if(NOT ${needed})
            message(WARNING "stint_instrument: '${target}' is not instrumented: ${needed} not found")
            return()
        endif()
    endforeach()

    get_property(folder GLOBAL PROPERTY STINT_INSTRUMENT_DIR)
    list(JOIN arg_FUNCTIONS "," globs)
    set(launcher "${Python3_EXECUTABLE}" -sES "${folder}/instrument.py" "--functions=${globs}"
        "--clang=${STINT_CLANG}" "--list=${CMAKE_CURRENT_BINARY_DIR}/${target}.stint.txt"
        --only-if-on)
    if(arg_LINES)
        list(APPEND launcher --lines)
    endif()
    foreach(source IN LISTS arg_SOURCES)
        get_filename_component(source "${source}" ABSOLUTE)
        list(APPEND launcher "--sources=${source}")
    endforeach()
    # CMake's Makefiles compile again if a definition changes, not if a launcher does.
    string(MD5 arguments "${launcher}")
    set_property(TARGET ${target} APPEND PROPERTY
        COMPILE_DEFINITIONS "STINT_IMPL_INSTRUMENTED=stint_${arguments}")
    foreach(language IN ITEMS C CXX CUDA)
        get_target_property(before ${target} ${language}_COMPILER_LAUNCHER)
        if(NOT before)
            set(before "")
        endif()
        set_property(TARGET ${target} PROPERTY ${language}_COMPILER_LAUNCHER
            ${launcher} -- ${before})
    endforeach()
endfunction()

cmake_policy(POP)
