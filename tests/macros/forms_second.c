/* SPDX-License-Identifier: Apache-2.0 */
/* The second unit with the same header: linked to the first, nothing may be defined twice. */
#include "forms_header.h"

void forms_second(void) {
    REGISTER_TIMER("second");
    (void)forms_static_inline(forms_inline(1, stint_now_us()));
}
