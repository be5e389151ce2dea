# SPDX-License-Identifier: Apache-2.0
#
# Reports, resets, exports, settings and threads at once. For 5 s, or for as many as
# HARD_SECONDS in the environment of ctest says.

stint_add_test(TARGET stint_hard_concurrency
    SOURCES "${CMAKE_CURRENT_LIST_DIR}/concurrency_test.c"
    LIBS stint_fake Threads::Threads LABELS hard TIMEOUT 630
    ENV HARNESS_SECONDS=600)
