# SPDX-License-Identifier: Apache-2.0
#
# The HTML report: what the exporter puts into it, and the page in a browser.
set(html_dir "${CMAKE_CURRENT_SOURCE_DIR}/html")
set(html_out "${CMAKE_CURRENT_BINARY_DIR}/html")
set(html_export "${stint_SOURCE_DIR}/runtime/export/tool")
file(GLOB html_template CONFIGURE_DEPENDS "${html_export}/html/*")
file(MAKE_DIRECTORY "${html_out}")

# The same way as in cmake/StintGen.cmake: gen.py does not write a file that would not change, so
# the stamp is the OUTPUT.
set(html_stamp "${html_out}/report.html.stamp")
add_custom_command(
    OUTPUT "${html_stamp}"
    BYPRODUCTS "${html_out}/report.html"
    COMMAND Python3::Interpreter "${stint_SOURCE_DIR}/gen/gen.py" report.html
        "${html_export}/html/report.html" -o "${html_out}/report.html"
    COMMAND ${CMAKE_COMMAND} -E touch "${html_stamp}"
    DEPENDS ${html_template} "${stint_SOURCE_DIR}/gen/gen.py" "${stint_SOURCE_DIR}/gen/table.py"
        "${stint_SOURCE_DIR}/gen/html.py" "${stint_SOURCE_DIR}/gen/columns.py"
        "${stint_SOURCE_DIR}/gen/columns.ini" "${stint_SOURCE_DIR}/gen/records.ini"
    COMMENT "Generating report.html"
    VERBATIM)

stint_test_program(html_run "${html_dir}/html_run.c" "${html_stamp}" LIBS stint_hand_run)

foreach(run IN ITEMS full tree empty zero gpu flat sent big)
    stint_test(export.html.${run} tool Python3::Interpreter -B "${html_dir}/check_html.py"
        $<TARGET_FILE:html_run> ${run})
endforeach()

add_test(NAME viewer.html.pages
    COMMAND Python3::Interpreter -B "${html_dir}/make_report.py" "${html_out}/report.html" all
        --program $<TARGET_FILE:html_run> -o "${html_out}")
set_tests_properties(viewer.html.pages PROPERTIES LABELS "viewer;engines" TIMEOUT 600
    FIXTURES_SETUP html_pages)

# The cases of html/cases.mjs, a browser each.
find_program(STINT_NODE node)
mark_as_advanced(STINT_NODE)
if(STINT_NODE)
    foreach(case IN ITEMS opens policy sort filter select distribution interval flame sent search timeline
            memory pointer links threads wide ranks heat heat_keys heat_theme many_ranks no_ranks address
            colours theme contrast phone print keys hostile big real empty broken killed)
        stint_viewer_test(html.${case} "${STINT_NODE}" "${html_dir}/drive.mjs" "${html_out}"
            ${case})
        set_tests_properties(viewer.html.${case} PROPERTIES FIXTURES_REQUIRED html_pages)
    endforeach()
else()
    stint_viewer_test(html ${CMAKE_COMMAND} -E env sh -c "echo 'skipped: no node' && exit 77")
endif()
