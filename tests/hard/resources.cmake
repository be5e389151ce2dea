# SPDX-License-Identifier: Apache-2.0
#
# Tests without memory, descriptors, disk space or room for names.

foreach(name IN ITEMS alloc names)
    set(target stint_hard_resources_${name})
    stint_add_test(TARGET ${target}
        SOURCES "${CMAKE_CURRENT_LIST_DIR}/resources_${name}_test.c"
        LIBS stint_fake Threads::Threads LABELS hard)
    target_include_directories(${target} PRIVATE "${stint_SOURCE_DIR}/tests/unit")
    stint_warnings(${target})
endforeach()
foreach(function IN ITEMS mmap mprotect open ftruncate fallocate pthread_key_create pthread_setspecific
        arena_get)
    target_link_options(stint_hard_resources_alloc PRIVATE "LINKER:--wrap=${function}")
endforeach()

foreach(switch IN ITEMS on off)
    set(target stint_hard_resources_${switch})
    add_executable(${target} "${CMAKE_CURRENT_LIST_DIR}/resources_program.c")
    target_link_libraries(${target} PRIVATE stint::stint)
    target_compile_features(${target} PRIVATE c_std_11)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE=1)
    set_target_properties(${target} PROPERTIES WITH_TIMER ${switch})
    stint_warnings(${target})
endforeach()
foreach(case IN ITEMS memory file_size descriptors no_reader device_full disk_full)
    add_test(NAME hard.resources_${case}
        COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_LIST_DIR}/resources_test.py"
            $<TARGET_FILE:stint_hard_resources_on> $<TARGET_FILE:stint_hard_resources_off> ${case})
    set_tests_properties(hard.resources_${case} PROPERTIES
        LABELS hard TIMEOUT 600 SKIP_RETURN_CODE 77)
endforeach()
