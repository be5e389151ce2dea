/* SPDX-License-Identifier: Apache-2.0 */
#include <cublas_v2.h>

int main(void) {
    cublasHandle_t handle = NULL;
    if (cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS) {
        cublasDestroy(handle);
    }
    return cublasGetStatusString(CUBLAS_STATUS_SUCCESS) == NULL;
}
