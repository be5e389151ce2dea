/* SPDX-License-Identifier: Apache-2.0 */
#include "error_text.h"

#include <string.h>

#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 32)
#define HAS_DESCRIPTIONS
#endif
#endif

const char *error_text(int error) {
#if defined(HAS_DESCRIPTIONS)
    const char *text = strerrordesc_np(error); /* not translated: gettext allocates and frees */
    return text ? text : "unknown error";
#elif defined(__GLIBC__)
    char unknown[64];
    const char *text = strerror_r(error, unknown, sizeof unknown); /* a constant if it is known */
    return text == unknown ? "unknown error" : text;
#else
    return strerror(error); /* musl: always a constant */
#endif
}
