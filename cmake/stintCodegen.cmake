# SPDX-License-Identifier: Apache-2.0
#
# stint_wrap(<target> HEADER <header> FUNCTIONS <glob>... [SET <name>] [INCLUDED]
#            [ARCHIVES <file or target>...] [PRELOAD] [ADAPTER mpi])
#
# Part of the build and of the installed package; docs/codegen.md explains the functions. Their
# scripts need Python 3.8 and clang, which reads the headers; the target is built with any compiler.

# The policies of the project may be older. CMP0116: depfiles with absolute paths, also with Ninja.
cmake_policy(PUSH)
cmake_policy(VERSION 3.18...3.31)

# Sets Python3_EXECUTABLE and STINT_CLANG, and <lacking> to what was not found, as an error; "":
# nothing.
function(stint_codegen_find lacking)
    set(${lacking} "" PARENT_SCOPE)
    find_package(Python3 3.8 QUIET COMPONENTS Interpreter)
    if(NOT Python3_Interpreter_FOUND)
        set(${lacking} "needs Python 3.8 or later; install python3 or set Python3_EXECUTABLE"
            PARENT_SCOPE)
    endif()
    set(names clang)
    foreach(version RANGE 22 14 -1)
        list(APPEND names clang-${version})
    endforeach()
    find_program(STINT_CLANG NAMES ${names} DOC "clang, which reads headers and sources for stint")
    if(NOT STINT_CLANG)
        set(${lacking} "needs clang to read C; install clang or set STINT_CLANG" PARENT_SCOPE)
    endif()
    set(Python3_EXECUTABLE "${Python3_EXECUTABLE}" PARENT_SCOPE)
endfunction()

# Also sets <scripts> to the folder of the scripts.
function(stint_codegen_tools caller scripts)
    stint_codegen_find(lacking)
    if(lacking)
        message(FATAL_ERROR "${caller}: ${lacking}")
    endif()
    get_property(folder GLOBAL PROPERTY STINT_INSTRUMENT_DIR)
    set(${scripts} "${folder}" PARENT_SCOPE)
    set(Python3_EXECUTABLE "${Python3_EXECUTABLE}" PARENT_SCOPE)
endfunction()

# The flags of the target as files with one per line, for compile_flags.py: <result> is the name,
# with LANGUAGE in place of C or CXX.
function(stint_codegen_flags result target)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/stint")
    set(${result} "${folder}/${target}.LANGUAGE.$<CONFIG>.flags" PARENT_SCOPE)
    get_target_property(done ${target} STINT_CODEGEN_FLAGS)
    if(done)
        return()
    endif()
    set_target_properties(${target} PROPERTIES STINT_CODEGEN_FLAGS ON)
    set(text "")
    foreach(language IN ITEMS C CXX)
        set(lines "SHELL:${CMAKE_${language}_FLAGS}\n")
        foreach(config IN LISTS CMAKE_BUILD_TYPE CMAKE_CONFIGURATION_TYPES)
            string(TOUPPER "${config}" upper)
            string(APPEND lines "$<$<CONFIG:${config}>:SHELL:${CMAKE_${language}_FLAGS_${upper}}>\n")
        endforeach()
        string(APPEND lines "standard=$<TARGET_PROPERTY:${target},${language}_STANDARD>\n")
        string(APPEND text "$<$<COMPILE_LANGUAGE:${language}>:${lines}>")
    endforeach()
    if(CMAKE_SYSROOT)
        string(APPEND text "--sysroot=${CMAKE_SYSROOT}\n")
    endif()
    if(CMAKE_CROSSCOMPILING AND CMAKE_LIBRARY_ARCHITECTURE)
        string(APPEND text "--target=${CMAKE_LIBRARY_ARCHITECTURE}\n")
    endif()
    foreach(pair IN ITEMS "feature=;COMPILE_FEATURES" ";COMPILE_OPTIONS" "-D;COMPILE_DEFINITIONS"
            "-I;INCLUDE_DIRECTORIES")
        list(POP_FRONT pair prefix)
        set(values "$<TARGET_PROPERTY:${target},${pair}>")
        string(APPEND text "${prefix}$<JOIN:${values},\n${prefix}>\n")
    endforeach()
    file(GENERATE OUTPUT "${folder}/${target}.$<COMPILE_LANGUAGE>.$<CONFIG>.flags"
        CONTENT "${text}")
