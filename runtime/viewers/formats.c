/* SPDX-License-Identifier: Apache-2.0 */
#include "formats.h"

#include <string.h>

#include "formats_table.inc"

const struct format *format_at(size_t index) {
    return index < sizeof formats / sizeof *formats ? &formats[index] : NULL;
}

const struct format *format_find(const char *name) {
    const struct format *f;
    for (size_t i = 0; (f = format_at(i)); ++i) {
        if (!strcmp(f->name, name)) {
            return f;
        }
    }
    return NULL;
}
