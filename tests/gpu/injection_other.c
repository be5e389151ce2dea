/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program without stint that initialises CUDA, on the double of a whole GPU.
 */
#include <stdio.h>

#include "cudart_double.h"
#include "whole_gpu.h"

int main(void) {
    int code = (int)cudaFree(NULL);
    printf("other: %d, %d calls of CUPTI\n", code, (int)gpu_double_cupti_calls());
    return code;
}
