/* SPDX-License-Identifier: Apache-2.0 */
/* __func__. */
#include <string.h>
static int named(void) {
    return !strcmp(__func__, "named");
}
int corpus_function_name(void) {
    return named();
}
