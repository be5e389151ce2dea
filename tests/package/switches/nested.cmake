# SPDX-License-Identifier: Apache-2.0
#
# stint inside another project. HOW: add_subdirectory or FetchContent; STINT_SOURCE: its sources;
# NAMES: the installed targets. Fails if anything but stint's own targets and variables was added.
function(collect_targets dir result)
    get_property(targets DIRECTORY "${dir}" PROPERTY BUILDSYSTEM_TARGETS)
    get_property(subdirectories DIRECTORY "${dir}" PROPERTY SUBDIRECTORIES)
    foreach(subdirectory IN LISTS subdirectories)
        collect_targets("${subdirectory}" more)
        list(APPEND targets ${more})
    endforeach()
    set(${result} "${targets}" PARENT_SCOPE)
endfunction()

include(FetchContent) # leaves another CMAKE_PARENT_LIST_FILE
set(watched_properties COMPILE_OPTIONS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES LINK_OPTIONS
    LINK_DIRECTORIES LINK_LIBRARIES TESTS)
get_cmake_property(watched_variables VARIABLES)
list(FILTER watched_variables EXCLUDE REGEX "^(ARG|CMAKE_ARGV|watched_|before_)")
foreach(name IN LISTS watched_variables)
    set(before_${name} "${${name}}")
endforeach()
foreach(name IN LISTS watched_properties)
    get_property(before_property_${name} DIRECTORY PROPERTY ${name})
endforeach()

if(HOW STREQUAL "add_subdirectory")
    add_subdirectory("${STINT_SOURCE}" stint)
else()
    FetchContent_Declare(stint SOURCE_DIR "${STINT_SOURCE}")
    FetchContent_MakeAvailable(stint)
endif()

foreach(name IN LISTS watched_variables)
    if(NOT "${before_${name}}" STREQUAL "${${name}}")
        message(SEND_ERROR "variable ${name} was \"${before_${name}}\", is \"${${name}}\"")
    endif()
endforeach()
get_cmake_property(variables VARIABLES)
list(REMOVE_ITEM variables ${watched_variables})
# Allowed are stint's own variables, this file's, and those that project(), FetchContent and
# find_package(Python3) leave.
set(ours "(stint|STINT)_|watched_|before_|(variables|name)$")
set(theirs "CMAKE_PROJECT_VERSION|_*(FETCHCONTENT|FetchContent|fetchcontent|cmake)_|_?Python3_")
if(STINT_GPU_API STREQUAL "cudart") # and find_package(CUDAToolkit)
    string(APPEND theirs "|CUDAToolkit_|CUDA_|CMAKE_HAVE_LIBC_PTHREAD")
endif()
list(FILTER variables EXCLUDE REGEX "^(${ours}|${theirs}|FIND_PACKAGE_MESSAGE_)")
if(variables)
    message(SEND_ERROR "new variables: ${variables}")
endif()
foreach(name IN LISTS watched_properties)
    get_property(now DIRECTORY PROPERTY ${name})
    if(NOT "${before_property_${name}}" STREQUAL "${now}")
        message(SEND_ERROR "directory property ${name} is now \"${now}\"")
    endif()
endforeach()

collect_targets("${CMAKE_SOURCE_DIR}" targets)
list(FILTER targets EXCLUDE REGEX "^stint_runtime_[a-z_]+$") # the layers
list(REMOVE_ITEM targets app_early stint_mem stint_ranges) # the last two: not in every build
list(SORT targets)
if(NOT "${targets}" STREQUAL "stint;stint_profiler;stint_runtime;stint_timer")
    message(SEND_ERROR "targets: ${targets}")
endif()
foreach(name IN LISTS NAMES)
    if(NOT TARGET ${name})
        message(SEND_ERROR "installed, but not here: ${name}")
    endif()
endforeach()

include("${CMAKE_CURRENT_LIST_DIR}/../policies/codegen.cmake")
