# SPDX-License-Identifier: Apache-2.0
set(here "${CMAKE_CURRENT_SOURCE_DIR}")
set(program $<TARGET_FILE:export_golden>)

find_program(STINT_NODE node)
mark_as_advanced(STINT_NODE)
if(STINT_NODE)
    foreach(case IN ITEMS "chrome full" "folded tree" "chrome gpu")
        string(REPLACE " " "." name "${case}")
        string(REPLACE " " ";" arguments "${case}")
        stint_viewer_test(speedscope.${name} "${STINT_NODE}" "${here}/speedscope.mjs" ${program}
            ${arguments})
    endforeach()
else()
    stint_viewer_test(speedscope ${CMAKE_COMMAND} -E env sh -c "echo 'skipped: no node' && exit 77")
endif()

if(STINT_NODE)
    stint_viewer_test(duckdb "${STINT_NODE}" "${here}/duckdb.mjs" $<TARGET_FILE:stint_tool>
        $<TARGET_FILE:tool_program>)
endif()
foreach(format IN ITEMS chrome perfetto)
    stint_viewer_test(trace_processor.${format} Python3::Interpreter -B
        "${here}/trace_processor.py" ${program} ${format})
endforeach()
foreach(case IN ITEMS "perfetto full" "perfetto gpu" "pprof tree" "pprof full")
    string(REPLACE " " "." name "${case}")
    string(REPLACE " " ";" arguments "${case}")
    stint_viewer_test(protoc.${name} Python3::Interpreter -B "${here}/proto.py" protoc ${program}
        ${arguments})
endforeach()
stint_viewer_test(pprof Python3::Interpreter -B "${here}/proto.py" go ${program})
set(programs $<TARGET_FILE:stint_tool> $<TARGET_FILE:tool_program> $<TARGET_FILE:tool_program_fake>)
foreach(case IN ITEMS otlp short collector textfile docs)
    stint_viewer_test(prometheus.${case} Python3::Interpreter -B "${here}/prometheus.py" ${programs}
        ${case})
endforeach()
foreach(kind IN ITEMS promtool flamegraph jq)
    stint_viewer_test(${kind} Python3::Interpreter -B "${here}/totals.py" ${kind} ${program})
endforeach()
