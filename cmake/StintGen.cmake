# SPDX-License-Identifier: Apache-2.0
#
# stint_generate(<list>): generates what the runtime includes from the tables in gen/ into
# ${CMAKE_CURRENT_BINARY_DIR}/gen. Add <list> to the sources of ONE target of the same directory
# and the folder to its include directories; other targets that include the files depend on it.
#
# <list> holds stamps, not the files. gen.py does not write a file whose content would not change.
# As the OUTPUT of its command such a file would stay older than its table, and the command would
# run in every build. The stamp takes that role, and the file keeps its time: a comment edited in a
# table runs the generator once and compiles nothing. (The price: with make, a generated file
# deleted by hand comes back only after `make clean`.)

# Further arguments are tables that the output depends on as well.
function(stint_generate_one list table output)
    set(source ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../gen)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/gen)
    if(columns.ini IN_LIST ARGN OR table STREQUAL columns.ini)
        list(APPEND ARGN interfaces.ini records.ini) # numbers there are columns, too
    endif()
    list(TRANSFORM ARGN PREPEND ${source}/)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(
        OUTPUT ${folder}/${output}.stamp
        BYPRODUCTS ${folder}/${output}
        COMMAND ${Python3_EXECUTABLE} ${source}/gen.py ${output} ${source}/${table}
                -o ${folder}/${output}
        COMMAND ${CMAKE_COMMAND} -E touch ${folder}/${output}.stamp
        DEPENDS ${source}/gen.py ${source}/table.py ${source}/columns.py ${source}/counters.py
                ${source}/cupti.py
                ${source}/driver.py ${source}/env.py ${source}/formats.py
                ${source}/gpu_peak.py ${source}/interfaces.py ${source}/kernel_names.py
                ${source}/library.py ${source}/records.py
                ${source}/options.py ${source}/status.py ${source}/units.py ${source}/views.py
                ${source}/words.py ${source}/instrument/output_file.py ${source}/${table} ${ARGN}
        COMMENT "Generating ${output}"
        VERBATIM)
    list(APPEND ${list} ${folder}/${output}.stamp)
    set(${list} ${${list}} PARENT_SCOPE)
endfunction()

function(stint_generate list)
    find_package(Python3 3.8 QUIET COMPONENTS Interpreter)
    if(NOT Python3_Interpreter_FOUND)
        message(FATAL_ERROR "stint: building needs Python 3.8 or later (no packages); "
                            "install python3 or set Python3_EXECUTABLE")
    endif()
    set(stamps "")
    stint_generate_one(stamps columns.ini report_columns.inc interfaces.ini records.ini)
    stint_generate_one(stamps columns.ini report_sorts.inc interfaces.ini records.ini)
    stint_generate_one(stamps columns.ini row_percentiles.inc interfaces.ini records.ini)
    stint_generate_one(stamps columns.ini prometheus_columns.inc interfaces.ini records.ini)
    stint_generate_one(stamps columns.ini metric_columns.inc interfaces.ini records.ini)
    stint_generate_one(stamps columns.ini stat_members.inc interfaces.ini records.ini)
    stint_generate_one(stamps columns.ini history_columns.inc interfaces.ini records.ini)
    stint_generate_one(stamps columns.ini diff_numbers.inc interfaces.ini records.ini)
    stint_generate_one(stamps counters.ini counter_ids.inc)
    stint_generate_one(stamps counters.ini counter_table.inc)
    stint_generate_one(stamps cupti.ini cupti_table.inc)
    stint_generate_one(stamps cupti.ini cupti_types.inc)
    stint_generate_one(stamps driver.ini driver_table.inc)
    stint_generate_one(stamps driver.ini driver_calls.inc)
    stint_generate_one(stamps driver.ini cuda_codes.inc)
    stint_generate_one(stamps env.ini env_table.inc columns.ini interfaces.ini records.ini
        units.ini views.ini)
    stint_generate_one(stamps env.ini env_help.inc columns.ini interfaces.ini records.ini
        units.ini views.ini)
    stint_generate_one(stamps env.ini env_tracer_value.inc columns.ini interfaces.ini
        records.ini units.ini views.ini)
    stint_generate_one(stamps formats.ini export_formats.inc)
    stint_generate_one(stamps formats.ini formats_table.inc)
    stint_generate_one(stamps formats.ini program_formats.inc)
    stint_generate_one(stamps formats.ini tool_formats.inc)
    stint_generate_one(stamps gpu_peak.ini gpu_peak_table.inc)
    stint_generate_one(stamps interfaces.ini range_interfaces.inc)
    stint_generate_one(stamps kernel_names.ini kernel_names_table.inc)
    stint_generate_one(stamps records.ini measure_flags.inc interfaces.ini)
    stint_generate_one(stamps records.ini measure_table.inc interfaces.ini)
    stint_generate_one(stamps records.ini record_ids.inc interfaces.ini)
    stint_generate_one(stamps records.ini record_table.inc interfaces.ini)
    stint_generate_one(stamps options.ini option_ids.inc columns.ini formats.ini interfaces.ini
        records.ini units.ini views.ini)
    stint_generate_one(stamps options.ini option_table.inc columns.ini formats.ini
        interfaces.ini records.ini units.ini views.ini)
    stint_generate_one(stamps status.ini status_ids.inc)
    stint_generate_one(stamps status.ini status_table.inc)
    stint_generate_one(stamps units.ini unit_ids.inc)
    stint_generate_one(stamps units.ini unit_table.inc)
    stint_generate_one(stamps views.ini report_view_ids.inc)
    stint_generate_one(stamps views.ini report_view_names.inc)
    stint_generate_one(stamps views.ini report_view_table.inc)
    stint_generate_one(stamps views.ini tool_views.inc)
    stint_generate_one(stamps views.ini view_help.inc columns.ini interfaces.ini records.ini)
    stint_generate_one(stamps views.ini words.inc columns.ini interfaces.ini records.ini)
    set(${list} ${stamps} PARENT_SCOPE)
endfunction()
