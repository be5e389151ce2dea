/* SPDX-License-Identifier: Apache-2.0 */
#include "error_text.h"

#include <string.h>

const char *error_text(int error) {
#if defined(__GLIBC__)
    char unknown[64];
    const char *text = strerror_r(error, unknown, sizeof unknown); /* a constant if it is known */
    return text == unknown ? "unknown error" : text;
#else
    return strerror(error); /* musl: always a constant */
#endif
}
