# SPDX-License-Identifier: Apache-2.0
#
# Tests without memory, descriptors, disk space or room for names.

foreach(name IN ITEMS alloc names)
    set(target stint_hard_resources_${name})
    stint_add_test(TARGET ${target}
        SOURCES "${CMAKE_CURRENT_LIST_DIR}/resources_${name}_test.c"
        LIBS stint_fake Threads::Threads LABELS hard)
endforeach()
foreach(function IN ITEMS mmap mprotect open ftruncate fallocate pthread_key_create pthread_setspecific
        arena_get)
    target_link_options(stint_hard_resources_alloc PRIVATE "LINKER:--wrap=${function}")
endforeach()

foreach(switch IN ITEMS on off)
    set(target stint_hard_resources_${switch})
    stint_test_program(${target} resources_program.c LIBS stint::stint)
    set_target_properties(${target} PROPERTIES WITH_TIMER ${switch})
endforeach()
stint_test_cases(hard.resources_ resources_test.py LABELS hard
    ARGS $<TARGET_FILE:stint_hard_resources_on> $<TARGET_FILE:stint_hard_resources_off>
    CASES memory file_size descriptors no_reader disk_full)
