/* SPDX-License-Identifier: Apache-2.0 */
#include <nvtx3/nvToolsExt.h>

static void work(int n) {
    for (volatile int i = 0; i < n; ++i) {
    }
}

int main(void) {
    for (int step = 0; step < 20; ++step) {
        nvtxRangePushA("step");
        nvtxRangePushA("assemble");
        work(20000);
        nvtxRangePop();
        nvtxRangePushA("solve");
        work(40000);
        nvtxRangePop();
        nvtxRangePop();
    }
    return 0;
}
