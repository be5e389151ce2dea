# SPDX-License-Identifier: Apache-2.0
#
# A library that links stint as well, and what the functions of the package make; their scripts need
# clang (CODEGEN).
set(here "${CMAKE_CURRENT_LIST_DIR}")
add_library(work STATIC "${here}/work.c")
target_link_libraries(work PRIVATE stint::stint)
add_executable(app "${here}/../app.c")
target_link_libraries(app PRIVATE work stint::stint)

if(CODEGEN)
    add_executable(app_instrumented "${here}/plain.c" "${here}/work.c")
    add_executable(app_wrapped "${here}/plain.c")
    target_link_libraries(app_wrapped PRIVATE work stint::stint)
    set_target_properties(app_instrumented app_wrapped PROPERTIES WITH_TIMER ON)
    stint_instrument(app_instrumented FUNCTIONS work)
    stint_wrap(app_wrapped HEADER "${here}/work.h" FUNCTIONS work)
endif()
