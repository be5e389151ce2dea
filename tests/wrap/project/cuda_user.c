/* SPDX-License-Identifier: Apache-2.0 */
/* Makes CUDA calls. They fail without a driver, and are calls all the same. */
#include <cuda_runtime_api.h>

int main(void) {
    int count = 0;
    char bytes[8] = {0};
    void *memory = NULL;
    cudaGetDeviceCount(&count);
    for (int i = 0; i < 3; ++i) {
        if (cudaMalloc(&memory, sizeof bytes) == cudaSuccess) {
            cudaMemcpy(memory, bytes, sizeof bytes, cudaMemcpyHostToDevice);
            cudaFree(memory);
        } else {
            cudaMemcpy(bytes, bytes, sizeof bytes, cudaMemcpyHostToHost);
            cudaFree(NULL);
        }
    }
    return 0;
}
