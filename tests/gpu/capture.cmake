# SPDX-License-Identifier: Apache-2.0
stint_add_test(TARGET stint_gpu_capture SOURCES "${CMAKE_CURRENT_LIST_DIR}/gpu_capture_test.c"
    LIBS stint_fake stint_cuda_double Threads::Threads LABELS unit)
