/* SPDX-License-Identifier: Apache-2.0 */
#include <gptl.h>

static void advect(int n) {
    GPTLstart("advect");
    for (volatile int i = 0; i < n; ++i) {
    }
    GPTLstop("advect");
}

int main(void) {
    GPTLinitialize();
    GPTLstart("total");
    for (int step = 0; step < 30; ++step) {
        advect(20000);
    }
    GPTLstop("total");
    return GPTLpr(0);
}
