# SPDX-License-Identifier: Apache-2.0
#
# The layers of the runtime: a folder is a layer, and layers.txt says which layers it may include
# and link against. A file that is added to a folder is built with it. The layer a/b is the target
# stint_runtime_a_b.

set(STINT_RUNTIME_DIR "${CMAKE_CURRENT_LIST_DIR}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${STINT_RUNTIME_DIR}/layers.txt")
file(STRINGS "${STINT_RUNTIME_DIR}/layers.txt" lines REGEX "^[a-z/]+:")
set(STINT_LAYERS "")
foreach(line IN LISTS lines)
    string(REGEX MATCH "^([a-z/]+): *(.*)$" line "${line}")
    list(APPEND STINT_LAYERS "${CMAKE_MATCH_1}")
    string(REPLACE " " ";" STINT_LAYER_BELOW_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()
set(STINT_TOOL_LAYERS ${STINT_LAYERS}) # not in the library
list(FILTER STINT_TOOL_LAYERS INCLUDE REGEX "^(ranks|export/tool|adapters|mem|runfile|tool/.*)$")

# stint_layer_target(<out> <library> <layer>): the name of the target.
function(stint_layer_target out library layer)
    string(REPLACE "/" "_" layer "${layer}")
    set(${out} ${library}_${layer} PARENT_SCOPE)
endfunction()

# stint_layer_sources(<out> <layer>...): their files. Of the GPU back ends the one that
# STINT_GPU_API names, and NVTX where its headers are: the others are not compiled.
function(stint_layer_sources out)
    set(left_out gpu_cudart)
    if(STINT_GPU_API STREQUAL "cudart")
        set(left_out gpu_driver)
    endif()
    if(NOT STINT_NVTX OR NOT STINT_NVTX_INCLUDE_DIR)
        list(APPEND left_out emit_nvtx nvtx)
    endif()
    list(JOIN left_out "|" left_out)
    set(sources "")
    foreach(layer IN LISTS ARGN)
        file(GLOB files CONFIGURE_DEPENDS "${STINT_RUNTIME_DIR}/${layer}/*.c")
        list(FILTER files EXCLUDE REGEX "/(${left_out})\\.c$")
        list(APPEND sources ${files})
    endforeach()
    set(${out} ${sources} PARENT_SCOPE)
endfunction()

# The files of libstint.so that run in a scope or a GPU call, for each span of an export or for each
# node of a statistic, which are compiled for speed. The rest runs at the start, at the end and in
# reports, and is compiled for size, where the build asks for -O2 or -O3: users set other levels to
# debug or to sanitize.
set(STINT_HOT_MODEL snapshot_chosen snapshot_value trace trace_event trace_order)
list(JOIN STINT_HOT_MODEL "|" STINT_HOT_MODEL)
set(STINT_HOT_FILES "(record|emit)/[a-z_]+" "arena/arena"
    "base/(hash|hash_map|histogram|scratch)" "system/(clock|lock)"
    "capture/(capture|capture_window)" "model/(${STINT_HOT_MODEL})"
    "gpu/(event_[a-z]+|gpu|gpu_driver|stream_timer)" "session/(entry|range_entry)"
    "export/export_chrome")
list(JOIN STINT_HOT_FILES "|" STINT_HOT_FILES)

function(stint_layer_optimisation target)
    set(hot "")
    get_target_property(sources ${target} SOURCES)
    foreach(source IN LISTS sources)
        if(source MATCHES "/(${STINT_HOT_FILES})\\.c$" AND NOT source MATCHES
                "/record/(cost|line_book)\\.c$")
            list(APPEND hot "${source}")
        endif()
    endforeach()
    foreach(config IN ITEMS Release RelWithDebInfo)
        string(TOUPPER "${config}" name)
        if(CMAKE_C_FLAGS_${name} MATCHES "-O[23]")
            target_compile_options(${target} PRIVATE $<$<CONFIG:${config}>:-Os>)
            set_property(SOURCE ${hot} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:${config}>:-O2>)
        endif()
    endforeach()
endfunction()

# In libstint.a, global names have a prefix, because a program may define the same names.
set(STINT_LINK_NAMES "${stint_BINARY_DIR}/runtime/gen/link_names.h")
set(STINT_LINK_NAMES_OPTION "SHELL:-include \"${STINT_LINK_NAMES}\"")

# stint_generate_link_names(<list>): as stint_generate (StintGen.cmake).
function(stint_generate_link_names list)
    find_package(Python3 3.8 REQUIRED COMPONENTS Interpreter)
    file(GLOB sources CONFIGURE_DEPENDS "${STINT_RUNTIME_DIR}/*/*.[ch]"
        "${STINT_RUNTIME_DIR}/*/*/*.[ch]")
    add_custom_command(
        OUTPUT "${STINT_LINK_NAMES}.stamp"
        BYPRODUCTS "${STINT_LINK_NAMES}"
        COMMAND ${Python3_EXECUTABLE} -B "${stint_SOURCE_DIR}/gen/link_names.py"
                "${STINT_LINK_NAMES}"
        COMMAND ${CMAKE_COMMAND} -E touch "${STINT_LINK_NAMES}.stamp"
        DEPENDS "${stint_SOURCE_DIR}/gen/link_names.py" "${STINT_RUNTIME_DIR}/layers.txt"
                ${sources}
        COMMENT "Generating link_names.h"
        VERBATIM)
    set(${list} ${${list}} "${STINT_LINK_NAMES}.stamp" PARENT_SCOPE)
endfunction()

# How every layer is compiled. DEFINITIONS in addition to the layer's.
function(stint_layer_settings target layer)
    # Before the folders of a parent, which may have files of the same names.
    target_include_directories(${target} BEFORE PRIVATE "${stint_SOURCE_DIR}/include"
        "${STINT_RUNTIME_DIR}" "${stint_BINARY_DIR}/runtime/gen")
    # Not the target Threads::Threads: what links our static library would have to find it too.
    target_compile_options(${target} PRIVATE -pthread)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE=1 ${ARGN}
        $<$<OR:$<CONFIG:Debug>,$<BOOL:${STINT_CHECK_LOCKS}>>:STINT_LOCK_CHECK=1>)
    set_target_properties(${target} PROPERTIES
        C_STANDARD 11
        C_STANDARD_REQUIRED ON
        C_EXTENSIONS OFF
        C_VISIBILITY_PRESET hidden
        POSITION_INDEPENDENT_CODE ON)
    if(layer STREQUAL "gpu" AND STINT_GPU_API STREQUAL "cudart")
        target_include_directories(${target} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    elseif(layer STREQUAL "emit" AND STINT_NVTX AND STINT_NVTX_INCLUDE_DIR)
        target_include_directories(${target} SYSTEM PRIVATE "${STINT_NVTX_INCLUDE_DIR}")
    elseif(layer STREQUAL "adapters")
        if(STINT_NVTX AND STINT_NVTX_INCLUDE_DIR)
            target_include_directories(${target} SYSTEM PRIVATE "${STINT_NVTX_INCLUDE_DIR}")
        endif()
        target_compile_definitions(${target} PRIVATE WITH_TIMER=1 STINT_INLINE=1
            STINT_NO_LEGACY_NAMES)
    elseif(layer MATCHES "^(session|interval|job|compat/profiler)$")
        target_compile_definitions(${target} PRIVATE STINT_SESSION)
        if(STINT_NVTX AND STINT_NVTX_INCLUDE_DIR)
            target_compile_definitions(${target} PRIVATE STINT_HAVE_NVTX)
        endif()
        if(STINT_GPU_API STREQUAL "cudart")
            target_compile_definitions(${target} PRIVATE STINT_HAVE_CUDART)
        endif()
    elseif(layer STREQUAL "export/tool")
        target_include_directories(${target} PRIVATE "${stint_BINARY_DIR}/runtime/page")
        add_dependencies(${target} stint_page)
    endif()
    # The copies that tests build keep the short names, which tests call.
    if(target MATCHES "^stint_runtime_" AND NOT BUILD_SHARED_LIBS)
        target_compile_options(${target} PRIVATE "${STINT_LINK_NAMES_OPTION}")
    endif()
    stint_warnings(${target})
    if(layer STREQUAL "adapters") # the interfaces give its signatures
        target_compile_options(${target} PRIVATE -Wno-unused-parameter)
    elseif(NOT layer STREQUAL "mem") # which other libraries declare, too
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>)
    endif()
    if(NOT layer IN_LIST STINT_TOOL_LAYERS)
        stint_layer_optimisation(${target})
        stint_frames(${target})
    endif()
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "OBJECT_LIBRARY" AND NOT target STREQUAL "stint_runtime_base")
        add_dependencies(${target} stint_runtime_base) # which generates the tables
    endif()
