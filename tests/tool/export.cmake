# SPDX-License-Identifier: Apache-2.0
#
# Exporters on runs made by hand: unit tests, golden files (`UPDATE=1 ctest -R export.golden` writes
# them anew), and a checker of each format's structure that is itself tested.

# The exporters are those of the tool, but in libstint.a: there names have a prefix.
stint_layer_sources(sources export ranks export/tool)
set(exporters ${sources})
get_target_property(type stint_runtime TYPE)
if(type STREQUAL "SHARED_LIBRARY")
    set(exporters $<TARGET_OBJECTS:stint_runtime_export> $<TARGET_OBJECTS:stint_runtime_ranks>
        $<TARGET_OBJECTS:stint_runtime_export_tool>)
endif()
add_library(stint_hand_run STATIC ${exporters} hand_run.c hand_runs.c)
target_include_directories(stint_hand_run PRIVATE "${stint_BINARY_DIR}/runtime/page")
add_dependencies(stint_hand_run stint_page)
target_include_directories(stint_hand_run PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}")
target_link_libraries(stint_hand_run PUBLIC stint_fake m)
target_compile_definitions(stint_hand_run PRIVATE _GNU_SOURCE=1)
set_target_properties(stint_hand_run PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON
    C_EXTENSIONS OFF)
stint_warnings(stint_hand_run)

stint_test_program(export_golden export_golden.c LIBS stint_hand_run)

file(GLOB tests CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/export_*_test.c")
foreach(test IN LISTS tests)
    get_filename_component(name "${test}" NAME_WE)
    stint_add_test(TARGET stint_tool_${name} SOURCES "${test}" LIBS stint_hand_run LABELS tool)
endforeach()

stint_add_test(TARGET stint_tool_top_percentiles LIBS stint_hand_run LABELS tool SOURCES
    top_percentiles_test.c "${stint_SOURCE_DIR}/runtime/tool/top/top_percentiles.c")

function(stint_export_test name)
    stint_test(export.${name} tool Python3::Interpreter -B
        "${CMAKE_CURRENT_SOURCE_DIR}/check_export.py" ${ARGN})
endfunction()

# The formats of the table; html has tests of its own, in tests/viewer, history in history_test.py.
set(formats_table "${stint_SOURCE_DIR}/gen/formats.ini")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${formats_table}")
execute_process(
    COMMAND "${Python3_EXECUTABLE}" "${stint_SOURCE_DIR}/gen/gen.py" format_names.txt
        "${formats_table}"
    OUTPUT_VARIABLE all_formats OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
if(failed)
    message(FATAL_ERROR "gen.py format_names.txt: ${failed}")
endif()
string(REPLACE "\n" ";" all_formats "${all_formats}")
list(REMOVE_ITEM all_formats html history)

set(tables csv_devices csv_kernels csv_memory csv_api csv_gaps csv_steps csv_activities)
foreach(run IN ITEMS full tree empty zero gpu)
    set(formats ${all_formats})
    if(run MATCHES "gpu|empty")
        list(APPEND formats ${tables})
    endif()
    foreach(format IN LISTS formats)
        stint_export_test(golden.${run}.${format} golden $<TARGET_FILE:export_golden> ${format}
            ${run})
    endforeach()
endforeach()
# The same whatever the program's locale is.
set(runs "")
foreach(run IN ITEMS full gpu)
    foreach(format IN LISTS all_formats tables)
        list(APPEND runs ${format}:${run})
    endforeach()
endforeach()
stint_test(locale.exports tool Python3::Interpreter -B
    "${CMAKE_CURRENT_SOURCE_DIR}/../locale_test.py" $<TARGET_FILE:export_golden> ${runs})

stint_export_test(agree agree $<TARGET_FILE:export_golden>)
stint_export_test(self_test self-test $<TARGET_FILE:export_golden>)

# The cost of a span. The figures for 10^6 spans are measured by hand.
add_executable(export_bench "${stint_SOURCE_DIR}/tests/bench/export_bench.c")
target_link_libraries(export_bench PRIVATE stint_hand_run)
target_compile_options(export_bench PRIVATE -O2)
target_compile_features(export_bench PRIVATE c_std_11)
target_compile_definitions(export_bench PRIVATE _GNU_SOURCE=1)
stint_warnings(export_bench)
stint_test(bench.export bench export_bench 10000)
