/* SPDX-License-Identifier: Apache-2.0 */
/* A program that was linked with libroctx64 and knows nothing of stint. It prints what the calls
 * return. */
#include <stdio.h>

#include "roctx_api.h"

int main(void) {
    printf("push %d", roctxRangePushA("outer"));
    for (int i = 0; i < 3; ++i) {
        printf(" %d", roctxRangePushA("inner"));
        printf(" %d", roctxRangePop());
    }
    uint64_t first = roctxRangeStartA("started"), second = roctxRangeStartA("started");
    roctxMarkA("a mark");
    printf(" started %d", first && second && first != second);
    roctxRangeStop(first);
    roctxRangeStop(second);
    printf(" pop %d", roctxRangePop());
    printf(" %d\n", roctxRangePop() < 0);
    return 0;
}
