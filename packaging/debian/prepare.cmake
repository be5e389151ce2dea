# SPDX-License-Identifier: Apache-2.0
#
# Run by CPack between the installation and the packages: what Debian's policy requires of each
# package beside the files that are installed.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
    return()
endif()

function(stint_compress file)
    execute_process(COMMAND gzip -9 -n "${file}" RESULT_VARIABLE failed)
    if(failed)
        message(FATAL_ERROR "gzip ${file}: ${failed}")
    endif()
endfunction()

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # SOURCE_DATE_EPOCH, if that is set
foreach(group IN ITEMS library dev tool)
    set(folder "${CPACK_TEMPORARY_DIRECTORY}/${group}/usr")
    if(NOT EXISTS "${folder}")
        continue()
    endif()
    string(TOUPPER "${group}" upper)
    set(documents "${folder}/share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
    file(MAKE_DIRECTORY "${documents}")
    configure_file("${CMAKE_CURRENT_LIST_DIR}/copyright" "${documents}/copyright" COPYONLY)
    set(changelog "${documents}/changelog.Debian")
    string(CONCAT text
        "stint (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
        "  * Version ${CPACK_PACKAGE_VERSION}; see CHANGELOG.md.\n\n"
        " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
    file(WRITE "${changelog}" "${text}")
    stint_compress("${changelog}")
    if(group STREQUAL "library")
        configure_file("${CMAKE_CURRENT_LIST_DIR}/libstint.overrides"
            "${folder}/share/lintian/overrides/${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME}" COPYONLY)
    endif()
    file(GLOB pages "${folder}/share/man/man*/*.[1-9]")
    foreach(page IN LISTS pages)
        stint_compress("${page}")
    endforeach()
endforeach()
