/* SPDX-License-Identifier: Apache-2.0 */
#include "nvtx.h"

const int nvtx_built;

void nvtx_start(void) {
}

int nvtx_on(void) {
    return 0;
}

void nvtx_push(uint32_t site, uint32_t set) {
    (void)site, (void)set;
}

void nvtx_pop(void) {
}

void nvtx_forget_all(void) {
}