endfunction()

# stint_add_layer(<target> <layer> [DEFINITIONS <definition>...] [REPLACE <regex> <file>...]): an
# OBJECT library of a folder; REPLACE: without the files that match, with those given.
function(stint_add_layer target layer)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "DEFINITIONS;REPLACE")
    stint_layer_sources(sources ${layer})
    if(arg_REPLACE)
        list(POP_FRONT arg_REPLACE regex)
        list(FILTER sources EXCLUDE REGEX "${regex}")
        list(APPEND sources ${arg_REPLACE})
    endif()
    add_library(${target} OBJECT ${sources})
    stint_layer_settings(${target} ${layer} ${arg_DEFINITIONS})
endfunction()

# stint_amalgamate(<target> STATIC|SHARED [DEFINITIONS <definition>...] [REPLACE_SYSTEM <regex>
# <file>...]): the library made of the runtime as one file, by gen/amalgamate.py, for tests of that
# file; as stint_add_runtime.
function(stint_amalgamate target type)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "DEFINITIONS;REPLACE_SYSTEM")
    find_package(Python3 3.8 REQUIRED COMPONENTS Interpreter)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}_amalgamation")
    set(without "")
    if(arg_REPLACE_SYSTEM)
        list(POP_FRONT arg_REPLACE_SYSTEM regex)
        stint_layer_sources(left_out system)
        list(FILTER left_out INCLUDE REGEX "${regex}")
        foreach(file IN LISTS left_out)
            get_filename_component(name "${file}" NAME)
            list(APPEND without --without ${name})
        endforeach()
    endif()
    file(GLOB inputs CONFIGURE_DEPENDS "${stint_SOURCE_DIR}/include/stint/*.h"
        "${stint_SOURCE_DIR}/include/stint/detail/*.h" "${stint_SOURCE_DIR}/gen/*"
        "${STINT_RUNTIME_DIR}/*/*.[ch]" "${STINT_RUNTIME_DIR}/*/*/*.[ch]")
    list(FILTER inputs EXCLUDE REGEX "/(__pycache__|instrument)$")
    add_custom_command(
        OUTPUT "${folder}/stint.c"
        BYPRODUCTS "${folder}/stint.h"
        COMMAND ${Python3_EXECUTABLE} -B "${stint_SOURCE_DIR}/gen/amalgamate.py" "${folder}"
                ${without}
        COMMAND ${CMAKE_COMMAND} -E touch "${folder}/stint.c"
        DEPENDS ${inputs} "${STINT_RUNTIME_DIR}/layers.txt"
                "${stint_SOURCE_DIR}/cmake/StintGen.cmake"
        COMMENT "Generating ${target}_amalgamation/stint.c"
        VERBATIM)
    add_library(${target} ${type} "${folder}/stint.c" ${arg_REPLACE_SYSTEM})
    set(definitions ${arg_DEFINITIONS})
    if(type STREQUAL "SHARED")
        list(APPEND definitions STINT_SHARED)
    endif()
    if(STINT_NVTX AND STINT_NVTX_INCLUDE_DIR)
        list(APPEND definitions STINT_HAVE_NVTX)
        target_include_directories(${target} SYSTEM PRIVATE "${STINT_NVTX_INCLUDE_DIR}")
    endif()
    if(STINT_GPU_API STREQUAL "cudart")
        list(APPEND definitions STINT_HAVE_CUDART)
        target_include_directories(${target} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    endif()
    stint_layer_settings(${target} base ${definitions})
    # Variables of one file shadow variables of another, and more is inlined.
    target_compile_options(${target} PRIVATE -Wno-shadow -Wno-frame-larger-than)
endfunction()

# stint_add_runtime(<target> STATIC|SHARED [DEFINITIONS <definition>...] [REPLACE_SYSTEM <regex>
# <file>...] [LIKE <library> EXCEPT <layer>... [FILES <name>...]]): the runtime, always whole;
# WITH_* says what is compiled into consumers, never into the library. Tests build it again on their
# own clock. Its layers are ${target}_<layer>; LIKE: they are those of that library, but for the
# layers after EXCEPT and the files after FILES, which have no .c. If the variable
# STINT_AMALGAMATION is on, the library is not made of them but of one file.
function(stint_add_runtime target type)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "LIKE" "DEFINITIONS;REPLACE_SYSTEM;EXCEPT;FILES")
    list(JOIN arg_FILES "|" files)
    if(type STREQUAL "STATIC")
        # Hidden throughout, so that each module that holds a copy keeps it to itself.
        list(APPEND arg_DEFINITIONS STINT_STATIC)
    endif()
    set(objects "")
    set(layers ${STINT_LAYERS})
    list(REMOVE_ITEM layers ${STINT_TOOL_LAYERS})
    foreach(layer IN LISTS layers)
        set(replace "")
        set(of_layer "")
        set(compiles ON)
        if(layer STREQUAL "system" AND arg_REPLACE_SYSTEM)
            set(replace REPLACE ${arg_REPLACE_SYSTEM})
        endif()
        if(arg_LIKE AND NOT layer IN_LIST arg_EXCEPT)
            get_property(of_layer GLOBAL PROPERTY STINT_OBJECTS_${arg_LIKE}_${layer})
            stint_layer_sources(others ${layer})
            list(FILTER others INCLUDE REGEX "/(${files})\\.c$")
            set(compiles "${others}")
            if(others)
                set(replace REPLACE "." ${others})
                set(of_layer "$<FILTER:${of_layer},EXCLUDE,/(${files})[.]c>")
            endif()
        endif()
        if(compiles)
            stint_layer_target(name ${target} ${layer})
            stint_add_layer(${name} ${layer} DEFINITIONS ${arg_DEFINITIONS} ${replace})
            list(APPEND of_layer $<TARGET_OBJECTS:${name}>)
            set_target_properties(${name} PROPERTIES
                EXCLUDE_FROM_ALL "${STINT_AMALGAMATION}")
        endif()
        set_property(GLOBAL PROPERTY STINT_OBJECTS_${target}_${layer} "${of_layer}")
        list(APPEND objects ${of_layer})
    endforeach()
    if(STINT_AMALGAMATION)
        stint_amalgamate(${target} ${type} DEFINITIONS ${arg_DEFINITIONS}
            REPLACE_SYSTEM ${arg_REPLACE_SYSTEM})
    else()
        add_library(${target} ${type} ${objects})
    endif()
    target_include_directories(${target}
        PUBLIC "$<BUILD_INTERFACE:${stint_SOURCE_DIR}/include>")
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
    # dlopen, in the C library itself from glibc 2.34 on.
    target_link_libraries(${target} PRIVATE -pthread ${CMAKE_DL_LIBS})
    if(type STREQUAL "SHARED")
        # nodelete: threads and exit handlers still point into it after dlclose. now: nothing is
        # bound lazily inside a measured scope or a signal handler.
        # The symbols have versions.
        set(map "${CMAKE_CURRENT_BINARY_DIR}/${target}.map")
        configure_file("${stint_SOURCE_DIR}/packaging/libstint.map.in" "${map}" @ONLY)
        set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${map}")
        target_link_options(${target} PRIVATE "LINKER:-z,nodelete" "LINKER:-z,relro"
            "LINKER:-z,now" "LINKER:--as-needed" "LINKER:--version-script,${map}")
    endif()
