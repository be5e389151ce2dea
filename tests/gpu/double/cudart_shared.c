/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libcudart that the program has loaded, with the function that stint calls of it: cudaGetDevice
 * returns the calling thread's device, 0 until the thread chooses another one (CUDA Runtime API,
 * cudaGetDevice).
 */
#define EXPORTED __attribute__((visibility("default")))

static __thread int chosen;
static int calls, code;

EXPORTED int cudaGetDevice(int *device);
EXPORTED int cudaSetDevice(int device);
EXPORTED int cudart_shared_calls(void);
EXPORTED void cudart_shared_fail(int with);

int cudaGetDevice(int *device) {
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    *device = chosen;
    return code;
}

int cudaSetDevice(int device) {
    chosen = device;
    return 0;
}

int cudart_shared_calls(void) {
    return __atomic_load_n(&calls, __ATOMIC_RELAXED);
}

void cudart_shared_fail(int with) {
    code = with;
}
