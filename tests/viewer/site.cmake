# SPDX-License-Identifier: Apache-2.0
#
# The documents as a site, in a browser: ./dev docs.
find_program(STINT_NODE node)
mark_as_advanced(STINT_NODE)
if(STINT_NODE)
    stint_viewer_test(site "${STINT_NODE}" "${CMAKE_CURRENT_SOURCE_DIR}/site.mjs"
        "${Python3_EXECUTABLE}" "${stint_SOURCE_DIR}/tests/docs/make_site.py"
        "${CMAKE_CURRENT_BINARY_DIR}/site")
    # A sanitizer has no part in it.
    set_property(TEST viewer.site APPEND PROPERTY LABELS build)
endif()
