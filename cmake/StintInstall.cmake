# SPDX-License-Identifier: Apache-2.0
#
# The installed package may be moved: no file in it holds an absolute path.

# A project that exports a library of its own which links stint names stint's targets in that
# export: they must be in an export set too, also where stint is not installed, and in an export of
# the build folder. Without GNUInstallDirs, which sets variables of the project.
set(mem "")
if(TARGET stint_mem)
    set(mem stint_mem)
endif()
if(NOT STINT_INSTALL)
    install(TARGETS stint stint_runtime stint_timer stint_profiler ${mem} EXPORT stintTargets
        ARCHIVE DESTINATION lib COMPONENT stint_dev EXCLUDE_FROM_ALL
        LIBRARY DESTINATION lib COMPONENT stint_runtime EXCLUDE_FROM_ALL
        RUNTIME DESTINATION bin COMPONENT stint_runtime EXCLUDE_FROM_ALL
        INCLUDES DESTINATION include)
    install(EXPORT stintTargets NAMESPACE stint:: DESTINATION lib/cmake/stint
        COMPONENT stint_dev EXCLUDE_FROM_ALL)
    export(EXPORT stintTargets NAMESPACE stint:: FILE stintBuildTargets.cmake)
    return()
endif()

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(STINT_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/stint")
set(STINT_PC_DIR "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")

# dlopen, in the C library itself from glibc 2.34 on; empty where the system has no such library.
list(TRANSFORM CMAKE_DL_LIBS PREPEND " -l" OUTPUT_VARIABLE dl)
if(stint_type STREQUAL "SHARED_LIBRARY")
    # push-state keeps as-needed to this library.
    set(STINT_PC_LIBS "-Wl,--push-state,--as-needed -lstint -Wl,--pop-state")
    set(STINT_PC_LIBS_PRIVATE "-pthread${dl}")
elseif(stint_type STREQUAL "STATIC_LIBRARY")
    # Not only under --static: one archive in a dynamic program is the usual case.
    set(STINT_PC_LIBS "-lstint -pthread${dl}")
    if(STINT_GPU_API STREQUAL "cudart")
        # libcudart is named without its folder, which belongs to another package and whose .pc file
        # has no fixed name.
        set(STINT_PC_LIBS "-lstint -lcudart -pthread${dl}")
        set(STINT_CONFIG_FIND "include(CMakeFindDependencyMacro)\nfind_dependency(CUDAToolkit)\n")
    endif()
endif()
file(RELATIVE_PATH STINT_PC_PREFIX "${STINT_PC_DIR}" "${CMAKE_INSTALL_PREFIX}")
file(RELATIVE_PATH STINT_PC_INCLUDE "${STINT_PC_DIR}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
configure_file(cmake/stint.pc.in stint.pc @ONLY)
configure_package_config_file(cmake/stintConfig.cmake.in stintConfig.cmake
    INSTALL_DESTINATION "${STINT_CMAKE_DIR}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(stintConfigVersion.cmake COMPATIBILITY SameMinorVersion)

# Components, for `cmake --install build --component NAME` and for the packages of CPack:
#   stint_runtime  the shared library, libstint-ranges.so, which makes scopes of the ranges of
#                  other interfaces, and libstint-mem.so, which counts allocations
#   stint_dev      headers, the library to link with, CMake and pkg-config files, scripts, stint(3)
#   stint_tool     the tool, its manual pages, shell completions
#   stint_doc      documents and samples
install(TARGETS stint stint_runtime stint_timer stint_profiler ${mem} EXPORT stintTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT stint_dev
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT stint_runtime
        NAMELINK_COMPONENT stint_dev
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT stint_runtime
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT stintTargets NAMESPACE stint:: DESTINATION "${STINT_CMAKE_DIR}"
    COMPONENT stint_dev)
export(EXPORT stintTargets NAMESPACE stint:: FILE stintBuildTargets.cmake)
if(TARGET stint_ranges)
    # Loaded by its path, by programs that need not know the folder of libstint.so. Programs do not
    # link it.
    if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
        set_target_properties(stint_ranges PROPERTIES INSTALL_RPATH "$ORIGIN")
    endif()
    install(TARGETS stint_ranges LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        COMPONENT stint_runtime NAMELINK_SKIP)
endif()
install(FILES cmake/stintCodegen.cmake cmake/stintInstrument.cmake cmake/stintSwitches.cmake
    "${CMAKE_CURRENT_BINARY_DIR}/stintConfig.cmake"
    "${CMAKE_CURRENT_BINARY_DIR}/stintConfigVersion.cmake"
    DESTINATION "${STINT_CMAKE_DIR}" COMPONENT stint_dev)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/stint.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT stint_dev)
if(TARGET stint_mem)
    configure_file(cmake/stint-mem.pc.in stint-mem.pc @ONLY)
    install(FILES "${CMAKE_CURRENT_BINARY_DIR}/stint-mem.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT stint_dev)
endif()
install(DIRECTORY include/stint DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT stint_dev
    FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(DIRECTORY gen/instrument/ DESTINATION "${CMAKE_INSTALL_DATADIR}/stint/instrument"
    COMPONENT stint_dev FILES_MATCHING PATTERN "*.py" PATTERN "*.h" PATTERN __pycache__ EXCLUDE)
install(FILES packaging/tsan.supp DESTINATION "${CMAKE_INSTALL_DATADIR}/stint"
    COMPONENT stint_dev)

if(TARGET stint_manual_api)
    foreach(section IN ITEMS 3 7)
        install(FILES "${CMAKE_CURRENT_BINARY_DIR}/runtime/man/stint.${section}"
            DESTINATION "${CMAKE_INSTALL_MANDIR}/man${section}" COMPONENT stint_dev)
    endforeach()
endif()

if(TARGET stint_tool)
    install(TARGETS stint_tool RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
        COMPONENT stint_tool)
    install(FILES "${CMAKE_CURRENT_BINARY_DIR}/runtime/tool/stint.1"
        DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT stint_tool)
    install(DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/runtime/tool/man/"
        DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT stint_tool
        FILES_MATCHING PATTERN "*.1")
    # The folders in which each shell looks for completions, below /usr or below a prefix in
    # XDG_DATA_DIRS or fpath.
    set(completion "${CMAKE_CURRENT_BINARY_DIR}/runtime/tool/completion")
    install(FILES "${completion}/stint.bash" RENAME stint
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT stint_tool)
    install(FILES "${completion}/_stint"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" COMPONENT stint_tool)
    install(FILES "${completion}/stint.fish"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" COMPONENT stint_tool)
endif()

# The folders are those of the source tree, so that links between the documents work.
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md CODE_OF_CONDUCT.md
    DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT stint_doc OPTIONAL)
install(DIRECTORY docs samples DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT stint_doc OPTIONAL
    FILES_MATCHING REGEX "/docs/.*\\.(md|json|png|svg)$"
    REGEX "/samples/(migrate/.*|[^/]*)\\.(c|cpp|cu|h|hpp)$" REGEX "/samples/monitor/"
    PATTERN Makefile)
install(FILES tests/README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}/tests" COMPONENT stint_doc OPTIONAL)

if(STINT_TOP_LEVEL)
    include(cmake/StintPackage.cmake)
endif()