endfunction()

# A depfile where the generator takes one: <result> is what follows in add_custom_command, and
# <name> what the depfile calls its target.
function(stint_codegen_depfile result name file target)
    set(${result} "" PARENT_SCOPE)
    if(CMAKE_GENERATOR MATCHES "Ninja" OR
            (CMAKE_GENERATOR MATCHES "Make" AND CMAKE_VERSION VERSION_GREATER_EQUAL 3.20))
        set(${result} DEPFILE "${file}" PARENT_SCOPE)
    endif()
    set(${name} "${target}" PARENT_SCOPE)
    if(NOT POLICY CMP0116)
        file(RELATIVE_PATH relative "${CMAKE_BINARY_DIR}" "${target}")
        set(${name} "${relative}" PARENT_SCOPE)
    endif()
endfunction()

# Checks that the target can be wrapped; an error says what is missing.
function(stint_wrap_check target preload)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if(NOT "C" IN_LIST languages)
        message(FATAL_ERROR "stint_wrap(${target}): the wrappers are C; add C to the languages of "
                            "project()")
    endif()
    if(NOT TARGET ${target})
        if(NOT preload)
            message(FATAL_ERROR "stint_wrap(${target}): there is no such target")
        endif()
        return()
    endif()
    get_target_property(type ${target} TYPE)
    get_target_property(imported ${target} IMPORTED)
    if(imported OR NOT type MATCHES "^(EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY)$")
        message(FATAL_ERROR "stint_wrap(${target}): has to be a program or a shared library that "
                            "is linked here; for a static library name the program that links it")
    endif()
    get_target_property(folder ${target} SOURCE_DIR)
    if(NOT folder STREQUAL CMAKE_CURRENT_SOURCE_DIR)
        message(FATAL_ERROR "stint_wrap(${target}): call it in ${folder}, where the target is made")
    endif()
endfunction()

