# SPDX-License-Identifier: Apache-2.0
#
# Run files of earlier versions 1.x, which this version has to read. runs_test.py says how they were
# made.
if(TARGET stint_tool)
    add_test(NAME runs.of_earlier_versions
        COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/runs_test.py"
            "$<TARGET_FILE:stint_tool>")
    set_tests_properties(runs.of_earlier_versions PROPERTIES LABELS tool TIMEOUT 120)
endif()
