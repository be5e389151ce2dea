# SPDX-License-Identifier: Apache-2.0
#
# Run files of earlier versions 1.x, which this version has to read. runs_test.py says how they were
# made.
if(TARGET stint_tool)
    stint_test_program(runs_program runs_program.c LIBS stint_fake)
    stint_test(runs.of_earlier_versions tool Python3::Interpreter -B
        "${CMAKE_CURRENT_SOURCE_DIR}/runs_test.py" "$<TARGET_FILE:stint_tool>"
        "$<TARGET_FILE:runs_program>")
endif()
