# SPDX-License-Identifier: Apache-2.0
#
# stint_add_switches(<interface target>): whoever links <target> is compiled with WITH_TIMER and
# WITH_PROFILER if it says so: by its target property of that name, else by the variable of that
# name where this function is called (find_package or add_subdirectory). Used by the build and, for
# installed targets, by stintConfig.cmake: the variable is the consumer's, so it cannot be exported.

function(stint_add_switches target)
    foreach(switch IN ITEMS WITH_TIMER WITH_PROFILER)
        set(default 0)
        if(${switch})
            set(default 1)
        endif()
        set(own "$<TARGET_PROPERTY:${switch}>")
        set(on "$<BOOL:$<IF:$<STREQUAL:${own},>,${default},${own}>>")
        target_compile_definitions(${target} INTERFACE "$<BUILD_INTERFACE:$<${on}:${switch}>>")
    endforeach()
endfunction()
