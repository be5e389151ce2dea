# SPDX-License-Identifier: Apache-2.0
#
# Modules that come and go. The program itself is linked with no library but the C library.

get_target_property(type stint_runtime TYPE)
if(NOT type STREQUAL "SHARED_LIBRARY")
    return()
endif()

# A header of the next layout: the number, and the suffix of the symbols with it.
set(other "${CMAKE_CURRENT_BINARY_DIR}/other_abi/stint")
set(include "${stint_SOURCE_DIR}/include/stint")
file(GLOB_RECURSE headers RELATIVE "${include}" CONFIGURE_DEPENDS "${include}/*")
math(EXPR other_abi "${STINT_ABI} + 1")
foreach(header IN LISTS headers)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${include}/${header}")
    file(READ "${include}/${header}" text)
    string(REPLACE "#define STINT_ABI ${STINT_ABI}" "#define STINT_ABI ${other_abi}" text "${text}")
    string(REPLACE "name##_${STINT_ABI}" "name##_${other_abi}" text "${text}")
    file(GENERATE OUTPUT "${other}/${header}" CONTENT "${text}")
endforeach()

foreach(plugin IN ITEMS a b c d other_abi)
    set(target stint_hard_reload_${plugin})
    add_library(${target} MODULE "${CMAKE_CURRENT_LIST_DIR}/reload_plugin.c")
    target_compile_features(${target} PRIVATE c_std_11)
    target_compile_definitions(${target} PRIVATE WITH_TIMER "PLUGIN_NAME=\"plugin ${plugin}\"")
    set_target_properties(${target} PROPERTIES OUTPUT_NAME reload_${plugin})
    stint_warnings(${target})
endforeach()
foreach(plugin IN ITEMS a b other_abi)
    target_link_libraries(stint_hard_reload_${plugin} PRIVATE stint::runtime)
endforeach()
foreach(plugin IN ITEMS c d)
    target_link_libraries(stint_hard_reload_${plugin} PRIVATE stint_static)
endforeach()
# It finds the library of this ABI, and in it nothing under the names that it was built for.
target_include_directories(stint_hard_reload_other_abi BEFORE PRIVATE
    "${CMAKE_CURRENT_BINARY_DIR}/other_abi")
target_link_options(stint_hard_reload_other_abi PRIVATE "LINKER:-z,undefs")

stint_add_test(TARGET stint_hard_reload SOURCES "${CMAKE_CURRENT_LIST_DIR}/reload_test.c"
    LIBS Threads::Threads ${CMAKE_DL_LIBS} LABELS hard)
target_compile_definitions(stint_hard_reload PRIVATE
    "RUNTIME=\"$<TARGET_SONAME_FILE:stint_runtime>\""
    "PLUGIN_A=\"$<TARGET_FILE:stint_hard_reload_a>\""
    "PLUGIN_B=\"$<TARGET_FILE:stint_hard_reload_b>\""
    "PLUGIN_STATIC_C=\"$<TARGET_FILE:stint_hard_reload_c>\""
    "PLUGIN_STATIC_D=\"$<TARGET_FILE:stint_hard_reload_d>\""
    "PLUGIN_OTHER_ABI=\"$<TARGET_FILE:stint_hard_reload_other_abi>\"")
foreach(plugin IN ITEMS a b c d other_abi)
    add_dependencies(stint_hard_reload stint_hard_reload_${plugin})
endforeach()

# A program with the static library, and a plugin that calls back while the loader's lock is held.
add_library(stint_hard_reload_asking MODULE "${CMAKE_CURRENT_LIST_DIR}/reload_asking.c")
target_compile_features(stint_hard_reload_asking PRIVATE c_std_11)
set_target_properties(stint_hard_reload_asking PROPERTIES OUTPUT_NAME reload_asking)
target_link_options(stint_hard_reload_asking PRIVATE "LINKER:-z,undefs")
stint_warnings(stint_hard_reload_asking)
stint_add_test(TARGET stint_hard_reload_static
    SOURCES "${CMAKE_CURRENT_LIST_DIR}/reload_static_test.c"
    LIBS stint_static Threads::Threads ${CMAKE_DL_LIBS} LABELS hard)
target_compile_definitions(stint_hard_reload_static PRIVATE WITH_TIMER
    "PLUGIN_ASKING=\"$<TARGET_FILE:stint_hard_reload_asking>\"")
set_target_properties(stint_hard_reload_static PROPERTIES ENABLE_EXPORTS ON)
add_dependencies(stint_hard_reload_static stint_hard_reload_asking)
