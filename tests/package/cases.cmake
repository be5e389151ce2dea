# SPDX-License-Identifier: Apache-2.0
#
# Tests of projects that use the installed package (package.py):
#
#     stint_package_cases(<name> <driver> <setup> [FIXTURES <fixture>...] [LONG <case>...])
#
# adds the test <name>.<case> for each case that the driver lists. All need the fixtures and, but
# for the case <setup>, the fixture <name>, which that case sets up; without one, <setup> is "". The
# cases after LONG, or with "long" in the list, build the library again and have the label "long".
function(stint_package_cases name driver setup)
    cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "FIXTURES;LONG")
    find_package(Python3 3.8 REQUIRED COMPONENTS Interpreter)
    set(driver "${CMAKE_CURRENT_SOURCE_DIR}/${driver}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${driver}")
    execute_process(COMMAND "${Python3_EXECUTABLE}" -B "${driver}" --list
        OUTPUT_VARIABLE cases OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
    if(failed)
        message(FATAL_ERROR "${driver} --list: ${failed}")
    endif()
    string(REPLACE "\n" ";" cases "${cases}")

    get_target_property(type stint_runtime TYPE)
    set(kind static)
    if(type STREQUAL "SHARED_LIBRARY")
        set(kind shared)
    endif()
    set(cxx "")
    if(CMAKE_CXX_COMPILER) # it may be NOTFOUND
        set(cxx "${CMAKE_CXX_COMPILER}")
    endif()
    foreach(case IN LISTS cases)
        if(case MATCHES "^(.*) long$")
            set(case "${CMAKE_MATCH_1}")
            list(APPEND arg_LONG "${case}")
        endif()
        add_test(NAME ${name}.${case}
            COMMAND "${Python3_EXECUTABLE}" -B "${driver}"
                --source "${PROJECT_SOURCE_DIR}" --build "${PROJECT_BINARY_DIR}"
                --work "${PROJECT_BINARY_DIR}/tests/package/work" --kind ${kind}
                --config "$<CONFIG>" --cmake "${CMAKE_COMMAND}" --generator "${CMAKE_GENERATOR}"
                --cc "${CMAKE_C_COMPILER}" --cflags=${CMAKE_C_FLAGS}
                --cxx "${cxx}" --cxxflags=${CMAKE_CXX_FLAGS} ${case})
        # Far above the 50 s of the slowest case: the machine may be busy with the other tests.
        set(labels ${name} build)
        if(case IN_LIST arg_LONG)
            list(APPEND labels long)
        endif()
        set_tests_properties(${name}.${case} PROPERTIES LABELS "${labels}" SKIP_RETURN_CODE 77
            TIMEOUT 900 FIXTURES_REQUIRED "${arg_FIXTURES};${name}")
    endforeach()
    if(setup)
        set_tests_properties(${name}.${setup} PROPERTIES
            FIXTURES_REQUIRED "${arg_FIXTURES}" FIXTURES_SETUP ${name})
    endif()
endfunction()
