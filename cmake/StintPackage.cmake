# SPDX-License-Identifier: Apache-2.0
#
# Packages by CPack: `cpack -G DEB` makes three (library, dev with the documents, tool), `cpack -G
# TGZ` one archive. Configure with -DCMAKE_INSTALL_PREFIX=/usr for Debian packages.

set(CPACK_PACKAGE_NAME stint)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR "stint")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_CONTACT "The stint maintainers <stint@localhost>" CACHE STRING
    "Maintainer of the packages: name and address of who builds them")
set(CPACK_RESOURCE_FILE_LICENSE "${CMAKE_CURRENT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGE_FILE_NAME "stint-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TGZ)
set(CPACK_COMPONENTS_ALL stint_runtime stint_dev stint_tool stint_doc)
if(NOT STINT_BUILD_TOOL)
    list(REMOVE_ITEM CPACK_COMPONENTS_ALL stint_tool)
endif()
if(NOT stint_type STREQUAL "SHARED_LIBRARY")
    list(REMOVE_ITEM CPACK_COMPONENTS_ALL stint_runtime)
endif()

# Debian: one package for each group.
set(library "libstint${STINT_ABI}")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# libstint-ranges.so needs libstint.so, of the same package.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_CURRENT_BINARY_DIR}/runtime")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENT_STINT_RUNTIME_GROUP library)
set(CPACK_COMPONENT_STINT_DEV_GROUP dev)
set(CPACK_COMPONENT_STINT_DOC_GROUP dev)
set(CPACK_COMPONENT_STINT_TOOL_GROUP tool)

set(about "stint measures marked blocks of C, C++ and CUDA programs: calls,
times, percentiles, call tree, GPU times. Compiled off, the marks
generate no code.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
    "${CMAKE_CURRENT_SOURCE_DIR}/packaging/debian/triggers")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "timers and GPU capture ranges, shared library
${about}

This package has the shared library.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libstint-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${library} (= ${PROJECT_VERSION}-1)")
set(CPACK_COMPONENT_DEV_DESCRIPTION "timers and GPU capture ranges, headers and documents
${about}

This package has what programs are built with, and the documents.")
set(CPACK_DEBIAN_TOOL_PACKAGE_NAME stint)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION devel)
set(CPACK_COMPONENT_TOOL_DESCRIPTION "timers and GPU capture ranges, command-line tool
${about}

This package has the tool, which reads, compares and exports run files.")
set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_CURRENT_SOURCE_DIR}/packaging/debian/prepare.cmake")

include(CPack)
