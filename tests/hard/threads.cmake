# SPDX-License-Identifier: Apache-2.0
#
# Threads, and ways out of a scope that does not end by itself. The simple ones are in tests/unit:
# thread, guard_rule, handle, signal.

set(sources threads_test.c threads_signal_test.c)
if(CMAKE_CXX_COMPILER)
    list(APPEND sources threads_frames_test.cpp)
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_FLAGS "-std=c++20")
    check_cxx_source_compiles("#include <coroutine>
#include <semaphore>
int main() { std::coroutine_handle<> h; return h ? 1 : 0; }" STINT_HAVE_COROUTINES)
    unset(CMAKE_REQUIRED_FLAGS)
    if(STINT_HAVE_COROUTINES)
        list(APPEND sources threads_coroutines_test.cpp)
    endif()
endif()
foreach(source IN LISTS sources)
    string(REGEX REPLACE "_test.*" "" name ${source})
    set(target stint_hard_${name})
    stint_add_test(TARGET ${target} SOURCES "${CMAKE_CURRENT_LIST_DIR}/${source}"
        LIBS stint_fake Threads::Threads LABELS hard)
endforeach()

if(STINT_HAVE_COROUTINES)
    target_compile_options(stint_hard_threads_coroutines PRIVATE -std=c++20)
endif()

# Coroutines that go on on another thread, once more with all of the path inlined: a compiler may
# then keep an address of the thread's own data over the place where they change threads.
set(inlined "${stint_SOURCE_DIR}/tests/unit/guard_rule_test.c")
if(STINT_HAVE_COROUTINES)
    list(APPEND inlined "${CMAKE_CURRENT_LIST_DIR}/threads_coroutines_test.cpp")
endif()
foreach(source IN LISTS inlined)
    get_filename_component(name "${source}" NAME_WE)
    set(target stint_hard_inlined_${name})
    string(REPLACE "_test" "" name "${name}")
    stint_add_test(TARGET ${target} SOURCES "${source}" AS threads_inlined.${name}
        LIBS stint_fake Threads::Threads LABELS hard)
    target_compile_options(${target} PRIVATE -O3 $<$<COMPILE_LANGUAGE:CXX>:-std=c++20>)
    target_compile_definitions(${target} PRIVATE STINT_INLINE=1)
    # gcc 12 warns of its own <string> at -O3.
    target_compile_options(${target}
        PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict>)
endforeach()

if(CMAKE_CXX_COMPILER)
    foreach(how IN ITEMS closed left)
        set(target stint_hard_frames_${how})
        add_library(${target} OBJECT "${CMAKE_CURRENT_LIST_DIR}/threads_frames.c")
        target_link_libraries(${target} PRIVATE stint_fake)
        target_compile_features(${target} PRIVATE c_std_11)
        target_compile_definitions(${target} PRIVATE FRAMES=frames_${how})
        target_sources(stint_hard_threads_frames PRIVATE $<TARGET_OBJECTS:${target}>)
        stint_warnings(${target})
    endforeach()
    target_compile_options(stint_hard_frames_closed PRIVATE -fexceptions)
    target_compile_options(stint_hard_frames_left PRIVATE -fno-exceptions)
endif()
