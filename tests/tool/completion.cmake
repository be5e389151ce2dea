# SPDX-License-Identifier: Apache-2.0
#
# The words that bash, zsh and fish complete after `stint`.

if(NOT TARGET stint_tool)
    return()
endif()
foreach(case IN ITEMS bash fish zsh)
    add_test(NAME tool.completion.${case}
        COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/completion_test.py"
            "$<TARGET_FILE_DIR:stint_tool>/completion" ${case})
    set_tests_properties(tool.completion.${case} PROPERTIES
        LABELS tool TIMEOUT 600 SKIP_RETURN_CODE 77)
endforeach()
