/* SPDX-License-Identifier: Apache-2.0 */
#include <caliper/cali.h>

static void relax(int n) {
    CALI_MARK_FUNCTION_BEGIN;
    for (volatile int i = 0; i < n; ++i) {
    }
    CALI_MARK_FUNCTION_END;
}

int main(void) {
    CALI_MARK_PHASE_BEGIN("solve");
    for (int i = 0; i < 50; ++i) {
        CALI_MARK_BEGIN("sweep");
        relax(20000);
        CALI_MARK_END("sweep");
        CALI_WRAP_STATEMENT("exchange", relax(1000); relax(1000));
    }
    CALI_MARK_PHASE_END("solve");
    return 0;
}