endfunction()

# stint_add_ranges(<target> <runtime>): the library that makes scopes of the ranges of other
# interfaces, which load it by its path; it uses that shared library.
function(stint_add_ranges target runtime)
    add_library(${target} SHARED $<TARGET_OBJECTS:${runtime}_adapters>
        "$<FILTER:$<TARGET_OBJECTS:${runtime}_base>,INCLUDE,/hash[.]c>")
    target_link_libraries(${target} PRIVATE ${runtime} -pthread)
    target_link_options(${target} PRIVATE "LINKER:-z,nodelete" "LINKER:-z,relro" "LINKER:-z,now")
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
endfunction()

# stint_add_mem(<target> <runtime>): the library that counts allocations, for programs that use that
# shared library. Its functions have no versions, as those of the C library that they stand for.
function(stint_add_mem target runtime)
    stint_add_layer(${runtime}_mem mem)
    # The compiler must not replace calls of malloc by what it knows of it.
    # An exception of operator new passes through.
    target_compile_options(${runtime}_mem PRIVATE -fno-builtin -funwind-tables)
    add_library(${target} SHARED $<TARGET_OBJECTS:${runtime}_mem>)
    target_link_libraries(${target} PRIVATE ${runtime} -pthread ${CMAKE_DL_LIBS})
    target_link_options(${target} PRIVATE "LINKER:-z,nodelete" "LINKER:-z,relro" "LINKER:-z,now")
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
endfunction()
