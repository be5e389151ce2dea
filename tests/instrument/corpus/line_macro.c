/* SPDX-License-Identifier: Apache-2.0 */
/* __LINE__ and __FILE__. */
#include <string.h>
int corpus_line_macro(void) {
    int line = __LINE__;
    const char *name = strrchr(__FILE__, '/');
    return line + (name && !strcmp(name, "/line_macro.c"));
}