function(stint_wrap target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "PRELOAD;INCLUDED" "HEADER;SET;ADAPTER"
        "FUNCTIONS;ARCHIVES")
    if(arg_UNPARSED_ARGUMENTS OR NOT arg_HEADER OR NOT arg_FUNCTIONS)
        message(FATAL_ERROR "stint_wrap(${target}): needs HEADER and FUNCTIONS; unknown: "
                            "'${arg_UNPARSED_ARGUMENTS}'")
    endif()
    stint_wrap_check(${target} "${arg_PRELOAD}")

    set(folder "${CMAKE_CURRENT_BINARY_DIR}/stint")
    if(arg_PRELOAD AND NOT TARGET ${target})
        # A library needs a source; without timers it has no other.
        file(GENERATE OUTPUT "${folder}/${target}_preload.c"
            CONTENT "/* Timers to preload. */\ntypedef int stint_preload;\n")
        add_library(${target} SHARED "${folder}/${target}_preload.c")
    endif()
    stint_codegen_timers(timers ${target})
    if(NOT timers)
        return()
    elseif(timers MATCHES "\\$<")
        message(FATAL_ERROR "stint_wrap(${target}): the property WITH_TIMER is '${timers}'; the wrappers are "
                            "the same in all configurations, so it must be ON or OFF")
    endif()
    stint_codegen_tools("stint_wrap(${target})" scripts)
    stint_codegen_flags(flags ${target})
    string(REPLACE "LANGUAGE" "C" flags "${flags}")

    get_filename_component(stem "${arg_HEADER}" NAME_WE)
    get_target_property(count ${target} STINT_WRAPS)
    if(NOT count)
        set(count 0)
    endif()
    math(EXPR count "${count} + 1")
    set_target_properties(${target} PROPERTIES STINT_WRAPS ${count})
    set(base "${folder}/${target}_wrap${count}_${stem}")

    set(header "${arg_HEADER}")
    if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${header}")
        set(header "${CMAKE_CURRENT_SOURCE_DIR}/${header}")
    endif()
    set(more "")
    foreach(glob IN LISTS arg_FUNCTIONS)
        list(APPEND more "--function=${glob}")
    endforeach()
    if(arg_SET)
        list(APPEND more "--set=${arg_SET}")
    endif()
    if(arg_INCLUDED)
        list(APPEND more --included)
    endif()
    set(adapter "")
    if(arg_ADAPTER)
        if(NOT EXISTS "${scripts}/wrap_${arg_ADAPTER}.py")
            message(FATAL_ERROR "stint_wrap(${target}): ADAPTER ${arg_ADAPTER}: expected mpi")
        endif()
        list(APPEND more --adapter "${arg_ADAPTER}")
        set(adapter "${scripts}/wrap_${arg_ADAPTER}.py" "${scripts}/wrap_${arg_ADAPTER}.h")
    endif()
    # A wrapper of what the recorder itself calls would call itself without end.
    get_target_property(kind stint::runtime TYPE)
    if(arg_PRELOAD OR kind STREQUAL "STATIC_LIBRARY")
        list(APPEND more "--reserved=$<TARGET_FILE:stint::runtime>" --nm "${CMAKE_NM}")
    endif()
    set(outputs "${base}.c" "${base}.json")
    if(arg_PRELOAD)
        list(APPEND more --preload)
        list(APPEND outputs "${base}.txt")
    endif()
    # A stamp, because the outputs keep their time if they do not change (StintGen.cmake).
    stint_codegen_depfile(depfile depname "${base}.d" "${base}.stamp")
    add_custom_command(OUTPUT "${base}.stamp" BYPRODUCTS ${outputs}
        COMMAND "${Python3_EXECUTABLE}" "${scripts}/wrap.py" generate --header "${header}" ${more}
            --clang "${STINT_CLANG}" --flags "${flags}" --out "${base}"
            --depfile "${base}.d" --depfile-target "${depname}"
        COMMAND "${CMAKE_COMMAND}" -E touch "${base}.stamp"
        DEPENDS "${scripts}/wrap.py" "${scripts}/header_functions.py" "${scripts}/clang_ast.py"
            "${scripts}/compile_flags.py" "${scripts}/output_file.py" ${adapter} "${flags}"
            $<$<BOOL:${arg_PRELOAD}>:stint::runtime>
        ${depfile}
        COMMENT "Wrapping the functions of ${arg_HEADER} for ${target}"
        VERBATIM)
    target_sources(${target} PRIVATE "${base}.c" "${base}.stamp")
    set_source_files_properties("${base}.c" PROPERTIES
        GENERATED ON
        OBJECT_DEPENDS "${base}.stamp;${adapter}"
        COMPILE_OPTIONS "-w;-fno-lto"
        SKIP_AUTOGEN ON
        SKIP_PRECOMPILE_HEADERS ON
        SKIP_UNITY_BUILD_INCLUSION ON)
    # Not target_link_libraries: it refuses to be called with and without PRIVATE for one target.
    set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES stint::stint ${CMAKE_DL_LIBS})
    if(arg_PRELOAD)
        return()
    endif()

    set(archives "")
    foreach(archive IN LISTS arg_ARCHIVES)
        if(TARGET ${archive})
            set(archive "$<TARGET_FILE:${archive}>")
        endif()
        list(APPEND archives --archive "${archive}")
    endforeach()
    file(GENERATE OUTPUT "${base}.$<CONFIG>.objects"
        CONTENT "$<JOIN:$<TARGET_OBJECTS:${target}>,\n>\n")
    add_custom_command(TARGET ${target} PRE_LINK
        COMMAND "${Python3_EXECUTABLE}" "${scripts}/wrap.py" link --out "${base}"
            --nm "${CMAKE_NM}" --objects "${base}.$<CONFIG>.objects" ${archives}
        VERBATIM)
    target_link_options(${target} PRIVATE "@${base}.rsp")
endfunction()

cmake_policy(POP)
